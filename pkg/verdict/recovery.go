package verdict

import "time"

// WithRevert is the state once the revert is pushed: its recovery is watched
// with the watch's own reach and deadline (R31). The state belongs in the same
// push as the revert.
func (s State) WithRevert(commit string, at time.Time) State {
	s.Verdict, s.Decided = Reverted, at
	s.Revert, s.RevertedAt, s.FailSince = commit, at, time.Time{}
	s.RecoveryTrack = Track{}
	s.event(at, "verdict", string(Reverted)+" "+s.Reason.String())
	return s
}

// PushRefused is the state after the branch refused the revert: the verdict
// goes alone, and nothing is reverted late.
func (s State) PushRefused(at time.Time, why string) State {
	s.Cause = clip(s.Cause)
	m := machine{s: s, in: Input{Now: at}}
	m.decide(Fail, Reason{"push-refused", why})
	return m.s
}

// TakenOver is the state of another open watch of a commit that is reverted.
func (s State) TakenOver(revert string, at time.Time) State {
	m := machine{s: s, in: Input{Now: at}}
	m.decide(Superseded, Reason{"reverted-by", revert})
	return m.s
}

// recover watches the revert: RECOVERED, NOT_RECOVERED or NOT_PICKED_UP, and
// never a second revert.
func (m *machine) recover() {
	s, t := &m.s, &m.s.RecoveryTrack
	if m.in.Now.Sub(s.RevertedAt) > s.Watch.maxAge() {
		m.recovery(NotRecovered, Reason{"too-old", "could not be observed: " + s.RecoveryWhy.String()})
		return
	}
	if m.in.Seen == nil {
		s.RecoveryWhy = m.in.Unseen
		return
	}
	o := *m.in.Seen
	w := s.Watch
	w.Commit = s.Revert
	j := Judge(w, o)
	s.RecoveryWhy = j.Reason
	switch {
	case j.Gone, j.Unwatchable, s.UID != "" && o.Look.UID != s.UID:
		if m.direct(o) {
			m.recovery(NotRecovered, Reason{"app-gone", j.Reason.String()})
		}
		return
	case j.Branch == "":
		return
	case o.Git.Branches[j.Branch] == No:
		if m.direct(o) {
			m.recovery(NotRecovered, Reason{"branch-rewritten", j.Branch + " no longer contains the revert"})
		}
		return
	}
	if t.OnBranch.IsZero() {
		t.OnBranch = o.Look.At
	}
	t.observe(j, o, m.in.Poll)
	_, back := t.backwards(j, o)
	var outcome Recovery
	switch {
	case t.ReachedAt.IsZero() && j.Counts && t.reachUsed() >= w.Reach:
		outcome = NotPickedUp
	case back:
		outcome = NotRecovered
	case j.Healthy && t.stable(w, o.Look.At):
		outcome = Recovered
	case j.Determinate && !j.Healthy && t.failed(w):
		outcome = NotRecovered
		if j.InProgress && !j.Attempted { // of the bad commit, and retried: it is in the way
			outcome = NotPickedUp
		}
	default:
		return
	}
	if m.direct(o) {
		m.recovery(outcome, j.Reason)
	}
}

func (m *machine) recovery(r Recovery, why Reason) {
	s := &m.s
	s.Recovery, s.RecoveryAt, s.RecoveryWhy = r, m.in.Now, Reason{why.Code, clip(why.Detail)}
	s.event(m.in.Now, "recovery", string(r)+" "+why.String())
	if r != Recovered {
		m.next.Person = "the revert did not bring the Application back: " + string(r)
	}
}
