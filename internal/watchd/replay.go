package watchd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/pkg/trailer"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// ReplayConfig is what a recording is judged with.
type ReplayConfig struct {
	Timeline *Timeline
	Git      History
	Branches map[string]string // of the repository, as it ended
	Default  string
	Commit   string         // instead of the header's
	Fields   string         // instead of the header's `watch`
	Policy   *arming.Policy // nil: every arm counts as allowed
}

// replayPoll is how often a replay looks.
const replayPoll = time.Second

// Transition is one thing that a replay saw happen.
type Transition struct {
	At   time.Time
	Text string
}

// Replay is the result of judging a recording.
type Replay struct {
	State       verdict.State
	WouldRevert bool
	WouldDo     string // what the revert would have done
	Recovery    verdict.Recovery
	RecoveryWhy verdict.Reason
	Transitions []Transition
	Assumed     []string // what counted as open because a recording cannot hold it
}

// What keeps a recording from being judged.
var (
	ErrNoStart  = errors.New("no note in the recording says that the commit was pushed")
	ErrNoCommit = errors.New("the watched commit is not in the repository")
	ErrNoWatch  = errors.New("the fields of the watch cannot be read")
)

// player is a replay while it runs.
type player struct {
	cfg      ReplayConfig
	asker    *asker
	commit   string
	start    time.Time
	next     int // entry
	tip      string
	branch   string // that the watched Application follows
	last     map[verdict.App]Snapshot
	seen     map[verdict.App]bool
	memory   map[verdict.App]verdict.Memory
	compared map[string]string // application and source -> compared commit
	states   []verdict.State   // [0] is the watch, the others its siblings
	revert   *verdict.State    // the watch as if it had been reverted
	revertAt time.Time
	out      Replay
}

// RunReplay judges a recording on its own clock: once a second from the moment
// at which the commit was pushed to the end of the recording.
func RunReplay(ctx context.Context, cfg ReplayConfig) (*Replay, error) {
	p := &player{
		cfg: cfg, asker: newAsker(cfg.Git, nil), commit: cfg.Commit,
		last: map[verdict.App]Snapshot{}, seen: map[verdict.App]bool{},
		memory: map[verdict.App]verdict.Memory{}, compared: map[string]string{},
	}
	if p.commit == "" {
		p.commit = cfg.Timeline.Commit
	}
	if err := p.prepare(ctx); err != nil {
		return nil, err
	}
	for now := p.start; ; now = now.Add(replayPoll) {
		end := !now.Before(cfg.Timeline.End)
		if end {
			now = cfg.Timeline.End
		}
		if err := p.tick(ctx, now); err != nil {
			return nil, err
		}
		if end {
			break
		}
	}
	p.close()
	p.out.State = p.states[0]
	return &p.out, nil
}

// prepare finds the commit, the start and the watches.
func (p *player) prepare(ctx context.Context) error {
	got, err := p.cfg.Git.Resolve(ctx, []string{p.commit})
	if err != nil {
		return err
	}
	if got[p.commit] == "" {
		return fmt.Errorf("%w: %q", ErrNoCommit, p.commit)
	}
	p.commit = got[p.commit]
	if err := p.findStart(ctx); err != nil {
		return err
	}
	if p.revertAt, err = p.cfg.Timeline.revertPushed(); err != nil {
		return err
	}
	if err := p.learnOurs(ctx); err != nil {
		return err
	}
	if err := p.watches(ctx); err != nil {
		return err
	}
	p.findBranch()
	return nil
}

// findStart: the note that says that the commit was pushed, or else the first
// that says so of a commit that contains it.
func (p *player) findStart(ctx context.Context) error {
	var pushes []Entry
	var shas []string
	for _, e := range p.cfg.Timeline.Entries {
		if !e.pushed() {
			continue
		}
		if e.SHA == p.commit {
			p.start = e.At
			return nil
		}
		pushes, shas = append(pushes, e), append(shas, e.SHA)
	}
	known, err := p.cfg.Git.Resolve(ctx, shas)
	if err != nil {
		return err
	}
	for _, e := range pushes {
		if known[e.SHA] == "" {
			continue
		}
		in, err := p.cfg.Git.Contains(ctx, map[string][]string{p.commit: {known[e.SHA]}})
		if err != nil {
			return err
		}
		if in[p.commit][known[e.SHA]] {
			p.start = e.At
			return nil
		}
	}
	return ErrNoStart
}

// findBranch: the one that the watched Application follows when the commit is
// pushed, or when it is first seen.
func (p *player) findBranch() {
	for _, e := range p.cfg.Timeline.Entries {
		if p.branch != "" && e.At.After(p.start) {
			return
		}
		if !p.states[0].Watch.App.Matches(e.Snapshot.Look.App) || e.Snapshot.Look.Absent {
			continue
		}
		for _, src := range e.Snapshot.Look.Spec {
			if b, ok := p.view().branch(src.TargetRevision); ok && p.asker.ours[src.RepoURL] {
				p.branch = b
				break
			}
		}
	}
}

// pushed: a note that says that a commit was pushed.
func (e Entry) pushed() bool {
	return e.Type == "NOTE" && e.SHA != "" && strings.Contains(e.Text, "push")
}

func (t *Timeline) revertPushed() (time.Time, error) {
	if t.Revert == "" {
		return time.Time{}, nil
	}
	for _, e := range t.Entries {
		if e.pushed() && e.SHA == t.Revert {
			return e.At, nil
		}
	}
	return time.Time{}, fmt.Errorf("no note says when the revert %s was pushed", t.Revert)
}

// learnOurs: every git source whose revisions are in the repository counts as
// this repository.
func (p *player) learnOurs(ctx context.Context) error {
	q := newQuestion(p.commit, verdict.Memory{})
	entries := p.cfg.Timeline.Entries
	for i := range entries {
		q.add(&entries[i].Snapshot.Look)
	}
	if err := p.asker.resolve(ctx, p.view(), []question{q}); err != nil {
		return err
	}
	for i := range entries {
		p.asker.learn(&entries[i].Snapshot.Look)
	}
	return nil
}

// watches makes the watch that is judged and, for the gate siblings, those of
// the other Applications that the commit's trailers name.
func (p *player) watches(ctx context.Context) error {
	fields := p.cfg.Fields
	if fields == "" {
		fields = p.cfg.Timeline.Watch
	}
	wide := trailer.DefaultPolicy() // a replay knows no limits
	parsed, err := trailer.ParseFields(fields, wide)
	if err != nil {
		return fmt.Errorf("%w: %q: %w", ErrNoWatch, fields, err)
	}
	main, err := watchOf(parsed, p.commit)
	if err != nil {
		return err
	}
	main.Queued = p.start
	p.states = []verdict.State{verdict.New(main, "replay")}
	cs, err := p.cfg.Git.Commits(ctx, []string{p.commit})
	if err != nil {
		return err
	}
	others, _ := trailer.Decode(cs[0].Message, wide)
	for _, o := range others {
		w, err := watchOf(o, p.commit)
		if err != nil || w.App.Matches(main.App) {
			continue
		}
		w.Queued = p.start
		w.Deadline, w.Reach, w.Stable = main.Deadline, main.Reach, main.Stable
		p.states = append(p.states, verdict.New(w, "replay"))
	}
	return nil
}

// watchOf is a decoded trailer as a watch.
func watchOf(t trailer.Watch, commit string) (verdict.Watch, error) {
	w := verdict.Watch{
		Commit: commit, Deadline: t.Deadline, Reach: t.Reach, Stable: t.Stable,
		Mode: verdict.Mode(t.Mode), Expect: t.Expect,
	}
	name := t.App
	switch { // mode=propose is judged, and its gate `mode` holds
	case t.AppSet != "":
		name, w.Unsupported = t.AppSet, "appset"
	case len(t.Probes) > 0:
		w.Unsupported = "probe"
	}
	app, err := verdict.ParseApp(name)
	w.App = app
	return w, err
}

// tick delivers what was recorded up to now, and looks.
func (p *player) tick(ctx context.Context, now time.Time) error {
	for ; p.next < len(p.cfg.Timeline.Entries) && !p.cfg.Timeline.Entries[p.next].At.After(now); p.next++ {
		if err := p.deliver(ctx, p.cfg.Timeline.Entries[p.next]); err != nil {
			return err
		}
	}
	for i := range p.states {
		if err := p.step(ctx, i, now); err != nil {
			return err
		}
	}
	return p.recover(ctx, now)
}

func (p *player) say(at time.Time, format string, args ...any) {
	p.out.Transitions = append(p.out.Transitions, Transition{at, fmt.Sprintf(format, args...)})
}

// close ends a FAIL that waits for `fresh` or `deployable` only.
func (p *player) close() {
	if s := p.states[0]; s.Verdict == verdict.Waiting && !s.FailSince.IsZero() && len(s.Gates) > 0 {
		p.states[0] = verdict.CloseHeld(s, p.cfg.Timeline.End)
		p.say(p.cfg.Timeline.End, "%s", p.states[0].Headline())
	}
	if p.revert != nil {
		p.out.Recovery, p.out.RecoveryWhy = p.revert.Recovery, p.revert.RecoveryWhy
	}
	p.out.Assumed = append(p.out.Assumed, "dry-run, the guard of the notes, atomic pushes, the circuit and what only an AppProject, ImageUpdater or ApplicationSet could tell count as open")
	if p.cfg.Policy == nil {
		p.out.Assumed = append(p.out.Assumed, "no --policy: every arm counts as allowed")
	} else {
		p.out.Assumed = append(p.out.Assumed, "who pushed is not recorded: it counts as somebody whom the policy allows, if it allows anybody")
	}
}
