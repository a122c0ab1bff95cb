package verdict_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// reverted is a watch whose revert was pushed at second 190.
func reverted() verdict.State {
	s, f := failed()
	s, _ = verdict.Conclude(s, f, clock(185), refresh)
	return s.WithRevert(revertCommit, clock(190))
}

// Recovery is watched with the watch's own reach and deadline (R31): what the
// look says is of the revert, and there is never a second one.
func TestRecovery(t *testing.T) {
	const broken = `
		185 Synced@new op:run@new
		187 op:succeed Degraded
`
	for _, tt := range []struct {
		what, script string
		want         verdict.Recovery
		at           int
		person       bool
	}{
		{"picked up and well", broken + `
			200 OutOfSync@revert op:run@revert
			205 op:succeed Synced@revert Progressing
			240 Healthy`, verdict.Recovered, 360, false},
		{"by self-heal alone", broken + `
			200 Synced@revert
			240 Healthy`, verdict.Recovered, 360, false},
		{"never picked up", broken, verdict.NotPickedUp, 490, true},
		{"blocked by an operation for the bad one", broken + `
			200 OutOfSync@revert op:run@new`, verdict.NotPickedUp, 490, true},
		{"synced by itself, but the operation for the bad one is retried", broken + `
			200 Synced@revert Healthy op:run@new`, verdict.NotPickedUp, 380, true},
		{"picked up and still bad", broken + `
			200 OutOfSync@revert op:run@revert
			205 op:succeed Synced@revert`, verdict.NotRecovered, 380, true},
		{"cannot be applied", broken + `
			200 OutOfSync@revert op:run@revert
			205 op:fail`, verdict.NotRecovered, 380, true},
		{"rolled back again", broken + `
			200 OutOfSync@revert op:run@revert
			205 op:succeed Synced@revert Healthy
			240 op:run@new
			245 op:succeed`, verdict.NotRecovered, 245, true},
		{"the branch lost the revert", broken + `
			200 branch:no`, verdict.NotRecovered, 200, true},
		{"the Application is gone", broken + `
			200 absent`, verdict.NotRecovered, 200, true},
		{"leftovers count as applied, R9", broken + `
			200 Synced@revert
			205 Healthy`, verdict.Recovered, 325, false},
		{"well again after a short break", broken + `
			200 OutOfSync@revert op:run@revert
			205 op:succeed Synced@revert Healthy
			390 Healthy`, verdict.Recovered, 335, false},
	} {
		t.Run(tt.what, func(t *testing.T) {
			got, at, person := recoverWith(t, tt.script, -1)
			if got.Recovery != tt.want || at != tt.at || (person != "") != tt.person {
				t.Errorf("%s at %d, person %q; want %s at %d, %v\n%s", got.Recovery, at, person, tt.want, tt.at, tt.person, events(got))
			}
			if got.Verdict != verdict.Reverted || got.Revert != revertCommit || !got.Final(clock(at)) {
				t.Errorf("it is %s, revert %s", got.Verdict, got.Revert)
			}
			for restart := 190; restart < at; restart += 10 {
				if again, _, _ := recoverWith(t, tt.script, restart); again.Recovery != tt.want {
					t.Errorf("restarted after %d: %s, want %s", restart, again.Recovery, tt.want)
				}
			}
		})
	}
}

// recoverWith plays what follows a revert; restart is after which look only the
// note is left.
func recoverWith(t *testing.T, text string, restart int) (s verdict.State, at int, person string) {
	t.Helper()
	w, sc := newWorld(), parseScript(t, text)
	s = reverted()
	line := 0
	for now := 190; now < 3000; now += int(poll / time.Second) {
		for ; line < len(sc.at) && sc.at[line] <= now; line++ {
			w.say(clock(sc.at[line]), sc.words[line])
		}
		if s.Subject() != revertCommit {
			t.Fatalf("the subject is %s, want the revert", s.Subject())
		}
		next := stepOnce(t, w, &s, verdict.Input{Now: clock(now), Poll: poll, Seen: w.seen(clock(now), false, s.Subject())}, nil)
		if next.Conclude || next.Revert {
			t.Fatal("a recovery asks for a second revert")
		}
		if s.Recovery != "" {
			return s, now, next.Person
		}
		if now == restart {
			s = reopen(t, s)
		}
	}
	return s, -1, ""
}

// A recovery that cannot be observed ends, too, and calls a person.
func TestRecoveryTooOld(t *testing.T) {
	s := reverted()
	in := verdict.Input{Now: clock(190), Poll: poll, Unseen: verdict.Reason{Code: "cluster-unreadable"}}
	s, next := verdict.Step(s, in)
	if s.Recovery != "" || next.Person != "" {
		t.Fatalf("a look that failed decides: %s", s.Recovery)
	}
	in.Now = clock(190).Add(25 * time.Hour)
	s, next = verdict.Step(s, in)
	if s.Recovery != verdict.NotRecovered || s.RecoveryWhy.Code != "too-old" || next.Person == "" {
		t.Errorf("%s %s, person %q", s.Recovery, s.RecoveryWhy, next.Person)
	}
}

// The other watches of a commit that is taken back are over.
func TestTakenOver(t *testing.T) {
	s := verdict.New(watch(), "test").TakenOver(revertCommit, clock(190))
	if s.Verdict != verdict.Superseded || s.Reason.String() != "reverted-by "+revertCommit || !s.Final(clock(190)) {
		t.Errorf("%s %s", s.Verdict, s.Reason)
	}
}

// A watch that nobody could observe ends after four times its clocks, at least
// a day (design, section 5).
func TestTooOld(t *testing.T) {
	for _, tt := range []struct {
		deadline time.Duration
		age      time.Duration
		want     verdict.Verdict
	}{
		{180 * time.Second, 24 * time.Hour, verdict.Waiting},
		{180 * time.Second, 24*time.Hour + time.Second, verdict.Inconclusive},
		{24 * time.Hour, 4 * (24*time.Hour + 420*time.Second), verdict.Waiting},
		{24 * time.Hour, 4*(24*time.Hour+420*time.Second) + time.Second, verdict.Inconclusive},
	} {
		w := watch()
		w.Deadline = tt.deadline
		s, _ := verdict.Step(verdict.New(w, "test"), verdict.Input{Now: start.Add(tt.age), Poll: poll, Unseen: verdict.Reason{Code: "cluster-unreadable"}})
		if s.Verdict != tt.want {
			t.Errorf("deadline %s after %s: %s, want %s", tt.deadline, tt.age, s.Verdict, tt.want)
		}
		if tt.want == verdict.Inconclusive && (s.Reason.Code != "too-old" || !strings.Contains(s.Reason.Detail, "could not be observed")) {
			t.Errorf("reason %q", s.Reason)
		}
	}
}

// After NOT_REACHED the watch stays open for a day, and no longer.
func TestNotReachedIsFinalAfterADay(t *testing.T) {
	r := newRun(t, nil, `-60 Synced@old`, nil, 400).play(t)
	decided := clock(300)
	if r.state.Final(decided.Add(24*time.Hour - time.Second)) {
		t.Error("it is final before the day is over")
	}
	if !r.state.Final(decided.Add(24 * time.Hour)) {
		t.Error("it is not final after a day")
	}
}

// A step that asks for more has not moved the watch, and a final one does
// nothing.
func TestStepAsks(t *testing.T) {
	w := newWorld()
	w.say(start, "Synced@new op:run@new deleting")
	s := verdict.New(watch(), "test")
	s.UID = "u1"
	after, next := verdict.Step(s, verdict.Input{Now: start, Poll: poll, Seen: w.seen(start, false, newCommit)})
	if !next.Need.Direct || !next.Needs() || after.Verdict != verdict.Waiting || len(after.Events) != len(s.Events) {
		t.Errorf("need %+v, %s, %d events", next.Need, after.Verdict, len(after.Events))
	}
	done, _ := verdict.Step(s, verdict.Input{Now: start, Poll: poll, Seen: w.seen(start, true, newCommit)})
	again, next := verdict.Step(done, verdict.Input{Now: clock(60), Poll: poll, Seen: w.seen(clock(60), true, newCommit)})
	if next != (verdict.Next{}) || again.Decided != done.Decided || len(again.Events) != len(done.Events) {
		t.Errorf("a final state moved: %+v", next)
	}
}

// A note tells the first events and the last, in order, and a watch that flaps
// for ever is still a transition each time.
func TestEventsAreBounded(t *testing.T) {
	w := newWorld()
	w.say(start, "Synced@new op:run@new")
	w.say(start, "op:succeed")
	q := watch()
	q.Deadline, q.Stable = 24*time.Hour, time.Hour
	s := verdict.New(q, "test")
	for i := range 200 {
		now := clock(20 + i*5)
		w.say(now, []string{"Healthy", "Degraded"}[i%2])
		before := s.Events[len(s.Events)-1].Seq
		next := stepOnce(t, w, &s, verdict.Input{Now: now, Poll: poll, Seen: w.seen(now, false, newCommit)}, nil)
		if told := s.Events[len(s.Events)-1].Seq > before; told != next.Transition || !told {
			t.Fatalf("look %d: told %v, transition %v", i, told, next.Transition)
		}
	}
	if len(s.Events) != 60 || s.Events[0].Kind != "queued" {
		t.Errorf("%d events, the first %q", len(s.Events), s.Events[0].Kind)
	}
	if !slices.IsSortedFunc(s.Events, func(a, b verdict.Event) int { return a.Seq - b.Seq }) {
		t.Error("events are out of order")
	}
	reopen(t, s)
}
