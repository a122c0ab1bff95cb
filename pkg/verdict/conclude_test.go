package verdict_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// What a FAIL may do (design, section 6): all gates pass and it is taken back;
// `fresh` or `deployable` alone are waited for; any other hold is final.
func TestConclude(t *testing.T) {
	closed := func(f *facts) { f.Deploy.Window, f.Deploy.WindowWhy = verdict.No, "deny" }
	stale := func(f *facts) { f.Stale = "stale: silent" }
	open := func(f *facts) { f.Circuit = "2 reverts" }
	for _, tt := range []struct {
		what    string
		mode    verdict.Mode
		change  []func(*facts)
		after   time.Duration // of failing
		refresh time.Duration
		want    verdict.Verdict
		revert  bool
		person  bool
	}{
		{what: "all pass", want: verdict.Waiting, revert: true},
		{what: "all pass, later", after: time.Hour, want: verdict.Waiting, revert: true},
		{what: "a closed window", change: []func(*facts){closed}, want: verdict.Waiting},
		{what: "a stale look", change: []func(*facts){stale}, want: verdict.Waiting},
		{what: "both", change: []func(*facts){closed, stale}, want: verdict.Waiting},
		{what: "another too", change: []func(*facts){closed, open}, want: verdict.Fail, person: true},
		{what: "another", change: []func(*facts){open}, want: verdict.Fail, person: true},
		{what: "shadow", mode: verdict.Shadow, want: verdict.Fail},
		{what: "shadow and a closed window", mode: verdict.Shadow, change: []func(*facts){closed}, want: verdict.Fail},
		{what: "waited 5 min less a second", change: []func(*facts){closed}, after: 5*time.Minute - time.Second, refresh: time.Minute, want: verdict.Waiting},
		{what: "waited 5 min", change: []func(*facts){closed}, after: 5 * time.Minute, refresh: time.Minute, want: verdict.Fail, person: true},
		{what: "two refreshes are more than 5 min", change: []func(*facts){stale}, after: 6*time.Minute - time.Second, refresh: 3 * time.Minute, want: verdict.Waiting},
		{what: "waited two refreshes", change: []func(*facts){stale}, after: 6 * time.Minute, refresh: 3 * time.Minute, want: verdict.Fail, person: true},
	} {
		t.Run(tt.what, func(t *testing.T) {
			s, f := failed()
			if tt.mode != "" {
				s.Watch.Mode = tt.mode
			}
			for _, change := range tt.change {
				change(&f)
			}
			got, next := verdict.Conclude(s, f, s.FailSince.Add(tt.after), tt.refresh)
			if got.Verdict != tt.want || next.Revert != tt.revert || (next.Person != "") != tt.person {
				t.Errorf("%s, revert %v, person %q; want %s, %v, %v", got.Verdict, next.Revert, next.Person, tt.want, tt.revert, tt.person)
			}
			if len(got.Gates) != len(verdict.GateNames()) {
				t.Errorf("%d gates stand in the state", len(got.Gates))
			}
			if got.Verdict == verdict.Fail && got.Reason.String() != "deadline health=Degraded" {
				t.Errorf("reason %q", got.Reason)
			}
			if got.Verdict == verdict.Waiting && !tt.revert && got.Reason.Code != "held" {
				t.Errorf("reason %q, want held", got.Reason)
			}
			if len(s.Gates) != 0 {
				t.Error("the state that was given changed")
			}
		})
	}
}

// A FAIL that waits for the cluster ends by the look that mends it, and by the
// one after which it may be taken back.
func TestHeldThen(t *testing.T) {
	s, f := failed()
	f.Deploy.Window = verdict.No
	s, _ = verdict.Conclude(s, f, clock(185), refresh)

	w := newWorld()
	w.say(clock(5), "Synced@new op:run@new")
	w.say(clock(10), "op:succeed Degraded")
	healed := newWorld()
	healed.say(clock(5), "Synced@new op:run@new")
	healed.say(clock(10), "op:succeed")
	still, next := verdict.Step(withDeadline(s), verdict.Input{Now: clock(190), Poll: poll, Seen: w.seen(clock(190), true, newCommit)})
	if !next.Conclude || !still.FailSince.Equal(s.FailSince) {
		t.Errorf("still failing: conclude %v, since %v", next.Conclude, still.FailSince)
	}
	well, next := verdict.Step(withDeadline(s), verdict.Input{Now: clock(190), Poll: poll, Seen: healed.seen(clock(190), true, newCommit)})
	if next.Conclude || well.Verdict != verdict.Waiting || well.Reason.Code != "stabilizing" || len(well.Gates) != 0 || !well.FailSince.IsZero() {
		t.Errorf("healthy again: %s %s, gates %v", well.Verdict, well.Reason, well.Gates)
	}
	stale := w.seen(clock(190), true, newCommit)
	stale.Look.SpecChanged = "path"
	blind, next := verdict.Step(withDeadline(s), verdict.Input{Now: clock(190), Poll: poll, Seen: stale})
	if !next.Conclude || blind.Verdict != verdict.Waiting {
		t.Errorf("indeterminate: conclude %v, %s", next.Conclude, blind.Verdict)
	}
}

// withDeadline is a failed watch whose budget is used up.
func withDeadline(s state) state {
	s.Track.DeadlineUsed = s.Watch.Deadline
	return s
}

// The headline of a FAIL that was held says why; of a shadow watch only that.
func TestHeadline(t *testing.T) {
	s, f := failed()
	f.Suspects = []string{newCommit, laterCommit}
	held, _ := verdict.Conclude(s, f, clock(185), refresh)
	want := "web: FAIL (not reverted: attribution: 2 suspects: bbbbbbbbbbbb, dddddddddddd): not Healthy within 180s of being reached (health=Degraded)"
	if got := held.Headline(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	s.Watch.Mode = verdict.Shadow
	shadow, _ := verdict.Conclude(s, f, clock(185), refresh)
	want = "web: FAIL (not reverted: mode: mode=shadow): not Healthy within 180s of being reached (health=Degraded)"
	if got := shadow.Headline(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	s, f = failed()
	s, _ = verdict.Conclude(s, f, clock(185), refresh)
	s = s.WithRevert(revertCommit, clock(190))
	want = "web: REVERTED: not Healthy within 180s of being reached (health=Degraded)"
	if got := s.Headline(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// After the branch refused the revert the verdict goes alone.
func TestPushRefused(t *testing.T) {
	s, _ := failed()
	got := s.PushRefused(clock(200), "protected branch")
	if got.Verdict != verdict.Fail || got.Reason.String() != "push-refused protected branch" || !got.Final(clock(200)) {
		t.Errorf("%s %s", got.Verdict, got.Reason)
	}
	if !strings.Contains(got.Headline(), "push-refused") {
		t.Errorf("headline %q", got.Headline())
	}
}

// What is reached after NOT_REACHED is judged as shadow (design, section 5).
func TestLateIsShadow(t *testing.T) {
	r := newRun(t, nil, `
		-60 Synced@old
		0   OutOfSync@new
		400 op:run@new
		410 op:succeed Synced@new Degraded`, nil, 900)
	asked := 0
	r.conclude = func(s verdict.State, o verdict.Observation, now time.Time) verdict.State {
		asked++
		_, f := failed()
		f.Look, f.Git = o.Look, o.Git
		s, next := verdict.Conclude(s, f, now, refresh)
		if next.Revert {
			t.Error("it is taken back")
		}
		return s
	}
	got := r.play(t)
	if asked != 1 || got.state.Verdict != verdict.Fail || !got.state.Late || why(got.state.Gates, "mode") != "reached late: judged as shadow" {
		t.Errorf("asked %d times: %s, late %v, mode: %s", asked, got.outcome(), got.state.Late, why(got.state.Gates, "mode"))
	}
}
