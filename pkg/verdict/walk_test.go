package verdict_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// steps are what may happen to an Application between two looks.
var steps = strings.Split(`Synced@old|Synced@new|OutOfSync@new|Synced@later|OutOfSync@later|Synced@revert|Unknown@raw|Unknown@empty|Synced@bad|Synced@side|
Healthy|Degraded|Progressing|Suspended|Missing|Unknown|flip|no-transition-time|op:run@old|op:run@new|op:run@later|op:run@revert|op:heal@new|op:part@new|op:dry@new|
op:window@new|op:succeed|op:fail|op:error|op:retry|op:again|op:lost|silent|awake|away|back|blind|sighted|unsure|sure|manual|error:ComparisonError|error:SyncError|calm|
branch:no|branch:yes|branch:unknown|absent|there|child:leaf|uid:u2|uid:u1|deleting|chart|follow:main|follow:env/prod|reverted:yes`, "|")

// Whatever the Application shows in whatever order, the machine keeps its
// promises: it changes nothing that it is given, a decided watch stays decided,
// nothing fails that was not reached and looked at directly, the gates are asked
// of nothing else, and every state can be written and read.
func TestStepKeepsItsPromises(t *testing.T) {
	seen := map[verdict.Verdict]int{}
	for seed := range 120 {
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		w, memory, s := newWorld(), verdict.Memory{}, verdict.New(watch(), "test")
		for i := range 300 {
			now := clock(i * 5)
			if broken := seed%2 == 1; broken && i < 3 { // half of them begin with a commit that breaks it
				w.say(now, []string{"", "OutOfSync@new op:run@new", "op:succeed Synced@new Degraded"}[i])
			} else if r.IntN(map[bool]int{true: 50, false: 12}[broken]) == 0 {
				w.say(now, strings.TrimSpace(steps[r.IntN(len(steps))]))
			}
			if w.away {
				continue
			}
			o := w.seen(now, false, s.Subject())
			memory = memory.Remember(o.Look, refresh)
			in := verdict.Input{Now: now, Poll: poll, Seen: o, Memory: memory, TakenBack: w.takenBack}
			if w.blind {
				in.Seen, in.Unseen = nil, verdict.Reason{Code: "cluster-unreadable"}
			}
			before, given, final := s, asJSON(t, s), s.Final(now)
			next := stepOnce(t, w, &s, in, []string{laterCommit})
			promised(t, before, s, next, final, w)
			if asJSON(t, before) != given {
				t.Fatalf("seed %d: the state that was given changed", seed)
			}
			if next.Conclude {
				s = concluded(t, s, w, now, r.IntN(3) == 0)
			}
			if r.IntN(20) == 0 {
				s = reopen(t, s)
			}
			if t.Failed() {
				t.Fatalf("seed %d, look %d: %s %s\n%s", seed, i, s.Verdict, s.Reason, events(s))
			}
		}
		seen[s.Verdict]++
	}
	for _, v := range []verdict.Verdict{verdict.Confirmed, verdict.Fail, verdict.Reverted, verdict.NotReached, verdict.Superseded, verdict.Inconclusive} {
		if seen[v] == 0 {
			t.Errorf("no walk ends %s: %v", v, seen)
		}
	}
}

func promised(t *testing.T, before, after verdict.State, next verdict.Next, final bool, w *world) {
	t.Helper()
	switch {
	case final && (after.Verdict != before.Verdict || next.Conclude || next.Transition):
		t.Errorf("a final %s became %s", before.Verdict, after.Verdict)
	case before.Verdict == verdict.Reverted && (next.Conclude || next.Revert || after.Verdict != verdict.Reverted):
		t.Error("a reverted watch is judged again")
	case next.Revert:
		t.Error("a step alone asks for a revert")
	case next.Conclude && (after.Track.ReachedAt.IsZero() || after.Verdict != verdict.Waiting):
		t.Errorf("the gates are asked of %s, reached at %s", after.Verdict, after.Track.ReachedAt)
	case after.Verdict == verdict.Confirmed && before.Verdict != verdict.Confirmed && w.look.Health != verdict.Healthy:
		t.Errorf("CONFIRMED though the health is %s", w.look.Health)
	case after.Verdict == verdict.NotReached && before.Verdict != verdict.NotReached && !after.Track.ReachedAt.IsZero():
		t.Error("NOT_REACHED after it was reached")
	case after.Verdict != before.Verdict && !next.Transition:
		t.Error("a verdict that nobody would write")
	case after.Verdict == verdict.Fail && before.Verdict != verdict.Fail:
		t.Error("FAIL without the gates")
	}
}

// concluded asks the gates; good says that nothing but the look may hold.
func concluded(t *testing.T, s verdict.State, w *world, now time.Time, good bool) verdict.State {
	t.Helper()
	_, f := failed()
	o := w.seen(now, true, newCommit)
	f.Look, f.Git, f.AcceptRelated = o.Look, o.Git, "test"
	if j := verdict.Judge(s.Watch, *o); !j.Determinate {
		f.Stale = j.Reason.String()
	}
	if !good {
		f.Circuit = "open"
	}
	after, next := verdict.Conclude(s, f, now, refresh)
	if !next.Revert {
		return after
	}
	for _, g := range after.Gates {
		if !g.Pass {
			t.Errorf("a revert though %s holds", g.Name)
		}
	}
	if len(after.Gates) != len(verdict.GateNames()) || s.Late {
		t.Errorf("a revert with %d gates, late %v", len(after.Gates), s.Late)
	}
	return after.WithRevert(revertCommit, now)
}

// asJSON is all of a state that is exported, to compare.
func asJSON(t *testing.T, s verdict.State) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
