package verdict

import (
	"strings"
	"testing"
	"time"
)

// clockStart is when the tracks below were reached; second is some seconds later.
var clockStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func second(seconds int) time.Time { return clockStart.Add(time.Duration(seconds) * time.Second) }

func judged(healthy bool) Judgement {
	return Judgement{Determinate: true, Counts: true, Reached: true, Healthy: healthy, Synced: healthy, Seen: Yes, Compared: "r1"}
}

// lookAt is a look at an Application whose health has a transition time of long ago.
func lookAt(seconds int) Observation {
	return Observation{Look: Look{At: second(seconds), HealthSince: second(-100)}}
}

const clockPoll = 10 * time.Second

// TestCountOnce: looks that come in another order than they were made count no
// time twice.
func TestCountOnce(t *testing.T) {
	t.Parallel()
	var track Track
	var used time.Duration
	var last time.Time
	for _, s := range []int{0, 10, 14, 10, 20, 12, 30} {
		track.count(&used, &last, lookAt(s), clockPoll)
	}
	if used != 30*time.Second {
		t.Errorf("of 30s %s were counted", used)
	}
}

// TestRunsBreak: a run of healthy or of other looks ends with whatever shows that
// it did not last: a look in between, or one that was made before the last.
func TestRunsBreak(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		play   func(tr *Track)
		stable bool          // for a minute at +120
		bad    time.Duration // of the present run
	}{
		"healthy all the time": {play: func(tr *Track) {
			for s := 60; s <= 120; s += 10 {
				tr.observe(judged(true), lookAt(s), clockPoll)
			}
		}, stable: true},
		"unhealthy for a moment between looks": {play: func(tr *Track) {
			for s := 60; s <= 120; s += 10 {
				tr.glimpse(judged(false), lookAt(s-2))
				tr.observe(judged(true), lookAt(s), clockPoll)
			}
		}},
		"an older healthy look does not begin a run": {play: func(tr *Track) {
			tr.observe(judged(false), lookAt(110), clockPoll)
			tr.observe(judged(true), lookAt(60), clockPoll)
		}},
		"unhealthy all the time": {play: func(tr *Track) {
			for s := 60; s <= 120; s += 10 {
				tr.observe(judged(false), lookAt(s), clockPoll)
			}
		}, bad: time.Minute},
		"healthy for a moment between looks": {play: func(tr *Track) {
			for s := 60; s <= 120; s += 10 {
				tr.glimpse(judged(true), lookAt(s-2))
				tr.observe(judged(false), lookAt(s), clockPoll)
			}
		}},
		"an older healthy look ends one": {play: func(tr *Track) {
			for s := 60; s <= 110; s += 10 {
				tr.observe(judged(false), lookAt(s), clockPoll)
			}
			tr.glimpse(judged(true), lookAt(105))
			tr.observe(judged(false), lookAt(112), clockPoll)
			tr.observe(judged(false), lookAt(120), clockPoll)
		}, bad: 8 * time.Second},
	} {
		tr := Track{ReachedAt: second(0)}
		c.play(&tr)
		if is := tr.stable(Watch{Stable: time.Minute}, second(120)); is != c.stable {
			t.Errorf("%s: stable for a minute: %v", name, is)
		}
		if tr.live.badFor != c.bad {
			t.Errorf("%s: unhealthy for %s, want %s", name, tr.live.badFor, c.bad)
		}
	}
}

// TestSilenceStaysSilent: time after which the controller should have compared is
// not credited by a look at an older comparison.
func TestSilenceStaysSilent(t *testing.T) {
	t.Parallel()
	used := func(older bool) time.Duration {
		tr := Track{ReachedAt: second(0)}
		look := func(s, compared int) Observation {
			return Observation{Look: Look{At: second(s), ReconciledAt: second(compared)}, Refresh: 3 * time.Minute}
		}
		for s := 0; s <= 500; s += 10 {
			tr.observe(judged(false), look(s, 0), clockPoll)
		}
		if older {
			tr.observe(judged(false), look(500, -10), clockPoll)
		}
		tr.observe(Judgement{Stale: true}, look(600, 0), clockPoll)
		return tr.deadlineUsed()
	}
	if got, want := used(true), used(false); got != want || want != 3*time.Minute {
		t.Errorf("%s of the deadline were used, and without the older look %s", got, want)
	}
}

// TestResumeCountsOnce: of two daemons each adopts the other's note, and then judges
// by an event from before it.
func TestResumeCountsOnce(t *testing.T) {
	t.Parallel()
	x := State{Track: Track{ReachedAt: second(0), Revision: "r1"}}
	x.Track.observe(judged(false), lookAt(0), clockPoll)
	y := x
	now := 0
	for range 100 {
		note := y
		note.Track.live, note.Track.UnhealthyAt = live{}, x.Track.UnhealthyAt
		x = note.Resume(x, second(now+4), clockPoll)
		x.Track.observe(judged(false), lookAt(now), clockPoll)
		now += 10
		x.Track.observe(judged(false), lookAt(now), clockPoll)
		x.Track.observe(judged(false), lookAt(now+3), clockPoll)
		x, y = y, x
	}
	if used := y.Track.deadlineUsed(); used > second(now+3).Sub(clockStart) {
		t.Errorf("%s of the deadline were used within %ds", used, now+3)
	}
}

// TestResumeUnseen: an hour in which nobody looked proves nothing of a health
// without a transition time, also where a note is adopted at its end.
func TestResumeUnseen(t *testing.T) {
	t.Parallel()
	plain := func(s int) Observation { return Observation{Look: Look{At: second(s)}} }
	for _, adopted := range []bool{false, true} {
		own := State{Track: Track{ReachedAt: second(0), Revision: "r1", WasHealthy: true}}
		own.Track.observe(judged(true), plain(0), clockPoll)
		own.Track.observe(judged(true), plain(10), clockPoll)
		if adopted {
			note := own
			note.Track.live = live{}
			own = note.Resume(own, second(3599), clockPoll)
		}
		own.Track.observe(judged(true), plain(3600), clockPoll)
		if own.Track.stable(Watch{Stable: 10 * time.Minute}, second(3600)) {
			t.Errorf("adopted %v: it was healthy for ten minutes", adopted)
		}
	}
}

// TestStableIsMonotonic: a step of the wall clock is no time of health.
func TestStableIsMonotonic(t *testing.T) {
	t.Parallel()
	now := time.Now()
	tr := Track{ReachedAt: now}
	tr.observe(judged(true), Observation{Look: Look{At: now, Operation: Operation{FinishedAt: now.Round(0)}}}, clockPoll)
	if from := tr.live.stableFrom.String(); !strings.Contains(from, " m=") {
		t.Errorf("stable begins at %s, by the wall clock alone", from)
	}
}
