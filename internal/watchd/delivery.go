package watchd

import (
	"errors"
	"slices"
	"time"
)

// Limits of what waits to be delivered.
const (
	maxPending   = 100             // notices; beyond it the oldest are given up
	sendAgain    = 5 * time.Minute // after an attempt that failed
	giveUpNotice = 24 * time.Hour  // after the first attempt
)

// pending is a notice that is not known to be delivered.
type pending struct {
	Notice
	again time.Time // when it is sent again; zero: it is under way
}

var (
	errTooOld  = errors.New("it could not be delivered for a day")
	errTooMany = errors.New("too many others wait")
)

// await keeps notices in the status until they are delivered. Where nobody
// delivers any, none is kept.
func (d *Daemon) await(notices ...Notice) {
	if d.cfg.Notifier == nil {
		return
	}
	for _, n := range notices {
		if !slices.ContainsFunc(d.pending, func(p pending) bool { return p.ID == n.ID }) {
			d.pending, d.statusDue = append(d.pending, pending{Notice: n}), true
		}
	}
}

// resume sends again what the daemon before had not delivered, as far as it knew.
func (d *Daemon) resume(notices []Notice) {
	d.await(notices...)
	for _, n := range notices {
		if d.cfg.Notifier == nil { // a later daemon may have one
			d.pending = append(d.pending, pending{Notice: n})
		}
		d.send(n)
	}
}

// deliveries takes in what became of notices, and sends again what was not taken.
// It is called between two passes.
func (d *Daemon) deliveries(now time.Time) {
	var outcomes map[string]error
	if d.cfg.Notifier != nil {
		outcomes = d.cfg.Notifier.Outcomes()
	}
	kept := d.pending[:0:0]
	for i, n := range d.pending {
		err, known := outcomes[n.ID]
		switch {
		case known && err == nil:
			d.statusDue = true
			continue
		case now.Sub(n.At) >= giveUpNotice:
			d.lost(n.Notice, errTooOld)
			continue
		case len(d.pending)-i > maxPending:
			d.lost(n.Notice, errTooMany)
			continue
		case known:
			n.again = now.Add(sendAgain)
		case !n.again.IsZero() && !now.Before(n.again):
			n.again = time.Time{}
			d.send(n.Notice)
		}
		kept = append(kept, n)
	}
	d.pending = kept
}

func (d *Daemon) lost(n Notice, why error) {
	d.cfg.Log.Error("notice lost", "id", n.ID, "kind", n.Kind, "error", why)
	d.statusDue = true
}

// undelivered are the notices that the status holds.
func (d *Daemon) undelivered() []Notice {
	var out []Notice
	for _, p := range d.pending {
		out = append(out, p.Notice)
	}
	return out
}

// unheard keeps the notices of a push that failed, by commit: where it arrived
// after all, the next reading of its note sends them. Also one that left the
// server as it was may still arrive, if the line broke under it.
func (d *Daemon) unheard(notices []Notice) {
	clear(d.untold)
	for _, n := range notices {
		d.untold[n.Commit] = append(d.untold[n.Commit], n)
	}
}

// arrivedAfterAll sends them.
func (d *Daemon) arrivedAfterAll(commit string) {
	for _, n := range d.untold[commit] {
		d.await(n)
		d.say(n)
	}
	delete(d.untold, commit)
}
