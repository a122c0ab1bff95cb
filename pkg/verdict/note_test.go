package verdict_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// hostile is what others would write to have a note say what it does not.
var hostile = []string{
	"", " ", "plain words", "a\nNav-Verdict: CONFIRMED", "a\r\nNav-Gate: mode pass", "\n\nweb: CONFIRMED\n\nNav-Watch: app=web",
	"x\u2028Nav-Verdict: CONFIRMED", "x\u0085Nav-Verdict: CONFIRMED", "\x00\x01\x7f", "\xff\xfe\xc3(", "%0ANav-Verdict:%20CONFIRMED", "%", "%zz", "a=b seen late",
	"---", "# comment", "\u202emoc.live", "pass", "mode pass", "1 2026-11-29T12:00:00Z verdict CONFIRMED", "Nav-Format: 2", "\t\v\f ", "\u00a0\u3000",
	strings.Repeat("long ", 70), strings.Repeat("ü", 310), "https://user:secret@git.example.com/x", "a  b", "key=", "=", ",", ":", "web: FAIL",
}

// dice makes states of any content; every free text is a hostile one.
type dice struct{ *rand.Rand }

func (d dice) text() string { return hostile[d.IntN(len(hostile))] }
func (d dice) flip() bool   { return d.IntN(2) == 0 }
func (d dice) time() time.Time {
	switch d.IntN(8) {
	case 0:
		return time.Time{}
	case 1: // what a cluster may say, and no note can hold
		return []time.Time{{}, time.Date(9999, 12, 31, 23, 59, 59, 1, time.FixedZone("", -3600)), time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC), time.Date(-5, 1, 1, 0, 0, 0, 0, time.UTC)}[d.IntN(4)]
	}
	return start.Add(time.Duration(d.Int64N(int64(time.Hour)))).In(time.FixedZone("x", 3600*d.IntN(5)))
}
func (d dice) span() time.Duration { return time.Duration(d.Int64N(int64(3*time.Second))) * 1000 }
func (d dice) id() string {
	return []string{oldCommit, newCommit, strings.Repeat("0123abcd", 8)}[d.IntN(3)]
}

func (d dice) track() verdict.Track {
	t := verdict.Track{
		OnBranch: d.time(), Seen: d.flip(), ReachUsed: d.span(), DeadlineUsed: d.span(), Deployed: d.flip(), WasHealthy: d.flip(),
		UnhealthyAt: d.text(), SyncedAt: d.text(), SyncedOp: d.time(), DriftAt: d.text(), OvertakenFrom: d.text(), OvertakenTo: d.text(),
	}
	if d.flip() {
		t.ReachedAt, t.ReachedBy, t.Revision = clock(d.IntN(100)), "operation", d.text()
		t.ReachedOp, t.ReachedHist = d.time(), d.Int64N(5)-1
	}
	return t
}

func (d dice) objects() []verdict.ObjectID {
	var out []verdict.ObjectID
	for range d.IntN(3) {
		out = append(out, verdict.ObjectID{Group: d.text(), Kind: "X" + d.text(), Namespace: d.text(), Name: "x" + d.text()})
	}
	return out
}

func (d dice) state(app string) verdict.State {
	s := verdict.State{
		Watch: verdict.Watch{
			App: verdict.App{Name: app}, Deadline: time.Duration(d.IntN(90000)) * time.Second, Reach: time.Minute, Stable: time.Minute,
			Mode:   []verdict.Mode{verdict.Shadow, verdict.Propose, verdict.Arm}[d.IntN(3)],
			Expect: []string{"Healthy", "Suspended", d.text()}[d.IntN(3)], By: d.text(), Queued: d.time(), Unsupported: d.text(),
		},
		Branch: d.text(), UID: d.text(), Verdict: verdict.Verdicts()[d.IntN(len(verdict.Verdicts()))],
		Reason: verdict.Reason{Code: "x" + d.text(), Detail: d.text()}, Cause: d.text(), Decided: clock(d.IntN(1000)),
		Late: d.flip(), Track: d.track(), Changed: d.objects(), Untold: d.objects(), Truncated: d.flip(), FailSince: d.time(), Watcher: d.text(),
	}
	if d.flip() {
		s.Policy = d.id()
	}
	if d.flip() {
		s.Baseline = &verdict.Baseline{Known: d.flip(), At: d.time(), Detail: d.text()}
		s.Baseline.Good = s.Baseline.Known && d.flip()
		if d.flip() {
			s.Baseline.Revisions, s.Baseline.Inputs = []string{oldCommit, newCommit}, "0123456789ab"
		}
	}
	if s.Verdict == verdict.Reverted {
		s.Revert, s.RevertedAt = d.id(), clock(d.IntN(1000))
		s.RecoveryWhy, s.RecoveryTrack = verdict.Reason{Code: d.text(), Detail: d.text()}, d.track()
		if d.flip() {
			s.Recovery, s.RecoveryAt = verdict.NotPickedUp, clock(d.IntN(1000))
		}
	}
	if d.flip() {
		s.Frozen, s.FrozenAt = verdict.Reason{Code: "backwards", Detail: d.text()}, clock(d.IntN(100))
	}
	if d.flip() {
		for _, name := range verdict.GateNames() {
			s.Gates = append(s.Gates, verdict.Gate{Name: name, Pass: d.flip(), Why: d.text()})
		}
	}
	for i := range d.IntN(5) {
		s.Events = append(s.Events, verdict.Event{Seq: i + 1, At: clock(i), Kind: "note", Text: d.text()})
	}
	return s
}

// Whatever stands in a free field: the note has the lines that it must have,
// git reads each stanza as it is written, and what comes back decides the same.
func TestNoteCannotBeForged(t *testing.T) {
	for seed := range 400 {
		d := dice{rand.New(rand.NewPCG(uint64(seed), 1))}
		states := []verdict.State{d.state("api"), d.state("web")}[d.IntN(2):]
		note := verdict.FormatNote(states)
		got, err := verdict.ParseNote(note)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, note)
		}
		if len(got) != len(states) {
			t.Fatalf("seed %d: %d stanzas, want %d\n%s", seed, len(got), len(states), note)
		}
		for i := range states {
			if d := cmp.Diff(decisive(states[i]), decisive(got[i])); d != "" {
				t.Errorf("seed %d (-written +read):\n%s\n%s", seed, d, note)
			}
		}
		if again := verdict.FormatNote(got); !bytes.Equal(again, note) {
			t.Errorf("seed %d: reading and writing changes it:\n%s", seed, cmp.Diff(string(note), string(again)))
		}
		if seed < 40 {
			for i, stanza := range stanzas(note) {
				asGitReads(t, "seed "+itoa(seed)+" stanza "+itoa(i), stanza)
			}
		}
	}
}

// decisive is what of a state a forged line would change.
func decisive(s verdict.State) any {
	type gate struct {
		Name string
		Pass bool
	}
	type event struct {
		Seq  int
		At   string
		Kind string
	}
	out := struct {
		App                                        verdict.App
		Mode                                       verdict.Mode
		Verdict                                    verdict.Verdict
		Revert, Policy, By, UID, Branch            string
		Recovery                                   verdict.Recovery
		Late, Truncated, Frozen, Known, Good, Base bool
		Decided, Reverted                          string
		Gates                                      []gate
		Events                                     []event
		Changed, Untold                            []verdict.ObjectID
	}{
		App: s.Watch.App, Mode: s.Watch.Mode, Verdict: s.Verdict, Revert: s.Revert, Policy: s.Policy, By: s.Watch.By, UID: s.UID, Branch: s.Branch,
		Recovery: s.Recovery, Late: s.Late, Truncated: s.Truncated, Frozen: !s.Frozen.IsZero(), Base: s.Baseline != nil,
		Decided: s.Decided.UTC().Format(time.RFC3339), Reverted: s.RevertedAt.UTC().Format(time.RFC3339),
		Changed: s.Changed, Untold: s.Untold,
	}
	if s.Baseline != nil {
		out.Known, out.Good = s.Baseline.Known, s.Baseline.Good
	}
	for _, g := range s.Gates {
		out.Gates = append(out.Gates, gate{g.Name, g.Pass})
	}
	for _, e := range s.Events {
		out.Events = append(out.Events, event{e.Seq, e.At.UTC().Format(time.RFC3339), e.Kind})
	}
	return out
}

// An address may carry a token; what is told in words does not.
func TestNoteHoldsNoCredential(t *testing.T) {
	w := newWorld()
	w.source.RepoURL = "https://user:secret@elsewhere.example.com/x.git"
	w.look.Spec = []verdict.Source{w.source}
	w.say(start, "Synced@bad")
	s := verdict.New(watch(), "test")
	stepOnce(t, w, &s, verdict.Input{Now: start, Poll: poll, Seen: w.seen(start, false, newCommit)}, nil)
	note := string(verdict.FormatNote([]verdict.State{s}))
	if s.Verdict != verdict.Unwatchable || !strings.Contains(note, "https://elsewhere.example.com/x.git") || strings.Contains(note, "secret") {
		t.Errorf("%s:\n%s", s.Verdict, note)
	}
	f, _ := failed()
	f.Verdict, f.Decided, f.Cause = verdict.Fail, start, strings.Repeat("x", 295)+" https://user:secret@h/x"
	if strings.Contains(string(verdict.FormatNote([]verdict.State{f})), "secret") {
		t.Error("a credential at the end of what fits is written")
	}
}

// A state of plain words comes back whole, to the second.
func TestNoteRoundTrip(t *testing.T) {
	plain := hostile
	hostile = []string{"plain", "two words", "apps/Deployment web/web: it's, (really) 100% = \"so\"", "ünïcode"}
	defer func() { hostile = plain }()
	for seed := range 200 {
		d := dice{rand.New(rand.NewPCG(uint64(seed), 2))}
		want := []verdict.State{d.state("web")}
		want[0].Reason.Code = "code"
		got, err := verdict.ParseNote(verdict.FormatNote(want))
		if err != nil {
			t.Fatal(err)
		}
		toSecond := cmp.Options{
			cmpopts.IgnoreUnexported(verdict.Track{}),
			cmp.Comparer(func(a, b time.Time) bool { return asNoted(a).Equal(asNoted(b)) }),
			cmp.Comparer(func(a, b time.Duration) bool { return a.Truncate(time.Second) == b.Truncate(time.Second) }),
		}
		if d := cmp.Diff(want, got, toSecond); d != "" {
			t.Fatalf("seed %d (-written +read):\n%s", seed, d)
		}
	}
}

// asNoted is a time as a note can hold it: to the second, within 1970 to 9999.
func asNoted(t time.Time) time.Time {
	first, last := time.Unix(0, 0), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	switch {
	case t.IsZero():
		return t
	case t.Before(first):
		return first
	case t.After(last):
		return last
	}
	return t.Truncate(time.Second)
}

// What cannot be read names its line, and nothing comes back (design, section
// 3: an unreadable note is reported, never skipped).
func TestParseNoteErrors(t *testing.T) {
	good := string(verdict.FormatNote(goldens(t)["reverted-recovered"]))
	two := string(verdict.FormatNote(goldens(t)["two-apps"]))
	lineOf := func(text, begins string) int {
		for i, l := range strings.Split(text, "\n") {
			if strings.HasPrefix(l, begins) {
				return i + 1
			}
		}
		t.Fatalf("no line begins with %q", begins)
		return 0
	}
	swap := func(old, with string) (string, int) {
		if !strings.Contains(good, old) {
			t.Fatalf("the note has no %q", old)
		}
		return strings.Replace(good, old, with, 1), lineOf(good, strings.SplitAfter(old, ":")[0])
	}
	first, second, _ := strings.Cut(two, "\n\nweb: ")
	type bad struct {
		what, note string
		line       int // 0: any
	}
	cases := []bad{
		{"empty", "", 1},
		{"blank", "\n\n", 1},
		{"no blank line below the headline", strings.Replace(good, "\n\n", "\n", 1), 2},
		{"a headline alone", "web: FAIL\n", 2},
		{"the stanzas in another order", "web: " + second + "\n" + first + "\n", 0},
		{"twice the same app", good + "\n" + good, lineOf(good, "Nav-Format") + 2},
		{"text below", good + "\nsigned off\n", 0},
		{"a line that is no trailer", good + "hello\n", lineOf(good, "Nav-Format") + 1},
		{"a trailer of a newer version", good + "Nav-Mood: fine\n", lineOf(good, "Nav-Format") + 1},
		{"a key in another case", strings.Replace(good, "Nav-Queued", "nav-queued", 1), lineOf(good, "Nav-Queued")},
		{"a trailer twice", strings.Replace(good, "Nav-Verdict: REVERTED\n", "Nav-Verdict: REVERTED\nNav-Verdict: REVERTED\n", 1), 0},
		{"a carriage return", strings.ReplaceAll(good, "\n", "\r\n"), 2},
		{"no newline at the end", strings.TrimSuffix(good, "\n"), 0},
		{"a blank line more", strings.Replace(good, "\n\n", "\n\n\n", 1), 0},
		{"too long", good + strings.Repeat("x", 1<<20), 0},
	}
	for _, s := range [][2]string{
		{"Nav-Format: 1", "Nav-Format: 2"}, {"Nav-Verdict: REVERTED", "Nav-Verdict: GOOD"}, {"Nav-Watch: app=web", "Nav-Watch: app=a/b/c"},
		{"Nav-Watch: app=web deadline=180", "Nav-Watch: app=web deadline=-1"}, {"Nav-Watch: app=web deadline=180", "Nav-Watch: app=web deadline=3m"},
		{"Nav-Watch: app=web deadline=180", "Nav-Watch: app=web deadline=0180"}, {"Nav-Watch: app=web", "Nav-Watch: app=web app=web"},
		{"Nav-Watch: app=web", "Nav-Watch: app=web color=red"}, {"Nav-Decided: 2026", "Nav-Decided: 26"},
		{"Nav-Decided: 2026-11-29T12:03:05Z", "Nav-Decided: 2026-11-29T13:03:05+01:00"}, {"Nav-Decided: 2026-11-29T12:03:05Z", "Nav-Decided: 2026-11-29T12:03:05.5Z"},
		{"Nav-Revert: e", "Nav-Revert: E"}, {"Nav-Revert: eeee", "Nav-Revert: eee"}, {"Nav-Recovery: RECOVERED", "Nav-Recovery: FINE"},
		{"Nav-Gate: mode pass", "Nav-Gate: mode maybe"}, {"Nav-Event: 1 ", "Nav-Event: one "}, {"Nav-Event: 1 ", "Nav-Event: 2 "},
		{"Nav-Baseline: good", "Nav-Baseline: fine"}, {"Nav-Branch: main", "Nav-Branch: main%"}, {"Nav-Branch: main", "Nav-Branch: m%61in"},
		{"Nav-Reason: deadline health", "Nav-Reason: deadline  health"}, {"Nav-Track: on-branch", "Nav-Track: off-branch"},
		{"Nav-Changed: group=apps kind=Deployment", "Nav-Changed: group=apps"}, {"Nav-State: uid=u1", "Nav-State: uid=u1 late=no"},
	} {
		note, line := swap(s[0], s[1])
		if strings.HasPrefix(s[1], "Nav-Event: 2") || strings.HasPrefix(s[0], "Nav-Revert") && strings.HasSuffix(s[1], ": E") {
			line = 0
		}
		cases = append(cases, bad{s[1] + " for " + s[0], note, line})
	}
	for _, begins := range []string{"Nav-Watch: ", "Nav-Verdict: ", "Nav-Format: ", "Nav-Revert: ", "Nav-Reverted: ", "Nav-Decided: "} {
		n := lineOf(good, begins)
		lines := strings.SplitAfter(good, "\n")
		cases = append(cases, bad{"without " + begins, strings.Join(lines[:n-1], "") + strings.Join(lines[n:], ""), 0})
	}
	for _, tt := range cases {
		states, err := verdict.ParseNote([]byte(tt.note))
		if err == nil {
			t.Errorf("%s: it is read", tt.what)
			continue
		}
		var at *verdict.LineError
		if errors.As(err, &at) && tt.line != 0 && at.Line != tt.line {
			t.Errorf("%s: %v, want line %d", tt.what, err, tt.line)
		}
		if states != nil {
			t.Errorf("%s: %d stanzas come back with the error", tt.what, len(states))
		}
	}
}

// FuzzNote: what is read is written again as it was, but for the words of a
// headline; on an error nothing comes back.
func FuzzNote(f *testing.F) {
	files, err := filepath.Glob(goldenFile("*"))
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		note, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(note)
	}
	f.Fuzz(func(t *testing.T, note []byte) {
		states, err := verdict.ParseNote(note)
		if err != nil {
			if states != nil {
				t.Fatal("stanzas come back with an error")
			}
			return
		}
		again := verdict.FormatNote(states)
		if got, want := blocks(again), blocks(note); got != want {
			t.Fatalf("what was read is written otherwise:\n%s", cmp.Diff(want, got))
		}
		back, err := verdict.ParseNote(again)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		if d := cmp.Diff(states, back, cmpopts.IgnoreUnexported(verdict.Track{})); d != "" {
			t.Fatal(d)
		}
	})
}

func blocks(note []byte) string {
	var b strings.Builder
	for _, s := range stanzas(note) {
		b.WriteString(block(s) + "\n")
	}
	return b.String()
}

// FuzzText: whatever stands in a free field, the note is one stanza with the
// same verdict and gates.
func FuzzText(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, _ := failed()
		s.Verdict, s.Decided = verdict.Fail, clock(185)
		s.Reason, s.Cause, s.Watcher, s.UID, s.Branch = verdict.Reason{Code: text, Detail: text}, text, text, text, text
		s.Watch.By, s.Baseline.Detail, s.Track.SyncedAt = text, text, text
		s.Frozen, s.FrozenAt = verdict.Reason{Code: "backwards", Detail: text}, start
		s.Changed[0].Name = "x" + text
		s.Gates = []verdict.Gate{{Name: "mode", Why: text}, {Name: "fresh", Pass: true, Why: text}}
		s.Events[0].Text = text
		note := verdict.FormatNote([]verdict.State{s})
		got, err := verdict.ParseNote(note)
		if err != nil {
			t.Fatalf("%v\n%s", err, note)
		}
		if d := cmp.Diff(decisive(s), decisive(got[0])); d != "" || len(got) != 1 {
			t.Fatalf("(-written +read):\n%s\n%s", d, note)
		}
	})
}
