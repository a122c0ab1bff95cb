package watchd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// pass is one pass while it runs. Nothing in it is the daemon's until the push
// arrived.
type pass struct {
	*Daemon
	now     time.Time
	online  bool                  // fetched in this pass: may decide and write
	next    map[key]verdict.State // moved in this pass
	write   map[key]bool          // must be written now
	persons map[key]string
	failing []key
	direct  map[verdict.App]Snapshot
	only    passed // of a glance: what it looks at; nil: everything
	keys    []key  // the watches that it is about; nil: all that only leaves
	// between looks at what changed, while a pass goes on, and reports whether that
	// was written; nil: nobody looks.
	between func(context.Context) bool
	moved   bool // somebody did: what it wrote is what this pass writes on top of
	// undecided says that a step could not be ended without a fetch.
	undecided bool
	revert    *revertPlan
	judged    int                   // how many of the looks that waited were judged by
	absorbed  map[key]verdict.State // with the looks in between, and no clock moved
}

// Pass looks at every open watch once. Why one failed is told by the status of
// the next that can be written.
func (d *Daemon) Pass(ctx context.Context) error { return d.passWith(ctx, nil) }

func (d *Daemon) passWith(ctx context.Context, between func(context.Context) bool) error {
	p := d.newPass()
	p.between = between
	d.deliveries(p.now)
	err := p.run(ctx)
	d.noteFailure(p.now, err)
	return err
}

func (d *Daemon) newPass() *pass {
	return &pass{
		Daemon: d, now: d.cfg.Now(), next: map[key]verdict.State{}, write: map[key]bool{},
		persons: map[key]string{}, direct: map[verdict.App]Snapshot{}, absorbed: map[key]verdict.State{},
	}
}

func (p *pass) run(ctx context.Context) error {
	fetchErr := p.fetch(ctx)
	p.yield(ctx)
	between := p.look(ctx)
	if !p.fetched {
		return fetchErr
	}
	between, err := p.sweepOr(ctx, between)
	if err != nil {
		return errors.Join(fetchErr, err)
	}
	if err := p.judge(ctx, between); err != nil {
		return errors.Join(fetchErr, err)
	}
	if !p.online {
		p.keep()
		return errors.Join(fetchErr, p.statusAlone(ctx))
	}
	if err := p.conclude(ctx, between); err != nil {
		return err
	}
	if err := p.store(ctx); err != nil {
		return err
	}
	p.stepped()
	p.greet()
	return nil
}

// greet tells once, after the first pass that saw everything, how much it was:
// whoever starts a daemon wants to see that it sees.
func (d *Daemon) greet() {
	if d.greeted || d.listErr != nil {
		return
	}
	d.greeted = true
	d.cfg.Log.Info("first pass done", "branches", strings.Join(keys(d.status.Tips), " "), "applications", len(d.apps),
		"of_this_repository", len(d.inventory()), "open_watches", d.openWatches(d.cfg.Now()), "dry_run", d.cfg.DryRun)
}

// fetch fixes the branch tips; without it the pass only looks.
func (p *pass) fetch(ctx context.Context) error {
	view, err := p.cfg.Store.Fetch(ctx)
	if err != nil {
		p.complain("repository", err)
		return fmt.Errorf("fetching: %w", err)
	}
	delete(p.sick, "repository")
	p.view, p.fetched, p.online = view, true, true
	if err := p.load(ctx, p.now); err != nil {
		p.online = false
		return err
	}
	if p.loaded && p.only == nil && p.foreign == "" {
		p.settle(p.now)
	}
	if p.foreign != "" { // nothing is opened, decided or written beside what is not believed
		p.online = false
		return nil
	}
	if err := p.adopt(ctx, p.now); err != nil {
		p.online = false
		return err
	}
	return nil
}

// look lists the Applications and remembers what they showed, as of now: what came
// before, during the fetch, was judged by when it came, and no clock runs backwards.
func (p *pass) look(ctx context.Context) passed {
	p.now = p.cfg.Now()
	apps, between, err := p.cfg.Cluster.List(ctx, p.now)
	p.listErr = err
	if err != nil {
		p.complain("applications", err)
	} else {
		delete(p.sick, "applications")
	}
	p.list(apps)
	p.surround(ctx, false)
	p.remember(between)
	p.remember(apps)
	p.queue(between)
	return byName(p.awaiting)
}

// surround reads what stands around Applications. What cannot be read is not
// known, which the rules say of themselves; the log says it once.
func (p *pass) surround(ctx context.Context, fresh bool) {
	s, offers := p.cfg.Cluster.(Surroundings)
	if !offers {
		return
	}
	around, err := s.Around(ctx, p.now, fresh)
	p.around = around
	why := ""
	if err != nil {
		why = p.clean(err)
	}
	if why != p.blind && why != "" {
		p.cfg.Log.Warn("what stands around Applications cannot all be read; arming rules about it are not assessed", "error", why)
	}
	p.blind = why
}

// facts of an Application, with what stands around it.
func (d *Daemon) facts(s Snapshot) arming.Facts { return d.around.Around(s.Facts) }

// window tells whether a sync window lets Argo CD sync an Application now.
func (p *pass) window(app verdict.App) (verdict.Tri, string) {
	for _, i := range p.named[app.Name] {
		if p.apps[i].Look.App == app {
			return p.facts(p.apps[i]).Sync(p.now)
		}
	}
	return verdict.Unknown, ""
}

// judge steps every open watch.
func (p *pass) judge(ctx context.Context, between passed) error {
	open := p.openKeys()
	p.judged = len(p.awaiting)
	p.introduce(ctx)
	qs := make([]question, 0, len(open))
	if p.keys == nil { // or all are known already
		if err := p.acquaint(ctx, p.looked()); err != nil {
			return err
		}
	}
	for _, k := range open {
		qs = append(qs, p.question(k, between))
	}
	if err := p.asker.prepare(ctx, p.view, qs); err != nil {
		return err
	}
	if err := p.survey(ctx, open, qs); err != nil {
		return err
	}
	for i, k := range open {
		if err := p.step(ctx, k, qs[i], between); err != nil {
			return fmt.Errorf("judging %s in %s: %w", k.commit, k.app, err)
		}
	}
	return nil
}

// survey asks what of the open watches still stands on their branches.
func (p *pass) survey(ctx context.Context, open []key, qs []question) error {
	commits := map[string][]string{}
	order := make([]int, len(open))
	for i := range open {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return p.watches.states[open[a]].Watch.Queued.Compare(p.watches.states[open[b]].Watch.Queued)
	})
	for _, i := range order {
		k := open[i]
		s := p.watches.states[k]
		branches := []string{s.Branch}
		if s.Branch == "" {
			branches = qs[i].branches(p.view)
		}
		if s.Verdict != verdict.Reverted && len(branches) == 1 {
			tip := p.view.Branches[branches[0]]
			commits[tip] = append(commits[tip], k.commit)
		}
	}
	for _, tip := range keys(commits) {
		if err := p.asker.survey(ctx, commits[tip], tip); err != nil {
			return err
		}
	}
	return nil
}

func (p *pass) question(k key, between passed) question {
	s, _ := p.watches.get(k)
	shown := append(between.of(k.app), p.matching(k.app)...)
	var memory verdict.Memory
	if n := len(shown); n > 0 {
		memory = p.memory[shown[n-1].Look.App]
	}
	q := newQuestion(s.Subject(), memory)
	for _, snap := range shown {
		q.add(&snap.Look)
	}
	return q
}

// find is the Application of a name as last listed. A name that fits several
// is not known.
func (p *pass) find(app verdict.App) (Snapshot, verdict.Reason) {
	found := p.matching(app)
	switch {
	case len(found) == 1:
		return *found[0], verdict.Reason{}
	case len(found) > 1:
		return Snapshot{}, verdict.Reason{Code: "app-ambiguous", Detail: fmt.Sprintf("%d Applications have this name; write NAMESPACE/NAME", len(found))}
	case p.listErr != nil:
		return Snapshot{}, verdict.Reason{Code: "cluster-unreadable", Detail: p.listErr.Error()}
	}
	return Snapshot{Look: verdict.Look{App: app, At: p.now, Absent: true}}, verdict.Reason{}
}

// step moves one watch, and reads its Application directly where that decides.
func (p *pass) step(ctx context.Context, k key, q question, between passed) error {
	s, _ := p.watches.get(k)
	snap, unseen := p.find(k.app)
	in := verdict.Input{Now: p.now, Poll: p.cfg.Interval, Unseen: unseen, Memory: p.memory[snap.Look.App]}
	if unseen.IsZero() {
		in.Seen = p.observation(snap.Look, q)
		if looks := between.of(k.app); len(looks) > 0 {
			for _, b := range looks {
				if b.Look.At.After(p.judgedBy[k.commit]) {
					s = s.Absorb(*p.observation(b.Look, q))
				}
			}
			p.absorbed[k] = s
		}
	}
	if s.Watch.By == "" && s.Branch != "" {
		s.Watch.By = p.by(k.commit, s.Branch)
	}
	if s.Verdict != verdict.Reverted {
		branch := s.Branch
		if in.Seen != nil {
			if _, b := in.Seen.Git.Judged(in.Seen.Look); b != "" {
				branch = b
			}
		}
		taken, err := p.asker.takenBack(ctx, k.commit, p.view.Branches[branch])
		if err != nil {
			return err
		}
		in.TakenBack = taken
	}
	after, next := verdict.Step(s, in)
	for range 3 { // a direct look, then a range: each is asked once
		if !next.Needs() {
			break
		}
		if !p.online {
			p.undecided = true
			return nil // it cannot be decided without a fetch: as it was
		}
		if err := p.answer(ctx, k, next.Need, &in); err != nil {
			return err
		}
		if in.Seen == nil {
			after, next = s, verdict.Next{}
			break
		}
		after, next = verdict.Step(s, in)
	}
	p.next[k] = after
	p.write[k] = next.Transition
	if next.Person != "" {
		p.persons[k] = next.Person
	}
	if next.Conclude {
		p.failing = append(p.failing, k)
	}
	return nil
}

// observation puts a look together with what Git says.
func (p *pass) observation(l verdict.Look, q question) *verdict.Observation {
	o := &verdict.Observation{Look: l, Git: p.asker.answers(p.view, q), Refresh: p.cfg.Refresh}
	o.Window, o.WindowWhy = p.window(l.App)
	return o
}

// answer gives a step what it asked for. A direct look that fails leaves the
// watch as it was.
func (p *pass) answer(ctx context.Context, k key, need verdict.Need, in *verdict.Input) error {
	if need.Between != [2]string{} {
		var err error
		in.Overtook, err = p.asker.overtook(ctx, need.Between, *in.Seen)
		in.OvertookKnown = true
		return err
	}
	app := in.Seen.Look.App
	snap, ok := p.direct[app]
	if !ok {
		var err error
		p.now = p.cfg.Now() // others were asked before it, perhaps for minutes
		in.Now = p.now
		if snap, err = p.cfg.Cluster.Get(ctx, app, p.now); err != nil {
			p.complain("application "+app.String(), err)
			in.Seen = nil
			return nil
		}
		delete(p.sick, "application "+app.String())
		snap.Look.Direct = true
		p.direct[app] = snap
		p.memory[app] = p.memory[app].Remember(snap.Look, p.cfg.Refresh)
	}
	s, _ := p.watches.get(k)
	q := newQuestion(s.Subject(), p.memory[app], &snap.Look)
	if err := p.asker.prepare(ctx, p.view, []question{q}); err != nil {
		return err
	}
	p.asker.learn(&snap.Look)
	in.Seen, in.Memory = p.observation(snap.Look, q), p.memory[app]
	return nil
}

// keep makes what was seen the daemon's own without a write: clocks go on, and
// nothing that would have to be written is kept.
func (p *pass) keep() {
	for k, s := range p.absorbed {
		p.watches.put(k, s)
	}
	for k, s := range p.next {
		if !p.write[k] {
			p.watches.put(k, s)
		}
	}
	p.stepped()
}

// stepped forgets the looks by which watches were stepped, once that is the
// daemon's.
func (p *pass) stepped() { p.awaiting = p.awaiting[p.judged:] }
