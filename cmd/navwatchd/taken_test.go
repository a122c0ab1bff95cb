package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/argosim"
	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
)

// Of many watched commits, of which later ones overwrote all, only those that
// somebody took back are superseded: the one that a revert names, and the one
// whose file is as it was before.
func TestManyOverwritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir(), openPolicy, argosim.Options{}, "web", "api")
	for _, app := range []string{"web", "api"} {
		check(t, w.app(simple(app)))
	}
	check(t, w.launch("d"))
	check(t, w.advance(20*time.Second))
	put := func(app, image, message string) string {
		return w.srv.Commit(navtest.Commit{Message: message, Files: navtest.Files{manifestPath(app): navtest.Text(deployment(app, image))}})
	}
	const trailer = "\n\nNav-Watchdog: app=%s reach=3600 deadline=3600\n"
	var commits []string
	for i := range 12 {
		commits = append(commits, put("web", fmt.Sprintf("web:%d", i+2), fmt.Sprintf("bump %d"+trailer, i, "web")))
	}
	restored := put("api", "api:2", fmt.Sprintf("bump"+trailer, "api"))
	put("api", "api:1", "the old one again\n")
	put("web", "web:99", "Revert \"bump 3\"\n\nThis reverts commit "+commits[3]+".\n")
	check(t, w.advance(time.Minute))
	for i, c := range append(commits, restored) {
		note := w.srv.Git("notes", "--ref=nav/verdicts", "show", c)
		if got, want := strings.Contains(note, "Nav-Verdict: SUPERSEDED"), i == 3 || c == restored; got != want {
			t.Errorf("commit %d: superseded %v, want %v:\n%s", i, got, want, note)
		}
	}
}
