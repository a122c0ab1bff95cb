package verdict

import "time"

// Event is one thing that happened to a watch, in the order in which it was
// seen. Seq counts from 1 within a stanza.
type Event struct {
	Seq  int
	At   time.Time
	Kind string // queued, landed, reached, healthy, unhealthy, fail, verdict, reopened, recovery, note
	Text string
}

// Gate is the answer of one gate.
type Gate struct {
	Name string
	Pass bool
	Why  string // for a pass: what was seen or not assessed, may be empty
}

// State is everything that is known of one watch. What Step and Conclude need
// after a restart is in exported fields, and a note's stanza holds all of them.
type State struct {
	Watch   Watch
	Branch  string // that the Application follows; empty until known
	Policy  string // commit whose policy stood when the watched commit landed
	UID     string
	Verdict Verdict
	Reason  Reason
	Cause   string // what fails, in one line
	Decided time.Time
	Late    bool // reached after NOT_REACHED: judged as shadow
	Track   Track

	Baseline  *Baseline
	Changed   []ObjectID // created or configured by an operation with the commit
	Untold    []ObjectID // applied by a message that does not tell whether it changed them
	Truncated bool       // there were more than fit

	FailSince time.Time // since when a FAIL waits for fresh or deployable
	Gates     []Gate
	Frozen    Reason // this watch saw the applied revision go backwards: all reverts are frozen
	FrozenAt  time.Time

	Revert        string // the revert commit
	RevertedAt    time.Time
	Recovery      Recovery
	RecoveryAt    time.Time
	RecoveryWhy   Reason
	RecoveryTrack Track

	Events  []Event
	Watcher string // version and digests of who wrote it last
}

// New is the state of a watch that has just been queued.
func New(w Watch, by string) State {
	s := State{Watch: w, Verdict: Waiting, Reason: Reason{"queued", ""}}
	s.event(w.Queued, "queued", "by="+by)
	return s
}

// Final reports whether nothing is left to be judged at a time: a verdict is
// there, a revert has been watched to its end, and a commit that was not
// reached had its day.
func (s State) Final(now time.Time) bool {
	switch s.Verdict {
	case Waiting, "":
		return false
	case NotReached:
		return now.Sub(s.Decided) >= lateReach
	case Reverted:
		return s.Recovery != ""
	}
	return true
}

// Subject is the commit that the next observation must answer for: the
// revert, once there is one.
func (s State) Subject() string {
	if s.Verdict == Reverted {
		return s.Revert
	}
	return s.Watch.Commit
}

// maxEvents bounds what a stanza tells; the first ones and the last stay.
const maxEvents = 60

func (s *State) event(at time.Time, kind, text string) {
	e := Event{Seq: 1, At: at.UTC().Truncate(time.Second), Kind: kind, Text: clip(text)}
	if n := len(s.Events); n > 0 {
		e.Seq = s.Events[n-1].Seq + 1
	}
	events := append([]Event(nil), s.Events...)
	if len(events) >= maxEvents {
		events = append(events[:maxEvents/2], events[maxEvents/2+1:]...)
	}
	s.Events = append(events, e)
}

// lastEvent is the number of the newest event, 0: there is none.
func (s State) lastEvent() int {
	if n := len(s.Events); n > 0 {
		return s.Events[n-1].Seq
	}
	return 0
}

// Input is what one step is given.
type Input struct {
	Now    time.Time
	Poll   time.Duration // how often the daemon looks
	Seen   *Observation  // nil: it could not look
	Unseen Reason        // why it could not
	Memory Memory        // of the Application, this look included

	// TakenBack: the branch holds a revert of the commit, or no path holds what
	// the commit left, though nobody said so.
	TakenBack Reason
	// Overtook are the commits that touch the Application between the two
	// revisions asked for by Need.Between; OvertookKnown: the question was asked.
	Overtook      []string
	OvertookKnown bool
}

// Need is what Step must be given before it decides.
type Need struct {
	Direct  bool // a look read directly from the API server, after a fetch (R26)
	Between [2]string
}

// Next is the work that a step asks for; it does none itself. The caller
//  1. answers Need, if anything is set, and repeats the step in the same pass;
//  2. if Conclude is set, gathers GateFacts and calls State.Conclude;
//  3. stores the state if Transition is set, and at times if only the reason
//     changed;
//  4. calls a person if Person is not empty. That may be lost.
type Next struct {
	Need       Need
	Conclude   bool
	Revert     bool // only from Conclude: build the revert, and push it with the verdict
	Transition bool
	Changed    bool // only the reason changed
	Person     string
}

// Needs reports whether the step must be repeated with more.
func (n Next) Needs() bool { return n.Need.Direct || n.Need.Between != [2]string{} }
