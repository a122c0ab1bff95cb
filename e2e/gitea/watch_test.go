package gitea

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/e2e/programs"
	"github.com/nav-watchdog/nav-watchdog/e2e/trial"
	"github.com/nav-watchdog/nav-watchdog/e2e/watcher"
)

// TestSmokeRevert: navwatchd over HTTP with a token judges a bad image, and
// verdict and revert reach Gitea in one push and one transaction.
func TestSmokeRevert(t *testing.T) {
	r := newRepository(t, "revert", "web")
	sim := r.Deploy("web")
	w := r.Watch(trial.Reverting(sim), r.askpass(shared.tokens[trial.Nav]))
	commit := r.Bad(r.Clone(trial.Alice, "http"), "web")
	r.Verdict(w, commit, "Nav-Verdict: REVERTED", "Nav-Recovery: RECOVERED")

	reverts := r.Reverts(commit)
	if len(reverts) != 1 {
		t.Fatalf("%d reverts of %s:\n%s", len(reverts), commit, r.Server("log", "--format=%H %s", "main"))
	}
	if tree, before := r.Server("rev-parse", reverts[0]+"^{tree}"), r.Server("rev-parse", commit+"^^{tree}"); tree != before {
		t.Errorf("the revert's tree is %s, before the commit it was %s", tree, before)
	}
	r.Together(reverts[0])
	secret(t, r, w)
}

// secret looks for the token wherever the watcher leaves something.
func secret(t *testing.T, r *repository, w *watcher.Watcher) {
	t.Helper()
	token := shared.tokens[trial.Nav]
	err := filepath.WalkDir(filepath.Dir(w.Log), func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if os.IsNotExist(err) { // git is at work
			return nil
		}
		if strings.Contains(string(data), token) {
			t.Errorf("the token stands in %s", path)
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Error(err)
	}
	for _, ref := range []string{"refs/notes/nav/verdicts", "refs/notes/nav/status"} {
		if strings.Contains(r.Server("log", "-p", ref), token) {
			t.Errorf("the token stands in %s", ref)
		}
	}
}

// TestCredentialHelper: the configuration of deploy/ logs in with a Secret.
func TestCredentialHelper(t *testing.T) {
	r := newRepository(t, "helper", "web")
	sim := r.Deploy("web")
	root, err := programs.Root(t.Context())
	r.Check(err)
	login, err := watcher.Mounted(filepath.Join(r.Dir, "secret"), filepath.Join(root, "deploy/base/gitconfig"), trial.Nav, shared.tokens[trial.Nav])
	r.Check(err)
	w := r.Watch(trial.Reverting(sim), login)
	c := r.Clone(trial.Alice, "http")
	commit, err := c.Commit(t.Context(), "web 2\n\nNav-Watchdog: app=web deadline=60 stable=2", map[string]string{"apps/web/replicas": "no manifest"})
	r.Check(err)
	r.Push(c, "main")
	r.Verdict(w, commit, "Nav-Verdict: CONFIRMED")
	secret(t, r, w)
}

// TestSelfcheck: before anything runs it says whether it could, and writes
// nothing.
func TestSelfcheck(t *testing.T) {
	r := newRepository(t, "selfcheck", "web")
	sim := r.Deploy("web")
	before := r.Server("for-each-ref")
	w := r.NewWatcher(trial.Reverting(sim), r.askpass(shared.tokens[trial.Nav]))
	out, code, err := w.Selfcheck(t.Context())
	r.Check(err)
	if code != 0 {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	w = r.NewWatcher(trial.Reverting(sim), r.askpass("0123456789012345678901234567890123456789"))
	out, code, err = w.Selfcheck(t.Context())
	r.Check(err)
	if code != 1 || !strings.Contains(out, "hint: ") || strings.Contains(out, "0123456789012345678901234567890123456789") {
		t.Errorf("with a wrong token: exit code %d:\n%s", code, out)
	}
	if after := r.Server("for-each-ref"); after != before {
		t.Errorf("selfcheck moved refs:\n%s\nwere:\n%s", after, before)
	}
}

// TestWrongToken: a token that is not valid is said at once, and is not told
// to anybody.
func TestWrongToken(t *testing.T) {
	r := newRepository(t, "wrong-token", "web")
	sim := r.Deploy("web")
	login, err := watcher.Askpass(filepath.Join(r.Dir, "askpass"), trial.Nav, "0123456789012345678901234567890123456789")
	r.Check(err)
	w := r.NewWatcher(trial.Reverting(sim), login)
	r.Check(w.Start())
	t.Cleanup(w.Stop)
	for end := time.Now().Add(time.Minute); !strings.Contains(w.Text(), "Authentication failed"); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("nothing is said:\n%s", w.Text())
		}
	}
	if strings.Contains(w.Text(), "0123456789012345678901234567890123456789") {
		t.Errorf("the token stands in the log:\n%s", w.Text())
	}
}

// TestProtectedBranch: Gitea refuses the revert, so the verdict goes alone and
// says why; it is not tried again.
func TestProtectedBranch(t *testing.T) {
	r := newRepository(t, "protected", "web", "api")
	r.Check(shared.Protect(t.Context(), trial.Olga, r.name, trial.Alice, trial.Olga))
	sim := r.Deploy("web", "api")
	w := r.Watch(trial.Reverting(sim), r.askpass(shared.tokens[trial.Nav]))
	c := r.Clone(trial.Alice, "http")
	commit := r.Bad(c, "web")
	note := r.Verdict(w, commit, "Nav-Verdict: FAIL", "push-refused")
	tries := tried(r)
	if tries == 0 {
		t.Fatalf("the revert was never tried:\n%s", note)
	}
	if got := r.Reverts(commit); len(got) > 0 {
		t.Fatalf("reverted on a protected branch by %v", got)
	}
	// A whole watch later, another verdict shows that the daemon went on, and
	// that it left this one alone.
	r.Check(c.Pull(t.Context(), "main"))
	other, err := c.Commit(t.Context(), "api 2\n\nNav-Watchdog: app=api deadline=60 stable=5", map[string]string{"apps/api/note": "no manifest"})
	r.Check(err)
	r.Push(c, "main")
	r.Verdict(w, other, "Nav-Verdict: CONFIRMED")
	if again := tried(r); again != tries {
		t.Errorf("tried %d times by the verdict, %d times afterwards", tries, again)
	}
	if got := r.Note("nav/verdicts", commit); !strings.Contains(got, "push-refused") {
		t.Errorf("the verdict is now\n%s", got)
	}
	t.Logf("%d pushes to the protected branch before the verdict", tries)
}

// tried counts the watcher's pushes to main that reached Gitea.
func tried(r *repository) int {
	n := 0
	for _, line := range r.Received("pushes") {
		if strings.HasPrefix(line, trial.Nav+" ") && strings.HasSuffix(line, " refs/heads/main") {
			n++
		}
	}
	return n
}
