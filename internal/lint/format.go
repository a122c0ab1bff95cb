package lint

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/pkg/trailer"
)

// Formats of --format.
const (
	FormatText   = "text"
	FormatJSON   = "json"
	FormatSARIF  = "sarif"
	FormatGitHub = "github"
	FormatGitLab = "gitlab"
	FormatJUnit  = "junit"
)

// Formats lists the formats of a report.
func Formats() []string {
	return []string{FormatText, FormatJSON, FormatSARIF, FormatGitHub, FormatGitLab, FormatJUnit}
}

// Output is where a report goes and what it says of itself.
type Output struct {
	W       io.Writer
	Command string // "message", "commits"
	What    string // was checked: "message", "file"
	Version string // of navlint
	Color   bool   // FormatText only
	Strict  bool   // warnings fail, too
}

// NewHandler is the handler of a format; nil if there is no such format.
func NewHandler(format string, o Output) Handler {
	switch format {
	case FormatText:
		return &Text{W: o.W, Color: o.Color, HintOnce: o.What == "file"}
	case FormatJSON:
		return &JSON{W: o.W, Command: o.Command}
	case FormatSARIF:
		return &SARIF{W: o.W, Version: o.Version}
	case FormatGitHub:
		return &GitHub{W: o.W, What: o.What}
	case FormatGitLab:
		return &GitLab{W: o.W}
	case FormatJUnit:
		return &JUnit{W: o.W, Command: o.Command, What: o.What, Strict: o.Strict}
	}
	return nil
}

// path is the place for programs that know only files. A commit's message is
// none; "commit/ID" is what follows the address of a repository where a forge
// shows the commit.
func (p Place) path() string {
	if p.Commit != "" {
		return "commit/" + p.Commit
	}
	return p.File
}

// docs is where the pages about rules are for who reads a report elsewhere.
const docs = "https://github.com/nav-watchdog/nav-watchdog/blob/main/docs/"

// describe says what a rule is about, and where its page is; empty for a rule
// that has none.
func describe(id string) (summary, page string) {
	if id == RuleTooLong {
		return "a message that is too long to be read to its end, where its trailers would be", docs + "navlint.md#text"
	}
	if id == RulePolicyBroken {
		return "a change of the policy that leaves one that cannot be read", docs + "navlint.md#text"
	}
	for _, r := range trailer.Rules() {
		if string(r.Rule) == id {
			return r.Summary, docs + "rules.md#" + id
		}
	}
	for _, r := range arming.FileRules() {
		if r.ID == id {
			return r.Summary, docs + "rules.md#" + id
		}
	}
	if slices.ContainsFunc(arming.Rules(), func(r arming.Rule) bool { return r.ID == id }) {
		return "an arming rule: may this commit be armed for this Application", docs + "arming.md#" + id
	}
	return "", ""
}

// joinHint is a finding in one text: the message, and a line for each hint.
func joinHint(f Finding) string {
	if f.Hint == "" {
		return f.Message
	}
	return f.Message + "\nhint: " + strings.ReplaceAll(f.Hint, "\n", "\nhint: ")
}

// char is the column in characters, from 1; 0: not known.
func (f Finding) char() int {
	if f.Line > 0 && f.Col == 1 {
		return 1
	}
	return f.Char
}

// at is the place within a message for people.
func (f Finding) at() string {
	if f.Line < 1 {
		return ""
	}
	return fmt.Sprintf("%d:%d", f.Line, max(f.Col, 1))
}
