package watchd

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/pkg/trailer"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// policyFile is where a repository keeps its policy (design, section 7).
const policyFile = ".nav-watchdog.yaml"

// scene is everything that the gates of one watch are evaluated on, as of one
// fetch and one direct look.
type scene struct {
	view      View
	now       time.Time
	snapshot  Snapshot     // of the watched Application, read directly
	facts     arming.Facts // of it, with what stands around it
	signs     bool         // reverts are signed
	answers   verdict.Answers
	apps      []Snapshot      // every Application that the source shows
	listErr   error           // the source may not have shown all
	siblings  []verdict.State // other watches of the commit
	healthy   map[verdict.App]verdict.Tri
	states    []verdict.State
	people    []verdict.PeopleLine
	freezes   []verdict.Freeze
	policies  []arming.NamedPolicy
	policyNow arming.Policy
	dryRun    string
	guard     string // why notes are not guarded; empty: they are
	recorded  bool   // a recording: nothing tells who pushed, so whoever may arm counts as the one
}

// gather asks everything anew that the gates of one watch need. What cannot be
// asked holds its gate.
func (a *asker) gather(ctx context.Context, s verdict.State, sc scene) verdict.GateFacts {
	f := verdict.GateFacts{
		Look: sc.snapshot.Look, Git: sc.answers, DryRun: sc.dryRun,
		Siblings:        siblingsOf(s, sc),
		Storm:           stormOf(s, sc),
		HoldProgressing: sc.policyNow.Arm.Progressing == "hold",
		Deploy:          verdict.Deploy{Branch: s.Branch},
	}
	f.Deploy.Window, f.Deploy.WindowWhy = sc.facts.SyncUntil(sc.now, sc.now.Add(a.refresh))
	if sc.facts.Rules == nil {
		f.Deploy.NotAssessed = []string{"project"}
	}
	f.Frozen = verdict.Frozen(sc.states, sc.freezes, sc.people, sc.policyNow.IsOwner, sc.snapshot.Look.App)
	f.Circuit = verdict.Circuit(sc.states, sc.people, limits(sc.policyNow), sc.snapshot.Look.App, sc.now)
	f.Rules = a.eligible(ctx, s, sc)
	if reason, ok := arming.Waived(sc.policies, arming.GateRelated, sc.snapshot.Look.App); ok {
		f.AcceptRelated = reason
	}
	if err := a.suspects(ctx, s, sc, &f); err != nil {
		f.SuspectsErr = err.Error()
	}
	a.exact(ctx, s, sc, &f)
	a.lineage(ctx, s, sc, &f)
	if len(s.Untold) > 0 || sc.snapshot.Look.Operation.Phase != verdict.PhaseSucceeded {
		if m, err := a.git.Manifests(ctx, s.Watch.Commit, sc.answers.Ours(sc.snapshot.Look)); err == nil {
			f.Manifests = m
		}
	}
	return f
}

func limits(p arming.Policy) verdict.CircuitLimits {
	c := p.Circuit
	return verdict.CircuitLimits{
		Consecutive: c.Consecutive, PerDay: c.PerDay,
		RepositoryReverts: c.RepositoryReverts, RepositoryWithin: c.RepositoryWithin,
	}
}

func siblingsOf(s verdict.State, sc scene) []verdict.Sibling {
	out := make([]verdict.Sibling, 0, len(sc.siblings))
	for _, o := range sc.siblings {
		if o.Watch.App != s.Watch.App {
			out = append(out, verdict.Sibling{App: o.Watch.App, Mode: o.Watch.Mode, Verdict: o.Verdict, Healthy: sc.healthy[o.Watch.App]})
		}
	}
	return out
}

func stormOf(s verdict.State, sc scene) verdict.Storm {
	storm := verdict.Storm{Apps: sc.policyNow.Circuit.StormApps, Within: sc.policyNow.Circuit.StormWithin}
	for _, o := range sc.apps {
		if o.Look.App == sc.snapshot.Look.App {
			continue
		}
		if bad, is := verdict.TurnedBad(o.Look); is {
			storm.Others = append(storm.Others, bad)
		}
	}
	return storm
}

// others lists the source paths of the other Applications in this repository.
// Sources that are the whole repository say nothing about a path.
func (sc scene) others() []string {
	var out []string
	for _, o := range sc.apps {
		if o.Look.App == sc.snapshot.Look.App {
			continue
		}
		for _, src := range sc.answers.Ours(o.Look) {
			if src.Path != "" {
				out = append(out, src.Path)
			}
		}
	}
	return out
}

// suspects fills the gate attribution (R28).
func (a *asker) suspects(ctx context.Context, s verdict.State, sc scene, f *verdict.GateFacts) error {
	if sc.listErr != nil {
		return fmt.Errorf("the other Applications are not known: %w", sc.listErr)
	}
	spans, why := verdict.Spans(s, sc.snapshot.Look, sc.answers)
	if why != "" {
		f.SuspectsErr = why
		return nil
	}
	content, err := a.content(ctx, s.Watch.Commit)
	if err != nil {
		return err
	}
	own, others := sc.answers.Ours(sc.snapshot.Look), sc.others()
	seen := map[string]bool{}
	for _, span := range spans {
		changes, err := a.git.Changes(ctx, []string{span.Applied}, []string{span.Good})
		if err != nil {
			return fmt.Errorf("listing %s..%s: %w", span.Good, span.Applied, err)
		}
		for i := range changes {
			if changes[i].Commit == s.Watch.Commit { // a merge is its whole content
				changes[i].Paths = sc.answers.Paths
			}
		}
		for _, c := range verdict.Suspects(asVerdict(changes), content, own, others) {
			if !seen[c] {
				seen[c] = true
				f.Suspects = append(f.Suspects, c)
			}
		}
	}
	return nil
}

func asVerdict(in []Change) []verdict.Change {
	out := make([]verdict.Change, len(in))
	for i, c := range in {
		out[i] = verdict.Change(c)
	}
	return out
}

// content lists what a merge brought in, M^1..M without M itself.
func (a *asker) content(ctx context.Context, commit string) (map[string]bool, error) {
	cs, err := a.git.Commits(ctx, []string{commit})
	if err != nil {
		return nil, err
	}
	if len(cs) == 0 || len(cs[0].Parents) < 2 {
		return nil, nil
	}
	out := map[string]bool{}
	err = a.git.Walk(ctx, cs[0].Parents[1:], cs[0].Parents[:1], func(c Commit) error {
		out[c.ID] = true
		return nil
	})
	return out, err
}

// exact fills the gate exact.
func (a *asker) exact(ctx context.Context, s verdict.State, sc scene, f *verdict.GateFacts) {
	tip := sc.view.Branches[s.Branch]
	st, err := a.git.Standing(ctx, s.Watch.Commit, tip)
	switch {
	case tip == "":
		f.ExactErr = "the branch " + s.Branch + " is not there"
	case err != nil:
		f.ExactErr = "comparing with the tip: " + err.Error()
	case st.Root:
		f.ExactErr = "the commit has no parent"
	case st.Paths == 0:
		f.ExactErr = "the commit changes nothing"
	default:
		f.ChangedSince = st.Changed
	}
	for _, p := range sc.answers.Paths {
		if p == policyFile {
			f.ExactErr = "the revert would touch " + policyFile
		}
	}
}

// lineage fills the gate lineage.
func (a *asker) lineage(ctx context.Context, s verdict.State, sc scene, f *verdict.GateFacts) {
	cs, err := a.git.Commits(ctx, []string{s.Watch.Commit})
	if err != nil || len(cs) != 1 {
		f.IsRevert = true // not known: hold
		return
	}
	_, f.IsRevert = trailer.IsRevert(cs[0].Message)
	by, err := a.revertedBy(ctx, s.Watch.Commit, sc.view.Branches[s.Branch])
	if err != nil {
		f.ExactErr = "looking for a revert: " + err.Error()
	}
	f.AlreadyReverted = by
}

// revertedBy finds the last commit between a commit and a tip that says it
// reverts it.
func (a *asker) revertedBy(ctx context.Context, commit, tip string) (string, error) {
	found := ""
	err := a.git.Walk(ctx, []string{tip}, []string{commit}, func(c Commit) error {
		if !bytes.Contains(c.Message, []byte(commit)) {
			return nil
		}
		ids, _ := trailer.IsRevert(c.Message)
		for _, id := range ids {
			if id == commit {
				found = c.ID
			}
		}
		return nil
	})
	return found, err
}
