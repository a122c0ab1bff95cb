package lint

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/pkg/trailer"
)

// RuleSquashLost: a commit of the merge request asks for a watch, and the commit
// that lands does not.
const RuleSquashLost = "nav-squash-watches-nothing"

// Hosts whose default templates are known. HostNone takes the file for the whole
// message, as a person will write it into the form.
const (
	HostGitHub = "github"
	HostGitLab = "gitlab"
	HostGitea  = "gitea"
	HostNone   = "none"
)

// SquashHosts lists them.
func SquashHosts() []string { return []string{HostGitHub, HostGitLab, HostGitea, HostNone} }

// squashed is one message that a host may make of a merge request.
type squashed struct {
	name    string
	message []byte
	// perhaps: only where several people wrote the commits, or by a setting of the
	// host that is not its default.
	perhaps bool
}

// squash makes the message that a host writes by default when it squashes a
// merge request: text is its title, a blank line, and its description; messages
// are those of its commits, oldest first.
func squash(host string, text []byte, messages [][]byte) []squashed {
	title, description := split(text)
	switch host {
	case HostGitHub: // COMMIT_OR_PR_TITLE and COMMIT_MESSAGES
		body := listed(messages)
		if len(messages) == 1 {
			title, body = split(messages[0])
		}
		return byDefault("GitHub", join(title+" (#1)", body))
	case HostGitLab:
		return []squashed{{name: "GitLab, squash template %{title}", message: []byte(title + "\n")}}
	case HostGitea:
		list := squashed{name: "Gitea, squash, POPULATE_SQUASH_COMMENT_WITH_COMMIT_MESSAGES", message: join(title+" (#1)", listed(messages)), perhaps: true}
		return append(byDefault("Gitea", join(title+" (#1)", description)), list)
	default:
		return []squashed{{name: "as it is", message: text}}
	}
}

// byDefault is a host's default message, and the one of a request to which
// several people contributed, whose names both hosts put behind a rule.
func byDefault(host string, message []byte) []squashed {
	const coAuthors = "\n\n---------\n\nCo-authored-by: Somebody Else <somebody@example.com>\n"
	return []squashed{
		{name: host + ", squash, default message", message: message},
		{name: host + ", squash, with a co-author", message: []byte(strings.TrimRight(string(message), "\n") + coAuthors), perhaps: true},
	}
}

func join(title, body string) []byte {
	return []byte(strings.TrimRight(title+"\n\n"+body, "\n") + "\n")
}

// split parts a message into its title and what comes after it.
func split(msg []byte) (title, body string) {
	text := strings.TrimLeft(string(bytes.ReplaceAll(msg, []byte("\r\n"), []byte("\n"))), "\n")
	title, body, _ = strings.Cut(text, "\n")
	return strings.TrimSpace(title), strings.Trim(body, "\n")
}

// listed is how GitHub and Gitea list commits: a bullet with the title, then the
// body.
func listed(messages [][]byte) string {
	var parts []string
	for _, m := range messages {
		title, body := split(m)
		parts = append(parts, "* "+title)
		if body != "" {
			parts = append(parts, body)
		}
	}
	return strings.Join(parts, "\n\n")
}

// Squash lints the commit that a merge request would make of a range. File holds
// the title and the description of the merge request; hosts says by whose
// default templates the message is made.
func (c Config) Squash(ctx context.Context, r Repo, revs Revs, name string, text []byte, hosts []string) error {
	if len(revs.Exclude) == 0 {
		return exit.Hint(exit.Usagef("a merge request is a range"), "say BASE..HEAD")
	}
	ids, err := resolve(ctx, r, append(slices.Clone(revs.Tips), revs.Exclude...))
	if err != nil {
		return err
	}
	tip, base := ids[0], ids[len(revs.Tips)]
	policy, err := policyBefore(ctx, r, ids[:len(revs.Tips)], ids[len(revs.Tips):])
	if err != nil {
		return err
	}
	c.warnPolicy(policy)
	var messages [][]byte
	var commits []string
	err = r.Ordered(ctx, []string{tip}, []string{base}, func(commit Commit) error {
		messages, commits = append(messages, commit.Message), append(commits, commit.ID)
		return nil
	})
	if err != nil {
		return err
	}
	changed, err := r.Paths(ctx, commits)
	if err != nil {
		return err
	}
	request := arming.Request{
		Commit: tip, Vouched: arming.VouchNotAssessed, Paths: union(changed),
		Policies: []arming.NamedPolicy{{When: "before the range", Policy: policy.Policy}},
	}
	if request.Branch, err = r.Landing(ctx); err != nil {
		return err
	}
	request.DefaultBranch = request.Branch
	if c.Branch != "" {
		request.Branch = c.Branch
	}
	asked := append(slices.Clone(messages), text)
	tally := &Tally{Handler: c.Handler}
	for _, host := range hosts {
		for _, s := range squash(host, text, messages) {
			fs, err := c.landed(ctx, s, policy, Commit{ID: tip, Parents: []string{base}}, request, asked)
			if err != nil {
				return err
			}
			if err := tally.Add(Place{File: name + " (" + s.name + ")"}, fs); err != nil {
				return fmt.Errorf("writing the report: %w", err)
			}
		}
	}
	return tally.Close(c.Strict)
}

// landed lints one message of a commit that would land.
func (c Config) landed(ctx context.Context, s squashed, policy Policy, commit Commit, request arming.Request, asked [][]byte) ([]Finding, error) {
	fs := Message(s.message, policy.Trailer, nil)
	ws, _ := trailer.Decode(s.message, policy.Trailer.Unlimited())
	if len(ws) == 0 {
		for _, m := range asked {
			if lost, _ := trailer.Decode(m, policy.Trailer.Unlimited()); len(lost) > 0 {
				names, _ := Names(lost)
				fs = append(fs, Finding{
					Rule: RuleSquashLost, Severity: Error,
					Message: "the commit that lands watches nothing: the trailer for " + exit.Line(strings.Join(names, ", "), 200) + " is not in its last paragraph",
					Hint:    "write the trailer last in the message that the merge makes, or merge without squash",
				})
				break
			}
		}
	}
	request.Named = nil
	_, request.Named = Names(ws)
	var facts *CommitFacts
	if c.Known != nil && len(ws) > 0 {
		var err error
		if facts, err = c.Known.Of(ctx, commit, request.Paths, policy.Policy, ws); err != nil {
			return nil, err
		}
	}
	fs = append(fs, Arming(ctx, ws, request, facts, nil)...)
	for i := range fs {
		if s.perhaps && fs[i].Severity == Error {
			fs[i].Severity = Warning
		}
	}
	return fs, nil
}

func union(changed map[string][]string) []string {
	var all []string
	for _, paths := range changed {
		all = append(all, paths...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
