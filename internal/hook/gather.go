package hook

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/internal/lint"
	"github.com/nav-watchdog/nav-watchdog/pkg/trailer"
)

// maxKept bounds the messages that a push makes us hold, in bytes.
const maxKept = 64 << 20

var errTooMuch = fmt.Errorf("the messages that ask for watches have more than %d MiB together", maxKept>>20)

// arrival is a commit of a push that says something of ours: it asks for a
// watch, or something is wrong with how it says so.
type arrival struct {
	lint.Commit
	refs []string // to which it is new, sorted
}

// branches are the refs without refs/heads/.
func (a arrival) branches() []string {
	names := make([]string, len(a.refs))
	for i, ref := range a.refs {
		names[i] = strings.TrimPrefix(ref, heads)
	}
	return names
}

// gather reads the commits of all spans, one streaming git process a span, and
// keeps those that concern us, the oldest first, each once. total counts the
// others too.
func gather(ctx context.Context, h lint.History, spans []Span) (found []arrival, total int, err error) {
	at := map[string]int{} // commit -> index in found
	kept := 0
	for _, s := range spans {
		var parents map[string][]string // only where a commit may be new to several branches
		if len(s.Branches) > 1 {
			parents = map[string][]string{}
		}
		var here []lint.Commit
		err := h.Log(ctx, s.Tips, s.Exclude, func(c lint.Commit) error {
			total++
			if parents != nil {
				parents[c.ID] = c.Parents
			}
			if !concerns(c) {
				return nil
			}
			if kept += len(c.Message); kept > maxKept {
				return exit.Hint(errTooMuch, "push fewer commits at a time")
			}
			here = append(here, c)
			return nil
		})
		if err != nil {
			return nil, 0, err
		}
		owners := s.ownersOf(parents, here)
		for _, c := range here {
			i, known := at[c.ID]
			if !known {
				i, at[c.ID] = len(found), len(found)
				found = append(found, arrival{Commit: c})
			}
			found[i].refs = distinct(slices.Values(append(found[i].refs, owners(c.ID)...)))
		}
	}
	return found, total, nil
}

// ownersOf answers to which branches a commit of the span is new; with one
// branch that needs no walk.
func (s Span) ownersOf(parents map[string][]string, commits []lint.Commit) func(id string) []string {
	if len(s.Branches) == 1 {
		all := slices.Collect(maps.Keys(s.Branches))
		return func(string) []string { return all }
	}
	ids := make([]string, len(commits))
	for i, c := range commits {
		ids[i] = c.ID
	}
	owners := s.Owners(parents, ids)
	return func(id string) []string { return owners[id] }
}

// concerns is decided without the policy, so that a push of which nothing
// concerns us costs no look at it: a policy changes limits, and only for
// watches.
func concerns(c lint.Commit) bool {
	if c.Truncated || len(trailer.Lint(c.Message, trailer.DefaultPolicy())) > 0 {
		return true
	}
	return len(watches(c.Message, trailer.DefaultPolicy())) > 0
}

// watches are what a message asks for, whatever the limits.
func watches(msg []byte, p trailer.Policy) []trailer.Watch {
	ws, _ := trailer.Decode(msg, p.Unlimited())
	return ws
}
