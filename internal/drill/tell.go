package drill

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/exit"
)

// The rules of the transcript:
//
//   - It goes to stdout, in plain text without colours.
//   - A part begins with a numbered heading and ends with what came out, and
//     what that means.
//   - What the drill says stands at the margin, what others say is indented:
//     "$ " a command, "remote: " the server's hooks, "+0:20" a moment since the
//     push at which the cluster or the watcher said something new.
//   - Nothing that others say is printed raw.
type teller struct {
	w   io.Writer
	err error // the first one; a transcript that cannot be written fails the drill
}

func (t *teller) line(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintln(t.w, strings.TrimRight(fmt.Sprintf(format, args...), " "))
	}
}

func (t *teller) heading(text string) {
	t.line("\n%s\n%s", text, strings.Repeat("-", len(text)))
}

func (t *teller) title(n int, text string) { t.heading(fmt.Sprintf("%d. %s", n, text)) }

func (t *teller) say(format string, args ...any) { t.line(format, args...) }

func (t *teller) command(text string) { t.line("    $ %s", text) }

// block is text of others, indented.
func (t *teller) block(text string) {
	for _, l := range strings.Split(strings.TrimRight(exit.Printable(text), "\n"), "\n") {
		t.line("    %s", l)
	}
}

func (t *teller) remote(lines []string) {
	for _, l := range lines {
		t.line("      remote: %s", exit.Line(l, 0))
	}
}

// event is something new at a moment after the push.
func (t *teller) event(since time.Duration, who, text string) {
	s := int(since / time.Second)
	t.line("    %7s  %-8s %s", fmt.Sprintf("+%d:%02d", s/60, s%60), who, exit.Line(text, 300))
}

func (t *teller) outcome(r result, means string) {
	if r.ok() {
		t.line("=> ok: %s\n   %s", r.got, means)
		return
	}
	t.line("=> WRONG: %s\n   It must be: %s", r.got, r.want)
}

func (t *teller) table(rs []result) {
	t.heading("Summary")
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	row := func(cells ...string) {
		_, _ = fmt.Fprintln(w, strings.Join(cells, "\t")) // into memory
	}
	row("", "part", "expected", "got")
	good := 0
	for i, r := range rs {
		mark := "WRONG"
		if r.ok() {
			mark = "ok"
			good++
		}
		row(mark, fmt.Sprintf("%d. %s", i+1, r.title), r.want, r.got)
	}
	_ = w.Flush() // into memory
	t.line("%s", strings.TrimSuffix(b.String(), "\n"))
	t.line("\n%d of %d parts came out as they must.", good, len(rs))
}

func short(commit string) string { return commit[:min(len(commit), 12)] }
