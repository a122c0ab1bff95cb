package exit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"testing"
)

func TestCode(t *testing.T) {
	t.Parallel()
	plain := errors.New("plain")
	foreign := exec.Command("false").Run() // has a method ExitCode, which is git's business
	if foreign == nil {
		t.Fatal("false succeeded")
	}
	tests := map[string]struct {
		err  error
		want int
	}{
		"nil":                 {nil, Clean},
		"plain":               {plain, Undecided},
		"cancelled":           {context.Canceled, Undecided},
		"refused":             {Refused(plain), Findings},
		"found":               {Found(plain), Findings},
		"usage":               {Usagef("bad %d", 1), Usage},
		"wrapped":             {fmt.Errorf("reading x: %w", Misused(plain)), Usage},
		"wrapped twice":       {fmt.Errorf("a: %w", fmt.Errorf("b: %w", Refused(plain))), Findings},
		"hint keeps the code": {Hint(Refused(plain), "do this"), Findings},
		"hint below":          {Refused(Hint(plain, "do this")), Findings},
		"outermost wins":      {Refused(fmt.Errorf("a: %w", Misused(plain))), Findings},
		"unclear over usage":  {Unclear(Misused(plain)), Undecided},
		"joined: the worst":   {errors.Join(Refused(plain), Misused(plain)), Usage},
		"joined with plain":   {errors.Join(Refused(plain), plain), Undecided},
		"two %w":              {fmt.Errorf("%w and %w", Misused(plain), Refused(plain)), Usage},
		"foreign exit code":   {fmt.Errorf("running git: %w", foreign), Undecided},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Code(tt.err); got != tt.want {
				t.Errorf("Code(%v) = %d, want %d", tt.err, got, tt.want)
			}
		})
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		err  error
		want string
	}{
		"nil":   {nil, ""},
		"found": {fmt.Errorf("linting: %w", Found(errors.New("2 errors"))), ""},
		"hints": {
			fmt.Errorf("a: %w", Hint(Hint(errors.New("b"), "inner"), "outer\nmore")),
			"nav: error: a: b\nhint: outer\nhint: more\nhint: inner\n",
		},
		"hint in the text": {
			Hint(errors.New("x:1:2: bad\nhint: mend\nx:3:4: worse\nhint: mend it, too"), "outer"),
			"nav: error: x:1:2: bad\nx:3:4: worse\nhint: outer\nhint: mend\nhint: mend it, too\n",
		},
		"the same hint twice": {
			errors.New("x:1:2: bad\nhint: mend\nx:3:4: worse\nhint: mend"),
			"nav: error: x:1:2: bad\nx:3:4: worse\nhint: mend\n",
		},
		"escapes": {errors.New("bad \x1b[31mred"), "nav: error: bad \\x1b[31mred\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			if code := Report(&b, "nav", tt.err); code != Code(tt.err) {
				t.Errorf("code %d, want %d", code, Code(tt.err))
			}
			if b.String() != tt.want {
				t.Errorf("got %q, want %q", b.String(), tt.want)
			}
		})
	}
}

func TestPrintable(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, text, line string }{
		{"plain", "plain", "plain"},
		{"Grüße, 世界 ✓", "Grüße, 世界 ✓", "Grüße, 世界 ✓"},
		{"a\nb\tc\r", "a\nb\tc\\r", `a\nb\tc\r`},
		{"\x1b]0;title\x07", `\x1b]0;title\x07`, `\x1b]0;title\x07`},
		{"\u009b31m", `\u009b31m`, `\u009b31m`},
		{"a\u202eb\u2066c\u200bd", `a\u202eb\u2066c\u200bd`, `a\u202eb\u2066c\u200bd`},
		{"\xff\xfe", `\xff\xfe`, `\xff\xfe`},
		{"\x00\x7f", `\x00\x7f`, `\x00\x7f`},
		{"\U000e0001", `\ue0001`, `\ue0001`},
	}
	for _, tt := range tests {
		if got := Printable(tt.in); got != tt.text {
			t.Errorf("Printable(%q) = %q, want %q", tt.in, got, tt.text)
		}
		if got := Line(tt.in, 0); got != tt.line {
			t.Errorf("Line(%q, 0) = %q, want %q", tt.in, got, tt.line)
		}
	}
	if got := Line("äöü", 2); got != "äö..." {
		t.Errorf("Line cuts to %q", got)
	}
	if got := Line("äöü", 3); got != "äöü" {
		t.Errorf("Line cuts what fits: %q", got)
	}
}
