package verdict_test

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

var arrival = verdict.Arrival{V: 1, Commit: newCommit, Branch: "main", Apps: []string{"web", "api"}, By: "alice", Host: "plain", At: start}

// A line is one JSON object without a newline, with all its keys, that comes
// back as it was.
func TestLines(t *testing.T) {
	want := `{"v":1,"commit":"` + newCommit + `","branch":"main","apps":["web","api"],"by":"alice","host":"plain","at":"2026-11-29T12:00:00Z"}`
	late := arrival
	late.V, late.At = 0, start.Add(time.Millisecond).In(time.FixedZone("x", 3600))
	if got := late.Line(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	person := verdict.PeopleLine{Kind: verdict.PeopleFreeze, By: "bob", At: start, Reason: "maintenance <b>\n&"}
	if got, want := person.Line(), `{"v":1,"kind":"freeze","by":"bob","at":"2026-11-29T12:00:00Z","reason":"maintenance <b>\n&"}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	got, err := verdict.ParseArrivals([]byte(want + "\n\n" + want + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]verdict.Arrival{arrival, arrival}, got); d != "" {
		t.Error(d)
	}
	people, err := verdict.ParsePeople([]byte(person.Line() + "\n"))
	person.V = 1
	if err != nil || len(people) != 1 || people[0] != person {
		t.Errorf("%+v, %v", people, err)
	}
}

// What cannot be read is an error with its line, and hides no other line.
func TestLineErrors(t *testing.T) {
	good := arrival.Line()
	for _, tt := range []struct{ what, line string }{
		{"no JSON", "hello"},
		{"not an object", "[]"},
		{"another version", strings.Replace(good, `"v":1`, `"v":2`, 1)},
		{"no version", strings.Replace(good, `"v":1,`, ``, 1)},
		{"a short id", strings.Replace(good, newCommit, newCommit[:39], 1)},
		{"an option", strings.Replace(good, newCommit, "--upload-pack=x", 1)},
		{"no branch", strings.Replace(good, `"branch":"main"`, `"branch":""`, 1)},
		{"two objects", good + good},
		{"too long", strings.Replace(good, "alice", strings.Repeat("a", 16<<10), 1)},
	} {
		got, err := verdict.ParseArrivals([]byte(good + "\n" + tt.line + "\n" + good + "\n"))
		var at *verdict.LineError
		if !errors.As(err, &at) || at.Line != 2 {
			t.Errorf("%s: %v, want an error in line 2", tt.what, err)
		}
		if len(got) != 2 {
			t.Errorf("%s: %d lines are read, want the two others", tt.what, len(got))
		}
	}
	for _, line := range []string{`{"v":1,"kind":"freeze","at":"2026-11-29T12:00:00Z"}`, `{"v":1,"kind":"freeze","by":"x"}`, `{"v":1,"by":"x","at":"2026-11-29T12:00:00Z"}`, `{"v":0}`} {
		if got, err := verdict.ParsePeople([]byte(line)); err == nil {
			t.Errorf("%s is read: %+v", line, got)
		}
	}
}

// Names with which a line could be forged stay inside their string.
func TestLineIsOneLine(t *testing.T) {
	for _, text := range hostile {
		a := arrival
		a.By, a.Branch, a.Apps = text, "b"+text, []string{text}
		p := verdict.PeopleLine{Kind: verdict.PeopleThaw, By: "b" + text, At: start, Reason: text, App: text}
		if strings.Contains(a.Line()+p.Line(), "\n") {
			t.Errorf("%q breaks the line", text)
		}
		if utf8.ValidString(text) {
			if got, err := verdict.ParseArrivals([]byte(a.Line())); err != nil || got[0].By != text {
				t.Errorf("%q comes back as %+v, %v", text, got, err)
			}
		}
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte(arrival.Line()))
	f.Add([]byte(`{"v":1,"kind":"freeze","by":"x","at":"2026-11-29T12:00:00Z","reason":"y"}`))
	f.Fuzz(func(t *testing.T, note []byte) {
		arrivals, _ := verdict.ParseArrivals(note)
		for _, a := range arrivals {
			got, err := verdict.ParseArrivals([]byte(a.Line()))
			if err != nil && len(a.Line()) <= 16<<10 && a.At.Year() >= 0 && a.At.UTC().Year() <= 9999 {
				t.Fatalf("%s: %v", a.Line(), err)
			}
			if err == nil && got[0].Commit != a.Commit {
				t.Fatalf("%+v comes back as %+v", a, got[0])
			}
		}
		people, _ := verdict.ParsePeople(note)
		for _, p := range people {
			if strings.Contains(p.Line(), "\n") {
				t.Fatalf("%q is more than a line", p.Line())
			}
		}
	})
}
