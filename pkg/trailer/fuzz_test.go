package trailer

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// seeds adds the collection, the cases and some random messages.
func seeds(f *testing.F, add func(msg []byte)) {
	f.Helper()
	files, err := filepath.Glob("testdata/messages/*.msg")
	if err != nil || len(files) == 0 {
		f.Fatalf("no messages: %v", err)
	}
	for _, file := range files {
		if msg := readFile(f, file); len(msg) < 4096 {
			add(msg)
		}
	}
	for _, c := range parseCases {
		add([]byte(c.msg))
	}
	for _, msg := range randomMessagesOf(100) {
		add(msg)
	}
}

// FuzzParse holds what is true of Parse and Format for every input.
func FuzzParse(f *testing.F) {
	seeds(f, func(msg []byte) { f.Add(msg, "Nav-Watchdog", "app=web") })
	f.Fuzz(func(t *testing.T, msg []byte, key, value string) {
		before := bytes.Clone(msg)
		b := Parse(msg)
		checkBlock(t, msg, b)

		for _, n := range []int{1, 3} {
			ts := slices.Repeat([]Trailer{{Key: key, Value: value}}, n)
			out := Format(msg, ts...)
			got := Parse(out).Trailers
			if len(got) < n {
				t.Fatalf("Format(%q, %v): %d trailers in %q", msg, ts, len(got), out)
			}
			for _, last := range got[len(got)-n:] {
				if wellFormed(key, value) && (last.Key != key || last.Value != value) {
					t.Fatalf("Format(%q, %v) gives %q, which ends with %q: %q", msg, ts, out, last.Key, last.Value)
				}
			}
			if added := len(got) - len(b.Trailers); added != n && len(b.Trailers) > 0 && b.Start < b.End && !conflicts(msg) {
				t.Fatalf("Format(%q, %v) gives %q, with %d trailers more", msg, ts, out, added)
			}
		}
		if !bytes.Equal(before, msg) {
			t.Fatalf("the message was changed from %q to %q", before, msg)
		}
	})
}

// conflicts tells of messages in which a trailer can make others count, or not.
func conflicts(msg []byte) bool { return bytes.Contains(msg, []byte("Conflicts:\n")) }

func wellFormed(key, value string) bool {
	return key != "" && strings.Trim(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") == "" &&
		strings.Trim(value, " \t\r\n") == value && !strings.ContainsAny(value, "\n\x00")
}

func checkBlock(t *testing.T, msg []byte, b Block) {
	t.Helper()
	if b.Start < 0 || b.Start > b.End || b.End > len(msg) {
		t.Fatalf("block %d-%d in %d bytes", b.Start, b.End, len(msg))
	}
	all := bytes.Split(msg, newline)
	last := Pos{}
	for _, tr := range b.Trailers {
		if !last.before(tr.Pos) || tr.Pos.Line > len(all) || !bytes.HasPrefix(all[tr.Pos.Line-1][tr.Pos.Col-1:], []byte(tr.Key)) {
			t.Fatalf("%q: trailer %q is not at %v", msg, tr.Key, tr.Pos)
		}
		if last = tr.Pos; !wellFormed(tr.Key, "") || strings.Trim(tr.Value, " \t\r\n") != tr.Value || strings.ContainsAny(tr.Value, "\n\x00") {
			t.Fatalf("%q: odd trailer %q: %q", msg, tr.Key, tr.Value)
		}
	}
}

// FuzzLint holds what is true of Lint and Decode for every input.
func FuzzLint(f *testing.F) {
	seeds(f, func(msg []byte) { f.Add(msg) })
	f.Add([]byte("T\n\n* a\n\n  ```\n  Nav-Watchdog: app=web\n  ```\n\n~~~~\nNav-Watchdog: x\n~~~\n"))
	f.Fuzz(func(t *testing.T, msg []byte) {
		fs := Lint(msg, DefaultPolicy())
		checkFindings(t, msg, fs)
		if all := lint(msg, DefaultPolicy()); len(all) != len(fs) {
			t.Fatalf("%q: at a glance %v, looked at %v", msg, fs, all)
		}
		watches, bad := Decode(msg, DefaultPolicy())
		checkFindings(t, msg, bad)
		for _, b := range bad {
			if len(fs) < maxFindings && !slices.Contains(fs, b) {
				t.Fatalf("%q: Decode has %+v, Lint has not", msg, b)
			}
		}
		for _, w := range watches {
			if (w.App == "") == (w.AppSet == "") || w.Deadline < 60e9 || w.Reach < 60e9 || w.Stable < 30e9 || w.Mode == "" || w.Expect == "" {
				t.Fatalf("%q: unsound watch %+v", msg, w)
			}
		}
		if n := len(Parse(msg).Get(Key)); n > 0 && len(watches) == 0 && len(bad) == 0 {
			t.Fatalf("%q: %d trailers, but neither a watch nor a finding", msg, n)
		}
		IsRevert(msg)
		IsReapply(msg)
		for _, mode := range []CleanupMode{Strip, Whitespace, Scissors} {
			clean, from := CleanLines(msg, Cleanup{Mode: mode, KeepCut: true})
			if n := bytes.Count(clean, newline); n != len(from) || !slices.IsSorted(from) {
				t.Fatalf("%s %q: %d lines from %v", mode, msg, n, from)
			}
			if again := Clean(clean, Cleanup{Mode: mode, KeepCut: true}); mode == Whitespace && !bytes.Equal(again, clean) {
				t.Fatalf("%s %q: %q becomes %q", mode, msg, clean, again)
			}
		}
		AutoComment(msg)
	})
}

func checkFindings(t *testing.T, msg []byte, fs []Finding) {
	t.Helper()
	known := Rules()
	all := bytes.Split(msg, newline)
	last := Pos{1, 1}
	for _, f := range fs {
		if f.Pos.before(last) || f.Pos.Line > len(all) || f.Pos.Col < 1 || f.Pos.Col > len(all[f.Pos.Line-1])+1 {
			t.Fatalf("%q: finding at %v after %v: %+v", msg, f.Pos, last, f)
		}
		last = f.Pos
		if !slices.ContainsFunc(known, func(r RuleInfo) bool { return r.Rule == f.Rule && f.Severity <= r.Severity }) {
			t.Fatalf("%q: unknown rule or severity %+v", msg, f)
		}
		for _, s := range []string{f.Message, f.Hint} {
			if s == "" || len(s) > 500 || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0xfffd }) {
				t.Fatalf("%q: odd text %q", msg, s)
			}
		}
		if strings.Contains(f.Message, "line 0,") {
			t.Fatalf("%q: no line voids the block: %q", msg, f.Message)
		}
	}
}

// FuzzParseFields holds that a value is a watch or an error with a place.
func FuzzParseFields(f *testing.F) {
	for _, v := range []string{"app=web", "app=a/b deadline=1h30m mode=arm expect=Healthy,probe:x", "appset=w reach=1.5m stable=0"} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, value string) {
		w, err := ParseFields(value, DefaultPolicy())
		var fields *FieldsError
		switch {
		case err == nil && (w.Deadline < 0 || w.Deadline%1e9 != 0 || w.Reach%1e9 != 0 || w.Stable%1e9 != 0):
			t.Fatalf("%q: %+v", value, w)
		case err != nil:
			fields = err.(*FieldsError) //nolint:errorlint // the documented type, unwrapped
			checkFindings(t, []byte(value), fields.Findings)
		}
	})
}
