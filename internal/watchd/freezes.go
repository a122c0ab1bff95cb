package watchd

import (
	"context"
	"slices"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// maxTold bounds the freezes of people that are looked at, the last ones: each
// that stands is one call.
const maxTold = 100

// tellFreezes calls a person for each freeze that somebody said and that stands,
// once: the status knows of which it was done.
func (d *Daemon) tellFreezes(ctx context.Context) {
	var lines, thaws []verdict.PeopleLine
	for _, l := range d.people {
		switch l.Kind {
		case verdict.PeopleFreeze:
			lines = append(lines, l)
		case verdict.PeopleThaw:
			thaws = append(thaws, l)
		}
	}
	lines = lines[max(0, len(lines)-maxTold):]
	owner := d.policyOf(ctx, d.view.Branches[d.view.Default]).IsOwner
	var told []string
	for _, l := range lines {
		app, err := verdict.ParseApp(l.App)
		if err != nil && l.App != "" {
			continue // it freezes nothing
		}
		why := verdict.Frozen(nil, nil, append(slices.Clone(thaws), l), owner, app)
		if why == "" {
			continue
		}
		whose := "all reverts are frozen "
		if l.App != "" {
			whose = "reverts of " + app.String() + " are frozen "
		}
		n := d.about(Notice{Kind: KindFrozen, Text: whose + why}, l.Line())
		if !slices.Contains(told, n.ID) {
			told = append(told, n.ID)
			if !slices.Contains(d.told, n.ID) {
				d.await(n)
				d.say(n)
			}
		}
	}
	d.told = told
	if d.cfg.Notifier != nil && !slices.Equal(told, d.status.Told) { // else it was only logged
		d.status.Told, d.statusDue = told, true
	}
}
