package verdict

import (
	"fmt"
	"time"
)

// Step moves a watch by one look (design, section 5). It reads no clock and
// does no work. A step that asks for more (Next.Needs) has not moved the
// watch: the state that comes back is the old one.
func Step(s State, in Input) (State, Next) {
	old := s
	m := machine{s: s, in: in, old: old}
	m.step()
	if m.next.Needs() {
		return old, m.next
	}
	m.next.Transition = m.s.lastEvent() != old.lastEvent() || m.s.Verdict != old.Verdict || m.s.Recovery != old.Recovery
	m.next.Changed = m.s.Reason != old.Reason
	return m.s, m.next
}

// machine is one step while it runs.
type machine struct {
	s, old State
	in     Input
	next   Next
}

func (m *machine) step() {
	s := &m.s
	switch {
	case s.Final(m.in.Now):
	case s.Verdict == Reverted:
		m.recover()
	case s.Watch.Unsupported != "":
		m.decide(Inconclusive, Reason{"not-supported-yet", s.Watch.Unsupported})
	case s.Verdict == NotReached:
		m.late()
	case m.in.Now.Sub(m.since()) > s.Watch.maxAge():
		m.decide(Inconclusive, Reason{"too-old", "could not be observed: " + s.Reason.String()})
	default:
		m.judge()
	}
}

// since is when the clocks of the watch began.
func (m *machine) since() time.Time {
	return later(m.s.Watch.Queued, m.s.Track.OnBranch)
}

// judge is a watch that is not decided.
func (m *machine) judge() {
	if !m.in.TakenBack.IsZero() {
		m.decide(Superseded, m.in.TakenBack)
		return
	}
	if m.in.Seen == nil {
		m.wait(m.in.Unseen)
		return
	}
	o := *m.in.Seen
	j := Judge(m.s.Watch, o)
	if m.identity(j, o) || m.branch(j, o) {
		return
	}
	m.track(j, o)
	t := &m.s.Track
	if rev, back := t.backwards(j, o); back {
		if m.direct(o) {
			m.s.Frozen = Reason{"backwards", "applied revision " + short(rev) + " no longer contains " + short(m.s.Watch.Commit)}
			m.s.FrozenAt = o.Look.At
			m.decide(Inconclusive, Reason{"rolled-back", m.s.Frozen.Detail})
			m.next.Person = "the applied revision went backwards; all reverts are frozen"
		}
		return
	}
	if t.ReachedAt.IsZero() {
		m.unreached(j, o)
		return
	}
	m.reached(j, o)
}

// identity handles what is no longer, or never was, the Application that the
// watch is about (R1, R6). It reports whether the step is over.
func (m *machine) identity(j Judgement, o Observation) bool {
	s := &m.s
	switch {
	case j.Gone && s.UID == "" && s.Branch == "" && o.Look.Absent:
		m.await(j, o)
		return true
	case j.Gone:
		if m.direct(o) {
			m.decide(Inconclusive, Reason{"app-deleted", j.Reason.Detail})
		}
		return true
	case s.UID != "" && o.Look.UID != "" && s.UID != o.Look.UID:
		if m.direct(o) {
			m.decide(Inconclusive, Reason{"app-replaced", "another Application of this name was created"})
		}
		return true
	case j.Unwatchable:
		if !m.direct(o) {
			return true
		}
		if s.Track.OnBranch.IsZero() {
			m.decide(Unwatchable, j.Reason)
		} else { // it could be watched, and somebody changed its sources
			m.decide(Inconclusive, Reason{"source-changed", j.Reason.String()})
		}
		return true
	}
	s.UID = o.Look.UID
	return false
}

// await lets `reach` run for an Application that nobody knows yet, or of which
// it is not known what it follows.
func (m *machine) await(j Judgement, o Observation) {
	t := &m.s.Track
	t.count(&t.ReachUsed, &t.live.lastReach, o, m.in.Poll)
	if t.reachUsed() >= m.s.Watch.Reach {
		m.notReached(o, j.Reason)
		return
	}
	m.wait(j.Reason)
}

// branch starts the clocks when the branch that the Application follows first
// contains the commit (design, section 3), and ends the watch when it no
// longer does. It reports whether the step is over.
func (m *machine) branch(j Judgement, o Observation) bool {
	s := &m.s
	switch {
	case j.Branch == "" && j.Counts: // whether it is this repository is not known yet (R16)
		m.await(j, o)
		return true
	case j.Branch == "":
		m.wait(j.Reason)
		return true
	}
	followed := s.Branch
	s.Branch = j.Branch
	if !j.Note.IsZero() && !m.told(j.Note.Detail) {
		s.event(o.Look.At, "note", j.Note.Detail)
	}
	on := o.Git.Branches[j.Branch]
	t := &s.Track
	switch {
	case on == Yes && t.OnBranch.IsZero():
		t.OnBranch, t.ReachUsed, t.live = o.Look.At, 0, live{}
		s.event(o.Look.At, "landed", "branch="+j.Branch)
	case on == Yes:
	case on == No && !t.OnBranch.IsZero() && followed != j.Branch:
		if m.direct(o) {
			m.decide(Inconclusive, Reason{"source-changed", "it followed " + clip(followed) + ", now " + clip(j.Branch)})
		}
		return true
	case on == No && !t.OnBranch.IsZero():
		if m.direct(o) {
			m.decide(Superseded, Reason{"branch-rewritten", j.Branch + " no longer contains the commit"})
		}
		return true
	case on == No:
		t.count(&t.ReachUsed, &t.live.lastReach, o, m.in.Poll)
		why := Reason{"not-on-" + clip(j.Branch), "the Application follows " + clip(j.Branch) + ", which does not contain the commit"}
		switch {
		case t.reachUsed() < s.Watch.Reach:
			m.wait(why)
		case m.direct(o):
			m.decide(NotReached, why)
		}
		return true
	default:
		m.wait(Reason{"branch-unknown", "whether " + clip(j.Branch) + " contains the commit is not known"})
		return true
	}
	return false
}

func (m *machine) told(text string) bool {
	for _, e := range m.s.Events {
		if e.Kind == "note" && e.Text == clip(text) {
			return true
		}
	}
	return false
}

// track observes, and notes what is worth telling.
func (m *machine) track(j Judgement, o Observation) {
	s, t := &m.s, &m.s.Track
	wasReached, wasHealthy := !t.ReachedAt.IsZero(), !t.live.stableFrom.IsZero()
	t.observe(j, o, m.in.Poll)
	if t.ReachedAt.IsZero() {
		return
	}
	if !wasReached {
		rel, _, _ := o.Git.relevant(o.Look)
		b := m.in.Memory.baseline(o.Git, rel.sources, s.Watch.Expect, t.ReachedAt)
		s.Baseline = &b
		s.event(o.Look.At, "reached", "by="+t.ReachedBy+" revision="+short(t.Revision))
	}
	s.changed(o)
	switch healthy := !t.live.stableFrom.IsZero(); {
	case healthy && !wasHealthy:
		s.event(o.Look.At, "healthy", "health="+o.Look.Health)
	case !healthy && wasHealthy:
		s.event(o.Look.At, "unhealthy", j.Reason.String())
	}
}

// unreached is a watch whose commit is on the branch but not reached.
func (m *machine) unreached(j Judgement, o Observation) {
	if m.s.Track.reachUsed() >= m.s.Watch.Reach && j.Counts {
		m.notReached(o, j.Reason)
		return
	}
	m.wait(j.Reason)
}

func (m *machine) notReached(o Observation, why Reason) {
	if m.direct(o) {
		m.decide(NotReached, why)
		m.next.Person = "the commit was not reached: suspect the sync pipeline"
	}
}

// reached is a watch whose commit is in the cluster, or was tried.
func (m *machine) reached(j Judgement, o Observation) {
	s, t := &m.s, &m.s.Track
	switch {
	case j.Healthy && t.stable(s.Watch, o.Look.At):
		m.good(o)
	case j.Determinate && !j.Healthy && t.failed(s.Watch):
		m.bad(j, o)
	case !s.FailSince.IsZero() && !j.Determinate && t.failed(s.Watch): // unless its time was taken back (R5)
		m.next.Conclude = true // the gate `fresh` holds it
		m.s.Reason = j.Reason
	default:
		if !s.FailSince.IsZero() { // it no longer fails: what the gates said is void
			s.FailSince, s.Gates, s.Cause = time.Time{}, nil, ""
		}
		if j.Healthy {
			m.wait(Reason{"stabilizing", fmt.Sprintf("healthy, for %s", s.Watch.Stable)})
			return
		}
		m.wait(j.Reason)
	}
}

// good ends a watch that was healthy long enough.
func (m *machine) good(o Observation) {
	s, t := &m.s, &m.s.Track
	if !m.direct(o) {
		return
	}
	if t.OvertakenFrom != "" {
		if !m.in.OvertookKnown {
			m.next.Need.Between = [2]string{t.OvertakenFrom, t.OvertakenTo}
			return
		}
		if len(m.in.Overtook) > 0 {
			m.decide(Superseded, Reason{"fixed-by", short(m.in.Overtook[len(m.in.Overtook)-1]) + ": it was not healthy before a later commit took over"})
			return
		}
	}
	switch {
	case hasChildren(o.Look):
		m.decide(Inconclusive, children(o.Look))
	case !t.Deployed:
		m.decide(Confirmed, Reason{"nothing-to-deploy", "the commit changes nothing of the Application"})
	default:
		m.decide(Confirmed, Reason{"stable", fmt.Sprintf("healthy for %s", s.Watch.Stable)})
	}
}

// bad is a watch that failed: where the evidence does not speak against the
// commit, it ends INCONCLUSIVE, else the gates decide (design, section 5).
func (m *machine) bad(j Judgement, o Observation) {
	s, t := &m.s, &m.s.Track
	if !m.direct(o) {
		return
	}
	switch {
	case hasChildren(o.Look):
		m.decide(Inconclusive, children(o.Look))
	case j.OpError:
		m.decide(Inconclusive, j.Reason)
	case j.Suspended:
		m.decide(Inconclusive, Reason{"suspended", "a person must resume it"})
	case t.DriftAt != "" && t.DriftAt == comparedKey(o.Look):
		m.decide(Inconclusive, Reason{"drift", "synced once, then changed in the cluster: " + j.Reason.String()})
	case o.changedSince(s.Watch.Expect):
		m.decide(Inconclusive, Reason{"drift", "applied, then changed in the cluster: " + j.Reason.String()})
	default:
		if s.FailSince.IsZero() {
			s.FailSince = o.Look.At
			s.event(o.Look.At, "fail", "deadline "+j.Reason.String())
		}
		s.Reason = Reason{"deadline", j.Reason.String()}
		s.Cause = cause(o.Look, j)
		m.next.Conclude = true
	}
}

// late watches a commit that was not reached for one more day: what comes
// after is judged as shadow. A commit that was on no branch of the Application
// opens anew when it lands there.
func (m *machine) late() {
	s := &m.s
	if m.in.Seen == nil || !m.in.TakenBack.IsZero() {
		return
	}
	o := *m.in.Seen
	j := Judge(s.Watch, o)
	if j.Gone || j.Unwatchable || j.Branch == "" || o.Git.Branches[j.Branch] != Yes {
		return
	}
	if s.UID != "" && o.Look.UID != s.UID {
		return
	}
	if s.Track.OnBranch.IsZero() {
		s.event(o.Look.At, "reopened", "landed on "+j.Branch)
		s.Track = Track{}
	} else if j.Counts && j.Reached {
		s.Late = true
		s.event(o.Look.At, "reopened", "reached late: judged as shadow")
	} else {
		return
	}
	s.Verdict, s.Decided = Waiting, time.Time{}
	m.judge()
}

// direct asks for a direct look before a terminal verdict (R26); it reports
// whether this is one.
func (m *machine) direct(o Observation) bool {
	if !o.Look.Direct {
		m.next.Need.Direct = true
	}
	return o.Look.Direct
}

func (m *machine) wait(why Reason) {
	m.s.Verdict, m.s.Reason = Waiting, Reason{why.Code, clip(why.Detail)}
}

func (m *machine) decide(v Verdict, why Reason) {
	s := &m.s
	s.Verdict, s.Reason, s.Decided = v, Reason{why.Code, clip(why.Detail)}, m.in.Now
	s.FailSince = time.Time{}
	s.event(m.in.Now, "verdict", string(v)+" "+why.String())
	if v == Inconclusive && m.next.Person == "" {
		m.next.Person = "the evidence allows no verdict"
	}
}
