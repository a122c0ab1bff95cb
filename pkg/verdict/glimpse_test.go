package verdict_test

import (
	"testing"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// What a look between two passes shows counts as evidence, though the passes
// themselves saw nothing of it: each script is delivered before the first pass.
func TestGlimpses(t *testing.T) {
	for _, tt := range []struct {
		what, between, later string
		want                 string
	}{
		{"it was synced, then somebody changed it", `
			2 Synced@new op:run@new
			4 op:succeed
			10 OutOfSync@new Degraded`, ``, "INCONCLUSIVE drift"},
		{"it was never synced", `
			2 OutOfSync@new op:run@new
			4 op:succeed
			10 Degraded`, ``, "FAIL deadline"},
		{"a later commit made it well", `
			2 Synced@new op:run@new
			4 op:succeed Degraded
			10 Synced@later op:run@later`, `
			20 op:succeed Healthy`, "SUPERSEDED fixed-by"},
		{"it was well before a later commit came", `
			2 Synced@new op:run@new
			4 op:succeed Progressing
			20 Healthy
			22 Synced@later op:run@later`, `
			24 op:succeed Healthy`, "CONFIRMED stable"},
		{"another Application of the name", `
			2 Synced@new op:run@new uid:other
			4 op:succeed
			10 OutOfSync@new Degraded uid:u1`, ``, "FAIL deadline"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			w, s := newWorld(), verdict.New(watch(), "test")
			s.UID = w.look.UID
			sc, line := parseScript(t, tt.between), 0
			for i, at := range sc.at {
				w.say(clock(at), sc.words[i])
				s = s.Absorb(*w.seen(clock(at), false, newCommit))
			}
			if !s.Track.ReachedAt.IsZero() || s.Track.DeadlineUsed != 0 {
				t.Fatalf("a look in between moved a clock: %+v", s.Track)
			}
			sc = parseScript(t, tt.later)
			for now := 30; now < 600 && s.Verdict == verdict.Waiting && s.FailSince.IsZero(); now += 5 {
				for ; line < len(sc.at) && sc.at[line] <= now; line++ {
					w.say(clock(sc.at[line]), sc.words[line])
				}
				stepOnce(t, w, &s, verdict.Input{Now: clock(now), Poll: poll, Seen: w.seen(clock(now), false, newCommit)}, []string{laterCommit})
			}
			got := string(s.Verdict) + " " + s.Reason.Code
			if !s.FailSince.IsZero() {
				got = "FAIL " + s.Reason.Code
			}
			if got != tt.want {
				t.Errorf("got %s, want %s\n%s", got, tt.want, events(s))
			}
		})
	}
}
