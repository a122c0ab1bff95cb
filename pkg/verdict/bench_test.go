package verdict_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// longStanza is a watch that has been judged, with all that a stanza tells.
func longStanza() verdict.State {
	at := time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	id := func(n int) string { return fmt.Sprintf("%040x", n) }
	s := verdict.New(verdict.Watch{
		Commit: id(1), App: verdict.App{Name: "web"}, Mode: verdict.Shadow, Expect: "Healthy", By: "alice",
		Deadline: 15 * time.Minute, Reach: 15 * time.Minute, Stable: 2 * time.Minute, Queued: at,
	}, "alice")
	s.Branch, s.Policy, s.UID, s.Verdict, s.Decided = "main", id(2), "5f0c6b5e-8a0f-4b53-8d07-2f9a5d1d0b11", verdict.Confirmed, at.Add(4*time.Minute)
	s.Reason = verdict.Reason{Code: "stable", Detail: "healthy for 2m0s"}
	s.Track.ReachedAt, s.Track.Deployed, s.Track.Seen = at.Add(time.Minute), true, true
	s.Track.ReachedBy, s.Track.Revision = "operation", s.Watch.Commit
	s.Baseline = &verdict.Baseline{Known: true, Good: true, At: at, Detail: "health Healthy, Synced", Revisions: []string{id(3)}}
	s.Watcher = "navwatchd v0.1.0 config=sha256:0123456789abcdef"
	for e := range 6 {
		s.Events = append(s.Events, verdict.Event{Seq: e + 2, At: at.Add(time.Duration(e) * time.Minute), Kind: "note", Text: "something was seen at revision 0123456789ab"})
	}
	for _, g := range []string{"mode", "dry-run", "reached", "fresh", "eligible", "baseline", "attribution", "related", "siblings", "storm"} {
		s.Gates = append(s.Gates, verdict.Gate{Name: g, Pass: true, Why: "what was seen of it"})
	}
	return s
}

// BenchmarkFold is what a start costs for each note of `verdicts`.
func BenchmarkFold(b *testing.B) {
	note := verdict.FormatNote([]verdict.State{longStanza()})
	b.SetBytes(int64(len(note)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := verdict.Fold("1111111111111111111111111111111111111111", note); err != nil {
			b.Fatal(err)
		}
	}
}
