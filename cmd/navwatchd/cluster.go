package main

import (
	"context"
	"errors"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd"
	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/internal/watchd"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// reader is a source of Applications: a cluster, a folder, a simulator.
type reader interface {
	List(ctx context.Context, now time.Time) ([]*argocd.Application, error)
	Get(ctx context.Context, app verdict.App, now time.Time) (*argocd.Application, error)
}

// between is what a source may offer besides: the Applications that changed
// since the last call, oldest first, each with the moment it was delivered.
type between interface {
	Between() []argocd.Delivery
}

// cluster lets the daemon look through a reader.
type cluster struct {
	from string // for findings: "live", "folder /srv/apps"
	reader
}

func (c cluster) List(ctx context.Context, now time.Time) (apps, passed []watchd.Snapshot, err error) {
	passed = c.Passed()
	list, err := c.reader.List(ctx, now)
	for _, a := range list {
		apps = append(apps, c.snapshot(a, now, false))
	}
	return apps, passed, err
}

// Passed is what List returns of the looks in between, and Changed tells when
// there are some.
func (c cluster) Passed() []watchd.Snapshot {
	var passed []watchd.Snapshot
	if b, ok := c.reader.(between); ok {
		for _, d := range b.Between() {
			passed = append(passed, c.snapshot(d.App, d.At, false))
		}
	}
	return passed
}

// Changed is nil for a source that does not tell.
func (c cluster) Changed() <-chan struct{} {
	if t, tells := c.reader.(interface{ Changed() <-chan struct{} }); tells {
		return t.Changed()
	}
	return nil
}

func (c cluster) Get(ctx context.Context, app verdict.App, now time.Time) (watchd.Snapshot, error) {
	a, err := c.reader.Get(ctx, app, now)
	if errors.Is(err, argocd.ErrNotFound) {
		l := argocd.Absent(app, now)
		l.Direct = true
		return watchd.Snapshot{Look: l}, nil
	}
	if err != nil {
		return watchd.Snapshot{}, err
	}
	return c.snapshot(a, now, true), nil
}

// surroundings is what a source may offer besides: the objects that stand around
// Applications.
type surroundings interface {
	Around(ctx context.Context, now time.Time, fresh bool) (arming.Place, error)
}

// Around asks the source; one that has none knows nothing of them.
func (c cluster) Around(ctx context.Context, now time.Time, fresh bool) (arming.Place, error) {
	p, err := arming.Place{}, error(nil)
	if s, offers := c.reader.(surroundings); offers {
		p, err = s.Around(ctx, now, fresh)
	}
	p.From, p.At = c.from, now
	return p, err
}

func (c cluster) snapshot(a *argocd.Application, at time.Time, direct bool) watchd.Snapshot {
	return watchd.Snapshot{Look: a.Look(at, direct), Facts: a.Facts(c.from, at)}
}
