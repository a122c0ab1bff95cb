package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/argosim"
	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
	"github.com/nav-watchdog/nav-watchdog/internal/watchd"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// manyVerdicts is a world with n notes of decided watches, as the daemon writes
// them, of about 2 KB each.
func manyVerdicts(tb testing.TB, n int) *world {
	tb.Helper()
	w := newWorld(tb, tb.TempDir(), openPolicy, argosim.Options{Poll: 30 * time.Second}, "web")
	if err := w.app(simple("web")); err != nil {
		tb.Fatal(err)
	}
	var in bytes.Buffer
	fmt.Fprintf(&in, "commit %s\ncommitter x <x@example.com> %d +0000\ndata 1\nx\n", verdictsRef, w.start.Unix())
	for i := range n {
		note := verdict.FormatNote([]verdict.State{decided(i, w.start)})
		id := fakeID(i)
		fmt.Fprintf(&in, "M 100644 inline %s/%s\ndata %d\n%s\n", id[:2], id[2:], len(note), note)
	}
	w.srv.GitIn(in.Bytes(), "fast-import", "--quiet")
	return w
}

func fakeID(i int) string { return fmt.Sprintf("%08x%032x", uint32(i+1)*2654435761, i) }

// decided is a watch that has been judged, with all that a stanza tells.
func decided(i int, start time.Time) verdict.State {
	at := start.Add(-time.Duration(i+100) * time.Minute)
	app := verdict.App{Name: fmt.Sprintf("app-%d", i%500)}
	s := verdict.New(verdict.Watch{
		Commit: fakeID(i), App: app, Mode: verdict.Shadow, Expect: "Healthy", By: "alice",
		Deadline: 15 * time.Minute, Reach: 15 * time.Minute, Stable: 2 * time.Minute, Queued: at,
	}, "alice")
	s.Branch, s.Policy, s.UID, s.Verdict, s.Decided = "main", fakeID(i+1), "5f0c6b5e-8a0f-4b53-8d07-2f9a5d1d0b11", verdict.Confirmed, at.Add(4*time.Minute)
	s.Reason = verdict.Reason{Code: "stable", Detail: "healthy for 2m0s"}
	s.Track.ReachedAt, s.Track.Deployed, s.Track.Seen = at.Add(time.Minute), true, true
	s.Track.ReachedBy, s.Track.Revision = "operation", s.Watch.Commit
	s.Baseline = &verdict.Baseline{Known: true, Good: true, At: at, Detail: "health Healthy, Synced", Revisions: []string{fakeID(i + 2)}}
	s.Watcher = "navwatchd v0.1.0 config=sha256:0123456789abcdef"
	for e := range 6 {
		s.Events = append(s.Events, verdict.Event{Seq: e + 2, At: at.Add(time.Duration(e) * time.Minute), Kind: "note", Text: "something was seen at revision 0123456789ab"})
	}
	for _, g := range []string{"mode", "dry-run", "reached", "fresh", "eligible", "baseline", "attribution", "related", "siblings", "storm"} {
		s.Gates = append(s.Gates, verdict.Gate{Name: g, Pass: true, Why: "what was seen of it"})
	}
	return s
}

func (w *world) quietDaemon(tb testing.TB) *watchd.Daemon {
	tb.Helper()
	e := env{environ: w.srv.Env(), now: func() time.Time { return w.now }, stderr: io.Discard}
	repo, rem, err := openMirror(tb.Context(), e, w.setOf("d"))
	if err != nil {
		tb.Fatal(err)
	}
	d, err := watchd.New(daemonConfig(e, w.setOf("d"), repo, rem, cluster{"live", w.sim}, slog.New(slog.DiscardHandler)))
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// BenchmarkVerdicts is what many decided verdicts cost: a start (the mirror is
// there), a pass in which nothing happened, and one in which another's verdict
// arrived. What git itself needs to fetch stands beside it.
func BenchmarkVerdicts(b *testing.B) {
	const n = 100_000
	w := manyVerdicts(b, n)
	pass := func(b *testing.B, d *watchd.Daemon) {
		b.Helper()
		if err := d.Pass(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
	d := w.quietDaemon(b)
	pass(b, d) // fetches
	b.Run("start", func(b *testing.B) {
		for b.Loop() {
			d = w.quietDaemon(b)
			pass(b, d)
		}
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapAlloc)/1e6, "MB-held")
	})
	b.Run("idle", func(b *testing.B) {
		for b.Loop() {
			pass(b, d)
		}
	})
	i, other := n, &server{}
	b.Run("one-more", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			other.add(b, w, i)
			i++
			b.StartTimer()
			pass(b, d)
		}
	})
	b.Run("fetch-alone", func(b *testing.B) {
		_, rem, err := openMirror(b.Context(), env{environ: w.srv.Env()}, w.setOf("d"))
		check(b, err)
		for b.Loop() {
			b.StopTimer()
			other.add(b, w, i)
			i++
			b.StartTimer()
			if _, err := rem.Fetch(context.Background()); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// server is somebody else who writes verdicts, on the server itself.
type server struct {
	repo *gitstore.Repo
	at   *gitstore.NotesTree
}

func (s *server) add(tb testing.TB, w *world, i int) {
	tb.Helper()
	ctx := context.Background()
	if s.repo == nil {
		var err error
		s.repo, err = gitstore.Open(ctx, w.srv.Dir, gitstore.Options{Env: w.srv.Env()})
		check(tb, err)
	}
	now, err := s.repo.NotesSince(ctx, s.at, verdictsRef, func(string, []byte) error { return nil })
	check(tb, err)
	s.at = now
	note := verdict.FormatNote([]verdict.State{decided(i, w.start)})
	who := gitstore.Identity{Name: "other", Email: "o@example.com", When: navtest.Start()}
	tip, err := s.repo.WriteNotes(ctx, now, map[string][]byte{fakeID(i): note}, "x", who)
	check(tb, err)
	check(tb, s.repo.UpdateRefs(ctx, gitstore.RefUpdate{Ref: verdictsRef, Old: now.Tip, New: tip}))
}
