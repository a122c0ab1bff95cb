package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/argosim"
	"github.com/nav-watchdog/nav-watchdog/internal/config"
	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
	"github.com/nav-watchdog/nav-watchdog/internal/watchd"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// TestCrashOnTheLine is the crash table with git's own server: each push of the
// daemon in turn meets a line that breaks, in the request or in the answer, and
// perhaps nobody who could be asked what became of it. The daemon goes on, or
// starts again.
func TestCrashOnTheLine(t *testing.T) {
	reached, pushes := countPushes(t)
	for n := 1; n <= pushes; n++ {
		for i, fault := range []struct {
			what          string
			f             navtest.Fault
			deaf, arrives bool
		}{
			{"request", navtest.Fault{Ask: 200}, false, false},
			{"answer", navtest.Fault{Answer: 1}, false, true},
			{"answer, deaf", navtest.Fault{Answer: 1}, true, true},
		} {
			restarts := (n+i)%2 == 0
			t.Run(fmt.Sprintf("push %d %s restarts=%v", n, fault.what, restarts), func(t *testing.T) {
				t.Parallel()
				w := crashWorld(t)
				s := w.srv.Serve(0)
				w.set.Repository = s.URL
				count := 0
				w.between = func(_ string, r remote) remote {
					return pushing{r, func(_ context.Context, _ []gitstore.RefUpdate, real func() error) error {
						if count++; count != n {
							return real()
						}
						begun := false
						s.Break(func(q navtest.Request) navtest.Fault {
							if begun && fault.deaf && q.Phase == "refs for upload-pack" {
								return navtest.Fault{Down: true}
							}
							if q.Phase != "receive-pack" {
								return navtest.Fault{}
							}
							begun = true
							return fault.f
						})
						defer s.Break(nil)
						return real()
					}}
				}
				check(t, w.launch("d"))
				step := func(to time.Duration) {
					for w.now.Sub(w.start) < to {
						if err := w.advance(w.now.Sub(w.start) + w.poll); err != nil && restarts {
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
				if len(w.daemons["d"].errs) == 0 && !restarts && (fault.deaf || !fault.arrives) {
					t.Error("no pass said that a push was lost")
				}
				w.mustHaveEnded(t, bad, good, restarts && !fault.arrives && n <= reached)
			})
		}
	}
}

// TestPushesInParallel: twenty people push at once, through the hooks, while two
// daemons write and everything is packed in between. Each commit is queued once
// and judged once.
func TestPushesInParallel(t *testing.T) {
	t.Parallel()
	const people = 20
	w := newWorld(t, t.TempDir(), openPolicy+"branches: [\"**\"]\n", argosim.Options{Poll: 30 * time.Second}, "web")
	check(t, w.app(simple("web")))
	w.srv.Git("config", "nav.host", "plain")
	w.srv.Git("config", "nav.watcher", "navbot")
	self, err := exec.LookPath("navwatchd")
	check(t, err)
	hooks := filepath.Join(w.srv.Dir, "hooks")
	check(t, os.MkdirAll(hooks, 0o755))
	for _, name := range []string{"pre-receive", "post-receive"} {
		check(t, os.WriteFile(filepath.Join(hooks, name), []byte("#!/bin/sh\nexec '"+self+"' drill-hook "+name+"\n"), 0o755))
	}
	as := func(who string) []string {
		return []string{drillUser + "=" + who, drillNow + "=" + w.start.Format(time.RFC3339)}
	}
	w.env = as("navbot")
	check(t, w.launch("a"), w.launch("b"))
	_ = w.advance(20 * time.Second) // one of two loses now and then
	commits := make([]string, people)
	clones := make([]*navtest.Repo, people)
	for i := range people {
		clones[i] = w.srv.Clone("--bare")
		commits[i] = clones[i].Commit(navtest.Commit{
			Branch:  fmt.Sprintf("topic-%d", i),
			Parents: []string{clones[i].Tip("main")},
			Message: fmt.Sprintf("topic %d\n\nNav-Watchdog: app=web deadline=60 stable=30 reach=60\n", i),
			Files:   navtest.Files{fmt.Sprintf("topic-%d", i): navtest.Text("x")},
		})
	}
	var pushed sync.WaitGroup
	for i := range people {
		pushed.Go(func() {
			cmd := exec.Command("git", "push", "-q", w.srv.Dir, fmt.Sprintf("topic-%d", i))
			cmd.Dir, cmd.Env = clones[i].Dir, append(clones[i].Env(), as(fmt.Sprintf("person-%d", i))...)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("push %d: %v\n%s", i, err, out)
			}
		})
	}
	over := make(chan struct{})
	go func() { pushed.Wait(); close(over) }()
	for done := false; !done; {
		select {
		case <-over:
			done = true
		default:
		}
		_ = w.advance(w.now.Sub(w.start) + time.Second) // who loses a race says so, and tries again
		w.srv.Git("gc", "--quiet")
	}
	for range 40 {
		_ = w.advance(w.now.Sub(w.start) + w.poll)
	}
	notes, err := gitstore.Open(t.Context(), w.srv.Dir, gitstore.Options{Env: w.srv.Env()})
	check(t, err)
	queued, err := notes.NotesOf(t.Context(), watchesRef, commits)
	check(t, err)
	for i, c := range commits {
		lines, err := verdict.ParseArrivals(queued[c])
		if err != nil || len(lines) != 1 || lines[0].By != fmt.Sprintf("person-%d", i) {
			t.Errorf("commit %d was queued as %q, %v", i, queued[c], err)
		}
		s, err := w.stanza(c, "web")
		if err != nil || s.Verdict != verdict.NotReached {
			t.Errorf("commit %d: %+v, %v", i, s.Verdict, err)
		}
		n := 0
		for _, e := range s.Events {
			if e.Kind == "verdict" {
				n++
			}
		}
		if n != 1 {
			t.Errorf("commit %d was judged %d times", i, n)
		}
	}
	if out := w.srv.Git("fsck"); strings.Contains(out, "error") {
		t.Errorf("fsck: %s", out)
	}
}

// localRemote is the store's own repository as its remote: a heartbeat without
// the line.
type localRemote struct{ *gitstore.Repo }

func (r localRemote) Fetch(ctx context.Context) (gitstore.RemoteRefs, error) {
	refs, err := r.Refs(ctx, "refs/")
	return gitstore.RemoteRefs{Refs: refs, HEAD: "refs/heads/main"}, err
}

func (r localRemote) Push(ctx context.Context, ups []gitstore.RefUpdate) error {
	return r.UpdateRefs(ctx, ups...)
}

// TestHeartbeats: a thousand of them leave one commit, one tree and one file; the
// rest is for git to sweep.
func TestHeartbeats(t *testing.T) {
	t.Parallel()
	r := navtest.Bare(t)
	r.Put("one", nil)
	repo, err := gitstore.Open(t.Context(), r.Dir, gitstore.Options{Env: r.Env()})
	check(t, err)
	s := &store{repo: repo, remote: localRemote{repo}, watcher: config.DefaultDaemon().Watcher}
	count := func() int { return len(strings.Fields(r.Git("rev-list", "--objects", "--no-object-names", "--all"))) }
	before := count()
	for i := range 1000 {
		_, err := s.Fetch(t.Context())
		check(t, err)
		check(t, s.Write(t.Context(), watchd.Write{
			At:     navtest.Start().Add(time.Duration(i) * 5 * time.Minute),
			Status: func(string) []byte { return fmt.Appendf(nil, `{"v":1,"beat":%d}`+"\n", i) },
		}))
	}
	if got := count(); got != before+3 {
		t.Errorf("%d objects more, want a commit, a tree and a file", got-before)
	}
	if got := r.Git("rev-list", "--count", gitstore.StatusRef); got != "1" {
		t.Errorf("the status has %s commits", got)
	}
	r.Git("reflog", "expire", "--expire=now", "--all")
	r.Git("gc", "--quiet", "--prune=now")
	if got := strings.Fields(r.Git("count-objects", "-v")); got[1] != "0" || got[5] != fmt.Sprint(before+3) {
		t.Errorf("after gc: %q", got)
	}
}
