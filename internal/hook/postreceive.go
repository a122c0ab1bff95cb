package hook

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/internal/lint"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

const (
	statusFile  = "status.json" // in the tree of refs/notes/nav/status
	shortCommit = 12
	maxQueued   = 20 // lines that tell a pusher what was queued
)

// PostReceive queues what arrived on watched branches: a line in watches for
// every commit that carries a watch and every watched branch to which it is
// new. It never fails the push, which is in already; what went wrong is
// printed, and the watcher finds the commit by walking the branch. Where the
// refs that a hook writes are not replicated (Options.NoQueue), that walk is the
// rule, and it only prints.
func PostReceive(ctx context.Context, c Config) {
	c.Out = Voice(ctx, c)
	p := &push{Config: c}
	if err := p.queue(ctx); err != nil {
		p.say("not queued: %v", err)
		p.say("the push is in; the watcher will find the commits by itself, only later")
	}
}

func (p *push) queue(ctx context.Context) error {
	if err := p.open(ctx); err != nil {
		return err
	}
	spans, err := p.news(ctx)
	if err != nil {
		return err
	}
	arrivals, _, err := gather(ctx, p.Repo, spans)
	if err != nil {
		return err
	}
	queued, err := p.lines(ctx, arrivals)
	if err != nil || len(queued) == 0 {
		return err
	}
	o, err := p.installed(ctx)
	if err != nil {
		return err
	}
	if o.NoQueue {
		return p.announce(ctx, queued)
	}
	lines := map[string][]string{}
	for _, a := range queued {
		lines[a.Commit] = append(lines[a.Commit], a.Line())
	}
	// The exact refs, by id: as a name, a missing one could be a branch.
	refs, err := p.Repo.Refs(ctx, watchesRef, statusRef)
	if err != nil {
		return err
	}
	added, err := p.Repo.Append(ctx, watchesRef, refs[watchesRef], lines, arrivalKey, "queue what arrived", p.Now())
	if err != nil {
		return err
	}
	p.tell(queued, added)
	p.lastSeen(ctx, refs[statusRef])
	return nil
}

// lines are what is to be queued, oldest commit first.
func (p *push) lines(ctx context.Context, arrivals []arrival) ([]verdict.Arrival, error) {
	var queued []verdict.Arrival
	for _, a := range arrivals {
		policy, err := p.before(ctx)
		if err != nil {
			return nil, err
		}
		ws := watches(a.Message, policy.Trailer)
		if len(ws) == 0 || a.Truncated {
			continue
		}
		on, err := p.watched(ctx, a.refs)
		if err != nil {
			return nil, err
		}
		if len(on) == 0 {
			p.unwatched(a)
			continue
		}
		who, err := p.who(ctx)
		if err != nil {
			return nil, err
		}
		apps, _ := lint.Names(ws)
		for _, branch := range on {
			queued = append(queued, verdict.Arrival{
				Commit: a.ID, Branch: branch, Apps: apps, By: who.User, Host: who.Host, At: p.Now(),
			})
		}
	}
	return queued, nil
}

// unwatched tells that a watch came to a branch that nobody watches: it opens
// when the commit lands on one that is. Somebody who pushes to what he takes for
// the watched branch must not believe that it is.
func (p *push) unwatched(a arrival) {
	if p.told++; p.told > maxQueued {
		return
	}
	p.say("%s asks for a watch, but %s is not watched: it starts when the commit lands on a branch that is (without a policy, the one that HEAD names)",
		a.ID[:min(len(a.ID), shortCommit)], exit.Name(strings.Join(a.branches(), ", "), 72))
}

// arrivalKey makes a commit arrive on a branch once, whenever and by whomever
// it is said again. A line that cannot be read is like itself only.
func arrivalKey(line string) string {
	said, err := verdict.ParseArrivals([]byte(line))
	if err != nil || len(said) != 1 {
		return line
	}
	return said[0].Commit + " " + said[0].Branch
}

// announce is for where nothing is queued.
func (p *push) announce(ctx context.Context, arrived []verdict.Arrival) error {
	refs, err := p.Repo.Refs(ctx, statusRef)
	if err != nil {
		return err
	}
	p.list("arrived", arrived)
	p.say("this host queues nothing: the watcher finds them when it next walks the branch")
	p.lastSeen(ctx, refs[statusRef])
	return nil
}

func (p *push) list(what string, arrivals []verdict.Arrival) {
	for i, a := range arrivals {
		if i == maxQueued {
			p.say("... and %d more", len(arrivals)-i)
			break
		}
		p.say("%s %s on %s: %s", what, a.Commit[:min(len(a.Commit), shortCommit)], exit.Name(a.Branch, 72),
			exit.Line(strings.Join(a.Apps, ", "), 200))
	}
}

func (p *push) tell(queued []verdict.Arrival, added int) {
	p.list("queued", queued)
	if before := len(queued) - added; before > 0 {
		p.say("%d of %d had been queued before", before, len(queued))
	}
}

// lastSeen tells when the watcher last wrote its heartbeat. It decides nothing.
func (p *push) lastSeen(ctx context.Context, status string) {
	at, err := readHeartbeat(ctx, p.Repo, status)
	switch {
	case errors.Is(err, errNever):
		p.say("the watcher was last seen: never")
	case err != nil:
		p.say("the watcher was last seen: not known: %v", err)
	default:
		p.say("the watcher was last seen: %s (%s ago)", at.UTC().Format(time.RFC3339),
			p.Now().Sub(at).Truncate(time.Second))
	}
}
