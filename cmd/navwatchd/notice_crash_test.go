package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
	"github.com/nav-watchdog/nav-watchdog/internal/watchd"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// TestNoticeCrash: each push is lost, or arrives without the daemon hearing of
// it; the daemon goes on, or is killed, and what it had handed to its webhook
// goes with it. Whatever happens, the verdict that a person must look at is told,
// and always with the same id.
func TestNoticeCrash(t *testing.T) {
	pushes := 0
	noticeWorld(t, func(_ []gitstore.RefUpdate, real func() error) error { pushes++; return real() }, false)
	if pushes < 4 {
		t.Fatalf("only %d pushes: the table would be too small", pushes)
	}
	for n := 1; n <= pushes; n++ {
		for _, fault := range []string{"lost", "unheard", "killed after it"} {
			for _, restarts := range []bool{false, true} {
				if fault == "killed after it" && !restarts {
					continue
				}
				t.Run(fmt.Sprintf("push %d %s restarts=%v", n, fault, restarts), func(t *testing.T) {
					t.Parallel()
					count := 0
					noticeWorld(t, func(_ []gitstore.RefUpdate, real func() error) error {
						if count++; count != n {
							return real()
						}
						if fault != "lost" {
							if err := real(); err != nil {
								return err
							}
						}
						if fault == "killed after it" {
							panic(killed{})
						}
						return unknown()
					}, restarts)
				})
			}
		}
	}
}

// killed is thrown where a process would end without a word.
type killed struct{}

// noticeWorld lets a commit fail that may not be reverted, with pushes that may
// go wrong. A daemon that is killed takes with it what its webhook had not sent.
func noticeWorld(t *testing.T, push func(ups []gitstore.RefUpdate, real func() error) error, restarts bool) {
	t.Helper()
	w := crashWorld(t)
	w.between = func(_ string, r remote) remote {
		return pushing{r, func(_ context.Context, ups []gitstore.RefUpdate, real func() error) error { return push(ups, real) }}
	}
	check(t, w.launch("d"))
	step := func(to time.Duration) {
		for w.now.Sub(w.start) < to {
			before := len(w.notices.got)
			if err := w.passOrDie(); err == nil {
				continue
			}
			if restarts { // nothing of this pass was sent
				w.notices.got, w.notices.told = w.notices.got[:before], nil
				check(t, w.launch("d"))
			}
		}
	}
	step(30 * time.Second)
	w.srv.Clock = w.now
	id := w.srv.Commit(navtest.Commit{
		Message: "web\n\nNav-Watchdog: app=web deadline=60 stable=30 mode=arm\n",
		Files:   navtest.Files{manifestPath("web"): navtest.Text(deployment("web", "web:does-not-exist"))},
	})
	w.queue(id, "main", "mallory") // who may not arm
	w.webhook("main")
	step(crashEnd)
	if got := w.ended(t, id, "web"); got.Verdict != verdict.Fail {
		t.Errorf("the verdict is %+v\n%s", got, w.log.String())
	}
	ids := map[string]int{}
	for _, n := range w.notices.got {
		if n.Kind == watchd.KindPerson && n.Commit == id && n.Verdict == string(verdict.Fail) {
			ids[n.ID]++
		}
	}
	if len(ids) != 1 {
		t.Errorf("told as %v\n%+v\n%s", ids, w.notices.got, w.log.String())
	}
}

// passOrDie is one moment, whose pass may be killed on the way.
func (w *world) passOrDie() (err error) {
	defer func() {
		switch r := recover(); r.(type) {
		case nil:
		case killed:
			err = fmt.Errorf("killed")
		default:
			panic(r)
		}
	}()
	return w.advance(w.now.Sub(w.start) + w.poll)
}
