package trailer

import "time"

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
	// yet ("appset", "probe", "mode=propose"); empty if nothing.
	Unsupported string
}

// Range is an inclusive range of durations.
type Range struct{ Min, Max time.Duration }

// Policy is what the linter is told by a repository's policy: defaults for
// fields a trailer leaves out, and limits.
type Policy struct {
	Deadline, Reach, Stable   time.Duration // defaults
	DeadlineLimit, ReachLimit Range
	StableLimit               Range
	WatchesPerCommit          int
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
