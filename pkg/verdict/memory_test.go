package verdict_test

import (
	"strings"
	"testing"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// How the Application stood before the first operation with the commit (R27),
// from the settled looks that the daemon remembers.
func TestBaseline(t *testing.T) {
	for _, tt := range []struct {
		what, script string
		want         string // good, bad or unknown, and what it says
	}{
		{"well before", deploy, "good health Healthy, Synced"},
		{"seen for the first time after the push", `0 Synced@new op:run@new
			10 op:succeed`, "unknown no settled look"},
		{"Degraded before", "-60 Degraded" + deploy, "bad health Degraded before it was deployed"},
		{"good, then Degraded", "-60 Synced@old\n-30 Degraded" + deploy, "bad health Degraded"},
		{"OutOfSync before", `-60 OutOfSync@old
			0 OutOfSync@new
			5 op:run@new`, "bad health Healthy, OutOfSync"},
		{"Degraded between the push and the operation", `-60 Synced@old
			0 OutOfSync@new Degraded
			5 op:run@new`, "bad health Degraded before it was deployed"},
		{"OutOfSync by the commit itself", `-60 Synced@old
			0 OutOfSync@new
			30 op:run@new`, "good health Healthy, Synced"},
		{"mended in time", `-60 Degraded
			-30 Healthy
			0 OutOfSync@new
			5 op:run@new`, "good health Healthy, Synced"},
		{"the last operation failed before", `-60 Synced@old op:run@old
			-50 op:fail
			0 OutOfSync@new
			5 op:run@new`, "bad health Healthy, Synced, last operation failed"},
		{"an unsettled look does not count", `-60 Synced@old
			-30 op:run@old Degraded
			-10 op:succeed Healthy
			0 OutOfSync@new
			5 op:run@new`, "good"},
		{"a status older than its operation does not count", `-60 Synced@old
			-30 op:run@old silent Degraded
			-20 op:succeed
			0 awake Healthy OutOfSync@new
			5 op:run@new`, "good"},
		{"another Application of the name", `-60 Synced@old
			-30 uid:u2 OutOfSync@side
			0 OutOfSync@new
			5 op:run@new`, "bad health Healthy, OutOfSync"},
		{"a revision that is not known here", `-60 Synced@bad
			0 OutOfSync@new
			5 op:run@new`, "unknown the revision of the last settled look"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			got := newRun(t, nil, tt.script, nil, 60).play(t)
			b := got.state.Baseline
			if b == nil {
				t.Fatalf("no baseline\n%s", events(got.state))
			}
			said := map[bool]string{true: "good ", false: "bad "}[b.Good] + b.Detail
			if !b.Known {
				said = "unknown " + b.Detail
			}
			if !strings.HasPrefix(said, tt.want) {
				t.Errorf("got %q, want %q", said, tt.want)
			}
			if wasGood := b.Good || strings.HasPrefix(tt.what, "good, then"); wasGood && (len(b.Revisions) != 1 || b.Revisions[0] != oldCommit) {
				t.Errorf("last good revision %v", b.Revisions)
			}
		})
	}
}

// The memory holds changes, not looks, and is bounded; what it was is not
// changed by remembering more.
func TestMemoryIsBounded(t *testing.T) {
	w, m := newWorld(), verdict.Memory{}
	for i := range 10 {
		m = m.Remember(w.seen(clock(i), false, newCommit).Look, refresh)
	}
	if len(m.Settled) != 1 || !m.Settled[0].At.Equal(start) || !m.Settled[0].Until.Equal(clock(9)) {
		t.Fatalf("ten equal looks: %+v", m.Settled)
	}
	before := m
	for i := range 200 {
		w.say(clock(10+i), []string{"Degraded", "Healthy"}[i%2])
		m = m.Remember(w.seen(clock(10+i), false, newCommit).Look, refresh)
	}
	if len(m.Settled) != 64 || !m.Settled[63].At.Equal(clock(209)) {
		t.Errorf("%d settled looks, the last of %s", len(m.Settled), m.Settled[len(m.Settled)-1].At)
	}
	if len(before.Settled) != 1 || !before.Settled[0].Until.Equal(clock(9)) {
		t.Error("an older memory changed")
	}
	if q := m.Questions(); len(q) != 1 || q[0] != oldCommit {
		t.Errorf("Questions() = %v", q)
	}
	if m = m.Remember(verdict.Look{Absent: true}, refresh); len(m.Settled) != 0 {
		t.Error("an Application that is gone is remembered")
	}
}

// What a self-heal, a retry or a look in between showed is united (gate
// related); what does not tell is kept apart.
func TestChangedIsUnited(t *testing.T) {
	apply := func(w *world, name, message string) {
		w.look.Operation.Resources = []verdict.OperationResource{{
			ObjectID: verdict.ObjectID{Kind: "X", Name: name}, Status: "Synced", Message: message,
		}}
	}
	w, s := newWorld(), verdict.New(watch(), "test")
	w.say(start, "OutOfSync@new op:run@old")
	apply(w, "of-old", "x/of-old configured")
	s = s.Absorb(*w.seen(clock(0), false, newCommit))
	w.say(start, "op:run@new")
	for i, r := range []struct{ name, message string }{
		{"created", "x/created created"},
		{"configured", "x/configured configured"},
		{"warned", "x/warned configured. Warning: deprecated"},
		{"unchanged", "x/unchanged unchanged"},
		{"unchanged-warned", "x/u unchanged. Warning: it was configured"},
		{"ignored", "ignored (no prune)"},
		{"silent", ""},
		{"server-side", "x/server-side serverside-applied"},
		{"created", "x/created unchanged"}, // the next retry
	} {
		apply(w, r.name, r.message)
		s = s.Absorb(*w.seen(clock(i), false, newCommit))
	}
	w.say(clock(20), "op:heal@new")
	apply(w, "healed", "x/healed configured")
	s = s.Absorb(*w.seen(clock(20), false, newCommit))
	w.say(clock(30), "op:dry@new")
	apply(w, "dry", "x/dry configured")
	s = s.Absorb(*w.seen(clock(30), false, newCommit))
	if got := names(s.Changed); got != "created configured warned healed" {
		t.Errorf("changed: %s", got)
	}
	if got := names(s.Untold); got != "server-side" {
		t.Errorf("untold: %s", got)
	}
	if len(s.Events) != 1 || !s.Track.ReachedAt.IsZero() {
		t.Error("absorbing moved a clock")
	}
}

func names(ids []verdict.ObjectID) string {
	var out []string
	for _, id := range ids {
		out = append(out, id.Name)
	}
	return strings.Join(out, " ")
}

// More objects than a stanza lists: the rest is not forgotten, it is not known.
func TestChangedIsBounded(t *testing.T) {
	w, s := newWorld(), verdict.New(watch(), "test")
	w.say(start, "op:run@new")
	for i := range 250 {
		w.look.Operation.Resources = append(w.look.Operation.Resources, verdict.OperationResource{
			ObjectID: verdict.ObjectID{Kind: "X", Name: itoa(i)}, Status: "Synced", Message: "x created",
		})
	}
	s = s.Absorb(*w.seen(start, false, newCommit))
	if len(s.Changed) != 200 || !s.Truncated {
		t.Errorf("%d objects, truncated %v", len(s.Changed), s.Truncated)
	}
	if again := reopen(t, s); len(again.Changed) != 200 || !again.Truncated {
		t.Error("a note loses them")
	}
}
