package watchd

import (
	"context"
	"time"
)

// Run passes until the context ends, or Renew says so. A pass that fails is
// logged, and the next one comes all the same. At the end the used budgets are
// stored.
//
// Between passes it reacts to Applications that change, where the Cluster offers
// Events.
//
// Renew is called before each pass and every Look in between, never during one,
// so it may Configure; what changes is in force with the next pass. Its error
// ends Run, and is what Run returns.
func (d *Daemon) Run(ctx context.Context) error {
	next := time.NewTimer(0)
	defer next.Stop()
	look := d.looks()
	defer look.Stop()
	rest := newRest()
	defer rest.timer.Stop()
	for {
		due, changed := false, d.changed()
		if rest.on {
			changed = nil
		}
		select {
		case <-ctx.Done():
			d.stop(context.WithoutCancel(ctx))
			return nil
		case <-next.C:
			due = true
		case <-look.C:
		case <-rest.timer.C:
			rest.on = false
			continue
		case <-changed:
			rest.after(d.react(ctx))
			continue
		}
		was := d.cfg.Interval
		if err := d.renew(); err != nil {
			d.stop(context.WithoutCancel(ctx))
			return err
		}
		look.Reset(max(d.cfg.Look, time.Second))
		if due {
			d.pass(ctx, rest)
		}
		if due || d.cfg.Interval != was {
			next.Reset(d.cfg.Interval)
		}
	}
}

// looks is the timer of Renew; without one it never fires.
func (d *Daemon) looks() *time.Timer {
	t := time.NewTimer(time.Hour)
	if d.cfg.Renew == nil {
		t.Stop()
	}
	return t
}

func (d *Daemon) renew() error {
	if d.cfg.Renew == nil {
		return nil
	}
	return d.cfg.Renew(d)
}

// rest is the time after a write in which no other glance is wanted.
type rest struct {
	timer *time.Timer
	on    bool
}

func newRest() *rest { return &rest{time.NewTimer(0), true} }

// after begins one; 0: none is wanted.
func (r *rest) after(calm time.Duration) {
	if calm > 0 {
		r.timer.Reset(calm)
		r.on = true
	}
}

// between reacts, while a pass goes on, to what changed, and reports whether
// something was written.
func (d *Daemon) between(ctx context.Context, r *rest) bool {
	select {
	case <-r.timer.C:
		r.on = false
	default:
	}
	if r.on {
		return false
	}
	select {
	case <-d.changed():
		calm := d.react(ctx)
		r.after(calm)
		return calm > 0
	default:
		return false
	}
}

// pass makes one pass, and tells of it.
func (d *Daemon) pass(ctx context.Context, r *rest) {
	began := d.cfg.Now()
	err := d.passWith(ctx, func(ctx context.Context) bool { return d.between(ctx, r) })
	if err != nil && ctx.Err() == nil {
		d.cfg.Log.Error("pass failed", "error", err)
	}
	if d.cfg.Passed != nil && ctx.Err() == nil {
		d.cfg.Passed(d.Report(err, d.cfg.Now().Sub(began)))
	}
}

// shutdown is how long the last write may take.
const shutdown = 5 * time.Second

// stop writes the status once more, so that no observed time is lost.
func (d *Daemon) stop(ctx context.Context) {
	if !d.started || !d.fetched {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, shutdown)
	defer cancel()
	now := d.cfg.Now()
	d.deliveries(now)
	err := d.cfg.Store.Write(ctx, Write{At: now, Inventory: d.inventoryBytes(ctx, now), Status: func(verdicts string) []byte {
		return d.statusBytes(now, verdicts)
	}})
	if err != nil {
		d.cfg.Log.Warn("last status not written", "error", err)
	}
}
