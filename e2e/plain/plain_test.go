package plain

import (
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/e2e/people"
	"github.com/nav-watchdog/nav-watchdog/e2e/programs"
	"github.com/nav-watchdog/nav-watchdog/e2e/trial"
	"github.com/nav-watchdog/nav-watchdog/e2e/watcher"
)

// folder is one that all accounts may enter; a test's own is the admin's.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "nav-e2e-plain-")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func build(t *testing.T, dir string) programs.Programs {
	t.Helper()
	p, err := programs.Build(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func bare(t *testing.T, dir string, more ...string) string {
	t.Helper()
	path := filepath.Join(dir, "deploy.git")
	out, err := exec.CommandContext(t.Context(), "git", append([]string{"init", "--quiet", "--bare", "--initial-branch=main"}, append(more, path)...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// TestHTTP: git http-backend behind a web server with passwords.
func TestHTTP(t *testing.T) {
	dir := folder(t)
	p := build(t, dir)
	passwords := map[string]string{trial.Alice: "a-secret", trial.Olga: "o-secret", trial.Nav: "n-secret"}
	web, err := NewWeb(dir, time.Minute, passwords)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(web.Close)
	r := &trial.Repository{
		Bare: bare(t, dir), Dir: dir, How: "http", Watchd: p.Watchd,
		Login: func(who, _ string) (string, []string) {
			return web.URL + "/deploy.git", people.Password(who, passwords[who])
		},
	}
	r.T = t
	r.Server("config", "http.receivepack", "true")
	r.Begin(t, p.Hook, []string{"--host", "http"}, "web")
	askpass, err := watcher.Askpass(filepath.Join(dir, "askpass"), trial.Nav, passwords[trial.Nav])
	r.Check(err)

	if _, err := people.New(t.Context(), filepath.Join(dir, "stranger"), "mallory", web.URL+"/deploy.git", people.Password("mallory", "x")...); err == nil {
		t.Error("a stranger is let in")
	}

	// A header that looks like the variable is none: it arrives as HTTP_REMOTE_USER.
	forged := append(people.Password(trial.Alice, passwords[trial.Alice]), "GIT_CONFIG_COUNT=3",
		"GIT_CONFIG_KEY_2=http.extraHeader", "GIT_CONFIG_VALUE_2=Remote-User: "+trial.Nav)
	c, err := people.New(t.Context(), filepath.Join(dir, "forged"), trial.Alice, web.URL+"/deploy.git", forged...)
	r.Check(err)
	trial.Wants(t, "what alice reads", r.Refused(c, r.AddNote(c, "nav/verdicts", r.Server("rev-parse", "main"), "x")), "nav-notes-ref", `"alice"`)
	pushes(t, r, "http")
	reverts(t, r, askpass)
	if resp, err := http.Get(web.URL + "/deploy.git/info/refs?service=git-receive-pack"); err != nil || resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a password: %v, %v", resp, err)
	}
}

// TestHTTPHalfARequest: git http-backend waits for ever for the rest of a request,
// so the script that docs/hosts.md recommends ends it.
func TestHTTPHalfARequest(t *testing.T) {
	dir := folder(t)
	web, err := NewWeb(dir, 2*time.Second, map[string]string{trial.Alice: "a"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(web.Close)
	bare(t, dir)
	c, err := net.Dial("tcp", strings.TrimPrefix(web.URL, "http://"))
	if err == nil {
		_, err = fmt.Fprintf(c, "POST /deploy.git/git-receive-pack HTTP/1.1\r\nHost: x\r\nAuthorization: Basic %s\r\n"+
			"Content-Type: application/x-git-receive-pack-request\r\nContent-Length: 1000\r\n\r\n0094",
			base64.StdEncoding.EncodeToString([]byte(trial.Alice+":a")))
	}
	if err != nil {
		t.Fatal(err)
	}
	wait := func(what string, busy int) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); web.Busy() != busy; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%d requests %s", web.Busy(), what)
			}
		}
	}
	wait("instead of the one that was begun", 1)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	wait("are still being answered", 0)
}

// TestSSH: Debian's server, with an account for each person.
func TestSSH(t *testing.T) {
	dir := folder(t)
	p := build(t, dir)
	ssh, err := NewSSH(t.Context(), dir, trial.Alice, trial.Olga, trial.Nav)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ssh.Stop)
	path := bare(t, dir, "--shared=group")
	chgrp(t, path)
	r := &trial.Repository{
		Bare: path, Dir: dir, How: "ssh", Watchd: p.Watchd,
		Login: func(who, _ string) (string, []string) { return ssh.Address(who, path), people.Key(ssh.Key(who)) },
	}
	r.Begin(t, p.Hook, []string{"--host", "plain"}, "web")
	pushes(t, r, "ssh")
	reverts(t, r, nil)
}

// pushes: one that is refused, one that is queued, and notes that only the
// watcher may write.
func pushes(t *testing.T, r *trial.Repository, how string) {
	t.Helper()
	c := r.Clone(trial.Alice, how)
	_, err := c.Commit(t.Context(), "web 2\n\nNav-Watchdog: deadline=60", nil)
	r.Check(err)
	trial.Wants(t, "what alice reads", r.Refused(c, "main"), "remote: ", "nav-app-missing", "hint: ")
	r.Check(c.Pull(t.Context(), "main"))
	commit, err := c.Commit(t.Context(), trial.Good, nil)
	r.Check(err)
	r.Push(c, "main")
	trial.Wants(t, "the queue", r.Note("nav/watches", commit), `"by":"alice"`, `"branch":"main"`)
	trial.Wants(t, "what alice reads", r.Refused(c, r.AddNote(c, "nav/verdicts", commit, "x")), "nav-notes-ref")
	o := r.Clone(trial.Olga, how)
	_, err = o.Commit(t.Context(), "web 3\n\nNav-Watchdog: app=web mode=arm", nil)
	r.Check(err)
	trial.Wants(t, "what olga reads", r.Refused(o, "main"), "not-allowed")
}

// reverts: verdict and revert by navwatchd.
func reverts(t *testing.T, r *trial.Repository, login []string) {
	t.Helper()
	w := r.Watch(trial.Reverting(r.Deploy("web")), login)
	commit := r.Bad(r.Clone(trial.Alice, r.How), "web")
	r.Verdict(w, commit, "Nav-Verdict: REVERTED", "Nav-Recovery: RECOVERED")
	if got := r.Reverts(commit); len(got) != 1 {
		t.Errorf("%d reverts: %v", len(got), got)
	}
}
