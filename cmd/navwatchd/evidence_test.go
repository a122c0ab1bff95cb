package main

import (
	"context"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd"
	"github.com/nav-watchdog/nav-watchdog/internal/argosim"
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
