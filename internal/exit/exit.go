// Package exit turns errors into exit codes and into what a person reads last.
//
// The codes are the same in all three programs: 0 clean, 1 findings
// or refused, 2 usage or configuration, 3 could not decide. They travel as
// errors, are found through any wrapping, and only main calls os.Exit:
//
//	os.Exit(exit.Report(os.Stderr, "navlint", err))
package exit

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// The exit codes of all three programs.
const (
	Clean     = 0 // nothing to say, or warnings only
	Findings  = 1 // at least one error was found; a push was refused
	Usage     = 2 // flags, arguments or configuration must be mended first
	Undecided = 3 // something could not be read or asked: no answer at all
)

// Error is an error with an exit code. Reported says that what it stands for
// has been printed already, so that Report stays silent.
type Error struct {
	Code     int
	Err      error
	Reported bool
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Refused gives err the code Findings.
func Refused(err error) error { return &Error{Code: Findings, Err: err} }

// Found stands for findings that have been printed: code Findings, and nothing
// more to say.
func Found(err error) error { return &Error{Code: Findings, Err: err, Reported: true} }

// Misused gives err the code Usage.
func Misused(err error) error { return &Error{Code: Usage, Err: err} }

// Usagef makes a usage error.
func Usagef(format string, args ...any) error { return Misused(fmt.Errorf(format, args...)) }

// Unclear gives err the code Undecided. Errors without a code have it anyway;
// it is for an error that wraps one which has another.
func Unclear(err error) error { return &Error{Code: Undecided, Err: err} }

// hinted is an error with advice. Other packages make their own: Report asks
// for the method, not for the type.
type hinted struct {
	error
	hint string
}

func (h *hinted) Unwrap() error { return h.error }
func (h *hinted) Hint() string  { return h.hint }

// Hint adds a line of advice to err and keeps its code. A nil err stays nil.
func Hint(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return &hinted{err, fmt.Sprintf(format, args...)}
}

// Code is the exit code of err: that of the outermost Error in its chain, the
// highest where errors are joined, Undecided where there is none. The method
// ExitCode that others have (os/exec, urfave/cli) is not asked: it would let
// git's code out as ours.
func Code(err error) int {
	if err == nil {
		return Clean
	}
	if c := search(err); c > 0 {
		return c
	}
	return Undecided
}

// search is Code without the default, and without errors.As, which would take
// the first of joined errors instead of the worst.
func search(err error) int {
	if e, ok := err.(*Error); ok { //nolint:errorlint // each link of the chain is looked at by hand
		return e.Code
	}
	switch u := err.(type) { //nolint:errorlint // see above
	case interface{ Unwrap() error }:
		if next := u.Unwrap(); next != nil {
			return search(next)
		}
	case interface{ Unwrap() []error }:
		worst := 0
		for _, next := range u.Unwrap() {
			c := search(next)
			if c == 0 {
				c = Undecided
			}
			worst = max(worst, c)
		}
		return worst
	}
	return 0
}

// Report writes err as "NAME: error: text" and its hints as "hint: text", and
// returns the exit code. Packages that know nothing of this one write a hint as
// a line of the error's own text, "hint: ..."; it is moved below the rest. Report
// writes nothing for nil and for what was Reported. Control characters are
// escaped: the text may quote what somebody pushed.
func Report(w io.Writer, name string, err error) int {
	code := Code(err)
	var e *Error
	if err == nil || (errors.As(err, &e) && e.Reported) {
		return code
	}
	text, advice := split(err)
	// Nothing can be done about a stderr that takes nothing.
	_, _ = fmt.Fprintf(w, "%s: error: %s\n", name, Printable(text))
	for _, line := range advice {
		_, _ = fmt.Fprintf(w, "hint: %s\n", Printable(line))
	}
	return code
}

// split takes the hints out of the text of an error.
func split(err error) (text string, advice []string) {
	for _, h := range hints(err) {
		advice = append(advice, strings.Split(h, "\n")...)
	}
	var kept []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if hint, ok := strings.CutPrefix(line, "hint: "); ok {
			advice = append(advice, hint)
		} else {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n"), distinct(advice)
}

// distinct drops what was said before: of ten unknown keys each has the same hint.
func distinct(lines []string) []string {
	var out []string
	for _, line := range lines {
		if !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	return out
}

// hints collects every hint of the chain, outermost first.
func hints(err error) []string {
	var hs []string
	if h, ok := err.(interface{ Hint() string }); ok && h.Hint() != "" {
		hs = append(hs, h.Hint())
	}
	switch u := err.(type) { //nolint:errorlint // each link of the chain is looked at by hand
	case interface{ Unwrap() error }:
		if next := u.Unwrap(); next != nil {
			hs = append(hs, hints(next)...)
		}
	case interface{ Unwrap() []error }:
		for _, next := range u.Unwrap() {
			hs = append(hs, hints(next)...)
		}
	}
	return hs
}
