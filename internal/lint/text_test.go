package lint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nav-watchdog/nav-watchdog/internal/exit"
)

func sample() (Place, []Finding) {
	return Place{Commit: strings.Repeat("a", 40), Subject: "sub\x1bject", Branches: []string{"main", "b", "c", "d", "e"}},
		[]Finding{
			{Rule: "r1", Severity: Error, Line: 3, Col: 7, Message: "bad\nthing", Hint: "do\nthis"},
			{Rule: "r2", Severity: Warning, Message: "of the whole"},
			{Rule: "r3", Severity: Note, Line: 1, Message: "by the way"},
		}
}

func TestText(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	p, fs := sample()
	tally := &Tally{Handler: &Text{W: &b, Limit: 4}}
	for range 2 {
		if err := tally.Add(p, fs); err != nil {
			t.Fatal(err)
		}
	}
	if err := tally.Add(Place{File: "a\x07b"}, nil); err != nil {
		t.Fatal(err)
	}
	if code := exit.Code(tally.Close(false)); code != exit.Findings {
		t.Errorf("exit code %d", code)
	}
	want := `commit aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa on main, b, c, and 2 more
    sub\x1bject
aaaaaaaaaaaa:3:7: error: bad\nthing [r1]
    hint: do
    hint: this
aaaaaaaaaaaa: warning: of the whole [r2]
aaaaaaaaaaaa:1:1: note: by the way [r3]
commit aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa on main, b, c, and 2 more
    sub\x1bject
aaaaaaaaaaaa:3:7: error: bad\nthing [r1]
    hint: do
    hint: this
... and 2 more findings that are not shown
2 errors, 2 warnings
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTallyClose(t *testing.T) {
	t.Parallel()
	tests := []struct {
		severity      Severity
		plain, strict int
	}{
		{Error, exit.Findings, exit.Findings},
		{Warning, exit.Clean, exit.Findings},
		{Note, exit.Clean, exit.Clean},
	}
	for _, tt := range tests {
		for strict, want := range map[bool]int{false: tt.plain, true: tt.strict} {
			tally := &Tally{Handler: &Text{W: &bytes.Buffer{}}}
			if err := tally.Add(Place{File: "x"}, []Finding{{Severity: tt.severity}}); err != nil {
				t.Fatal(err)
			}
			if got := exit.Code(tally.Close(strict)); got != want {
				t.Errorf("%s, strict %v: exit code %d, want %d", tt.severity, strict, got, want)
			}
		}
	}
}

// Whatever a message holds, JSON reads back the same and holds nothing that a
// terminal obeys.
func TestJSONEscapes(t *testing.T) {
	t.Parallel()
	odd := "a\x1b[31m\x7f\u009b\u202e\u2028\U000e0001\U0001f600ü<&>\""
	var b bytes.Buffer
	j := &JSON{W: &b, Command: "message"}
	if err := j.Report(Place{File: odd, Subject: odd}, []Finding{{Message: odd, Severity: Error}}); err != nil {
		t.Fatal(err)
	}
	if err := j.Done(Summary{Checked: 1, Errors: 1}); err != nil {
		t.Fatal(err)
	}
	for _, r := range b.String() {
		if hides(r) || (r < ' ' && r != '\n') {
			t.Errorf("printed %U", r)
		}
	}
	var got jsonReport
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Findings[0].Message != odd || got.Findings[0].File != odd {
		t.Errorf("%q reads back as %q", odd, got.Findings[0].Message)
	}
	if !strings.Contains(b.String(), "ü<&>") {
		t.Error("escapes what need not be")
	}
}

func TestParseRange(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"a..b":      "[b] [a]",
		"..b":       "[b] [HEAD]",
		"a..":       "[HEAD] [a]",
		"a":         "[a] []",
		"v1.0..b~2": "[b~2] [v1.0]",
		"a...b":     "error", "": "error", "-x": "error", "a..-x": "error", "--all..b": "error", "a\nb": "error",
	}
	for in, want := range tests {
		revs, err := ParseRange(in)
		got := fmt.Sprint(revs.Tips, revs.Exclude)
		if err != nil {
			got = "error"
			if exit.Code(err) != exit.Usage {
				t.Errorf("ParseRange(%q): exit code %d", in, exit.Code(err))
			}
		}
		if got != strings.ReplaceAll(want, "  ", " ") {
			t.Errorf("ParseRange(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestSubject(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "", "a": "a", "\n \n a b \nc": "a b", "a\r\nb": "a", strings.Repeat("x", 5000): strings.Repeat("x", 1024),
	} {
		if got := Subject([]byte(in)); got != want {
			t.Errorf("Subject(%.20q) = %.20q, want %.20q", in, got, want)
		}
	}
}
