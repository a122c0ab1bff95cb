package gitea

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/nav-watchdog/nav-watchdog/e2e/people"
	"github.com/nav-watchdog/nav-watchdog/e2e/simulator"
	"github.com/nav-watchdog/nav-watchdog/e2e/trial"
)

// TestSmokePush: a bad trailer is refused, and the pusher reads why; a good one
// is queued with the name that Gitea vouches for.
func TestSmokePush(t *testing.T) {
	for _, how := range []string{"http", "ssh"} {
		t.Run(how, func(t *testing.T) {
			r := newRepository(t, "push-"+how, "web")
			c := r.Clone(trial.Alice, how)
			commit, err := c.Commit(t.Context(), "web 2\n\nNav-Watchdog: deadline=60", nil)
			r.Check(err)
			out := r.Refused(c, "main")
			trial.Wants(t, "what the pusher reads", out, "remote: "+commit[:12]+":3:1: error: no application is named [nav-app-missing]", "remote:     hint: add app=NAME", "pre-receive hook declined")
			if n := strings.Count(out, "nav-app-missing"); n != 1 {
				t.Errorf("the finding is shown %d times:\n%s", n, out)
			}

			_, err = c.Git(t.Context(), "reset", "--hard", "origin/main")
			r.Check(err)
			commit, err = c.Commit(t.Context(), trial.Good, nil)
			r.Check(err)
			out = r.Push(c, "main")
			trial.Wants(t, "what the pusher reads", out, "remote: ", "web")
			trial.Wants(t, "the queue", r.Note("nav/watches", commit), `"by":"alice"`, `"host":"gitea"`, `"branch":"main"`, `"apps":["web"]`)
		})
	}
}

// TestForgedPusher: what a pusher sets in environment and push options is not
// asked for the name.
func TestForgedPusher(t *testing.T) {
	r := newRepository(t, "forged", "web")
	login := people.Key(shared.keys[trial.Alice], "-o SetEnv=GITEA_PUSHER_NAME=olga")
	c, err := people.New(t.Context(), t.TempDir(), trial.Alice, shared.SSH(trial.Olga, r.name), login...)
	r.Check(err)
	commit, err := c.Commit(t.Context(), trial.Good, nil)
	r.Check(err)
	r.Push(c, "main", "--push-option=GITEA_PUSHER_NAME=olga")
	trial.Wants(t, "the queue", r.Note("nav/watches", commit), `"by":"alice"`)
	// And nobody becomes the watcher that way.
	login = people.Key(shared.keys[trial.Alice], "-o SetEnv=GITEA_PUSHER_NAME="+trial.Nav)
	c, err = people.New(t.Context(), t.TempDir(), trial.Alice, shared.SSH(trial.Olga, r.name), login...)
	r.Check(err)
	_, err = c.Git(t.Context(), "notes", "--ref=nav/verdicts", "add", "-m", "x", commit)
	r.Check(err)
	trial.Wants(t, "what alice reads", r.Refused(c, "refs/notes/nav/verdicts"), "nav-notes-ref")
}

// TestArmNeedsTheRight: who may arm is asked of the pusher, not of the author.
func TestArmNeedsTheRight(t *testing.T) {
	r := newRepository(t, "arm", "web")
	const arm = "web 2\n\nNav-Watchdog: app=web mode=arm"
	files := map[string]string{"apps/web/deployment.yaml": simulator.Deployment("web", "web:2")}
	c := r.Clone(trial.Olga, "http")
	_, err := c.Commit(t.Context(), arm, files)
	r.Check(err)
	_, err = c.Git(t.Context(), "commit", "--quiet", "--amend", "--no-edit", "--author=alice <alice@example.com>")
	r.Check(err)
	trial.Wants(t, "what olga reads", r.Refused(c, "main"), "not-allowed", "olga")
	c = r.Clone(trial.Alice, "http")
	_, err = c.Commit(t.Context(), arm, files)
	r.Check(err)
	r.Push(c, "main")
}

// TestMergesOnTheWeb: merge, squash and rebase meet the same gate, and the
// person is the one who merges.
func TestMergesOnTheWeb(t *testing.T) {
	for _, how := range []string{"merge", "squash", "rebase"} {
		t.Run(how, func(t *testing.T) {
			r := newRepository(t, "web-"+how, "web")
			c := r.Clone(trial.Alice, "http")
			// A branch that is not watched may ask for arm; main asks again.
			branch(r, c, "armed", "web armed\n\nNav-Watchdog: app=web mode=arm")
			branch(r, c, "good", trial.Good)
			before := r.Server("rev-parse", "main")

			text, title := "", "bad one"
			switch how {
			case "merge", "squash": // the message is made by who merges
				text = "Nav-Watchdog: deadline=60"
				err := merge(r, "good", how, title, text)
				if err == nil {
					t.Fatalf("a bad message is merged:\n%s", r.Server("log", "-1", "main"))
				}
				trial.Wants(t, "Gitea's answer", err.Error(), "nav-app-missing")
			}
			armed := text
			if how != "rebase" {
				armed = "Nav-Watchdog: app=web mode=arm"
			}
			err := merge(r, "armed", how, "armed", armed)
			if err == nil {
				t.Fatalf("olga arms by a merge:\n%s", r.Server("log", "-1", "main"))
			}
			trial.Wants(t, "Gitea's answer", err.Error(), "not-allowed")
			if now := r.Server("rev-parse", "main"); now != before {
				t.Fatalf("main moved to %s", now)
			}

			text = "Nav-Watchdog: app=web deadline=60"
			if how == "rebase" {
				text = ""
			}
			r.Check(merge(r, "good", how, "good one", text))
			commit := r.Server("log", "-1", "--grep=Nav-Watchdog", "--first-parent", "--format=%H", "main")
			trial.Wants(t, "the queue", r.Note("nav/watches", commit), `"by":"olga"`, `"host":"gitea"`, `"branch":"main"`)
		})
	}
}

// branch pushes a branch with one commit.
func branch(r *repository, c *people.Clone, name, message string) {
	r.T.Helper()
	_, err := c.Git(r.T.Context(), "checkout", "--quiet", "-B", name, "origin/main")
	r.Check(err)
	_, err = c.Commit(r.T.Context(), message, map[string]string{name: name})
	r.Check(err)
	r.Push(c, name)
}

// merge lets olga merge a branch of alice's.
func merge(r *repository, branch, how, title, text string) error {
	r.T.Helper()
	n, err := shared.Propose(r.T.Context(), trial.Alice, trial.Olga, r.name, branch, title, "")
	var answer *StatusError
	if errors.As(err, &answer) && answer.Code == http.StatusConflict { // it is open already
		n, err = shared.Open(r.T.Context(), trial.Olga, r.name, branch)
	}
	r.Check(err)
	return shared.Merge(r.T.Context(), trial.Olga, trial.Olga, r.name, n, how, title, text)
}

// TestNotesAreGuarded: nobody but the watcher writes below refs/notes/nav/, and
// people by its own rules.
func TestNotesAreGuarded(t *testing.T) {
	r := newRepository(t, "notes", "web")
	commit := r.Server("rev-parse", "main")
	for _, who := range []string{trial.Alice, trial.Olga} {
		for _, how := range []string{"http", "ssh"} {
			for _, ref := range []string{"nav/verdicts", "nav/status", "nav/watches", "nav/other"} {
				c := r.Clone(who, how)
				trial.Wants(t, who+" "+how+" "+ref, r.Refused(c, r.AddNote(c, ref, commit, "x")), "nav-notes-ref")
			}
		}
	}
	w := r.Clone(trial.Nav, "http")
	trial.Wants(t, "the watcher", r.Refused(w, r.AddNote(w, "nav/watches", commit, "x")), "nav-notes-ref")
	w = r.Clone(trial.Nav, "http")
	r.Push(w, r.AddNote(w, "nav/verdicts", commit, "web: CONFIRMED\n\nNav-Verdict: CONFIRMED"))
	// Others pass.
	c := r.Clone(trial.Alice, "http")
	r.Push(c, r.AddNote(c, "review", commit, "good"))

	line := func(kind, by string) string {
		return fmt.Sprintf(`{"v":1,"kind":%q,"by":%q,"at":"2026-11-29T12:00:00Z","reason":"a look"}`, kind, by)
	}
	c = r.Clone(trial.Alice, "http")
	r.Push(c, r.AddNote(c, "nav/people", commit, line("freeze", trial.Alice)))
	trial.Wants(t, "alice for olga", r.Refused(c, r.AddNote(c, "nav/people", commit, line("freeze", trial.Olga))), "nav-people")
	c = r.Clone(trial.Alice, "ssh")
	trial.Wants(t, "alice thaws", r.Refused(c, r.AddNote(c, "nav/people", commit, line("thaw", trial.Alice))), "nav-people")
	c = r.Clone(trial.Olga, "ssh")
	r.Push(c, r.AddNote(c, "nav/people", commit, line("thaw", trial.Olga)))
	// Nobody takes a line away.
	_, err := c.Git(t.Context(), "notes", "--ref=nav/people", "add", "-f", "-m", line("freeze", trial.Olga), commit)
	r.Check(err)
	trial.Wants(t, "olga replaces", r.Refused(c, "refs/notes/nav/people"), "nav-people")
}
