package gitea

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/nav-watchdog/nav-watchdog/e2e/people"
)

const good = "web 2\n\nNav-Watchdog: app=web deadline=60"

// wants fails if a text lacks something.
func wants(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%s lacks %q:\n%s", what, p, text)
		}
	}
}

// TestSmokePush: a bad trailer is refused, and the pusher reads why; a good one
// is queued with the name that Gitea vouches for.
func TestSmokePush(t *testing.T) {
	for _, how := range []string{"http", "ssh"} {
		t.Run(how, func(t *testing.T) {
			r := newRepository(t, "push-"+how, "web")
			c := r.clone(alice, how)
			commit, err := c.Commit(t.Context(), "web 2\n\nNav-Watchdog: deadline=60", nil)
			r.check(err)
			out := r.refused(c, "main")
			wants(t, "what the pusher reads", out, "remote: "+commit[:12]+":3:1: error: no application is named [nav-app-missing]", "remote:     hint: add app=NAME", "pre-receive hook declined")
			if n := strings.Count(out, "nav-app-missing"); n != 1 {
				t.Errorf("the finding is shown %d times:\n%s", n, out)
			}

			_, err = c.Git(t.Context(), "reset", "--hard", "origin/main")
			r.check(err)
			commit, err = c.Commit(t.Context(), good, nil)
			r.check(err)
			out = r.push(c, "main")
			wants(t, "what the pusher reads", out, "remote: ", "web")
			wants(t, "the queue", r.note("nav/watches", commit), `"by":"alice"`, `"host":"gitea"`, `"branch":"main"`, `"apps":["web"]`)
		})
	}
}

// TestForgedPusher: what a pusher sets in environment and push options is not
// asked for the name.
func TestForgedPusher(t *testing.T) {
	r := newRepository(t, "forged", "web")
	login := people.Key(shared.keys[alice], "-o SetEnv=GITEA_PUSHER_NAME=olga")
	c, err := people.New(t.Context(), t.TempDir(), alice, shared.SSH(olga, r.name), login...)
	r.check(err)
	commit, err := c.Commit(t.Context(), good, nil)
	r.check(err)
	r.push(c, "main", "--push-option=GITEA_PUSHER_NAME=olga")
	wants(t, "the queue", r.note("nav/watches", commit), `"by":"alice"`)
	// And nobody becomes the watcher that way.
	login = people.Key(shared.keys[alice], "-o SetEnv=GITEA_PUSHER_NAME="+nav)
	c, err = people.New(t.Context(), t.TempDir(), alice, shared.SSH(olga, r.name), login...)
	r.check(err)
	_, err = c.Git(t.Context(), "notes", "--ref=nav/verdicts", "add", "-m", "x", commit)
	r.check(err)
	wants(t, "what alice reads", r.refused(c, "refs/notes/nav/verdicts"), "nav-notes-ref")
}

// TestArmNeedsTheRight: who may arm is asked of the pusher, not of the author.
func TestArmNeedsTheRight(t *testing.T) {
	r := newRepository(t, "arm", "web")
	const arm = "web 2\n\nNav-Watchdog: app=web mode=arm"
	c := r.clone(olga, "http")
	_, err := c.Git(t.Context(), "commit", "--quiet", "--allow-empty", "--author=alice <alice@example.com>", "-m", arm)
	r.check(err)
	wants(t, "what olga reads", r.refused(c, "main"), "not-allowed", "olga")
	c = r.clone(alice, "http")
	_, err = c.Commit(t.Context(), arm, nil)
	r.check(err)
	r.push(c, "main")
}

// TestMergesOnTheWeb: merge, squash and rebase meet the same gate, and the
// person is the one who merges.
func TestMergesOnTheWeb(t *testing.T) {
	for _, how := range []string{"merge", "squash", "rebase"} {
		t.Run(how, func(t *testing.T) {
			r := newRepository(t, "web-"+how, "web")
			c := r.clone(alice, "http")
			// A branch that is not watched may ask for arm; main asks again.
			branch(r, c, "armed", "web armed\n\nNav-Watchdog: app=web mode=arm")
			branch(r, c, "good", good)
			before := r.server("rev-parse", "main")

			text, title := "", "bad one"
			switch how {
			case "merge", "squash": // the message is made by who merges
				text = "Nav-Watchdog: deadline=60"
				err := merge(r, "good", how, title, text)
				if err == nil {
					t.Fatalf("a bad message is merged:\n%s", r.server("log", "-1", "main"))
				}
				wants(t, "Gitea's answer", err.Error(), "nav-app-missing")
			}
			armed := text
			if how != "rebase" {
				armed = "Nav-Watchdog: app=web mode=arm"
			}
			err := merge(r, "armed", how, "armed", armed)
			if err == nil {
				t.Fatalf("olga arms by a merge:\n%s", r.server("log", "-1", "main"))
			}
			wants(t, "Gitea's answer", err.Error(), "not-allowed")
			if now := r.server("rev-parse", "main"); now != before {
				t.Fatalf("main moved to %s", now)
			}

			text = "Nav-Watchdog: app=web deadline=60"
			if how == "rebase" {
				text = ""
			}
			r.check(merge(r, "good", how, "good one", text))
			commit := r.server("log", "-1", "--grep=Nav-Watchdog", "--first-parent", "--format=%H", "main")
			wants(t, "the queue", r.note("nav/watches", commit), `"by":"olga"`, `"host":"gitea"`, `"branch":"main"`)
		})
	}
}

// branch pushes a branch with one commit.
func branch(r *repository, c *people.Clone, name, message string) {
	r.t.Helper()
	_, err := c.Git(r.t.Context(), "checkout", "--quiet", "-B", name, "origin/main")
	r.check(err)
	_, err = c.Commit(r.t.Context(), message, map[string]string{name: name})
	r.check(err)
	r.push(c, name)
}

// merge lets olga merge a branch of alice's.
func merge(r *repository, branch, how, title, text string) error {
	r.t.Helper()
	n, err := shared.Propose(r.t.Context(), alice, olga, r.name, branch, title, "")
	var answer *StatusError
	if errors.As(err, &answer) && answer.Code == http.StatusConflict { // it is open already
		n, err = shared.Open(r.t.Context(), olga, r.name, branch)
	}
	r.check(err)
	return shared.Merge(r.t.Context(), olga, olga, r.name, n, how, title, text)
}

// TestNotesAreGuarded: nobody but the watcher writes below refs/notes/nav/, and
// people by its own rules.
func TestNotesAreGuarded(t *testing.T) {
	r := newRepository(t, "notes", "web")
	commit := r.server("rev-parse", "main")
	add := func(c *people.Clone, ref, text string) string {
		_, err := c.Git(t.Context(), "fetch", "--quiet", "origin", "+refs/notes/nav/*:refs/notes/nav/*")
		r.check(err)
		_, err = c.Git(t.Context(), "notes", "--ref="+ref, "append", "-m", text, commit)
		r.check(err)
		return "refs/notes/" + ref
	}
	for _, who := range []string{alice, olga} {
		for _, how := range []string{"http", "ssh"} {
			for _, ref := range []string{"nav/verdicts", "nav/status", "nav/watches", "nav/other"} {
				c := r.clone(who, how)
				wants(t, who+" "+how+" "+ref, r.refused(c, add(c, ref, "x")), "nav-notes-ref")
			}
		}
	}
	w := r.clone(nav, "http")
	wants(t, "the watcher", r.refused(w, add(w, "nav/watches", "x")), "nav-notes-ref")
	w = r.clone(nav, "http")
	r.push(w, add(w, "nav/verdicts", "web: CONFIRMED\n\nNav-Verdict: CONFIRMED"))
	// Others pass.
	c := r.clone(alice, "http")
	r.push(c, add(c, "review", "good"))

	line := func(kind, by string) string {
		return fmt.Sprintf(`{"v":1,"kind":%q,"by":%q,"at":"2026-11-29T12:00:00Z","reason":"a look"}`, kind, by)
	}
	c = r.clone(alice, "http")
	r.push(c, add(c, "nav/people", line("freeze", alice)))
	wants(t, "alice for olga", r.refused(c, add(c, "nav/people", line("freeze", olga))), "nav-people")
	c = r.clone(alice, "ssh")
	wants(t, "alice thaws", r.refused(c, add(c, "nav/people", line("thaw", alice))), "nav-people")
	c = r.clone(olga, "ssh")
	r.push(c, add(c, "nav/people", line("thaw", olga)))
	// Nobody takes a line away.
	_, err := c.Git(t.Context(), "notes", "--ref=nav/people", "add", "-f", "-m", line("freeze", olga), commit)
	r.check(err)
	wants(t, "olga replaces", r.refused(c, "refs/notes/nav/people"), "nav-people")
}
