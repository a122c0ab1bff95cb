package verdict

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"time"
)

// Track is how far one commit has come in one Application: the watched commit,
// or after a revert the revert. What is exported is stored in the note; the
// rest starts anew after a restart (R25).
type Track struct {
	OnBranch time.Time // since when the branch that the Application follows contains it; zero: not yet
	Seen     bool      // the compared revision has contained it (R29 asks for that)

	ReachedAt   time.Time // our clock, the first observation (R13)
	ReachedBy   string    // operation, history, synced
	Revision    string    // by which it was reached
	ReachedOp   time.Time // startedAt of the newest operation at that look
	ReachedHist int64     // id of the newest entry of the history at that look, -1: none

	// Observed time (design, section 5) as far as the controller was seen to be
	// alive; what is newer than that is in live, and a restart forgets it.
	ReachUsed    time.Duration
	DeadlineUsed time.Duration

	Deployed    bool      // an operation carried it; false: nothing of the Application was changed
	WasHealthy  bool      // since it was reached
	UnhealthyAt string    // first revision of the present unhealthy run
	SyncedAt    string    // compared revisions at which it was synced
	SyncedOp    time.Time // startedAt of the operation at that look
	DriftAt     string    // compared revisions at which it was out of sync after it was synced (R34)

	// OvertakenFrom and To: it was not healthy at the one, then healthy at the
	// other revision. Commits between them that touch the Application fixed it.
	OvertakenFrom, OvertakenTo string

	live live
}

// live is what a restart forgets.
type live struct {
	lastReach    time.Time     // last look that counted for reach
	lastDeadline time.Time     // last determinate look since reached
	beyond       time.Duration // counted, but after the controller should have compared again (R5)
	beyondOf     time.Time     // the reconciledAt that beyond belongs to
	stableFrom   time.Time
	stableKey    stableKey
	badFrom      time.Time // start of the unhealthy run
	badFor       time.Duration
}

// Resume gives a state that was read from a note the running clocks of own, the
// daemon's own state of the same watch. Without it two daemons would restart
// each other's `stable` with every note. Time up to now does not count: the note's
// writer may have counted it; nor does a time in which own saw nothing, longer than
// two polls, prove that a health without a transition time lasted (R23). A state
// that is further, or elsewhere, stays as it was read.
func (s State) Resume(own State, now time.Time, poll time.Duration) State {
	s.Track.live = live{lastReach: now, lastDeadline: now}
	s.RecoveryTrack.live = s.Track.live
	if s.UID != own.UID || s.Verdict != own.Verdict || s.Revert != own.Revert {
		return s
	}
	s.Track = s.Track.resume(own.Track, now, poll)
	s.RecoveryTrack = s.RecoveryTrack.resume(own.RecoveryTrack, now, poll)
	return s
}

func (t Track) resume(own Track, now time.Time, poll time.Duration) Track {
	if t.ReachedAt.IsZero() || t.Revision != own.Revision || !t.ReachedOp.Equal(own.ReachedOp) ||
		t.WasHealthy != own.WasHealthy || t.UnhealthyAt != own.UnhealthyAt {
		return t
	}
	t.live.stableFrom, t.live.stableKey = own.live.stableFrom, own.live.stableKey
	t.live.badFrom, t.live.badFor = own.live.badFrom, own.live.badFor
	if now.Sub(own.live.lastDeadline) > 2*poll && own.live.stableKey.healthSince.IsZero() {
		t.live.stableFrom = time.Time{}
	}
	return t
}

// stableKey proves continuity: while it stays the same, nothing happened
// between two healthy looks (R23).
type stableKey struct{ opStarted, healthSince time.Time }

// settleTime is how long after an operation `stable` may begin (R23).
const settleTime = 10 * time.Second

// span counts the time between two looks, at most twice the poll.
func span(last, now time.Time, poll time.Duration) time.Duration {
	if last.IsZero() || !now.After(last) {
		return 0
	}
	return min(now.Sub(last), 2*poll)
}

// count adds observed time to a budget. The part after the moment by which the
// controller should have compared again is kept apart: it is the budget's once
// the controller does, and is taken back should it prove stale (R5).
func (t *Track) count(used *time.Duration, last *time.Time, o Observation, poll time.Duration) {
	now, seen := o.Look.At, o.Look.ReconciledAt
	d := span(*last, now, poll)
	if now.After(*last) { // an older look after a newer one counts nothing, nor lets anything count twice
		*last = now
	}
	if seen.After(t.live.beyondOf) {
		*used += t.live.beyond
		t.live.beyond, t.live.beyondOf = 0, seen
	}
	if o.Refresh > 0 && !seen.IsZero() {
		late := min(d, max(0, now.Sub(seen.Add(o.Refresh))))
		t.live.beyond += late
		d -= late
	}
	*used += d
}

// reachUsed and deadlineUsed are the budgets together with what may have to be
// taken back.
func (t *Track) reachUsed() time.Duration    { return t.ReachUsed + t.live.beyond }
func (t *Track) deadlineUsed() time.Duration { return t.DeadlineUsed + t.live.beyond }

// observe moves the track by one judged observation.
func (t *Track) observe(j Judgement, o Observation, poll time.Duration) {
	if j.Stale {
		t.stale()
	}
	if t.ReachedAt.IsZero() {
		t.observeReach(j, o, poll)
		if t.ReachedAt.IsZero() {
			return
		}
	}
	if !j.Determinate {
		t.live.stableFrom = time.Time{}
		return
	}
	if t.older(o.Look) {
		t.breakRun(j.Healthy)
		return
	}
	t.observeRevision(j, o)
	before := t.live.lastDeadline
	t.count(&t.DeadlineUsed, &t.live.lastDeadline, o, poll)
	if j.Healthy {
		unseen := !before.IsZero() && o.Look.At.Sub(before) > 2*poll
		t.healthy(j, o, unseen)
		return
	}
	t.unhealthy(j, o, span(before, o.Look.At, poll))
}

// older tells of a look that was made before one that was observed already. It shows
// how it stood for a moment, not how it stands.
func (t *Track) older(l Look) bool { return l.At.Before(t.live.lastDeadline) }

// breakRun ends the run of looks of the other kind: neither lasted.
func (t *Track) breakRun(healthy bool) {
	if healthy {
		t.live.badFrom, t.live.badFor = time.Time{}, 0
	} else {
		t.live.stableFrom = time.Time{}
	}
}

// stale takes back what was counted while the controller was silent.
func (t *Track) stale() {
	t.live.badFor = max(0, t.live.badFor-t.live.beyond)
	t.live.beyond = 0
}

func (t *Track) observeReach(j Judgement, o Observation, poll time.Duration) {
	if !j.Counts {
		return
	}
	if j.Reached {
		t.ReachedAt, t.ReachedBy, t.Revision = o.Look.At, j.ReachedBy, j.Revision
		t.Deployed = t.deployed(o.Look.Operation)
		t.ReachedOp, t.ReachedHist = o.Look.Operation.StartedAt, -1
		if o.Look.History != nil {
			t.ReachedHist = o.Look.History.ID
		}
		t.live.beyond = 0
		return
	}
	if j.Reason.Code == "sync-window" { // a window that is seen to be closed stops the clock
		t.live.lastReach = time.Time{}
		return
	}
	t.count(&t.ReachUsed, &t.live.lastReach, o, poll)
}

// deployed tells, when the commit was just reached, whether an operation of any
// kind carried the revision by which it was: none means nothing-to-deploy.
func (t *Track) deployed(op Operation) bool {
	if t.ReachedBy != bySynced {
		return true
	}
	for _, r := range op.Revisions {
		if op.Present && !op.DryRun && r.Rev == t.Revision && r.Rev != "" {
			return true
		}
	}
	return false
}

// observeRevision keeps what the compared revision has shown so far: whether
// it was synced there, and whether it drifted from there (R34).
func (t *Track) observeRevision(j Judgement, o Observation) {
	if j.Seen != Yes {
		return
	}
	t.Seen = true
	op, rev := o.Look.Operation, comparedKey(o.Look)
	switch {
	case j.Synced && t.SyncedAt != rev:
		// While an operation runs, the comparison flaps: a self-heal that is
		// requested within a second of the deployment heals nobody's change.
		if !j.InProgress {
			t.SyncedAt, t.SyncedOp = rev, op.StartedAt
		}
	case j.Synced && op.Selective && op.AutoHeal && op.StartedAt.After(t.SyncedOp):
		t.DriftAt = rev // it was healed before we looked
	case !j.Synced && t.SyncedAt == rev && (!j.InProgress || op.Selective):
		t.DriftAt = rev
	}
}

// comparedKey names the compared revisions of a look, in a form that fits into
// a note whatever their number.
func comparedKey(l Look) string {
	revs := make([]string, len(l.Compared))
	for i, r := range l.Compared {
		revs[i] = r.Rev
	}
	key := strings.Join(revs, ",")
	if len(key) > 4*64 {
		return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(key)))
	}
	return key
}

func (t *Track) healthy(j Judgement, o Observation, unseen bool) {
	now, l := o.Look.At, o.Look
	key := stableKey{l.Operation.StartedAt, l.HealthSince}
	noProof := unseen && l.HealthSince.IsZero()
	if t.live.stableFrom.IsZero() || t.live.stableKey != key || noProof {
		t.live.stableKey, t.live.stableFrom = key, now
		if f := l.Operation.FinishedAt; !f.IsZero() {
			t.live.stableFrom = now.Add(max(0, f.Add(settleTime).Sub(now))) // by now's monotonic clock
		}
	}
	t.foundHealthy(j)
	t.breakRun(true)
}

func (t *Track) foundHealthy(j Judgement) {
	if t.UnhealthyAt != "" && t.UnhealthyAt != j.Compared && t.OvertakenFrom == "" {
		t.OvertakenFrom, t.OvertakenTo = t.UnhealthyAt, j.Compared
	}
	t.WasHealthy, t.UnhealthyAt = true, ""
}

func (t *Track) foundUnhealthy(j Judgement) {
	if j.Seen == Yes && (!j.InProgress || j.OpFailed) && t.UnhealthyAt == "" {
		t.UnhealthyAt = j.Compared
	}
}

// glimpse keeps what a look between two passes shows and the next one may no
// longer: that it was synced and then drifted, or was not healthy before a
// later commit took over. It moves no clock on, but a run that it breaks is over.
func (t *Track) glimpse(j Judgement, o Observation) {
	if !j.Reached || !j.Determinate {
		return
	}
	t.breakRun(j.Healthy)
	if t.older(o.Look) {
		return
	}
	t.observeRevision(j, o)
	if j.Healthy {
		t.foundHealthy(j)
	} else {
		t.foundUnhealthy(j)
	}
}

func (t *Track) unhealthy(j Judgement, o Observation, since time.Duration) {
	t.breakRun(false)
	t.foundUnhealthy(j)
	if t.live.badFrom.IsZero() {
		t.live.badFrom = o.Look.At
		return
	}
	t.live.badFor += since
}

// stable reports whether the healthy run is as long as asked.
func (t *Track) stable(w Watch, now time.Time) bool {
	return !t.live.stableFrom.IsZero() && now.Sub(t.live.stableFrom) >= w.Stable
}

// failed reports whether the deadline and, for what was healthy once, the
// unhealthy run are used up (design, section 5, FAIL).
func (t *Track) failed(w Watch) bool {
	if t.ReachedAt.IsZero() || t.deadlineUsed() < w.Deadline {
		return false
	}
	return !t.WasHealthy || t.live.badFor >= w.Stable
}

// backwards tells whether what is applied no longer contains the commit though
// it once did (R29): a newer full operation, a newer entry of the history, or
// the compared revision.
func (t *Track) backwards(j Judgement, o Observation) (string, bool) {
	if t.ReachedAt.IsZero() || !j.Counts {
		return "", false
	}
	rel, why, _ := o.Git.relevant(o.Look)
	if !why.IsZero() {
		return "", false
	}
	op := o.Look.Operation
	if op.Full() && op.HasResult && op.Phase == PhaseSucceeded && op.StartedAt.After(t.ReachedOp) {
		if in, rev := o.Git.contain(op.Revisions, rel.sources); in == No {
			return rev, true
		}
	}
	if h := o.Look.History; h != nil && h.ID > t.ReachedHist {
		if in, rev := o.Git.contain(h.Revisions, rel.sources); in == No {
			return rev, true
		}
	}
	if t.Seen && j.Seen == No && o.Look.SyncStatus != SyncUnknown {
		_, rev := o.Git.contain(o.Look.Compared, rel.sources)
		return rev, true
	}
	return "", false
}
