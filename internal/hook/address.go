package hook

import (
	"strings"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// addressOf tells which addresses are this repository, by what the host says of
// it in a hook's environment; nil: the host says nothing. Gitea tells its whole
// address, GitLab and gitolite only the path, which is then compared alone.
func addressOf(host string, getenv func(string) string) func(url string) bool {
	switch host {
	case hostGitea:
		root, owner, name := getenv("GITEA_ROOT_URL"), getenv("GITEA_REPO_USER_NAME"), getenv("GITEA_REPO_NAME")
		switch {
		case owner == "" || name == "":
			return nil
		case root == "":
			return ofPath(owner + "/" + name)
		}
		ours := strings.TrimSuffix(root, "/") + "/" + owner + "/" + name
		return func(url string) bool { return verdict.SameRepo(ours, url) }
	case hostGitLab:
		return ofPath(getenv("GL_PROJECT_PATH"))
	case hostGitolite:
		return ofPath(getenv("GL_REPO"))
	}
	return nil
}

func ofPath(path string) func(url string) bool {
	path = strings.ToLower(strings.Trim(path, "/"))
	if path == "" {
		return nil
	}
	return func(url string) bool {
		url = strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(url, "/"), ".git"), "/"))
		head, same := strings.CutSuffix(url, path)
		return same && (strings.HasSuffix(head, "/") || strings.HasSuffix(head, ":"))
	}
}
