package verdict

import "time"

// Verdict is what became of a watch.
type Verdict string

// The verdicts. Waiting is the only one that is not a conclusion.
const (
	Waiting      Verdict = "WAITING"
	Confirmed    Verdict = "CONFIRMED"
	Fail         Verdict = "FAIL"
	Reverted     Verdict = "REVERTED"
	Proposed     Verdict = "PROPOSED"
	NotReached   Verdict = "NOT_REACHED"
	Unwatchable  Verdict = "ERROR_UNWATCHABLE"
	Superseded   Verdict = "SUPERSEDED"
	Inconclusive Verdict = "INCONCLUSIVE"
)

// Verdicts lists all of them, in the order in which they are documented.
func Verdicts() []Verdict {
	return []Verdict{Waiting, Confirmed, Fail, Reverted, Proposed, NotReached, Unwatchable, Superseded, Inconclusive}
}

// Recovery is what became of a revert.
type Recovery string

// The outcomes of a revert. The zero value: nothing was reverted, or it is
// still watched.
const (
	Recovered    Recovery = "RECOVERED"
	NotRecovered Recovery = "NOT_RECOVERED"
	NotPickedUp  Recovery = "NOT_PICKED_UP"
)

// Mode says what may be done when a watch fails.
type Mode string

// The modes of a watch.
const (
	Shadow  Mode = "shadow"
	Propose Mode = "propose"
	Arm     Mode = "arm"
)

// Watch is one question: what becomes of this commit in this Application.
type Watch struct {
	Commit   string // full object id, lower case
	App      App    // as the trailer names it
	Deadline time.Duration
	Reach    time.Duration
	Stable   time.Duration
	Mode     Mode
	Expect   string // Healthy or Suspended

	By     string    // the person the host vouches for; empty: nobody
	Queued time.Time // when the commit was first seen on a watched branch

	// Unsupported names what the trailer asks for that this version does not
	// do; such a watch ends INCONCLUSIVE at once, reason not-supported-yet.
	Unsupported string
}

// Reason is a stable code together with words for people.
type Reason struct {
	Code   string // kebab-case, documented in docs/notes.md
	Detail string
}

func (r Reason) String() string {
	if r.Detail == "" {
		return r.Code
	}
	return r.Code + " " + r.Detail
}

// IsZero reports whether no reason was given.
func (r Reason) IsZero() bool { return r == Reason{} }

// maxAge is how long a watch may stay open: four times its own clocks, at
// least a day (design, section 5).
func (w Watch) maxAge() time.Duration {
	return max(4*(w.Reach+w.Deadline+w.Stable), 24*time.Hour)
}

// lateReach is how long after NOT_REACHED a commit that is reached after all
// is still judged, as shadow.
const lateReach = 24 * time.Hour
