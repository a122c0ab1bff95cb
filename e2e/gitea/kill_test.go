package gitea

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/e2e/trial"
)

// TestKilled: navwatchd is killed with SIGKILL at random moments, again and
// again, while a bad commit must be reverted. Whatever is lost on the way, the
// commit is reverted once, and its verdict stands.
//
// The first kill comes after the watch was stored as reached, and the next commit
// after the new daemon has looked: what stood before a commit that nobody had
// stored is known to no later daemon, which then reverts nothing (the gate
// baseline).
func TestKilled(t *testing.T) {
	const rounds = 20
	var apps []string
	for i := range rounds {
		apps = append(apps, fmt.Sprintf("app-%02d", i))
	}
	r := newRepository(t, "killed", apps...)
	sim := r.Deploy(apps...)
	w := r.Watch(trial.Reverting(sim), r.askpass(shared.tokens[trial.Nav]))
	c := r.Clone(trial.Alice, "http")
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	commits := map[string]string{}
	kills := map[string]int{}
	for i, app := range apps {
		commit := r.Bad(c, app)
		commits[app] = commit
		r.Verdict(w, commit, "Nav-Reached: ")
		// The deadline is 5 s, a pass comes every second: most kills hit a pass, and
		// some a push. A third comes while the recovery is watched.
		if i%3 == 2 {
			r.Verdict(w, commit, "Nav-Verdict: REVERTED")
		}
		time.Sleep(time.Duration(random.Int64N(int64(9 * time.Second))))
		kills[moment(r, commit)]++
		w.Kill()
		r.Check(w.Again(t.Context()))
		r.Verdict(w, commit, "Nav-Verdict: REVERTED")
	}
	for _, app := range apps {
		commit := commits[app]
		r.Verdict(w, commit, "Nav-Verdict: REVERTED", "Nav-Recovery: RECOVERED")
		if got := r.Reverts(commit); len(got) != 1 {
			t.Errorf("%s: %d reverts of %s: %v", app, len(got), commit, got)
		}
	}
	t.Logf("%d kills: %v", rounds, kills)
}

// TestKilledInPush: navwatchd is killed while Gitea has the push of the revert in
// its hands, before it decided (pre-receive) or when refs have moved and nobody
// has been told (post-receive).
func TestKilledInPush(t *testing.T) {
	stages := map[string]string{"one": "pre-receive", "two": "post-receive", "three": "pre-receive", "four": "post-receive"}
	apps := slices.Sorted(maps.Keys(stages))
	r := newRepository(t, "killed-in-push", apps...)
	sim := r.Deploy(apps...)
	w := r.Watch(trial.Reverting(sim), r.askpass(shared.tokens[trial.Nav]))
	c := r.Clone(trial.Alice, "http")
	commits := map[string]string{}
	for _, app := range apps {
		marker := filepath.Join(r.Dir, "received", app)
		slow := filepath.Join(r.Bare, "hooks", stages[app]+".d", "20-slow")
		r.Check(os.WriteFile(slow, fmt.Appendf(nil, `#!/bin/sh
if grep -q refs/heads/main && test "$GITEA_PUSHER_NAME" = %s; then touch %s; sleep 1; fi
`, trial.Nav, marker), 0o755))
		commits[app] = r.Bad(c, app)
		for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
			if _, err := os.Stat(marker); err == nil {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("no revert of %s came:\n%s", app, w.Text())
			}
		}
		w.Kill()
		r.Check(os.Remove(slow), w.Again(t.Context()))
		before := tried(r)
		r.Verdict(w, commits[app], "Nav-Verdict: REVERTED", "Nav-Recovery: RECOVERED")
		t.Logf("%s, killed in %s: pushed %d times more", app, stages[app], tried(r)-before)
	}
	for app, commit := range commits {
		if got := r.Reverts(commit); len(got) != 1 {
			t.Errorf("%s: %d reverts of %s: %v", app, len(got), commit, got)
		}
	}
}

// moment says how far a watch was when the watcher was killed.
func moment(r *repository, commit string) string {
	note := r.Note("nav/verdicts", commit)
	switch {
	case strings.Contains(note, "Nav-Recovery: RECOVERED"):
		return "recovered"
	case strings.Contains(note, "Nav-Verdict: REVERTED"):
		return "reverted"
	}
	return "waiting"
}
