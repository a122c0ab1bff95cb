package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nav-watchdog/nav-watchdog/internal/argosim"
	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// pushing puts something in place of a daemon's pushes.
type pushing struct {
	remote
	push func(ctx context.Context, ups []gitstore.RefUpdate, real func() error) error
}

func (p pushing) Push(ctx context.Context, ups []gitstore.RefUpdate) error {
	return p.push(ctx, ups, func() error { return p.remote.Push(ctx, ups) })
}

// unknown is what a push ends in when the line broke and the look after it
// failed, too.
func unknown() error {
	return &gitstore.PushError{Kind: gitstore.ErrUnknown, Cause: fmt.Errorf("the line broke")}
}

// touches reports whether a push moves a ref that starts so.
func touches(ups []gitstore.RefUpdate, prefix string) bool {
	return slices.ContainsFunc(ups, func(u gitstore.RefUpdate) bool { return strings.HasPrefix(u.Ref, prefix) })
}

// crashWorld has two Applications that are well; no daemon is started yet.
func crashWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, t.TempDir(), openPolicy, argosim.Options{Poll: 30 * time.Second}, "web", "api")
	for _, a := range []string{"web", "api"} {
		if err := w.app(simple(a)); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// breakAndMend pushes a commit that must be reverted, and one that must be
// confirmed.
func (w *world) breakAndMend() (bad, good string) {
	commit := func(app, image string) string {
		w.srv.Clock = w.now
		id := w.srv.Commit(navtest.Commit{
			Message: app + "\n\nNav-Watchdog: app=" + app + " deadline=60 stable=30 mode=arm\n",
			Files:   navtest.Files{manifestPath(app): navtest.Text(deployment(app, image))},
		})
		w.queue(id, "main", "alice")
		w.webhook("main")
		return id
	}
	return commit("web", "web:does-not-exist"), commit("api", "api:2")
}

// ended is what must be the same whatever was lost on the way.
type ended struct {
	Verdict  verdict.Verdict
	Recovery verdict.Recovery
	Held     []string
}

func (w *world) ended(t *testing.T, commit, app string) ended {
	t.Helper()
	s, err := w.stanza(commit, app)
	if err != nil {
		t.Fatalf("%v\n%s", err, w.log.String())
	}
	e := ended{Verdict: s.Verdict, Recovery: s.Recovery}
	for _, g := range s.Gates {
		if !g.Pass {
			e.Held = append(e.Held, g.Name)
		}
	}
	return e
}

// crashEnd is when everything of a crashWorld is over, a pass that was lost
// and a restart included.
const crashEnd = 300 * time.Second

// TestCrash is the crash table: each push of the daemon is lost, or arrives
// without the daemon hearing of it; then the daemon goes on, or starts again with
// its mirror or without it. The end is always the same: one revert, no verdict
// lost.
func TestCrash(t *testing.T) {
	reached, pushes := countPushes(t)
	if pushes < 5 {
		t.Fatalf("only %d pushes: the table would be too small", pushes)
	}
	for n := 1; n <= pushes; n++ {
		for _, arrives := range []bool{false, true} {
			for _, after := range []string{"goes on", "restarts", "restarts without mirror"} {
				t.Run(fmt.Sprintf("push %d arrives=%v %s", n, arrives, after), func(t *testing.T) {
					t.Parallel()
					// What stood before the commit is known to nobody once a daemon
					// dies that could not store it: the gates then hold.
					forgets := after != "goes on" && !arrives && n <= reached
					crash(t, n, arrives, after, forgets)
				})
			}
		}
	}
}

// countPushes runs without a fault, and says which push stores that the bad
// commit was reached, and how many there are.
func countPushes(t *testing.T) (reached, all int) {
	w := crashWorld(t)
	bad := ""
	w.between = func(_ string, r remote) remote {
		return pushing{r, func(_ context.Context, _ []gitstore.RefUpdate, real func() error) error {
			all++
			err := real()
			if s, serr := w.stanza(bad, "web"); bad != "" && serr == nil && reached == 0 && !s.Track.ReachedAt.IsZero() {
				reached = all
			}
			return err
		}}
	}
	check(t, w.launch("d"), w.advance(30*time.Second))
	bad, good := w.breakAndMend()
	check(t, w.advance(crashEnd))
	if got, want := w.ended(t, bad, "web"), (ended{Verdict: verdict.Reverted, Recovery: verdict.Recovered}); !cmp.Equal(got, want) {
		t.Fatalf("without a fault: %s", cmp.Diff(want, got))
	}
	if got := w.ended(t, good, "api"); got.Verdict != verdict.Confirmed {
		t.Fatalf("without a fault: %+v", got)
	}
	return reached, all
}

func check(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func crash(t *testing.T, n int, arrives bool, after string, forgets bool) {
	w := crashWorld(t)
	count, down := 0, false
	w.between = func(_ string, r remote) remote {
		return pushing{r, func(_ context.Context, _ []gitstore.RefUpdate, real func() error) error {
			if count++; count != n {
				return real()
			}
			down = true
			if arrives {
				check(t, real())
			}
			return unknown()
		}}
	}
	check(t, w.launch("d"))
	step := func(to time.Duration) {
		for w.now.Sub(w.start) < to {
			err := w.advance(w.now.Sub(w.start) + w.poll)
			if (err != nil) != down {
				t.Fatalf("a pass with a fault %v ended in %v", down, err)
			}
			if !down {
				continue
			}
			down = false
			if after == "restarts without mirror" {
				check(t, w.forget("d"))
			}
			if after != "goes on" {
				check(t, w.launch("d"))
			}
		}
	}
	step(30 * time.Second)
	bad, good := w.breakAndMend()
	step(crashEnd)
	if count < n {
		t.Fatalf("there was no push %d", n)
	}
	w.mustHaveEnded(t, bad, good, forgets)
}

func (w *world) mustHaveEnded(t *testing.T, bad, good string, forgets bool) {
	t.Helper()
	want := ended{Verdict: verdict.Reverted, Recovery: verdict.Recovered}
	reverts := 1
	if forgets {
		want, reverts = ended{Verdict: verdict.Fail, Held: []string{"baseline", "attribution"}}, 0
	}
	got := w.ended(t, bad, "web")
	if forgets && got.Verdict == verdict.Reverted {
		want, reverts = ended{Verdict: verdict.Reverted, Recovery: verdict.Recovered}, 1
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the bad commit (-want +got):\n%s\n%s", d, w.log.String())
	}
	if got := w.ended(t, good, "api"); got.Verdict != verdict.Confirmed {
		t.Errorf("the good commit: %+v\n%s", got, w.log.String())
	}
	list, err := w.reverts("main")
	check(t, err)
	if len(list) != reverts {
		t.Errorf("%d reverts, want %d\n%s", len(list), reverts, w.log.String())
	}
}

// moveTip lets somebody push just before the daemon pushes its revert.
func moveTip(w *world, app, image string) func(string, remote) remote {
	moved := false
	return func(_ string, r remote) remote {
		return pushing{r, func(_ context.Context, ups []gitstore.RefUpdate, real func() error) error {
			if touches(ups, "refs/heads/") && !moved {
				moved = true
				w.srv.Clock = w.now
				w.srv.Put("meanwhile", navtest.Files{manifestPath(app): navtest.Text(deployment(app, image))})
			}
			return real()
		}}
	}
}

// TestTipMoves: the branch moved between fetch and push. The revert is not
// forced; the watch is judged again on the new tip, with every gate.
func TestTipMoves(t *testing.T) {
	for _, c := range []struct {
		app     string
		want    ended
		reverts int
	}{
		{"api", ended{Verdict: verdict.Reverted, Recovery: verdict.Recovered}, 1},
		{"web", ended{Verdict: verdict.Fail, Held: []string{"exact"}}, 0},
	} {
		t.Run(c.app, func(t *testing.T) {
			t.Parallel()
			w := crashWorld(t)
			w.between = moveTip(w, c.app, c.app+":3")
			check(t, w.launch("d"), w.advance(30*time.Second))
			bad, _ := w.breakAndMend()
			if err := w.advance(crashEnd); err == nil || !strings.Contains(err.Error(), "moved") {
				t.Errorf("the pass that lost the race ended in %v", err)
			}
			if d := cmp.Diff(c.want, w.ended(t, bad, "web")); d != "" {
				t.Errorf("(-want +got):\n%s\n%s", d, w.log.String())
			}
			list, err := w.reverts("main")
			check(t, err)
			if len(list) != c.reverts {
				t.Errorf("%d reverts, want %d", len(list), c.reverts)
			}
			if got := w.srv.Git("show", "main:"+manifestPath(c.app)); !strings.Contains(got, c.app+":3") {
				t.Errorf("what was pushed meanwhile is gone:\n%s", got)
			}
		})
	}
}

// TestTwoDaemons: two daemons serve one repository by mistake, and one decides
// while the other is about to push: one compare-and-swap loses. There is one
// revert, and both notice.
func TestTwoDaemons(t *testing.T) {
	t.Parallel()
	w := crashWorld(t)
	within := false
	w.between = func(name string, r remote) remote {
		return pushing{r, func(ctx context.Context, _ []gitstore.RefUpdate, real func() error) error {
			if other := w.daemons["b"]; name == "a" && other != nil && !within {
				within = true
				if err := other.d.Pass(ctx); err != nil {
					t.Errorf("the daemon that is first: %v", err)
				}
				within = false
			}
			return real()
		}}
	}
	check(t, w.launch("a"), w.launch("b"))
	lost := w.advance(30 * time.Second)
	bad, good := w.breakAndMend()
	if err := w.advance(crashEnd); err == nil || !strings.Contains(err.Error(), "a at ") {
		t.Errorf("no push of a lost against b: %v, %v", lost, err)
	}
	w.mustHaveEnded(t, bad, good, false)
	if n := strings.Count(w.log.String(), "does another daemon run"); n < 2 {
		t.Errorf("%d daemons noticed that they are not alone, want both", n)
	}
}

// TestResetCrash: the write of `circuit reset` is lost, or arrives unheard; said
// again, it counts.
func TestResetCrash(t *testing.T) {
	for _, arrives := range []bool{false, true} {
		t.Run(fmt.Sprintf("arrives=%v", arrives), func(t *testing.T) {
			t.Parallel()
			w := crashWorld(t)
			repo, rem, err := openMirror(t.Context(), env{environ: w.srv.Env()}, w.setOf("person"))
			check(t, err)
			failed := false
			s := &store{repo: repo, watcher: w.set.Watcher, remote: pushing{rem, func(_ context.Context, _ []gitstore.RefUpdate, real func() error) error {
				if failed {
					return real()
				}
				failed = true
				if arrives {
					check(t, real())
				}
				return unknown()
			}}}
			line := verdict.PeopleLine{Kind: verdict.PeopleReset, By: "olga", Reason: "looked", At: w.now, App: "web"}
			if err := appendPeople(t.Context(), s, line); err == nil {
				t.Error("a write that was not heard of counts as done")
			}
			check(t, appendPeople(t.Context(), s, line))
			_, err = s.Fetch(t.Context())
			check(t, err)
			notes, err := s.People(t.Context())
			if err != nil || len(notes) != 1 {
				t.Fatalf("%d notes, %v", len(notes), err)
			}
			got, err := verdict.ParsePeople(notes[0])
			check(t, err)
			if len(got) == 0 || len(got) > 2 || got[0].App != "web" || got[0].By != "olga" {
				t.Errorf("people holds %+v", got)
			}
		})
	}
}
