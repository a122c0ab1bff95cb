package watchd

import (
	"context"
	"slices"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// list takes in the Applications as a source showed them. There may be as many
// watches as Applications and more, so they are found by name.
func (d *Daemon) list(apps []Snapshot) {
	d.apps, d.named = apps, make(map[string][]int, len(apps))
	for i := range apps {
		name := apps[i].Look.App.Name
		d.named[name] = append(d.named[name], i)
	}
}

// matching are the Applications that a name, as a person wrote it, fits.
func (d *Daemon) matching(app verdict.App) []*Snapshot {
	var found []*Snapshot
	for _, i := range d.named[app.Name] {
		if s := &d.apps[i]; app.Matches(s.Look.App) {
			found = append(found, s)
		}
	}
	return found
}

// looked are the Applications that this pass looks at.
func (p *pass) looked() []*Snapshot {
	if p.only == nil {
		all := make([]*Snapshot, len(p.apps))
		for i := range p.apps {
			all[i] = &p.apps[i]
		}
		return all
	}
	var some []*Snapshot
	for _, looks := range p.only {
		some = append(some, looks...)
	}
	return some
}

// introduce tells the asker what counts in this pass.
func (p *pass) introduce(ctx context.Context) {
	policy := p.policyOf(ctx, p.view.Branches[p.view.Default])
	p.asker.names, p.asker.refresh = slices.Concat(p.cfg.Names, policy.Repositories), p.cfg.Refresh
}

// acquaint resolves all looks: which address is this repository is learnt from
// every Application.
func (p *pass) acquaint(ctx context.Context, looked []*Snapshot) error {
	var all question
	for _, a := range looked {
		all.add(&a.Look)
	}
	if err := p.asker.resolve(ctx, p.view, []question{all}); err != nil {
		return err
	}
	for _, a := range looked {
		p.asker.learn(&a.Look)
	}
	return nil
}

// passed are the looks between two passes, oldest first, by the names of their
// Applications.
type passed map[string][]*Snapshot

func byName(looks []Snapshot) passed {
	out := passed{}
	for i := range looks {
		name := looks[i].Look.App.Name
		out[name] = append(out[name], &looks[i])
	}
	return out
}

// of are those of the Applications that a name fits.
func (p passed) of(app verdict.App) []*Snapshot {
	var found []*Snapshot
	for _, s := range p[app.Name] {
		if app.Matches(s.Look.App) {
			found = append(found, s)
		}
	}
	return found
}

// has reports whether there are any of them.
func (p passed) has(app verdict.App) bool {
	for _, s := range p[app.Name] {
		if app.Matches(s.Look.App) {
			return true
		}
	}
	return false
}

// maxAwaiting is how many looks are kept while no pass succeeds. The oldest go
// first; each pass lists anew what is.
const maxAwaiting = 10_000

// queue keeps looks until watches were stepped by them: a pass that fails must not
// lose what only they showed. They are stepped by in their order, because an old
// look after a new one would read as a change back.
func (d *Daemon) queue(looks []Snapshot) {
	d.awaiting = append(d.awaiting, looks...)
	if n := len(d.awaiting); n > maxAwaiting {
		d.awaiting = slices.Clone(d.awaiting[n-maxAwaiting:])
	}
}

// remember takes looks, oldest first, into what is known of their Applications
// from before any commit.
func (d *Daemon) remember(looks []Snapshot) {
	for _, s := range looks {
		d.memory[s.Look.App] = d.memory[s.Look.App].Remember(s.Look, d.cfg.Refresh)
	}
}
