package verdict

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// formatKey carries the version of the format.
const formatKey, formatVersion = "Nav-Format", "1"

// field is one trailer of a stanza, in both directions.
type field struct {
	key   string
	write func(*State, line)
	read  func(*State, string) error
}

// fields is the stanza, in order. docs/notes.md describes it; its goldens are
// frozen.
var fields = []field{
	{"Nav-Watch", one(writeWatch), readWatch},
	{"Nav-Branch", one(func(s *State) string { return escapeWord(s.Branch) }), func(s *State, v string) (err error) { s.Branch, err = unescapeWord(v); return err }},
	{"Nav-Policy", one(func(s *State) string { return s.Policy }), func(s *State, v string) error { return readID(&s.Policy, v) }},
	{"Nav-Verdict", one(func(s *State) string { return string(s.Verdict) }), readVerdict},
	{"Nav-Reason", one(func(s *State) string { return writeReason(s.Reason) }), func(s *State, v string) (err error) { s.Reason, err = readReason(v); return err }},
	{"Nav-Cause", one(func(s *State) string { return clip(s.Cause) }), func(s *State, v string) error { s.Cause = v; return nil }},
	{"Nav-Queued", one(func(s *State) string { return when(s.Watch.Queued) }), func(s *State, v string) (err error) { s.Watch.Queued, err = readTime(v); return err }},
	{"Nav-Decided", one(func(s *State) string { return when(s.Decided) }), func(s *State, v string) (err error) { s.Decided, err = readTime(v); return err }},
	{"Nav-Reached", one(func(s *State) string { return writeReached(&s.Track) }), func(s *State, v string) error { return readReached(&s.Track, v) }},
	{"Nav-Track", one(func(s *State) string { return writeTrack(&s.Track) }), func(s *State, v string) error { return readTrack(&s.Track, v) }},
	{"Nav-Baseline", one(writeBaseline), readBaseline},
	{"Nav-Changed", func(s *State, l line) { writeObjects(s.Changed, l) }, func(s *State, v string) (err error) { s.Changed, err = readObject(s.Changed, v); return err }},
	{"Nav-Untold", func(s *State, l line) { writeObjects(s.Untold, l) }, func(s *State, v string) (err error) { s.Untold, err = readObject(s.Untold, v); return err }},
	{"Nav-State", one(writeFlags), readFlags},
	{"Nav-Revert", one(func(s *State) string { return s.Revert }), func(s *State, v string) error { return readID(&s.Revert, v) }},
	{"Nav-Reverted", one(func(s *State) string { return when(s.RevertedAt) }), func(s *State, v string) (err error) { s.RevertedAt, err = readTime(v); return err }},
	{"Nav-Recovery", one(writeRecovery), readRecovery},
	{"Nav-Recovery-Reached", one(func(s *State) string { return writeReached(&s.RecoveryTrack) }), func(s *State, v string) error { return readReached(&s.RecoveryTrack, v) }},
	{"Nav-Recovery-Track", one(func(s *State) string { return writeTrack(&s.RecoveryTrack) }), func(s *State, v string) error { return readTrack(&s.RecoveryTrack, v) }},
	{"Nav-Freeze", one(writeFreeze), readFreeze},
	{"Nav-Gate", writeGates, readGate},
	{"Nav-Event", writeEvents, readEvent},
	{"Nav-Watcher", one(func(s *State) string { return clip(s.Watcher) }), func(s *State, v string) error { s.Watcher = v; return nil }},
	{formatKey, one(func(*State) string { return formatVersion }), readFormat},
}

func one(f func(*State) string) func(*State, line) {
	return func(s *State, l line) { l.put(f(s)) }
}

// line writes the trailers of one key; empty values are left out.
type line struct {
	b   *bytes.Buffer
	key string
}

func (l line) put(value string) {
	if value == "" {
		return
	}
	l.b.WriteString(l.key)
	l.b.WriteString(": ")
	l.b.WriteString(value)
	l.b.WriteByte('\n')
}

func when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return stamp(t)
}

func readFormat(_ *State, v string) error {
	if v != formatVersion {
		return fmt.Errorf("version %q is not known", v)
	}
	return nil
}

func writeWatch(s *State) string {
	w := words{
		"app=" + escapeWord(s.Watch.App.String()), "deadline=" + secsWord(s.Watch.Deadline), "reach=" + secsWord(s.Watch.Reach),
		"stable=" + secsWord(s.Watch.Stable), "mode=" + string(s.Watch.Mode), "expect=" + escapeWord(s.Watch.Expect),
	}
	w.str("by", s.Watch.By)
	w.str("unsupported", s.Watch.Unsupported)
	return w.String()
}

func readWatch(s *State, v string) error {
	r := readWords(v, "app", "deadline", "reach", "stable", "mode", "expect", "by", "unsupported")
	app, err := ParseApp(r.str("app"))
	if err != nil {
		r.fail("%v", err)
	}
	s.Watch = Watch{
		Commit: s.Watch.Commit, Queued: s.Watch.Queued, App: app,
		Deadline: r.secs("deadline"), Reach: r.secs("reach"), Stable: r.secs("stable"),
		Mode: Mode(r.str("mode")), Expect: r.str("expect"), By: r.str("by"), Unsupported: r.str("unsupported"),
	}
	if m := s.Watch.Mode; m != Shadow && m != Propose && m != Arm {
		r.fail("mode %q is not known", m)
	}
	return r.err
}

func readVerdict(s *State, v string) error {
	for _, known := range Verdicts() {
		if v == string(known) {
			s.Verdict = known
			return nil
		}
	}
	return fmt.Errorf("verdict %q is not known", v)
}

// writeReason keeps the code one word, whatever it was made of (a health comes
// from the cluster), and the detail one line.
func writeReason(r Reason) string {
	return strings.TrimRight(escapeWord(r.Code)+" "+clip(r.Detail), " ")
}

func readReason(v string) (Reason, error) {
	code, detail, _ := strings.Cut(v, " ")
	code, err := unescapeWord(code)
	return Reason{code, detail}, err
}

func writeReached(t *Track) string {
	if t.ReachedAt.IsZero() {
		return ""
	}
	w := words{stamp(t.ReachedAt), escapeWord(t.Revision)}
	w.str("by", t.ReachedBy)
	w.time("op", t.ReachedOp)
	w = append(w, "history="+strconv.FormatInt(t.ReachedHist, 10))
	return w.String()
}

func readReached(t *Track, v string) error {
	f := strings.SplitN(v, " ", 3)
	if len(f) != 3 {
		return errors.New("wants a time, a revision and what it was reached by")
	}
	var err error
	if t.ReachedAt, err = readTime(f[0]); err != nil {
		return err
	}
	if t.Revision, err = unescapeWord(f[1]); err != nil {
		return err
	}
	r := readWords(f[2], "by", "op", "history")
	t.ReachedBy, t.ReachedOp = r.str("by"), r.time("op")
	if t.ReachedHist, err = strconv.ParseInt(r.str("history"), 10, 64); err != nil {
		r.fail("history %q is no number", r.str("history"))
	}
	return r.err
}

func writeTrack(t *Track) string {
	var w words
	w.time("on-branch", t.OnBranch)
	w.dur("reach", t.ReachUsed)
	w.dur("deadline", t.DeadlineUsed)
	w.flag("seen", t.Seen)
	w.flag("deployed", t.Deployed)
	w.flag("was-healthy", t.WasHealthy)
	w.str("unhealthy-at", t.UnhealthyAt)
	w.str("synced-at", t.SyncedAt)
	w.time("synced-op", t.SyncedOp)
	w.str("drift-at", t.DriftAt)
	w.str("overtaken-from", t.OvertakenFrom)
	w.str("overtaken-to", t.OvertakenTo)
	return w.String()
}

func readTrack(t *Track, v string) error {
	r := readWords(v, "on-branch", "reach", "deadline", "seen", "deployed", "was-healthy", "unhealthy-at", "synced-at", "synced-op", "drift-at", "overtaken-from", "overtaken-to")
	t.OnBranch, t.ReachUsed, t.DeadlineUsed = r.time("on-branch"), r.dur("reach"), r.dur("deadline")
	t.Seen, t.Deployed, t.WasHealthy = r.flag("seen"), r.flag("deployed"), r.flag("was-healthy")
	t.UnhealthyAt, t.SyncedAt, t.SyncedOp = r.str("unhealthy-at"), r.str("synced-at"), r.time("synced-op")
	t.DriftAt, t.OvertakenFrom, t.OvertakenTo = r.str("drift-at"), r.str("overtaken-from"), r.str("overtaken-to")
	return r.err
}
