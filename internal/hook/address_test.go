package hook

import "testing"

func TestAddressOf(t *testing.T) {
	for _, c := range []struct {
		host      string
		env       map[string]string
		url       string
		is, known bool
	}{
		{hostGitea, map[string]string{"GITEA_ROOT_URL": "https://git.example.com/", "GITEA_REPO_USER_NAME": "Team", "GITEA_REPO_NAME": "deploy"}, "git@git.example.com:team/deploy.git", true, true},
		{hostGitea, map[string]string{"GITEA_ROOT_URL": "https://git.example.com/", "GITEA_REPO_USER_NAME": "team", "GITEA_REPO_NAME": "deploy"}, "https://other.example.com/team/deploy", false, true},
		{hostGitea, map[string]string{"GITEA_REPO_USER_NAME": "team", "GITEA_REPO_NAME": "deploy"}, "https://git.example.com/team/deploy", true, true},
		{hostGitea, nil, "https://git.example.com/team/deploy", false, false},
		{hostGitLab, map[string]string{"GL_PROJECT_PATH": "group/sub/deploy"}, "https://gitlab.example.com/Group/Sub/deploy.git/", true, true},
		{hostGitLab, map[string]string{"GL_PROJECT_PATH": "sub/deploy"}, "https://gitlab.example.com/my-sub/deploy", false, true},
		{hostGitolite, map[string]string{"GL_REPO": "deploy"}, "git@host:deploy", true, true},
		{hostGitLab, map[string]string{"GITEA_REPO_NAME": "x"}, "x", false, false},
		{hostPlain, map[string]string{"GL_REPO": "deploy"}, "git@host:deploy", false, false},
	} {
		isOurs := addressOf(c.host, func(name string) string { return c.env[name] })
		if (isOurs != nil) != c.known || c.known && isOurs(c.url) != c.is {
			t.Errorf("%s %v: %q", c.host, c.env, c.url)
		}
	}
}
