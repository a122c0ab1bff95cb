package main

import (
	"context"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd"
	"github.com/nav-watchdog/nav-watchdog/internal/argosim"
	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// mending repairs an Application as soon as it was read directly and was found
// Degraded, and lets five minutes pass: so long may direct looks at others take
// that are not answered.
type mending struct {
	*simReader
	w    *world
	t    *testing.T
	done bool
}

func (m *mending) Get(ctx context.Context, app verdict.App, now time.Time) (*argocd.Application, error) {
	a, err := m.simReader.Get(ctx, app, now)
	if err != nil || m.done || a.Look(now, true).Health != "Degraded" {
		return a, err
	}
	m.done = true
	check(m.t, m.do(func(s *argosim.Sim) error { return s.Repair(app.Name, "Deployment/"+app.Name) }))
	for range 30 {
		m.w.now = m.w.now.Add(10 * time.Second)
		check(m.t, m.do(func(s *argosim.Sim) error { return s.Tick(ctx, m.w.now) }))
	}
	return a, nil
}

// TestMendedMeanwhile: what became well after it was read, and before the gates were
// asked, is not reverted.
func TestMendedMeanwhile(t *testing.T) {
	t.Parallel()
	w := crashWorld(t)
	m := &mending{simReader: w.sim, w: w, t: t}
	w.reader = m
	check(t, w.launch("d"), w.advance(30*time.Second))
	w.srv.Clock = w.now
	id := w.srv.Commit(navtest.Commit{
		Message: "web\n\nNav-Watchdog: app=web deadline=60 stable=30 mode=arm\n",
		Files:   navtest.Files{manifestPath("web"): navtest.Text(deployment("web", "web:2"))},
	})
	w.queue(id, "main", "alice")
	w.webhook("main")
	check(t, w.advance(50*time.Second), w.sim.do(func(s *argosim.Sim) error { return s.Degrade("web", "Deployment/web") }))
	for end := w.now.Add(time.Hour); w.now.Before(end); {
		check(t, w.advance(w.now.Sub(w.start)+w.poll))
		if s, err := w.stanza(id, "web"); err == nil && s.Verdict != verdict.Waiting {
			break
		}
	}
	list, err := w.reverts("main")
	check(t, err)
	s, err := w.stanza(id, "web")
	check(t, err)
	if !m.done || len(list) > 0 || s.Verdict != verdict.Confirmed {
		t.Errorf("mended: %v, reverts %q, it is %s: %s\n%s", m.done, list, s.Verdict, s.Reason, w.log.String())
	}
}

// late lets five minutes pass while the gates' surroundings are read anew, once.
type late struct {
	*simReader
	w    *world
	done bool
}

func (l *late) Around(ctx context.Context, now time.Time, fresh bool) (arming.Place, error) {
	if fresh && !l.done {
		l.done = true
		l.w.now = l.w.now.Add(5 * time.Minute)
	}
	return l.simReader.Around(ctx, now, fresh)
}

// TestSiblingStaysTakenOver: two watches of a commit fail, the looks of both are old
// when the gates are asked. The one is reverted, the other is taken over with it.
func TestSiblingStaysTakenOver(t *testing.T) {
	t.Parallel()
	w := crashWorld(t)
	l := &late{simReader: w.sim, w: w}
	w.reader = l
	check(t, w.launch("d"), w.advance(30*time.Second))
	w.srv.Clock = w.now
	id := w.srv.Commit(navtest.Commit{
		Message: "both\n\nNav-Watchdog: app=web deadline=60 stable=30 mode=arm\nNav-Watchdog: app=api deadline=60 stable=30 mode=arm\n",
		Files: navtest.Files{
			manifestPath("web"): navtest.Text(deployment("web", "web:2")),
			manifestPath("api"): navtest.Text(deployment("api", "api:2")),
		},
	})
	w.queue(id, "main", "alice")
	w.webhook("main")
	check(t, w.advance(50*time.Second))
	for _, app := range []string{"web", "api"} {
		check(t, w.sim.do(func(s *argosim.Sim) error { return s.Degrade(app, "Deployment/"+app) }))
	}
	var reverts []string
	for end := w.now.Add(time.Hour); len(reverts) == 0 && w.now.Before(end); {
		check(t, w.advance(w.now.Sub(w.start)+w.poll))
		var err error
		reverts, err = w.reverts("main")
		check(t, err)
	}
	if !l.done || len(reverts) != 1 {
		t.Fatalf("it was late: %v, reverts %q\n%s", l.done, reverts, w.log.String())
	}
	for app, want := range map[string]verdict.Verdict{"api": verdict.Reverted, "web": verdict.Superseded} {
		s, err := w.stanza(id, app)
		check(t, err)
		if s.Verdict != want || s.Verdict == verdict.Superseded && s.Reason != (verdict.Reason{Code: "reverted-by", Detail: reverts[0]}) {
			t.Errorf("with the revert %s is %s: %s, want %s", app, s.Verdict, s.Reason, want)
		}
	}
}
