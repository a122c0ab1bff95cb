package verdict

import (
	"fmt"
	"strings"
	"time"
)

// Rule is the answer of one arming rule for the gate `eligible`. Holds and
// NotAssessed exclude each other.
type Rule struct {
	Name        string
	Holds       bool
	NotAssessed bool // nobody could tell; written, but does not hold
	Why         string
}

// Sibling is another watch of the same commit.
type Sibling struct {
	App     App
	Mode    Mode
	Verdict Verdict
	Healthy Tri // with the commit, at the last look
}

// BadApp is an Application that is not well, and since when.
type BadApp struct {
	App   App
	Since time.Time
	Why   string
}

// GateFacts is what the gates are evaluated on: everything asked anew at the
// moment of the decision, for this watch. A field that could not be asked
// carries its error, and holds.
type GateFacts struct {
	Look   Look // the look that decided
	Git    Answers
	DryRun string // why nothing may be written; empty: it may
	Frozen string // who or what froze reverts; empty: nobody
	Stale  string // why the last look is stale or indeterminate
	// Overdue is how old a comparison may be, zero: any age. A controller that
	// died after the operation leaves a status that is not stale yet (R5).
	Overdue time.Duration

	Rules []Rule // eligible

	Suspects    []string // commits between last good and applied that may touch the Application
	SuspectsErr string

	Manifests     map[ObjectID]Tri // for Untold and refused objects: does the manifest differ in Git
	ParentFailed  bool
	AcceptRelated string // the policy waives the gate, with its reason

	Siblings []Sibling
	Storm    Storm
	Circuit  string // why the circuit is open; empty: closed

	HoldProgressing bool // the policy's progressing: hold

	ChangedSince []string // paths whose content is no longer what the commit left
	ExactErr     string   // the revert cannot be built: root commit, empty, policy file

	Deploy Deploy

	IsRevert        bool
	AlreadyReverted string // the commit that says it reverts this one
}

// Storm is what the gate `storm` counts: other Applications that are bad.
type Storm struct {
	Apps   int // how many, this one included, are a storm
	Within time.Duration
	Others []BadApp
}

// Deploy is what the gate `deployable` needs beyond the look.
type Deploy struct {
	Branch      string // to be pushed, short name
	Window      Tri    // may a sync run now; Unknown: not assessed
	WindowWhy   string
	NotAssessed []string
}

// GateNames lists the gates in the order in which they are evaluated.
func GateNames() []string {
	names := make([]string, len(gates))
	for i, g := range gates {
		names[i] = g.name
	}
	return names
}

// gates is the table of design, section 6. Each function returns why it holds
// (empty: it passes) and, for a pass, what a reader should know.
var gates = [...]struct {
	name string
	hold func(State, GateFacts) (why, seen string)
}{
	{"mode", gateMode},
	{"dry-run", gateDryRun},
	{"reached", gateReached},
	{"fresh", gateFresh},
	{"eligible", gateEligible},
	{"baseline", gateBaseline},
	{"attribution", gateAttribution},
	{"related", gateRelated},
	{"siblings", gateSiblings},
	{"storm", gateStorm},
	{"circuit", gateCircuit},
	{"progressing", gateProgressing},
	{"exact", gateExact},
	{"deployable", gateDeployable},
	{"lineage", gateLineage},
}

// Evaluate asks every gate, also when another already said no.
func Evaluate(s State, f GateFacts) []Gate {
	out := make([]Gate, 0, len(gates))
	for _, g := range gates {
		why, seen := g.hold(s, f)
		if why != "" {
			out = append(out, Gate{Name: g.name, Why: clip(why)})
			continue
		}
		out = append(out, Gate{Name: g.name, Pass: true, Why: clip(seen)})
	}
	return out
}

func gateMode(s State, _ GateFacts) (string, string) {
	switch {
	case s.Late:
		return "reached late: judged as shadow", ""
	case s.Watch.Mode != Arm:
		return "mode=" + string(s.Watch.Mode), ""
	}
	return "", ""
}

func gateDryRun(_ State, f GateFacts) (string, string) {
	if f.DryRun != "" {
		return f.DryRun, ""
	}
	if f.Frozen != "" {
		return "frozen: " + f.Frozen, ""
	}
	return "", ""
}

func gateReached(s State, _ GateFacts) (string, string) {
	if s.Track.ReachedAt.IsZero() {
		return "the commit was not reached", ""
	}
	return "", "by " + s.Track.ReachedBy
}

func gateFresh(_ State, f GateFacts) (string, string) {
	switch {
	case f.Stale != "":
		return f.Stale, ""
	case !f.Look.Direct:
		return "the last look was not read directly", ""
	case f.Overdue > 0 && f.Look.At.Sub(f.Look.ReconciledAt) > f.Overdue:
		return "the last comparison, at " + stamp(f.Look.ReconciledAt) + ", is overdue", ""
	}
	return "", ""
}

func gateEligible(_ State, f GateFacts) (string, string) {
	var holds, open []string
	for _, r := range f.Rules {
		switch {
		case r.Holds:
			holds = append(holds, r.Name+": "+r.Why)
		case r.NotAssessed:
			open = append(open, r.Name)
		}
	}
	if len(open) > 0 {
		return strings.Join(holds, "; "), "not assessed: " + strings.Join(open, ", ")
	}
	return strings.Join(holds, "; "), ""
}

func gateBaseline(s State, _ GateFacts) (string, string) {
	b := s.Baseline
	switch {
	case b == nil:
		return "no settled look before it", ""
	case !b.Known:
		return b.Detail, ""
	case !b.Good:
		return "it was not healthy and synced before: " + b.Detail, ""
	}
	return "", b.Detail + " at " + stamp(b.At)
}

func gateAttribution(s State, f GateFacts) (string, string) {
	switch {
	case f.SuspectsErr != "":
		return "the suspects are not known: " + f.SuspectsErr, ""
	case len(f.Suspects) == 1 && f.Suspects[0] == s.Watch.Commit:
		return "", ""
	case len(f.Suspects) == 0:
		return "nothing since the last good revision touches the Application", ""
	case len(f.Suspects) == 1:
		return "the only suspect is another commit: " + short(f.Suspects[0]), ""
	}
	ids := make([]string, 0, 6)
	for i, c := range f.Suspects {
		if i == 5 {
			ids = append(ids, "...")
			break
		}
		ids = append(ids, short(c))
	}
	return fmt.Sprintf("%d suspects: %s", len(f.Suspects), strings.Join(ids, ", ")), ""
}

func gateSiblings(_ State, f GateFacts) (string, string) {
	for _, s := range f.Siblings {
		switch {
		case s.Mode != Arm:
			return s.App.String() + " is watched with mode=" + string(s.Mode), ""
		case s.Verdict == Confirmed || s.Healthy == Yes:
			return s.App.String() + " is healthy with the commit", ""
		}
	}
	return "", ""
}

func gateCircuit(_ State, f GateFacts) (string, string) { return f.Circuit, "" }

func gateProgressing(_ State, f GateFacts) (string, string) {
	if f.HoldProgressing && f.Look.Health == HealthProgressing {
		return "still Progressing, and the policy holds then", ""
	}
	return "", ""
}

func gateExact(_ State, f GateFacts) (string, string) {
	switch {
	case f.ExactErr != "":
		return f.ExactErr, ""
	case len(f.ChangedSince) > 0:
		return fmt.Sprintf("%d of its paths changed since: %s", len(f.ChangedSince), strings.Join(f.ChangedSince[:min(3, len(f.ChangedSince))], ", ")), ""
	}
	return "", ""
}

func gateLineage(_ State, f GateFacts) (string, string) {
	switch {
	case f.IsRevert:
		return "the commit is itself a revert", ""
	case f.AlreadyReverted != "":
		return "already reverted by " + short(f.AlreadyReverted), ""
	}
	return "", ""
}

// gateStorm counts Applications that turned bad within the same few minutes as
// this one: that is the platform, not a commit.
func gateStorm(s State, f GateFacts) (string, string) {
	mine, ok := turnedBad(f.Look)
	if !ok {
		mine = BadApp{Since: s.Track.ReachedAt}
	}
	var others []string
	for _, o := range f.Storm.Others {
		if d := o.Since.Sub(mine.Since); d <= f.Storm.Within && d >= -f.Storm.Within {
			others = append(others, o.App.String())
		}
	}
	if f.Storm.Apps > 0 && len(others)+1 >= f.Storm.Apps {
		return fmt.Sprintf("%d Applications turned bad within %s: this one, %s", len(others)+1, f.Storm.Within, strings.Join(others[:min(5, len(others))], ", ")), ""
	}
	return "", ""
}

// progressingGrace is how long an Application may be Progressing before it
// counts for a storm: an ordinary rollout is none.
const progressingGrace = time.Minute

// TurnedBad tells whether an Application is not well, and since when: the
// transition of its health, the end of its failed operation, or the condition
// that hides its state.
func TurnedBad(l Look) (BadApp, bool) { return turnedBad(l) }

func turnedBad(l Look) (BadApp, bool) {
	if l.Absent || !l.HasStatus {
		return BadApp{}, false
	}
	b := BadApp{App: l.App}
	op := l.Operation
	switch {
	case l.Health == HealthDegraded || l.Health == HealthMissing || l.Health == HealthUnknown,
		l.Health == HealthProgressing && l.At.Sub(l.HealthSince) >= progressingGrace:
		b.Since, b.Why = l.HealthSince, "health "+l.Health
	case op.Phase == PhaseFailed || op.Phase == PhaseError || op.Retrying():
		b.Since, b.Why = later(op.FinishedAt, op.StartedAt), "operation failed"
	case l.SyncStatus == SyncUnknown:
		for _, c := range l.Conditions {
			if c.Failure() && !c.Since.IsZero() {
				b.Since = c.Since
			}
		}
		b.Why = "sync status Unknown"
	default:
		return BadApp{}, false
	}
	if b.Since.IsZero() {
		b.Since = l.At
	}
	return b, true
}

// gateDeployable: could the revert reach the cluster (R30).
func gateDeployable(_ State, f GateFacts) (string, string) {
	l, op := f.Look, f.Look.Operation
	switch {
	case f.Deploy.Window == No:
		return "sync window: " + f.Deploy.WindowWhy, ""
	case strings.Contains(op.Message, "blocked by sync window"):
		return "sync window: " + op.Message, ""
	case !l.AutoSync && !l.OwnedBySet:
		return "automated sync is off", ""
	case l.SkipReconcile:
		return "skip-reconcile", ""
	case f.Deploy.Branch == "":
		return "the branch to be pushed is not known", ""
	case op.Requested && op.Retrying() && op.RetryLimit < 0:
		return "the failed operation is retried without limit", ""
	case op.Requested && !op.Retrying(), op.Phase == PhaseTerminating:
		return "an operation runs and has not failed yet", ""
	case op.Present && op.Phase == PhaseRunning && !op.Retrying():
		return "an operation runs and has not failed yet", ""
	}
	if b, ok := followsOnly(f.Git, l); !ok || b != f.Deploy.Branch {
		return "the Application follows another branch than " + f.Deploy.Branch, ""
	}
	var open []string
	if f.Deploy.Window == Unknown {
		open = append(open, "sync window")
	}
	if !l.AutoSync { // an ApplicationSet's progressive sync may do it
		open = append(open, "progressive sync")
	}
	open = append(open, f.Deploy.NotAssessed...)
	if len(open) > 0 {
		return "", "not assessed: " + strings.Join(open, ", ")
	}
	return "", ""
}

// followsOnly names the branch that the judged sources follow, if it is one.
func followsOnly(a Answers, l Look) (string, bool) {
	rel, why, _ := a.relevant(l)
	if !why.IsZero() {
		return "", false
	}
	for _, s := range rel.sources {
		if b, ok := a.follows(s); !ok || b != rel.branch {
			return "", false
		}
	}
	return rel.branch, true
}
