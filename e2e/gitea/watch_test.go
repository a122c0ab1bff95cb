package gitea

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/e2e/watcher"
)

// TestSmokeRevert: navwatchd over HTTP with a token judges a bad image, and
// verdict and revert reach Gitea in one push and one transaction.
func TestSmokeRevert(t *testing.T) {
	r := newRepository(t, "revert", "web")
	sim := r.deploy("web")
	r.check(sim.Await(t.Context(), "web", "Synced", "Healthy"))
	w := r.watch(reverting(sim), r.askpass())
	commit := r.bad(r.clone(alice, "http"), "web")
	r.verdict(w, commit, "Nav-Verdict: REVERTED", "Nav-Recovery: RECOVERED")

	reverts := r.reverts(commit)
	if len(reverts) != 1 {
		t.Fatalf("%d reverts of %s:\n%s", len(reverts), commit, r.server("log", "--format=%H %s", "main"))
	}
	if tree, before := r.server("rev-parse", reverts[0]+"^{tree}"), r.server("rev-parse", commit+"^^{tree}"); tree != before {
		t.Errorf("the revert's tree is %s, before the commit it was %s", tree, before)
	}
	together(t, r, reverts[0])
	secret(t, r, w)
}

// together checks that the push that moved main to a commit also moved the
// verdicts, in one transaction.
func together(t *testing.T, r *repository, commit string) {
	t.Helper()
	pushed, moved := "", ""
	for _, line := range r.received("pushes") {
		if f := strings.Fields(line); len(f) == 5 && f[0] == nav && f[3] == commit && f[4] == "refs/heads/main" {
			pushed = f[1]
		}
	}
	for _, line := range r.received("transactions") {
		if f := strings.Fields(line); len(f) == 4 && f[2] == commit && f[3] == "refs/heads/main" {
			moved = f[0]
		}
	}
	if pushed == "" || !slices.ContainsFunc(r.received("pushes"), func(l string) bool {
		return strings.HasPrefix(l, nav+" "+pushed+" ") && strings.HasSuffix(l, " refs/notes/nav/verdicts")
	}) {
		t.Errorf("the revert did not come with a verdict:\n%s", strings.Join(r.received("pushes"), "\n"))
	}
	if moved == "" || !slices.ContainsFunc(r.received("transactions"), func(l string) bool {
		return strings.HasPrefix(l, moved+" ") && strings.HasSuffix(l, " refs/notes/nav/verdicts")
	}) {
		t.Errorf("branch and verdict did not move in one transaction:\n%s", strings.Join(r.received("transactions"), "\n"))
	}
}

// secret looks for the token wherever the watcher leaves something.
func secret(t *testing.T, r *repository, w *watcher.Watcher) {
	t.Helper()
	token := shared.tokens[nav]
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
		if strings.Contains(r.server("log", "-p", ref), token) {
			t.Errorf("the token stands in %s", ref)
		}
	}
}

// TestCredentialHelper: git's own credential store will do as well.
func TestCredentialHelper(t *testing.T) {
	r := newRepository(t, "helper", "web")
	sim := r.deploy("web")
	r.check(sim.Await(t.Context(), "web", "Synced", "Healthy"))
	login, err := watcher.Stored(filepath.Join(r.dir, "stored"), shared.URL, nav, shared.tokens[nav])
	r.check(err)
	w := r.watch(reverting(sim), login)
	c := r.clone(alice, "http")
	commit, err := c.Commit(t.Context(), "web 2\n\nNav-Watchdog: app=web deadline=60 stable=2", map[string]string{"apps/web/replicas": "no manifest"})
	r.check(err)
	r.push(c, "main")
	r.verdict(w, commit, "Nav-Verdict: CONFIRMED")
	secret(t, r, w)
}

// TestWrongToken: a token that is not valid is said at once, and is not told
// to anybody.
func TestWrongToken(t *testing.T) {
	r := newRepository(t, "wrong-token", "web")
	sim := r.deploy("web")
	login, err := watcher.Askpass(filepath.Join(r.dir, "askpass"), nav, "0123456789012345678901234567890123456789")
	r.check(err)
	w := r.newWatcher(reverting(sim), login)
	r.check(w.Start())
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
	r.check(shared.Protect(t.Context(), olga, r.name, alice, olga))
	sim := r.deploy("web", "api")
	r.check(sim.Await(t.Context(), "web", "Synced", "Healthy"), sim.Await(t.Context(), "api", "Synced", "Healthy"))
	w := r.watch(reverting(sim), r.askpass())
	c := r.clone(alice, "http")
	commit := r.bad(c, "web")
	note := r.verdict(w, commit, "Nav-Verdict: FAIL", "push-refused")
	tries := tried(r)
	if tries == 0 {
		t.Fatalf("the revert was never tried:\n%s", note)
	}
	if got := r.reverts(commit); len(got) > 0 {
		t.Fatalf("reverted on a protected branch by %v", got)
	}
	// A whole watch later, another verdict shows that the daemon went on, and
	// that it left this one alone.
	r.check(c.Pull(t.Context(), "main"))
	other, err := c.Commit(t.Context(), "api 2\n\nNav-Watchdog: app=api deadline=60 stable=5", map[string]string{"apps/api/note": "no manifest"})
	r.check(err)
	r.push(c, "main")
	r.verdict(w, other, "Nav-Verdict: CONFIRMED")
	if again := tried(r); again != tries {
		t.Errorf("tried %d times by the verdict, %d times afterwards", tries, again)
	}
	if got := r.note("nav/verdicts", commit); !strings.Contains(got, "push-refused") {
		t.Errorf("the verdict is now\n%s", got)
	}
	t.Logf("%d pushes to the protected branch before the verdict", tries)
}

// tried counts the watcher's pushes to main that reached Gitea.
func tried(r *repository) int {
	n := 0
	for _, line := range r.received("pushes") {
		if strings.HasPrefix(line, nav+" ") && strings.HasSuffix(line, " refs/heads/main") {
			n++
		}
	}
	return n
}
