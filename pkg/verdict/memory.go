package verdict

import "time"

// Settled is what a settled look said of an Application: one that was taken
// while nothing was going on and that is newer than the last operation. The
// gate `baseline` and the last good revision come from these (R27, R28).
type Settled struct {
	At        time.Time // when it was first seen so
	Until     time.Time // when it was last seen so
	Health    string
	Sync      string // effective: OutOfSync by leftovers only counts as Synced
	Failed    bool   // the last full operation failed at the compared revision
	Revisions []Revision
	Applied   []Revision // of the last operation
	Spec      string     // Look.SpecDigest
}

// Good reports whether the Application was as a watch expects it, and synced.
func (s Settled) Good(expect string) bool {
	return healthAs(s.Health, expect) && s.Sync == Synced && !s.Failed
}

// maxMemory bounds what is remembered of one Application: changes, not looks.
const maxMemory = 64

// Memory is what the daemon remembers of one Application, oldest first. The
// zero value remembers nothing.
type Memory struct {
	UID     string
	Settled []Settled
}

// Remember returns the memory with one more look in it. Another UID is another
// Application (R6): what was known of the old one is forgotten.
func (m Memory) Remember(l Look, refresh time.Duration) Memory {
	if l.Absent || (m.UID != "" && l.UID != "" && m.UID != l.UID) {
		m = Memory{}
	}
	if !l.Absent {
		m.UID = l.UID
	}
	s, ok := settle(l, refresh)
	if !ok {
		return m
	}
	if n := len(m.Settled); n > 0 && m.Settled[n-1].same(s) {
		next := append([]Settled(nil), m.Settled...)
		next[n-1].Until = s.Until
		m.Settled = next
		return m
	}
	keep := m.Settled
	if len(keep) >= maxMemory {
		keep = keep[1:]
	}
	m.Settled = append(append([]Settled(nil), keep...), s)
	return m
}

// settle reads a look as a settled one, if it is.
func settle(l Look, refresh time.Duration) (Settled, bool) {
	op := l.Operation
	o := Observation{Look: l, Refresh: refresh}
	if l.Absent || l.Deleting || !l.HasStatus || !o.indeterminate().IsZero() || !unknownHealth(l).IsZero() {
		return Settled{}, false
	}
	if op.Requested || (op.Present && !op.Completed()) {
		return Settled{}, false
	}
	sync := l.SyncStatus
	if effectivelySynced(l) {
		sync = Synced
	}
	failed := op.Full() && op.Phase != PhaseSucceeded && sameRevisions(op.Revisions, l.Compared)
	out := Settled{At: l.At, Until: l.At, Health: l.Health, Sync: sync, Failed: failed, Revisions: l.Compared, Spec: l.SpecDigest}
	if op.Present && !op.DryRun {
		out.Applied = op.Revisions
	}
	return out, true
}

func (s Settled) same(t Settled) bool {
	return s.Health == t.Health && s.Sync == t.Sync && s.Failed == t.Failed && s.Spec == t.Spec &&
		sameRevisions(s.Revisions, t.Revisions) && sameRevisions(s.Applied, t.Applied)
}

func sameRevisions(a, b []Revision) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Rev != b[i].Rev || a[i].Source.RepoURL != b[i].Source.RepoURL || a[i].Source.Path != b[i].Source.Path {
			return false
		}
	}
	return true
}

// Questions lists the revision strings of a memory that Git must be asked
// about before a baseline can be read from it.
func (m Memory) Questions() []string {
	var out []string
	for i := range m.Settled {
		out = addRevisions(addRevisions(out, m.Settled[i].Revisions), m.Settled[i].Applied)
	}
	return out
}

// Baseline is how the Application stood before the first operation that
// contains the commit (R27), and the revision it was last good at (R28).
type Baseline struct {
	Known  bool
	Good   bool
	At     time.Time
	Detail string
	// Revisions of the sources by which the watch is judged, at the last look
	// that was good: the baseline itself, or one before it. Empty: none.
	Revisions []string
	Inputs    string // what else it was made from at that look
}

// baseline reads the memory for the last settled look before the commit. A
// look whose comparison already contains the commit tells by its health only:
// what it is out of sync by is the commit itself. A look after an operation with
// the commit, delivered before the pass that finds it reached, tells nothing.
func (m Memory) baseline(a Answers, rel []Source, expect string, before time.Time) Baseline {
	looks := m.before(a, rel, before)
	for i, s := range looks {
		contains, _ := a.contain(s.Revisions, rel)
		b := Baseline{Known: true, At: s.Until}
		switch contains {
		case Yes:
			if healthAs(s.Health, expect) {
				continue
			}
			b.Detail = "health " + s.Health + " before it was deployed"
		case Unknown:
			return Baseline{At: s.Until, Detail: "the revision of the last settled look is not known here"}
		default:
			b.Good, b.Detail = s.Good(expect), "health "+s.Health+", "+s.Sync
			if s.Failed {
				b.Detail += ", last operation failed"
			}
		}
		b.Revisions, b.Inputs = lastGood(looks[i:], a, rel, expect)
		return b
	}
	return Baseline{Detail: "no settled look before it"}
}

// before lists the settled looks before a moment, newest first, without those
// after an operation with the commit.
func (m Memory) before(a Answers, rel []Source, moment time.Time) []Settled {
	var out []Settled
	for i := len(m.Settled) - 1; i >= 0; i-- {
		s := m.Settled[i]
		if in, _ := a.contain(s.Applied, rel); s.At.Before(moment) && in != Yes {
			out = append(out, s)
		}
	}
	return out
}

// lastGood finds the newest good look without the commit: its revisions, and
// what else the Application was made from.
func lastGood(looks []Settled, a Answers, rel []Source, expect string) (revs []string, inputs string) {
	for _, s := range looks {
		if in, _ := a.contain(s.Revisions, rel); in != No || !s.Good(expect) {
			continue
		}
		for _, src := range rel {
			rev, _ := at(s.Revisions, src)
			revs = append(revs, a.Revs[rev].Commit)
		}
		return revs, inputsOf(s.Spec, s.Revisions, rel)
	}
	return nil, ""
}

// SettledGood reports whether an Application is healthy (or suspended) and
// synced at a settled look: what the gate `baseline` will ask of the look before
// the commit. Not settled is not good.
func SettledGood(l Look, refresh time.Duration) bool {
	s, ok := settle(l, refresh)
	return ok && s.Good(Suspended)
}
