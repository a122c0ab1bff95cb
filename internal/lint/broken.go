package lint

import (
	"context"
	"errors"
	"fmt"

	"github.com/nav-watchdog/nav-watchdog/internal/config"
)

// RulePolicyBroken is the rule that a change of the policy must leave one that
// can be read.
const RulePolicyBroken = "nav-policy-broken"

// brokenAt finds the commit of a range that made the policy one that cannot be
// read, where it is still so at the end, and says what is wrong with it. What
// lands elsewhere than on the default branch is no policy.
func (c Config) brokenAt(ctx context.Context, r Repo, tip string, exclude []string) (commit string, fs []Finding, err error) {
	end, err := PolicyAt(ctx, r, tip)
	if err != nil || end.Broken == nil {
		return "", nil, err
	}
	if def, err := r.Landing(ctx); err != nil || c.Branch != "" && def != "" && c.Branch != def {
		return "", nil, err
	}
	commit, err = lastChange(ctx, r, tip, exclude)
	if err != nil || commit == "" {
		return "", nil, err
	}
	var all config.Errors
	if !errors.As(end.Broken, &all) {
		all = config.Errors{{Text: end.Broken.Error()}}
	}
	for _, e := range all {
		text := e.Text
		if e.Line > 0 {
			text = fmt.Sprintf("%s:%d:%d: %s", PolicyFile, e.Line, e.Col, text)
		}
		fs = append(fs, Finding{Rule: RulePolicyBroken, Severity: Error, Message: text, Hint: e.Hint})
	}
	return commit, fs, nil
}

// lastChange walks from a tip as long as a parent has the same policy file, as
// git log does for a path; empty: the range did not change it.
func lastChange(ctx context.Context, r Repo, tip string, exclude []string) (string, error) {
	parents := map[string][]string{}
	var names []string
	err := r.Log(ctx, []string{tip}, exclude, func(c Commit) error {
		parents[c.ID] = c.Parents
		for _, id := range append([]string{c.ID}, c.Parents...) {
			names = append(names, id+":"+PolicyFile)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	files, err := r.IDs(ctx, names)
	if err != nil {
		return "", err
	}
	for at := tip; ; {
		if _, in := parents[at]; !in {
			return "", nil
		}
		same := ""
		for _, p := range parents[at] {
			if same == "" && files[p+":"+PolicyFile] == files[at+":"+PolicyFile] {
				same = p
			}
		}
		if same == "" {
			return at, nil
		}
		at = same
	}
}
