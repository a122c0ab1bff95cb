package lint

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/internal/exit"
)

// page writes lines; what was written by others is escaped.
type page struct{ *bufio.Writer }

func (p page) line(format string, args ...any) {
	_, _ = fmt.Fprintf(p, "%s\n", strings.TrimRight(exit.Line(fmt.Sprintf(format, args...), 0), " ")) // Flush tells
}

// print writes an explanation for people.
func (e explanation) print(w io.Writer) error {
	p := page{bufio.NewWriter(w)}
	p.line("%s", e.App)
	p.line("")
	p.line("Known from")
	p.places(e.Places)
	p.line("")
	p.line("Facts")
	width := 0
	for _, f := range e.Facts {
		width = max(width, len(f.Name))
	}
	for _, f := range e.Facts {
		name := f.Name
		for _, v := range f.Values {
			p.line("  %-*s  %s  [%s]", width, name, v.Value, strings.Join(v.From, "; "))
			name = ""
		}
		if f.Disagree {
			p.line("  %-*s  (they disagree: the stricter counts)", width, "")
		}
	}
	p.line("")
	p.line("What that means")
	for i, m := range e.Modes {
		if i > 0 && m.like(e.Modes[i-1]) {
			continue // propose and arm ask the same
		}
		p.meaning(m, i+1 < len(e.Modes) && e.Modes[i+1].like(m), e.Modes)
	}
	return p.Flush()
}

// like reports whether two modes have the same answer.
func (m meaning) like(n meaning) bool {
	if m.May != n.May || len(m.Findings) != len(n.Findings) || len(m.OfCommit) != len(n.OfCommit) {
		return false
	}
	for i := range m.Findings {
		if m.Findings[i] != n.Findings[i] {
			return false
		}
	}
	return true
}

func (p page) places(places []knownPlace) {
	for _, k := range places {
		p.line("  %-10s  %s", k.Name, k.Text)
	}
}

func (p page) meaning(m meaning, both bool, all []meaning) {
	name := m.Mode
	if both {
		name = m.Mode + ", " + all[len(all)-1].Mode
	}
	answer := map[string]string{mayYes: "yes", mayNo: "no", mayTry: "not refused, as far as it is known"}[m.May]
	p.line("  %s: %s", name, answer)
	for _, outcome := range []arming.Outcome{arming.Refuse, arming.Accepted, arming.NotAssessed, arming.Warned, arming.Noted} {
		for _, f := range m.Findings {
			if f.Outcome != outcome.String() {
				continue
			}
			text := f.Message
			if f.Reason != "" {
				text += " (because: " + f.Reason + ")"
			}
			p.line("    %s: %s [%s]", f.Outcome, text, f.Rule)
			if f.Hint != "" {
				p.line("        hint: %s", f.Hint)
			}
		}
	}
	if len(m.OfCommit) > 0 {
		p.line("    asked of each commit: %s", strings.Join(m.OfCommit, ", "))
	}
}
