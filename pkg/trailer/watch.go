package trailer

import (
	"slices"
	"time"
)

// Mode says what may be done when a watch fails.
type Mode string

// The modes of `mode=`.
const (
	Shadow  Mode = "shadow"
	Propose Mode = "propose"
	Arm     Mode = "arm"
)

// Watch is one Nav-Watchdog trailer, decoded, with the defaults filled in.
type Watch struct {
	App      string // "name" or "namespace/name"; empty when AppSet is set
	AppSet   string
	Deadline time.Duration
	Reach    time.Duration
	Stable   time.Duration
	Mode     Mode
	Expect   string   // "Healthy" or "Suspended"
	Probes   []string // names in `expect=...,probe:NAME`
	Pos      Pos      // of the trailer's key

	// Unsupported names what the trailer asks for that this version does not do
	// yet: "appset", "probe", "mode=propose", joined with ", "; empty if nothing.
	Unsupported string
}

// target is what a watch is one of: two watches with the same target are one
// too many.
func (w Watch) target() string {
	if w.AppSet != "" {
		return "appset=" + w.AppSet
	}
	return "app=" + w.App
}

// same tells whether two watches ask for the same, wherever they stand.
func (w Watch) same(v Watch) bool {
	return w.target() == v.target() && w.Deadline == v.Deadline && w.Reach == v.Reach && w.Stable == v.Stable &&
		w.Mode == v.Mode && w.Expect == v.Expect && slices.Equal(w.Probes, v.Probes)
}

// Range is an inclusive range of durations. A Max of zero is no upper limit.
type Range struct{ Min, Max time.Duration }

func (r Range) holds(d time.Duration) bool {
	return d >= r.Min && (r.Max == 0 || d <= r.Max)
}

func (r Range) String() string {
	if r.Max == 0 {
		return "at least " + seconds(r.Min)
	}
	return seconds(r.Min) + " to " + seconds(r.Max)
}

// maxWatches is how many watches of a commit are read at all, whatever the
// policy says.
const maxWatches = 256

// Policy is what the linter is told by a repository's policy: defaults for
// fields a trailer leaves out, and limits. Start from [DefaultPolicy]: the zero
// value has no limits, but no defaults either.
type Policy struct {
	Deadline, Reach, Stable   time.Duration // defaults; they need not lie within the limits
	DeadlineLimit, ReachLimit Range
	StableLimit               Range
	WatchesPerCommit          int // 0, like all above it, is 256
}

// DefaultPolicy is the policy of design section 4: 15 min, 15 min, 2 min;
// 60 s to 24 h, 60 s to 24 h, 30 s to 1 h; 16 watches a commit.
func DefaultPolicy() Policy {
	return Policy{
		Deadline: 15 * time.Minute, Reach: 15 * time.Minute, Stable: 2 * time.Minute,
		DeadlineLimit:    Range{time.Minute, 24 * time.Hour},
		ReachLimit:       Range{time.Minute, 24 * time.Hour},
		StableLimit:      Range{30 * time.Second, time.Hour},
		WatchesPerCommit: 16,
	}
}

// Unlimited is p with its defaults and without its limits: for the daemon and
// for replay, which judge what was asked for and leave it to the lint to say
// what may be.
func (p Policy) Unlimited() Policy {
	p.DeadlineLimit, p.ReachLimit, p.StableLimit = Range{}, Range{}, Range{}
	p.WatchesPerCommit = maxWatches
	return p
}

// most is how many watches a commit may have.
func (p Policy) most() int {
	if p.WatchesPerCommit <= 0 {
		return maxWatches
	}
	return min(p.WatchesPerCommit, maxWatches)
}
