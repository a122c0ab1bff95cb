package lint

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/internal/exit"
)

// GitHub shows a report as workflow commands, which GitHub Actions turns into
// annotations:
//
//	::error file=FILE,line=L,col=C,title=TITLE::TEXT
//
// A commit's message is no file, so its findings have no place but the title
// and text. The last line, which is no command, counts. GitHub shows ten errors
// and ten warnings a step; the log has them all.
type GitHub struct {
	W    io.Writer
	What string // is checked; empty: messages
}

// Report writes a command a finding.
func (g *GitHub) Report(p Place, fs []Finding) error {
	w := bufio.NewWriter(g.W)
	for _, f := range fs {
		var properties []string
		add := func(key, value string) { properties = append(properties, key+"="+githubProperty(value)) }
		title, text := f.Rule, joinHint(f)
		if p.Commit == "" {
			add("file", exit.Line(p.File, 0))
			if f.Line > 0 {
				add("line", fmt.Sprint(f.Line))
			}
			if c := f.char(); c > 0 {
				add("col", fmt.Sprint(c))
			}
		} else {
			id := p.Commit[:min(len(p.Commit), shortID)]
			title += " in commit " + id
			if at := f.at(); at != "" {
				id += ":" + at
			}
			text = fmt.Sprintf("%s: %s\nin commit %s, %s", id, text, p.Commit, exit.Line(p.Subject, maxSubject))
		}
		add("title", title)
		_, _ = fmt.Fprintf(w, "::%s %s::%s\n", githubCommand(f.Severity), strings.Join(properties, ","), githubData(exit.Printable(text)))
	}
	return w.Flush()
}

// Done writes the counts.
func (g *GitHub) Done(s Summary) error {
	_, err := fmt.Fprintf(g.W, "%s checked: %s, %s\n", count(s.Checked, cmp.Or(g.What, "message")), count(s.Errors, "error"), count(s.Warnings, "warning"))
	return err
}

func githubCommand(s Severity) string {
	if s == Note {
		return "notice"
	}
	return string(s)
}

// githubData escapes what ends a command: escapeData in the runner's toolkit.
func githubData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// githubProperty escapes what ends a property, too: escapeProperty there.
func githubProperty(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(githubData(s))
}
