package verdict

import (
	"fmt"
	"time"
)

// Observation is one look at one Application together with what Git says of
// the revisions in it.
type Observation struct {
	Look Look
	Git  Answers
	// Refresh is how long Argo CD takes at most to look at an Application
	// again: its reconciliation timeout and jitter. Zero: it does not poll, and
	// nothing grows stale (R5).
	Refresh time.Duration
	// Window tells whether a sync window lets Argo CD sync the Application by
	// itself at this moment (R14); Unknown: nobody looked. WindowWhy is for people.
	Window    Tri
	WindowWhy string
}

// Judgement is what one observation says of one commit. It knows nothing of
// earlier ones.
type Judgement struct {
	Branch string // that the Application follows; empty when not known
	Note   Reason // something a reader should know, such as another address

	Unwatchable bool // never judged: the reason says why
	Gone        bool // deleted or being deleted (R6)

	// Determinate: the observation says something about the commit, so the
	// time up to it counts. Counts is the same for `reach`, where an Application
	// that shows a comparison error has been looked at, too (R15, R16).
	Determinate bool
	Counts      bool
	Stale       bool // the controller has not compared for three refreshes (R5)

	Seen      Tri    // the compared revision contains the commit
	Compared  string // that revision, of the first source
	Attempted bool
	Reached   bool
	ReachedBy string // operation, history or synced
	Revision  string // that it was reached by

	Synced     bool // effectively (R9)
	Healthy    bool
	InProgress bool
	OpFailed   bool // an operation that contains the commit failed, or is retried after a failure
	OpError    bool // it ended in phase Error, or not by the commit: the platform, a person
	Suspended  bool // nothing is wrong but that the health is Suspended

	Reason Reason // why not: unwatchable, waiting, indeterminate or unhealthy
}

// What a commit was reached by (section 2.3 of the facts).
const (
	byOperation = "operation"
	byHistory   = "history"
	bySynced    = "synced"
)

// orphanedAfter is after how long an operation that nobody runs is orphaned (R8).
const orphanedAfter = 120 * time.Second

// Judge reads one observation (design, section 5; R1-R22). It is a truth
// table: no clock, no memory.
func Judge(w Watch, o Observation) Judgement {
	l := o.Look
	var j Judgement
	switch {
	case l.Absent:
		j.Gone, j.Counts = true, true
		j.Reason = Reason{"app-not-found", "no Application of this name"}
		return j
	case l.Deleting:
		j.Gone = true
		j.Reason = Reason{"app-deleted", "the Application is being deleted"}
		return j
	}
	rel, why, final := o.Git.relevant(l)
	if !why.IsZero() {
		j.Reason, j.Unwatchable = why, final
		if !final {
			j.Counts = o.indeterminate().IsZero()
			if why := failure(l); !why.IsZero() {
				j.Reason = why
			}
		}
		return j
	}
	j.Branch, j.Note = rel.branch, rel.note
	if !l.HasStatus {
		j.Counts = true
		j.Reason = Reason{"no-status", "Argo CD has not looked at the Application yet"}
		return j
	}
	if why := o.indeterminate(); !why.IsZero() {
		j.Reason, j.Stale = why, why.Code == "stale"
		return j
	}
	j.Counts = true
	j.reach(o, rel)
	j.health(w, o, rel)
	if !j.Reached {
		j.Reason = notReached(o, rel, j.Seen)
		j.Counts = j.Reason.Code != "unknown-revision" // R3: the repository may be behind
	}
	return j
}

// indeterminate finds why the status as a whole says nothing (R4, R5, R8).
func (o Observation) indeterminate() Reason {
	l, op := o.Look, o.Look.Operation
	switch {
	case l.SkipReconcile:
		return Reason{"stale", "annotation skip-reconcile stops the controller"}
	case o.Refresh > 0 && !l.ReconciledAt.IsZero() && l.At.Sub(l.ReconciledAt) > 3*o.Refresh:
		return Reason{"stale", "the controller last compared at " + stamp(l.ReconciledAt)}
	case l.SpecChanged != "":
		return Reason{"spec-changed", l.SpecChanged}
	case op.Present && !op.Requested && op.Completed() && op.FinishedAt.IsZero():
		return Reason{"orphaned", "operation is " + op.Phase + " and never finished"}
	case op.Present && !op.Requested && (op.Phase == PhaseRunning || op.Phase == PhaseTerminating) &&
		l.At.Sub(later(op.StartedAt, op.FinishedAt)) > orphanedAfter:
		return Reason{"orphaned", "operation is " + op.Phase + " but nobody runs it"}
	}
	return Reason{}
}

// reach answers whether the commit was deployed or tried (section 2.3 of the
// facts, R10, R13).
func (j *Judgement) reach(o Observation, rel relevance) {
	l, op := o.Look, o.Look.Operation
	j.Synced = effectivelySynced(l)
	var rev string
	j.Seen, rev = o.Git.contain(l.Compared, rel.sources)
	j.Compared = rev
	if l.SyncStatus == SyncUnknown || l.SpecChanged != "" {
		j.Seen = Unknown // the comparison failed, or was of other sources
	}
	inOp, opRev := o.Git.contain(op.Revisions, rel.sources)
	if op.blocked() && !op.HasResult {
		inOp = No
	}
	j.Attempted = op.Full() && inOp == Yes
	failed := inOp == Yes && op.Full()
	j.OpFailed = failed && (op.Phase == PhaseFailed || op.Retrying())
	j.OpError = failed && op.Phase == PhaseError
	if j.OpFailed && (op.platformTrouble() || op.terminated()) {
		j.OpFailed, j.OpError = false, true
	}
	inHistory, historyRev := Unknown, ""
	if l.History != nil {
		inHistory, historyRev = o.Git.contain(l.History.Revisions, rel.sources)
	}
	switch {
	case j.Attempted:
		j.Reached, j.ReachedBy, j.Revision = true, byOperation, opRev
	case inHistory == Yes:
		j.Reached, j.ReachedBy, j.Revision = true, byHistory, historyRev
	case j.Seen == Yes && j.Synced && !wipesOut(l):
		j.Reached, j.ReachedBy, j.Revision = true, bySynced, rev
	}
}

// wipesOut: automated sync refused to prune everything there is (row 19 of the
// table): what looks like leftovers only was never applied.
func wipesOut(l Look) bool {
	for _, c := range l.Conditions {
		if c.Type == "SyncError" && l.SyncStatus == OutOfSync {
			return true
		}
	}
	return false
}

// effectivelySynced is R9: what is only left over because pruning is off does
// not count as a difference.
func effectivelySynced(l Look) bool {
	if l.SyncStatus == Synced {
		return true
	}
	if l.SyncStatus != OutOfSync {
		return false
	}
	out := 0
	for _, r := range l.Resources {
		if r.Status == OutOfSync {
			if !r.RequiresPruning {
				return false
			}
			out++
		}
	}
	return out > 0
}

// health answers whether the Application is healthy with the commit (R19-R22)
// and, where it is not, says why; or that the observation does not tell.
func (j *Judgement) health(w Watch, o Observation, rel relevance) {
	l, op := o.Look, o.Look.Operation
	j.InProgress = op.Requested || op.Phase == PhaseRunning || op.Phase == PhaseTerminating
	// Phase Error can only end INCONCLUSIVE (R11): it needs no more to be known.
	if why := unknownHealth(l); !why.IsZero() && !j.OpError {
		j.Reason = why
		return
	}
	if j.Seen == Unknown && !j.InProgress && !j.OpError {
		j.Reason = unknownRevision(l, o.Git, rel)
		return
	}
	if op.Present && !op.Requested && !op.Completed() {
		// Argo CD takes .operation away together with the final phase: this is on
		// its way to be orphaned (R8), and that time must not run out the deadline.
		j.Reason = Reason{"operation-running", "but nobody runs it"}
		return
	}
	j.Determinate = true
	healthOK := healthAs(l.Health, w.Expect)
	bad := badResource(l)
	switch {
	case j.OpError:
		j.Reason = Reason{"operation-error", clip(op.Message)}
	case j.OpFailed:
		j.Reason = Reason{"operation-failed", clip(op.Message)}
	case j.InProgress:
		j.Reason = Reason{"operation-running", clip(op.Message)}
	case j.Seen != Yes:
		j.Reason = Reason{"not-compared", "compared at another revision"}
	case !j.Synced:
		j.Reason = Reason{"out-of-sync", ""}
	case !healthOK:
		j.Reason = Reason{"health=" + l.Health, clip(l.HealthMessage)}
		j.Suspended = l.Health == Suspended
	case bad != "":
		j.Reason = Reason{"resource", bad}
	case hasFailure(l) != "":
		j.Reason = Reason{"condition", hasFailure(l)}
	default:
		j.Healthy = true
	}
}

// healthAs is R21: who expects Suspended is content with Healthy, too.
func healthAs(health, expect string) bool {
	return health == expect || (expect == Suspended && health == Healthy)
}

// unknownHealth finds why health and sync say nothing about now.
func unknownHealth(l Look) Reason {
	op := l.Operation
	for _, c := range l.Conditions {
		if c.Failure() && c.Type != "SyncError" && c.Type != "DeletionError" {
			return Reason{conditionCode(c.Type), clip(c.Message)}
		}
	}
	switch {
	case l.SyncStatus == SyncUnknown || l.SyncStatus == "":
		return Reason{"sync-unknown", ""}
	case op.Completed() && !op.FinishedAt.IsZero() && l.ReconciledAt.Before(op.FinishedAt):
		return Reason{"status-older-than-operation", "compared before the operation finished"}
	case l.Health == "" || l.Health == HealthUnknown:
		return Reason{"health-unknown", clip(l.HealthMessage)}
	}
	return Reason{}
}

// conditionCode turns a condition's type into a reason code.
func conditionCode(typ string) string {
	switch typ {
	case "ComparisonError":
		return "comparison-error"
	case "InvalidSpecError":
		return "invalid-spec"
	default:
		return "condition"
	}
}

func hasFailure(l Look) string {
	for _, c := range l.Conditions {
		if c.Failure() {
			return c.Type + ": " + clip(c.Message)
		}
	}
	return ""
}

// badResource is R20: only where health is stored inline, and only for what
// is neither a hook nor waits to be pruned.
func badResource(l Look) string {
	if !l.HealthInline {
		return ""
	}
	for _, r := range l.Resources {
		if r.Hook || r.RequiresPruning {
			continue
		}
		switch r.Health {
		case HealthDegraded, HealthMissing, HealthUnknown:
			return r.String() + " is " + r.Health
		}
	}
	return ""
}

// unknownRevision says why containment is not known (R3, R16).
func unknownRevision(l Look, a Answers, rel relevance) Reason {
	for _, s := range rel.sources {
		rev, ok := at(l.Compared, s)
		switch {
		case !ok || rev == "":
			return Reason{"no-revision", "the status names no revision"}
		case !hexRevision.MatchString(rev):
			return Reason{"no-revision", "revision " + quoteWord(rev) + " is no commit"}
		case a.Revs[rev].Contains == Unknown:
			return Reason{"unknown-revision", "revision " + short(rev) + " is not in this repository"}
		}
	}
	return Reason{"no-revision", ""}
}

// failure is the condition for which Argo CD could not compare.
func failure(l Look) Reason {
	for _, c := range l.Conditions {
		if c.Failure() && c.Type != "SyncError" {
			return Reason{conditionCode(c.Type), clip(c.Message)}
		}
	}
	return Reason{}
}

// notReached says why a commit is not reached yet (R14, R15, R16).
func notReached(o Observation, rel relevance, seen Tri) Reason {
	l, a := o.Look, o.Git
	op := l.Operation
	if why := failure(l); !why.IsZero() {
		return why
	}
	if seen == Unknown {
		if l.SyncStatus == SyncUnknown {
			return Reason{"comparison-error", "sync status is Unknown"}
		}
		return unknownRevision(l, a, rel)
	}
	running := op.Requested || op.Phase == PhaseRunning
	in, rev := a.contain(op.Revisions, rel.sources)
	switch {
	case op.blocked():
		return Reason{"sync-window", clip(op.Message)}
	case running && rev != "" && in != Yes:
		return Reason{"operation-older", fmt.Sprintf("an operation for %s is in progress", short(rev))}
	case running:
		return Reason{"operation-requested", "an operation was requested"}
	case o.Window == No && (l.AutoSync || l.OwnedBySet):
		return Reason{"sync-window", clip(o.WindowWhy)}
	case seen == No:
		return Reason{"not-compared", "Argo CD has not looked at the commit yet"}
	case !l.AutoSync && l.OwnedBySet:
		return Reason{"rolling-sync", "waits for its step of the ApplicationSet"}
	case !l.AutoSync:
		return Reason{"auto-sync-off", "compared, but automated sync is off"}
	case hasFailure(l) != "":
		return Reason{"sync-error", hasFailure(l)}
	default:
		return Reason{"not-attempted", "compared, but no operation was started (a sync window?)"}
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
