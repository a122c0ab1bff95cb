package hook

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/internal/lint"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// The refs of design, section 3.
const (
	notesPrefix = "refs/notes/nav/"
	watchesRef  = notesPrefix + "watches"
	statusRef   = notesPrefix + "status"
	peopleRef   = notesPrefix + "people"
)

// isNotes tells our refs. A file system that folds case would take
// refs/notes/NAV/watches for ours, so the comparison does, too.
func isNotes(ref string) bool {
	const dir = "refs/notes/nav"
	return len(ref) >= len(dir) && strings.EqualFold(ref[:len(dir)], dir) && (len(ref) == len(dir) || ref[len(dir)] == '/')
}

// checkNotes judges what is pushed to refs/notes/nav/: nobody pushes watches,
// people may add lines of their own to people, the rest is the watcher's.
func (p *push) checkNotes(ctx context.Context, tally *lint.Tally) error {
	for _, u := range p.ups {
		if !isNotes(u.Ref) {
			continue
		}
		fs, err := p.checkNotesRef(ctx, u)
		if err != nil {
			return fmt.Errorf("%s: %w", u.Ref, err)
		}
		if len(fs) == 0 {
			continue
		}
		if err := tally.Add(lint.Place{File: u.Ref}, fs); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
	}
	return nil
}

func (p *push) checkNotesRef(ctx context.Context, u Update) ([]lint.Finding, error) {
	who, err := p.who(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case u.Ref == watchesRef:
		return refuseRef(u, "only this server's post-receive hook writes it"), nil
	case u.Ref == peopleRef:
		return p.checkPeople(ctx, u, who)
	case !strings.HasPrefix(u.Ref, notesPrefix) || !who.IsWatcher():
		return refuseRef(u, fmt.Sprintf("only the watcher may push it, and the pusher is %s", who)), nil
	}
	return nil, nil
}

// refuseRef names the refspec as git completes it: a person who pushed --mirror
// or refs/notes/* never wrote this one.
func refuseRef(u Update, why string) []lint.Finding {
	spec := ":" + u.Ref
	if u.New != "" {
		spec = u.New[:min(len(u.New), shortCommit)] + spec
	}
	return []lint.Finding{{
		Rule: RuleNotesRef, Severity: lint.Error,
		Message: fmt.Sprintf("%s (this push has it as %s)", why, spec),
		Hint: "leave " + u.Ref + " out: a refspec such as refs/notes/* or refs/*, or --mirror, includes it; " +
			"^refs/notes/nav/* as one more refspec excludes it",
	}}
}

// maxPeople bounds the bytes of notes that one push of people may change.
const maxPeople = 4 << 20

// checkPeople lets lines only be added, each by the pusher. Compared is, for
// every path, the set of lines, so that git's own merges (union, cat_sort_uniq)
// and a changed fan-out pass.
func (p *push) checkPeople(ctx context.Context, u Update, who Identity) ([]lint.Finding, error) {
	if u.New == "" {
		return refuseRef(u, "lines can only be added to it"), nil
	}
	if who.User == "" {
		return refuseRef(u, "every line must be by the pusher, who is "+who.String()), nil
	}
	old, now, err := p.changedNotes(ctx, u)
	if err != nil {
		return nil, err
	}
	policy, err := p.before(ctx)
	if err != nil {
		return nil, err
	}
	var fs []lint.Finding
	for _, object := range slices.Sorted(maps.Keys(old)) {
		if gone := missing(old[object], now[object]); len(gone) > 0 {
			fs = append(fs, people(object, fmt.Sprintf("a line was removed or changed: %s", exit.Line(gone[0], 120)),
				"fetch "+peopleRef+", and only add lines to what is there"))
		}
	}
	for _, object := range slices.Sorted(maps.Keys(now)) {
		for _, line := range missing(now[object], old[object]) {
			if why := refusePerson(line, who, policy); why != "" {
				fs = append(fs, people(object, why, "navwatchd and navlint write such lines: see their --help"))
			}
		}
	}
	return fs, nil
}

func people(object, message, hint string) lint.Finding {
	return lint.Finding{Rule: RulePeople, Severity: lint.Error,
		Message: fmt.Sprintf("note of %s: %s", exit.Line(object, 64), message), Hint: hint}
}

// refusePerson says why a line may not be added. Whoever may push may freeze;
// to thaw and to reset is for owners of the policy, and for the watcher, whose
// own command does it on the server's side.
func refusePerson(line string, who Identity, policy arming.Policy) string {
	said, err := verdict.ParsePeople([]byte(line))
	if err != nil || len(said) != 1 {
		return fmt.Sprintf("not a line that can be read: %s", exit.Line(line, 120))
	}
	by := said[0].By
	if by != who.User {
		return fmt.Sprintf("the line is by %+q, the pusher is %s", exit.Line(by, 64), who)
	}
	switch said[0].Kind {
	case verdict.PeopleThaw, verdict.PeopleReset:
		if !policy.IsOwner(by) && !who.IsWatcher() {
			return fmt.Sprintf("%s is for owners of the policy, and %s is none", said[0].Kind, who)
		}
	}
	return ""
}

// changedNotes reads both versions of every note that the push changes, split
// into lines, by object.
func (p *push) changedNotes(ctx context.Context, u Update) (old, now map[string][]string, err error) {
	oldTree, err := p.notesTree(ctx, u.Old)
	if err != nil {
		return nil, nil, err
	}
	newTree, err := p.notesTree(ctx, u.New)
	if err != nil {
		return nil, nil, err
	}
	var ids []string
	for _, pair := range [][2]map[string][]string{{oldTree, newTree}, {newTree, oldTree}} {
		for object, blobs := range pair[0] {
			if !slices.Equal(blobs, pair[1][object]) {
				ids = append(ids, blobs...)
			} else {
				delete(pair[0], object)
				delete(pair[1], object)
			}
		}
	}
	content := map[string][]byte{}
	size := 0
	err = p.Repo.Contents(ctx, distinct(slices.Values(ids)), func(id string, data []byte) error {
		if size += len(data); size > maxPeople {
			return exit.Hint(fmt.Errorf("the changed notes have more than %d MiB", maxPeople>>20), "push fewer lines at a time")
		}
		content[id] = bytes.Clone(data)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return lines(oldTree, content), lines(newTree, content), nil
}

// notesTree maps objects to the blobs of their notes, whatever the fan-out.
// What is no note is kept under its path: it may not change either, because it
// holds no line that a person could have said.
func (p *push) notesTree(ctx context.Context, rev string) (map[string][]string, error) {
	byObject := map[string][]string{}
	if rev == "" {
		return byObject, nil
	}
	tree, err := p.Repo.Tree(ctx, rev)
	if err != nil {
		return nil, err
	}
	for _, path := range slices.Sorted(maps.Keys(tree)) {
		object := noteOf(path)
		byObject[object] = append(byObject[object], tree[path])
	}
	return byObject, nil
}

// noteOf is the object that git reads a path as the note of (notes.c,
// load_subtree: folders of two hex digits, any number of them), or the path. It
// is exact, because a note that moves to where git does not look is gone.
func noteOf(path string) string {
	parts := strings.Split(path, "/")
	for _, folder := range parts[:len(parts)-1] {
		if len(folder) != 2 {
			return path
		}
	}
	if object := strings.ToLower(strings.Join(parts, "")); objectID(object) {
		return object
	}
	return path
}

func lines(tree map[string][]string, content map[string][]byte) map[string][]string {
	out := make(map[string][]string, len(tree))
	for object, ids := range tree {
		for _, id := range ids {
			for line := range strings.SplitSeq(string(content[id]), "\n") {
				if line = strings.TrimSpace(line); line != "" {
					out[object] = append(out[object], line)
				}
			}
		}
	}
	return out
}

// missing lists, each once, what is in a and not in b.
func missing(a, b []string) []string {
	have := make(map[string]bool, len(b))
	for _, line := range b {
		have[line] = true
	}
	var out []string
	for _, line := range a {
		if !have[line] {
			have[line] = true
			out = append(out, line)
		}
	}
	return out
}
