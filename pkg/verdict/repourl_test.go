package verdict_test

import (
	"testing"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

func TestSameRepo(t *testing.T) {
	const github = "https://github.com/Org/Repo"
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		// The table of addresses by which Argo CD's SameURL and its webhook
		// differ: the webhook, and we, hold all but the last for the same.
		{"git@github.com:Org/Repo.git", github, true},
		{"ssh://git@github.com/Org/Repo.git", github, true},
		{"ssh://git@github.com:22/Org/Repo", github, true},
		{"https://github.com/Org/Repo.git", github, true},
		{"https://github.com/Org/Repo/", github, true},
		{"https://user:tok@github.com/Org/Repo", github, true},
		{"http://github.com/Org/Repo", github, true},
		{"https://github.com:443/Org/Repo", github, true},
		{"ssh://git@github.com:org/repo", github, false},
		{"ssh://git@github.com:org/repo", "ssh://git@github.com:org/repo", false},

		{"ssh://git@ssh.github.com:443/org/repo.git", github, true},
		{"git@altssh.bitbucket.org:org/repo.git", "https://bitbucket.org/org/repo", true},
		{"github.com/org/repo", github, true},
		{"github.com:org/repo", github, true},
		{"HTTPS://GitHub.com/ORG/repo.GIT/", github, true},
		{"git://github.com/org/repo", github, true},
		{"git@github.com:/org/repo", github, true},
		{"  https://github.com/org/repo\n", github, true},
		{"https://a@b@github.com/org/repo", github, true},
		{"ssh://git@[::1]:2222/r.git", "git@[::1]:r", true},

		{"https://github.com/org/repo2", github, false},
		{"https://github.com/org/repo.git.git", github, false},
		{"https://github.com/org", github, false},
		{"https://gitlab.com/org/repo", github, false},
		{"https://github.com.evil.example/org/repo", github, false},
		{"https://github.com@evil.example/org/repo", github, false},
		{"https://evil.example/github.com/org/repo", github, false},
		{"oci://github.com/org/repo", github, false},
		{"oci://ghcr.io/org/repo", "oci://ghcr.io/org/repo", false},

		{"/srv/git/app.git", "file:///srv/git/app.git", true},
		{"/srv/git/app", "file://localhost/srv/git/app/", true},
		{"/srv/git/app/.git", "/srv/git/app", true},
		{"/srv/git/App", "/srv/git/app", false},
		{"/github.com/org/repo", github, false},
		{"file://host/srv/git/app", "file://host/srv/git/app", false},

		{"", "", false},
		{" ", " ", false},
		{"/", "/", false},
		{"..", "..", false},
		{"../app.git", "../app.git", false},
		{"./app.git", "./app.git", false},
		{"app", "app", false},
		{"apps/web", "apps/web", false},
		{"https://", "https://", false},
		{"https://github.com", "https://github.com", false},
		{"https://github.com/.git", "https://github.com/", false},
		{":path", ":path", false},
		{"git@[::1", "git@[::1", false},
		{"https://github.com/or\ng/repo", "https://github.com/or\ng/repo", false},
	} {
		if got := verdict.SameRepo(tt.a, tt.b); got != tt.want {
			t.Errorf("SameRepo(%q, %q) = %v, want %v", tt.a, tt.b, got, tt.want)
		}
		if got := verdict.SameRepo(tt.b, tt.a); got != tt.want {
			t.Errorf("SameRepo(%q, %q) = %v, want %v", tt.b, tt.a, got, tt.want)
		}
	}
}
