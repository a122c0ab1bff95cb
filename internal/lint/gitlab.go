package lint

import (
	"io"

	"github.com/nav-watchdog/nav-watchdog/internal/exit"
)

// GitLab shows a report as Code Quality does: an array of findings, written by
// Done, which a job hands over as the artifact reports:codequality.
//
// GitLab wants a path and a line of each: a finding in a commit's message has
// the path "commit/ID", one about a whole message has line 1.
type GitLab struct {
	W io.Writer

	findings []gitlabFinding
	seen     fingerprints
}

type gitlabFinding struct {
	Description string         `json:"description"`
	Check       string         `json:"check_name"`
	Fingerprint string         `json:"fingerprint"`
	Severity    string         `json:"severity"`
	Location    gitlabLocation `json:"location"`
}

type gitlabLocation struct {
	Path  string      `json:"path"`
	Lines gitlabLines `json:"lines"`
}

type gitlabLines struct {
	Begin int `json:"begin"`
}

// Report keeps the findings of one message.
func (g *GitLab) Report(p Place, fs []Finding) error {
	if g.seen == nil {
		g.seen = fingerprints{}
	}
	for _, f := range fs {
		text := exit.Line(f.Message, 0)
		if f.Hint != "" {
			text += "; hint: " + exit.Line(f.Hint, 0)
		}
		if p.Commit != "" {
			text = exit.Line(p.Subject, maxSubject) + ": " + text
		}
		g.findings = append(g.findings, gitlabFinding{
			Description: text, Check: f.Rule, Fingerprint: g.seen.of(p, f), Severity: gitlabSeverity(f.Severity),
			Location: gitlabLocation{exit.Line(p.path(), 0), gitlabLines{max(f.Line, 1)}},
		})
	}
	return nil
}

// Done writes the array.
func (g *GitLab) Done(Summary) error {
	return encode(g.W, append([]gitlabFinding{}, g.findings...))
}

func gitlabSeverity(s Severity) string {
	switch s {
	case Error:
		return "major"
	case Warning:
		return "minor"
	default:
		return "info"
	}
}
