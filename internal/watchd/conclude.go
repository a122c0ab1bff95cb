package watchd

import (
	"context"
	"fmt"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// revertPlan is the one revert of a pass, built but not pushed.
type revertPlan struct {
	key    key
	before verdict.State // as it stands if the branch refuses the revert
	branch string
	tip    string
	commit string
}

// conclude asks the gates for every watch that failed. At most one revert a
// pass: it moves the tip, and the next must be judged on the new one.
func (p *pass) conclude(ctx context.Context, between passed) error {
	failing := p.failing
	if len(failing) > 0 {
		p.surround(ctx, true)
	}
	for _, k := range failing {
		if p.next[k].Verdict != verdict.Waiting { // taken over with the revert of this pass
			continue
		}
		p.now = p.cfg.Now()
		if fails, err := p.stillFails(ctx, k, between); err != nil {
			return err
		} else if !fails {
			continue
		}
		s := p.next[k]
		f, err := p.gates(ctx, k, s)
		if err != nil {
			return fmt.Errorf("asking the gates for %s in %s: %w", k.commit, k.app, err)
		}
		after, next := verdict.Conclude(s, f, p.now, p.cfg.Refresh)
		if next.Revert && p.revert != nil {
			continue // in the next pass, on the new tip
		}
		if next.Revert {
			if after, err = p.plan(ctx, k, after); err != nil {
				return err
			}
		}
		p.next[k] = after
		p.write[k] = p.write[k] || next.Transition || p.revert != nil && p.revert.key == k
		if next.Person != "" {
			p.persons[k] = next.Person
		}
	}
	return nil
}

// stillFails looks at the Application once more where the look that decides is
// older than two polls: others were asked since, and may have let it wait for
// minutes in which it became well.
func (p *pass) stillFails(ctx context.Context, k key, between passed) (bool, error) {
	snap, _ := p.find(k.app)
	if direct, ok := p.direct[snap.Look.App]; !ok || p.now.Sub(direct.Look.At) <= 2*p.cfg.Interval {
		return true, nil
	}
	delete(p.direct, snap.Look.App)
	delete(p.next, k)
	delete(p.write, k)
	delete(p.persons, k)
	p.failing = nil
	if err := p.step(ctx, k, p.question(k, between), between); err != nil {
		return false, fmt.Errorf("judging %s in %s again: %w", k.commit, k.app, err)
	}
	return len(p.failing) > 0, nil
}

// gates gathers everything anew that the gates of one watch ask.
func (p *pass) gates(ctx context.Context, k key, s verdict.State) (verdict.GateFacts, error) {
	snap, unseen := p.find(k.app)
	if d, ok := p.direct[snap.Look.App]; ok {
		snap = d
	}
	q := newQuestion(k.commit, p.memory[snap.Look.App], &snap.Look)
	for i := range p.apps {
		q.add(&p.apps[i].Look)
	}
	if err := p.asker.prepare(ctx, p.view, []question{q}); err != nil {
		return verdict.GateFacts{}, err
	}
	policies, now := p.policies(ctx, s)
	sc := scene{
		view: p.view, now: p.now, snapshot: snap, facts: p.facts(snap), signs: p.cfg.Signs, answers: p.asker.answers(p.view, q),
		apps: p.apps, listErr: p.listErr, healthy: map[verdict.App]verdict.Tri{},
		states: p.all(), people: p.people, freezes: p.status.Freezes,
		policies: policies, policyNow: now, guard: p.cfg.Guard,
	}
	if p.cfg.DryRun {
		sc.dryRun = "DRY_RUN is set"
	}
	if err := p.siblings(ctx, k, &sc); err != nil {
		return verdict.GateFacts{}, err
	}
	f := p.asker.gather(ctx, s, sc)
	if len(p.broken) > 0 && f.Circuit == "" {
		f.Circuit = fmt.Sprintf("%d notes cannot be read, so the reverts so far are not known", len(p.broken))
	}
	if why := p.sick["people"]; why != "" && f.Frozen == "" { // a newer version may have frozen
		f.Frozen = "people cannot be read: " + why
	}
	f.Overdue = 2 * p.cfg.Refresh
	if !unseen.IsZero() {
		f.Stale = unseen.String()
	} else {
		f.Stale = staleness(s.Watch, verdict.Observation{Look: snap.Look, Git: sc.answers, Refresh: p.cfg.Refresh})
	}
	return f, nil
}

// policies are the one that stood when the commit landed and the one that
// stands now; both must allow (design, section 7).
func (p *pass) policies(ctx context.Context, s verdict.State) ([]arming.NamedPolicy, arming.Policy) {
	now := p.policyOf(ctx, p.view.Branches[p.view.Default])
	then := arming.Default() // not known: nobody may arm
	if s.Policy != "" {
		then = p.policyOf(ctx, s.Policy)
	}
	return []arming.NamedPolicy{{When: "when the commit landed", Policy: then}, {When: "now", Policy: now}}, now
}

// all lists the states as they stand in this pass, and of those that have ended
// what circuit and freezes ask for.
func (p *pass) all() []verdict.State {
	out := p.past.states()
	for k := range p.watches.states {
		out = append(out, p.state(k))
	}
	return out
}

// siblings adds the other watches of the commit and how their Applications are
// with it.
func (p *pass) siblings(ctx context.Context, k key, sc *scene) error {
	for _, o := range p.watches.of(k.commit) {
		if o.app == k.app {
			continue
		}
		s := p.state(o)
		sc.siblings = append(sc.siblings, s)
		snap, unseen := p.find(o.app)
		if !unseen.IsZero() || snap.Look.Absent {
			continue
		}
		q := newQuestion(k.commit, verdict.Memory{}, &snap.Look)
		if err := p.asker.prepare(ctx, p.view, []question{q}); err != nil {
			return err
		}
		j := verdict.Judge(s.Watch, *p.observation(snap.Look, q))
		if j.Determinate {
			sc.healthy[o.app] = verdict.TriOf(j.Healthy && j.Reached)
		}
	}
	return nil
}

// plan builds the revert. One that cannot be built is a hold, not a failure of
// the pass.
func (p *pass) plan(ctx context.Context, k key, s verdict.State) (verdict.State, error) {
	if p.refused[k] >= maxRefusals {
		p.persons[k] = "the branch refused the revert"
		return s.PushRefused(p.now, p.persons[k]), nil
	}
	cs, err := p.cfg.Git.Commits(ctx, []string{k.commit})
	if err != nil {
		return s, err
	}
	tip := p.view.Branches[s.Branch]
	id, err := p.cfg.Store.BuildRevert(ctx, RevertOrder{
		Commit: k.commit, Branch: s.Branch, Tip: tip, At: p.now,
		Message: revertMessage(cs[0], s),
	})
	if err != nil {
		p.persons[k] = "the revert could not be built"
		return s.PushRefused(p.now, "building the revert: "+p.clean(err)), nil
	}
	p.revert = &revertPlan{key: k, before: s, branch: s.Branch, tip: tip, commit: id}
	for _, o := range p.watches.of(k.commit) { // the commit's other open watches
		if other := p.state(o); o != k && !other.Final(p.now) {
			p.next[o], p.write[o] = other.TakenOver(id, p.now), true
		}
	}
	return s.WithRevert(id, p.now), nil
}

// maxSubject bounds what is taken over of a commit's subject, in bytes.
const maxSubject = 200

// revertMessage is git's own form, and says why. It carries no trailer of ours,
// nor a line of the original message that could be read as one.
func revertMessage(c Commit, s verdict.State) []byte {
	subject, _, _ := strings.Cut(strings.TrimLeft(string(c.Message), "\n"), "\n")
	var b strings.Builder
	for _, r := range subject {
		if b.Len() > maxSubject {
			b.WriteString("...")
			break
		}
		if r >= ' ' && r != 0x7f && r != '\uFFFD' {
			b.WriteRune(r)
		}
	}
	why := s.WithRevert(c.ID, s.FailSince).Headline()
	return fmt.Appendf(nil, "Revert \"%s\"\n\nThis reverts commit %s.\n\nnav-watchdog took it back, because\n%s\n\nThe verdict and every gate stand in refs/notes/nav/verdicts, on the reverted\ncommit.\n",
		strings.TrimSpace(b.String()), c.ID, indent(why))
}

// indent keeps foreign words from being read as a trailer: a line that starts
// with white space is none.
func indent(s string) string { return "    " + s }
