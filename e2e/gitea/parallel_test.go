package gitea

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/nav-watchdog/nav-watchdog/e2e/people"
	"github.com/nav-watchdog/nav-watchdog/e2e/trial"
)

// TestParallel: twenty pushes at once, while two daemons write and the repository
// is packed. Each commit is queued once and judged once, and what must be reverted
// is reverted once.
func TestParallel(t *testing.T) {
	const pushes = 20
	r := newRepository(t, "parallel", "web", "api")
	olga := r.Clone(trial.Olga, "http")
	policy := strings.Replace(r.Server("show", "main:.nav-watchdog.yaml"), "branches: [main]", `branches: ["**"]`, 1)
	_, err := olga.Commit(t.Context(), "every branch is watched", map[string]string{".nav-watchdog.yaml": policy + "\n"})
	r.Check(err)
	r.Push(olga, "main")
	sim := r.Deploy("web", "api")
	w := r.Watch(trial.Reverting(sim), r.askpass(shared.tokens[trial.Nav]))
	second := *r.Repository
	second.Dir = filepath.Join(r.Dir, "second")
	r.Check(os.Mkdir(second.Dir, 0o755))
	other := second.Watch(trial.Reverting(sim), r.askpass(shared.tokens[trial.Nav]))

	clones := make([]*people.Clone, pushes)
	commits := make([]string, pushes)
	for i := range clones {
		clones[i] = r.Clone(trial.Alice, []string{"http", "ssh"}[i%2])
		commits[i], err = clones[i].Commit(t.Context(), fmt.Sprintf("topic %d\n\nNav-Watchdog: app=web reach=20 deadline=5", i),
			map[string]string{fmt.Sprintf("topic-%d", i): "x"})
		r.Check(err)
	}
	var all sync.WaitGroup
	for i, c := range clones {
		all.Go(func() {
			if out, err := c.Git(t.Context(), "push", "origin", fmt.Sprintf("HEAD:refs/heads/topic-%d", i)); err != nil {
				t.Errorf("push %d: %v\n%s", i, err, out)
			}
		})
	}
	bad := r.Bad(r.Clone(trial.Alice, "http"), "api")
	r.Server("gc", "--quiet")
	all.Wait()
	r.Server("gc", "--quiet")
	for i, c := range commits {
		if lines := strings.Split(strings.TrimSpace(r.Note("nav/watches", c)), "\n"); len(lines) != 1 || !strings.Contains(lines[0], `"by":"alice"`) {
			t.Errorf("push %d was queued as %q", i, lines)
		}
		note := r.Verdict(w, c, "Nav-Verdict: NOT_REACHED")
		if n := strings.Count(note, " verdict NOT_REACHED"); n != 1 {
			t.Errorf("push %d was judged %d times:\n%s", i, n, note)
		}
	}
	r.Verdict(w, bad, "Nav-Verdict: REVERTED", "Nav-Recovery: RECOVERED")
	if got := r.Reverts(bad); len(got) != 1 {
		t.Errorf("%d reverts: %v", len(got), got)
	}
	r.Check(w.Running(), other.Running())
	if !strings.Contains(w.Text()+other.Text(), "does another daemon run") {
		t.Error("neither daemon noticed that it is not alone")
	}
}
