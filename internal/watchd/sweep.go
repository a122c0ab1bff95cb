package watchd

import (
	"context"
	"fmt"
	"slices"
)

// With more than so many parts of watches a pass goes through them part by part,
// and sees between two what Applications changed: an event must not wait for
// thousands of watches that wait.
const (
	partWatches = 500
	manyParts   = 4
)

// part is how many watches a pass goes through at once.
func (d *Daemon) part() int {
	if d.cfg.Part > 0 {
		return d.cfg.Part
	}
	return partWatches
}

// mayPart reports whether a pass may go through its watches in parts. While the
// branches stand as they stood Git is asked next to nothing; otherwise it is asked
// once for all.
func (p *pass) mayPart() bool {
	return p.between != nil && p.online && len(p.watches.states) > manyParts*p.part() && p.asker.tips == p.view.fingerprint()
}

// yield lets what Applications changed go first, where the pass may be parted.
func (p *pass) yield(ctx context.Context) {
	if p.mayPart() && p.between(ctx) {
		p.moved = true
	}
}

// sweep steps the watches for which nothing but time has passed, and makes that the
// daemon's own. The others stay as they were, for the pass to judge: those with
// looks in between, those that would move, those that ask for a direct look.
func (p *pass) sweep(ctx context.Context) error {
	open := p.openKeys()
	for part := range slices.Chunk(p.looked(), p.part()) {
		p.yield(ctx)
		if err := p.acquaint(ctx, part); err != nil {
			return err
		}
	}
	p.keys = []key{}
	for part := range slices.Chunk(open, p.part()) {
		p.yield(ctx)
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := p.settled(ctx, part); err != nil {
			return err
		}
	}
	waiting := byName(p.awaiting) // whose glance failed
	for _, k := range open {
		if waiting.has(k.app) && !slices.Contains(p.keys, k) {
			p.keys = append(p.keys, k)
		}
	}
	return nil
}

// settled steps some watches, and puts those aside that are not settled by that.
func (p *pass) settled(ctx context.Context, part []key) error {
	waiting := byName(p.awaiting)
	q := p.newPass() // it is not online: what is to be decided waits
	q.keys = []key{}
	for _, k := range part {
		if waiting.has(k.app) {
			p.keys = append(p.keys, k)
		} else {
			q.keys = append(q.keys, k)
		}
	}
	if err := q.judge(ctx, nil); err != nil {
		return err
	}
	for _, k := range q.keys {
		s, stepped := q.next[k]
		if !stepped || q.write[k] || slices.Contains(q.failing, k) {
			p.keys = append(p.keys, k)
			continue
		}
		p.watches.put(k, s)
	}
	return nil
}

// sweepOr goes through the watches in parts where it may. Without it nothing is
// put aside, and the pass judges all of them.
func (p *pass) sweepOr(ctx context.Context, between passed) (passed, error) {
	if !p.mayPart() && !p.moved {
		return between, nil
	}
	var err error
	if p.mayPart() {
		err = p.sweep(ctx)
	}
	p.now = p.cfg.Now()
	if err == nil && p.moved {
		p.online = false
		err = p.fetch(ctx)
	}
	if p.foreign != "" {
		p.online = false
	}
	if err != nil {
		return nil, fmt.Errorf("going through the watches: %w", err)
	}
	return byName(p.awaiting), nil
}
