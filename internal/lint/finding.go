// Package lint is what navlint does, and the part of it that navhook does at a
// push: read messages, check them, report through one handler. What it needs
// of a repository stands in small interfaces; the rules themselves are those of
// pkg/trailer and internal/arming.
package lint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/pkg/trailer"
)

// Severity says what a finding does to the exit code.
type Severity string

// The severities: an error fails, a warning fails a strict lint, a note never
// fails.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Note    Severity = "note"
)

// Finding is what one rule says of one place in a message. Line and Col count
// from 1; 0 is "the whole message".
type Finding struct {
	Rule      string
	Severity  Severity
	Line, Col int
	Char      int // Col in characters, for programs that count so; 0 where the text is not at hand
	Message   string
	Hint      string
}

// Place is the message that findings are about: a file, or a commit. Subject
// is as in the commit; handlers escape and cut it.
type Place struct {
	File    string
	Commit  string
	Subject string
	// Branches, without refs/heads/, to which the commit is new; empty when
	// nobody asked.
	Branches []string
}

// Summary is the end of a report.
type Summary struct {
	Checked          int // messages
	Errors, Warnings int
}

// Handler takes a report and shows it. Report is called for every message that
// has findings, in order, Done once at the end.
type Handler interface {
	Report(p Place, fs []Finding) error
	Done(s Summary) error
}

// Tally passes findings on to a Handler and counts them.
type Tally struct {
	Handler Handler
	Summary
}

// Add counts a message that was checked and reports what was found in it.
func (t *Tally) Add(p Place, fs []Finding) error {
	t.Checked++
	for _, f := range fs {
		switch f.Severity {
		case Error:
			t.Errors++
		case Warning:
			t.Warnings++
		case Note:
		}
	}
	if len(fs) == 0 {
		return nil
	}
	return t.Handler.Report(p, fs)
}

// Close ends the report. Errors, and warnings if strict, become an error with
// the exit code of findings, of which nothing more needs to be printed.
func (t *Tally) Close(strict bool) error {
	if err := t.Handler.Done(t.Summary); err != nil {
		return err
	}
	switch {
	case t.Errors > 0:
		return exit.Found(errors.New(count(t.Errors, "error")))
	case strict && t.Warnings > 0:
		return exit.Found(errors.New(count(t.Warnings, "warning")))
	}
	return nil
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Message lints one message under a policy's limits. lines maps the lines of
// msg to those of the file that it was cleaned up from (trailer.CleanLines);
// nil leaves them as they are.
func Message(msg []byte, p trailer.Policy, lines []int) []Finding {
	found := trailer.Lint(msg, p)
	fs := make([]Finding, 0, len(found))
	for _, f := range found {
		sev := Error
		if f.Severity == trailer.Warning {
			sev = Warning
		}
		fs = append(fs, Finding{
			Rule: string(f.Rule), Severity: sev, Message: f.Message, Hint: f.Hint,
			Line: lineOf(lines, f.Pos.Line), Col: f.Pos.Col, Char: charAt(msg, f.Pos),
		})
	}
	return fs
}

// charAt is the column of a place in characters; what is no UTF-8 counts byte
// by byte.
func charAt(msg []byte, at trailer.Pos) int {
	if at.Line < 1 || at.Col <= 1 {
		return at.Col
	}
	for range at.Line - 1 {
		i := bytes.IndexByte(msg, '\n')
		if i < 0 {
			return 0
		}
		msg = msg[i+1:]
	}
	if i := bytes.IndexByte(msg, '\n'); i >= 0 {
		msg = msg[:i]
	}
	return utf8.RuneCount(msg[:min(at.Col-1, len(msg))]) + 1
}

// Arming asks the arming rules for every watch. ask has everything but the
// watch's own part. Without facts only those that want more than to be judged
// are asked, and of them what the policy alone answers: who may arm, which
// Applications, and never-paths.
func Arming(ctx context.Context, watches []trailer.Watch, ask arming.Request, facts *CommitFacts, lines []int) []Finding {
	var fs []Finding
	for _, w := range watches {
		app, err := appOf(w)
		if err != nil || facts == nil && !Asks(w) {
			continue // the message rules have said what is wrong with it
		}
		r, what := ask, arming.AskPolicy
		r.App, r.Mode = app, w.Mode
		if facts != nil {
			facts.fill(ctx, &r, w)
			what = arming.AskAll
		}
		for _, f := range arming.Check(r, what) {
			fs = append(fs, Finding{
				Rule: f.Rule, Severity: severity(f.Outcome), Line: lineOf(lines, w.Pos.Line), Col: w.Pos.Col,
				Message: armText(f), Hint: f.Hint,
			})
		}
	}
	return fs
}

func lineOf(lines []int, n int) int {
	if n >= 1 && n <= len(lines) {
		return lines[n-1]
	}
	return n
}

func severity(o arming.Outcome) Severity {
	switch o {
	case arming.Refuse:
		return Error
	case arming.NotAssessed, arming.Warned:
		return Warning
	default:
		return Note
	}
}

func armText(f arming.Finding) string {
	switch f.Outcome {
	case arming.NotAssessed:
		return "not assessed: " + f.Message
	case arming.Accepted:
		return "accepted by the policy (" + f.Reason + "): " + strings.TrimSuffix(f.Message, "; accepted by the policy: "+f.Reason)
	default:
		return f.Message
	}
}
