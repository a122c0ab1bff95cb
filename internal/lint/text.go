package lint

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/internal/exit"
)

// The rules of what people see, in navlint and in a hook:
//
//   - Findings are the output of navlint, so they go to stdout. In a hook all
//     goes to stderr, which git shows to the pusher behind "remote: ".
//   - A commit is introduced once, with its full id, the branches it is new to,
//     and its subject. Each finding is then one line,
//     PLACE:LINE:COL: SEVERITY: MESSAGE [RULE]
//     with a file's name or twelve digits of the commit as the place; a line
//     "    hint: ..." below it says how to mend it. The form is what editors
//     and CI systems turn into links.
//   - Nothing of a message is printed raw: control characters are escaped,
//     subjects cut at 72 characters.
//   - With a limit, the findings behind it are counted, not shown.
//   - The last line counts errors and warnings. Nothing found prints nothing.
//   - Colour marks severities only, and never carries a meaning alone.

const (
	maxSubject = 72
	shortID    = 12
)

// Text shows a report to people.
type Text struct {
	W     io.Writer
	Color bool
	Limit int // findings to show; 0 is all
	// HintOnce: the same hint is given once.
	HintOnce bool

	shown, hidden int
	given         map[string]bool
}

// Report writes the findings of one message.
func (t *Text) Report(p Place, fs []Finding) error {
	w := bufio.NewWriter(t.W)
	place := exit.Line(p.File, 0)
	if p.Commit != "" {
		place = p.Commit[:min(len(p.Commit), shortID)]
	}
	for i, f := range fs {
		if t.Limit > 0 && t.shown >= t.Limit {
			t.hidden += len(fs) - i
			break
		}
		t.shown++
		if i == 0 && p.Commit != "" {
			t.introduce(w, p)
		}
		t.line(w, place, f)
	}
	return w.Flush()
}

func (t *Text) introduce(w io.Writer, p Place) {
	on := ""
	if len(p.Branches) > 0 {
		names := make([]string, 0, 4)
		for i, b := range p.Branches {
			if i == 3 {
				names = append(names, fmt.Sprintf("and %d more", len(p.Branches)-i))
				break
			}
			names = append(names, exit.Name(b, maxSubject))
		}
		on = " on " + strings.Join(names, ", ")
	}
	_, _ = fmt.Fprintf(w, "commit %s%s\n    %s\n", p.Commit, on, exit.Line(p.Subject, maxSubject))
}

func (t *Text) line(w io.Writer, place string, f Finding) {
	at := place
	if f.Line > 0 {
		at = fmt.Sprintf("%s:%d:%d", place, f.Line, max(f.Col, 1))
	}
	_, _ = fmt.Fprintf(w, "%s: %s: %s [%s]\n", at, t.paint(f.Severity), exit.Line(f.Message, 0), f.Rule)
	if f.Hint == "" || t.given[f.Hint] {
		return
	}
	if t.HintOnce {
		if t.given == nil {
			t.given = map[string]bool{}
		}
		t.given[f.Hint] = true
	}
	for hint := range strings.SplitSeq(f.Hint, "\n") {
		_, _ = fmt.Fprintf(w, "    hint: %s\n", exit.Line(hint, 0))
	}
}

func (t *Text) paint(s Severity) string {
	if !t.Color {
		return string(s)
	}
	switch s {
	case Error:
		return "\x1b[1;31m" + string(s) + "\x1b[0m"
	case Warning:
		return "\x1b[1;33m" + string(s) + "\x1b[0m"
	default:
		return "\x1b[1m" + string(s) + "\x1b[0m"
	}
}

// Done writes the counts, if there is anything to count.
func (t *Text) Done(s Summary) error {
	if t.hidden > 0 {
		if _, err := fmt.Fprintf(t.W, "... and %s that are not shown\n", count(t.hidden, "more finding")); err != nil {
			return err
		}
	}
	if s.Errors+s.Warnings == 0 {
		return nil
	}
	_, err := fmt.Fprintf(t.W, "%s, %s\n", count(s.Errors, "error"), count(s.Warnings, "warning"))
	return err
}
