package watchd

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// deliver takes in one line of the recording.
func (p *player) deliver(ctx context.Context, e Entry) error {
	if e.Type == "NOTE" {
		if !e.At.Before(p.start) {
			p.say(e.At, "note: %s", e.Text)
		}
		if e.pushed() {
			return p.pushedTo(ctx, e.SHA)
		}
		return nil
	}
	l := e.Snapshot.Look
	l.At, l.Direct = e.At, true
	e.Snapshot.Look = l
	p.last[l.App], p.seen[l.App] = e.Snapshot, true
	if err := p.moves(ctx, l); err != nil {
		return err
	}
	p.memory[l.App] = p.memory[l.App].Remember(l, p.cfg.Timeline.Refresh)
	for i, s := range p.states {
		if s.Watch.App.Matches(l.App) && !e.At.Before(p.start) {
			o, err := p.observe(ctx, s, e.Snapshot, e.At)
			if err != nil {
				return err
			}
			p.states[i] = s.Absorb(o)
		}
	}
	return nil
}

// pushedTo moves the tip to a pushed commit, unless only other branches than
// the followed one hold it.
func (p *player) pushedTo(ctx context.Context, sha string) error {
	got, err := p.cfg.Git.Resolve(ctx, []string{sha})
	if err != nil || got[sha] == "" {
		return err
	}
	names, tips := []string{}, []string{}
	for b, tip := range p.cfg.Branches {
		names, tips = append(names, b), append(tips, tip)
	}
	in, err := p.cfg.Git.Contains(ctx, map[string][]string{got[sha]: tips})
	if err != nil {
		return err
	}
	elsewhere := false
	for i, b := range names {
		if in[got[sha]][tips[i]] {
			if b == p.followed() {
				elsewhere = false
				break
			}
			elsewhere = true
		}
	}
	if !elsewhere {
		p.tip = got[sha]
	}
	return nil
}

// followed is the branch that the watched Application follows.
func (p *player) followed() string {
	if p.branch != "" {
		return p.branch
	}
	return p.cfg.Default
}

// moves sees from a compared revision that changed that the branch moved: a
// force-push shows so. One that only catches up with the tip moves nothing.
func (p *player) moves(ctx context.Context, l verdict.Look) error {
	for _, r := range l.Compared {
		commit := p.asker.peeled[strings.ToLower(r.Rev)]
		if len(r.Rev) < 40 || commit == "" || !p.asker.ours[r.Source.RepoURL] {
			continue
		}
		b, ok := p.view().branch(r.Source.TargetRevision)
		if !ok || (p.branch != "" && b != p.branch) {
			continue
		}
		key := l.App.String() + "\x00" + r.Source.RepoURL + "\x00" + r.Source.Path + "\x00" + r.Source.Ref
		was := p.compared[key]
		p.compared[key] = commit
		if p.tip == "" {
			p.tip = commit
		}
		if was == "" || was == commit || commit == p.tip {
			continue
		}
		in, err := p.cfg.Git.Contains(ctx, map[string][]string{commit: {p.tip}, was: {commit}})
		if err != nil {
			return err
		}
		if catchesUp := in[commit][p.tip] && in[was][commit]; !catchesUp {
			p.tip = commit
		}
	}
	return nil
}

// view is the repository as of the moment.
func (p *player) view() View {
	v := View{Default: p.cfg.Default, Branches: map[string]string{}}
	for b, tip := range p.cfg.Branches {
		v.Branches[b] = tip
	}
	if p.tip != "" {
		v.Branches[p.followed()] = p.tip
	}
	return v
}

// observe puts a snapshot together with what Git says.
func (p *player) observe(ctx context.Context, s verdict.State, snap Snapshot, now time.Time) (verdict.Observation, error) {
	l := snap.Look
	l.At, l.Direct = now, true
	q := newQuestion(s.Subject(), p.memory[l.App], &l)
	for _, o := range p.last {
		q.add(&o.Look)
	}
	if err := p.asker.prepare(ctx, p.view(), []question{q}); err != nil {
		return verdict.Observation{}, err
	}
	return verdict.Observation{Look: l, Git: p.asker.answers(p.view(), q), Refresh: p.cfg.Timeline.Refresh}, nil
}

// find is the last snapshot of the Application that a watch names.
func (p *player) find(app verdict.App, now time.Time) Snapshot {
	for name, snap := range p.last {
		if app.Matches(name) {
			return snap
		}
	}
	return Snapshot{Look: verdict.Look{App: app, At: now, Direct: true, Absent: true}}
}

// step moves one watch by one look.
func (p *player) step(ctx context.Context, i int, now time.Time) error {
	s := p.states[i]
	snap := p.find(s.Watch.App, now)
	o, err := p.observe(ctx, s, snap, now)
	if err != nil {
		return err
	}
	in := verdict.Input{Now: now, Poll: replayPoll, Seen: &o, Memory: p.memory[snap.Look.App]}
	if in.TakenBack, err = p.asker.takenBack(ctx, s.Watch.Commit, p.tip); err != nil {
		return err
	}
	after, next := verdict.Step(s, in)
	if next.Need.Between != [2]string{} {
		if in.Overtook, err = p.asker.overtook(ctx, next.Need.Between, o); err != nil {
			return err
		}
		in.OvertookKnown = true
		after, next = verdict.Step(s, in)
	}
	if next.Conclude {
		after, err = p.conclude(ctx, i, after, o, snap, now)
		if err != nil {
			return err
		}
	}
	p.states[i] = after
	if i == 0 {
		p.report(s, after, now)
	}
	return nil
}

// conclude evaluates the gates; what a revert would have done is only said.
func (p *player) conclude(ctx context.Context, i int, s verdict.State, o verdict.Observation, snap Snapshot, now time.Time) (verdict.State, error) {
	snap.Look = o.Look
	policy := arming.Default()
	policy.Exists = true
	policy.Arm.Allow = []arming.Allow{{Apps: []string{"*"}, By: []string{"*"}}}
	if p.cfg.Policy != nil {
		policy = *p.cfg.Policy
	}
	sc := scene{
		view: p.view(), now: now, snapshot: snap, facts: snap.Facts, answers: o.Git,
		policies: []arming.NamedPolicy{{When: "now", Policy: policy}}, policyNow: policy,
		healthy: map[verdict.App]verdict.Tri{}, recorded: true,
	}
	for _, other := range p.last {
		if !other.Look.Absent {
			l := other.Look
			l.At = now
			sc.apps = append(sc.apps, Snapshot{Look: l, Facts: other.Facts})
		}
	}
	for k, sib := range p.states {
		if k == i {
			continue
		}
		sc.siblings = append(sc.siblings, sib)
		so, err := p.observe(ctx, sib, p.find(sib.Watch.App, now), now)
		if err != nil {
			return s, err
		}
		j := verdict.Judge(sib.Watch, so)
		sc.healthy[sib.Watch.App] = verdict.TriOf(j.Healthy && j.Reached)
	}
	f := p.asker.gather(ctx, s, sc)
	// No Overdue: a recording's header says the reconciliation without its
	// jitter, so that an ordinary poll would look overdue (docs/design/0009).
	f.Stale = staleness(s.Watch, o)
	after, next := verdict.Conclude(s, f, now, p.cfg.Timeline.Refresh)
	if next.Revert {
		if i == 0 {
			p.out.WouldRevert = true
			p.out.WouldDo = fmt.Sprintf("a revert of %s would have been pushed to %s on %s, putting back %s",
				s.Watch.Commit, s.Branch, p.tip, strings.Join(o.Git.Paths, ", "))
			p.say(now, "%s", p.out.WouldDo)
			p.revert = &after
		}
		after = verdict.CloseHeld(after, now)
	}
	return after, nil
}

// staleness is why a look is not fresh; empty: it is.
func staleness(w verdict.Watch, o verdict.Observation) string {
	if j := verdict.Judge(w, o); !j.Determinate {
		return j.Reason.String()
	}
	return ""
}

// recover watches the recorded revert, once it was pushed.
func (p *player) recover(ctx context.Context, now time.Time) error {
	if p.revert == nil || p.cfg.Timeline.Revert == "" || now.Before(p.revertAt) {
		return nil
	}
	if p.revert.Revert == "" {
		s := p.revert.WithRevert(p.cfg.Timeline.Revert, now)
		p.revert = &s
	}
	if p.revert.Final(now) {
		return nil
	}
	o, err := p.observe(ctx, *p.revert, p.find(p.revert.Watch.App, now), now)
	if err != nil {
		return err
	}
	after, _ := verdict.Step(*p.revert, verdict.Input{Now: now, Poll: replayPoll, Seen: &o})
	if after.Recovery != p.revert.Recovery {
		p.say(now, "recovery of the recorded revert: %s (%s)", after.Recovery, after.RecoveryWhy)
	}
	p.revert = &after
	return nil
}

// report says what changed between two states.
func (p *player) report(before, after verdict.State, now time.Time) {
	for _, e := range after.Events {
		if len(before.Events) == 0 || e.Seq > before.Events[len(before.Events)-1].Seq {
			if e.Kind != "verdict" {
				p.say(now, "%s: %s", e.Kind, e.Text)
			}
		}
	}
	if len(before.Gates) == 0 || after.Verdict != before.Verdict {
		for _, g := range after.Gates {
			p.say(now, "gate %s", g)
		}
	}
	switch {
	case after.Verdict != before.Verdict:
		p.say(now, "%s", after.Headline())
	case after.Reason != before.Reason && after.Verdict == verdict.Waiting:
		p.say(now, "WAITING: %s", after.Reason)
	}
}

// overtook lists the commits between two revisions that touch what the
// Application deploys.
func (a *asker) overtook(ctx context.Context, between [2]string, o verdict.Observation) ([]string, error) {
	got, err := a.git.Resolve(ctx, between[:])
	if err != nil {
		return nil, err
	}
	from, to := got[between[0]], got[between[1]]
	if from == "" || to == "" {
		return []string{between[1]}, nil // not known: never a CONFIRMED
	}
	changes, err := a.git.Changes(ctx, []string{to}, []string{from})
	if err != nil {
		return nil, err
	}
	own := o.Git.Ours(o.Look)
	var out []string
	for _, c := range changes {
		if verdict.Touches(own, c.Paths) {
			out = append(out, c.Commit)
		}
	}
	return out, nil
}
