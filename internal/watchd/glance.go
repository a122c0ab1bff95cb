package watchd

import (
	"context"
	"errors"
	"time"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// changed is written to when an Application changed; nil, which never is, where
// the Cluster does not tell.
func (d *Daemon) changed() <-chan struct{} {
	if e, tells := d.cfg.Cluster.(Events); tells {
		return e.Changed()
	}
	return nil
}

// glance steps the watches of the Applications that changed since the last pass
// or glance, and no others: what an Application shows is judged when it comes,
// and a pass finds what comes with time alone. It fetches only if a watch is to
// move, and reports whether it did.
//
// It sees what a pass sees, or leaves it to one: nothing is taken from the
// Cluster before the first pass, or while not every Application can be seen. The
// gates of a revert ask all Applications as they are now.
func (d *Daemon) glance(ctx context.Context) (moved bool, err error) {
	e, tells := d.cfg.Cluster.(Events)
	if !tells || !d.loaded || d.listErr != nil || d.foreign != "" {
		return false, nil
	}
	p := d.newPass()
	looks := e.Passed()
	d.remember(looks)
	d.queue(looks)
	if len(d.awaiting) == 0 {
		return false, nil
	}
	between := p.take(d.awaiting)
	if len(p.openKeys()) == 0 {
		d.awaiting = nil
		return false, nil
	}
	if err := p.judge(ctx, between); err != nil {
		return false, err
	}
	if !p.unsettled() {
		p.keep()
		return false, nil
	}
	err = p.decide(ctx, between)
	d.noteFailure(p.now, err)
	return true, err
}

// decide judges again by what the repository is now, and writes.
func (p *pass) decide(ctx context.Context, between passed) error {
	p.next, p.write, p.persons, p.failing, p.undecided = map[key]verdict.State{}, map[key]bool{}, map[key]string{}, nil, false
	fetchErr := p.fetch(ctx)
	p.now = p.cfg.Now()
	if err := p.judge(ctx, between); err != nil || !p.online {
		if err == nil {
			p.keep()
		}
		return errors.Join(fetchErr, err)
	}
	if len(p.failing) > 0 { // what else turned bad, and what else uses the repository
		p.now = p.cfg.Now()
		apps, more, err := p.cfg.Cluster.List(ctx, p.now)
		p.remember(more)
		p.awaiting = append(p.awaiting, more...)
		if p.listErr = err; err != nil {
			p.complain("applications", err)
		}
		p.list(apps)
	}
	if err := p.conclude(ctx, between); err != nil {
		return err
	}
	if err := p.store(ctx); err != nil {
		return err
	}
	p.stepped()
	return nil
}

// take takes in looks, oldest first: the last one of each Application is how it
// stands, and those before it are returned.
func (p *pass) take(looks []Snapshot) passed {
	p.only = byName(looks)
	last := map[verdict.App]int{}
	for i, s := range looks {
		last[s.Look.App] = i
	}
	var between []Snapshot
	for i, s := range looks {
		if last[s.Look.App] != i {
			between = append(between, s)
			continue
		}
		p.replace(s)
	}
	return byName(between)
}

// replace makes a look the one by which an Application is known.
func (d *Daemon) replace(s Snapshot) {
	for _, i := range d.named[s.Look.App.Name] {
		if d.apps[i].Look.App == s.Look.App {
			d.apps[i] = s
			return
		}
	}
	d.list(append(d.apps, s))
}

// unsettled reports whether a watch is to be written, or asks for what a fetch must
// come before.
func (p *pass) unsettled() bool {
	for _, must := range p.write {
		if must {
			return true
		}
	}
	return p.undecided || len(p.failing) > 0
}

// react glances, and says for how long no other glance is wanted: after a write
// as long as it took, so that at most half of the time goes into pushing.
func (d *Daemon) react(ctx context.Context) time.Duration {
	began := d.cfg.Now()
	moved, err := d.glance(ctx)
	if err != nil && ctx.Err() == nil {
		d.cfg.Log.Error("looking at what changed failed", "error", err)
	}
	if !moved {
		return 0
	}
	return max(d.cfg.Now().Sub(began), time.Millisecond)
}
