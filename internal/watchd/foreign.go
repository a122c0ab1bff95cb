package watchd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// foreignHint is for whoever finds the watcher's notes written by somebody else.
const foreignHint = "look at what was pushed; then put the ref back, or sign its tip anew (docs/operations.md, Signed notes)"

// believes takes in whether verdicts is signed by somebody who may. While it is
// not, none of its stanzas counts, nothing is decided, so that nothing is
// reverted, and nothing is written on top: that would sign it.
func (d *Daemon) believes(why string) bool {
	if why == d.foreign {
		return why == ""
	}
	d.foreign, d.statusDue = why, true
	if why == "" {
		delete(d.sick, "verdicts")
		d.cfg.Log.Info("verdicts are believed again")
		return true
	}
	d.complain("verdicts", errors.New(why))
	d.tell(Notice{Kind: KindForeign, Text: "verdicts is not signed by the watcher; nothing is decided, and every revert is held: " + why + "; " + foreignHint}, why)
	return false
}

// unbelieved refuses a status that anybody may have written: it says up to where
// commits were taken up, and what is frozen.
func (d *Daemon) unbelieved(why string) error {
	if d.sick["status"] != why {
		d.tell(Notice{Kind: KindForeign, Text: "the status is not signed by the watcher; nothing is judged: " + why}, why)
	}
	d.sick["status"] = why
	return fmt.Errorf("reading the status: %s\nhint: %s", why, statusHint)
}

// mayFree leaves out of people what lets reverts go on, where nobody signed it
// who may. A freeze counts whoever wrote it.
func (d *Daemon) mayFree(why string) {
	const what = "people unsigned"
	if why == "" {
		delete(d.sick, what)
		return
	}
	var held []verdict.PeopleLine
	for _, l := range d.people {
		if l.Kind == verdict.PeopleFreeze {
			held = append(held, l)
		}
	}
	if len(held) == len(d.people) {
		delete(d.sick, what)
	} else {
		d.complain(what, fmt.Errorf("only freezes count: %s", why))
	}
	d.people = held
}

// mayReset leaves out of people the resets of those who may not: owners of the
// policy, and the watcher (design, section 3). The hook refuses them; a server
// without it does not.
func (d *Daemon) mayReset(ctx context.Context) {
	const what = "people who may not reset"
	policy := d.policyOf(ctx, d.view.Branches[d.view.Default])
	believed := slices.DeleteFunc(slices.Clone(d.people), func(l verdict.PeopleLine) bool {
		return l.Kind == verdict.PeopleReset && l.By != d.cfg.WatcherName && !policy.IsOwner(l.By)
	})
	if len(believed) == len(d.people) {
		delete(d.sick, what)
	} else {
		d.complain(what, errors.New("a reset by somebody who is no owner of the policy does not count"))
	}
	d.people = believed
}

// statusAlone writes the heartbeat of a pass that decided nothing because
// verdicts is not believed: it says so.
func (p *pass) statusAlone(ctx context.Context) error {
	due := p.statusDue || p.now.Sub(p.status.At) >= p.cfg.StatusInterval
	if p.foreign == "" || !p.started || !due {
		return nil
	}
	err := p.cfg.Store.Write(ctx, Write{At: p.now, Inventory: p.inventoryBytes(ctx, p.now), Status: func(verdicts string) []byte { return p.statusBytes(p.now, verdicts) }})
	if err != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	p.status.At, p.statusDue = p.now, false
	return nil
}
