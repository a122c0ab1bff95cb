package gitstore

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Change is what one commit changed.
type Change struct {
	Commit string
	Paths  []string // in the order of the tree, bytes; both sides of a rename
	Merge  bool
}

// Paths lists what each commit changed against its first parent (of a root: all
// its paths), in one process.
func (r *Repo) Paths(ctx context.Context, ids []string) (map[string][]string, error) {
	paths := make(map[string][]string, len(ids))
	err := r.ChangesOf(ctx, ids, func(commit string) { paths[commit] = []string{} },
		func(commit string, ch PathChange) { paths[commit] = append(paths[commit], ch.Path) })
	if err != nil {
		return nil, err
	}
	return paths, nil
}

// ChangesOf is Paths with what stood and stands there: head is called for each
// commit, whatever it changed, and then change for each of its paths.
func (r *Repo) ChangesOf(ctx context.Context, ids []string, head func(commit string), change func(commit string, ch PathChange)) error {
	if len(ids) == 0 {
		return nil
	}
	if err := r.checkIDs(ids); err != nil {
		return fmt.Errorf("listing changed paths: %w", err)
	}
	c := command{
		diff:  true,
		args:  append([]string{"diff-tree", "--stdin", "--always", "--diff-merges=first-parent"}, rawDiff()...),
		stdin: strings.NewReader(strings.Join(unique(ids), "\n") + "\n"),
	}
	said := make(map[string]bool, len(ids))
	err := r.stream(ctx, c, func(p io.Reader) error {
		return readRaw(p, func(commit string) error {
			said[commit] = true
			head(commit)
			return nil
		}, func(commit string, ch PathChange) error {
			change(commit, ch)
			return nil
		})
	})
	if err != nil {
		return fmt.Errorf("listing changed paths: %w", r.nameMissing(ctx, ids, err))
	}
	for _, id := range ids {
		// diff-tree repeats what it does not understand, and goes on.
		if !said[id] {
			return fmt.Errorf("listing changed paths: %s is not a commit", id)
		}
	}
	return nil
}

// Between lists the paths in which two commits differ, given by their ids.
func (r *Repo) Between(ctx context.Context, from, to string) ([]PathChange, error) {
	if err := r.checkIDs([]string{from, to}); err != nil {
		return nil, fmt.Errorf("comparing two commits: %w", err)
	}
	changes, err := r.between(ctx, from, to)
	if err != nil {
		return nil, fmt.Errorf("comparing %s with %s: %w", from, to, err)
	}
	return changes, nil
}

func (r *Repo) between(ctx context.Context, from, to string) ([]PathChange, error) {
	c := command{diff: true, args: append(append([]string{"diff-tree"}, rawDiff()...), "--end-of-options", from, to)}
	var changes []PathChange
	err := r.stream(ctx, c, func(p io.Reader) error {
		return readRaw(p, func(head string) error {
			return fmt.Errorf("git diff-tree wrote %q", head)
		}, func(_ string, ch PathChange) error {
			changes = append(changes, ch)
			return nil
		})
	})
	return changes, err
}

// OwnPaths lists, for every commit that tips reach and exclude does not, oldest
// first, what the commit itself changed: an ordinary commit against its parent,
// a merge of two only where it differs from what git makes of its parents
// (log --remerge-diff). A merge of more than two, which git cannot make again,
// counts with everything that it changed against its first parent. At most three
// processes.
func (r *Repo) OwnPaths(ctx context.Context, tips, exclude []string) ([]Change, error) {
	changes, err := r.ownPaths(ctx, tips, exclude)
	if err != nil {
		return nil, fmt.Errorf("listing what commits changed: %w", err)
	}
	return changes, nil
}

func (r *Repo) ownPaths(ctx context.Context, tips, exclude []string) ([]Change, error) {
	if len(tips) == 0 {
		return nil, nil
	}
	in, err := revs(tips, exclude)
	if err != nil {
		return nil, err
	}
	out, err := r.output(ctx, command{
		args:  []string{"rev-list", "--topo-order", "--parents", "--stdin"},
		stdin: strings.NewReader(in),
	})
	if err != nil {
		return nil, err
	}
	var changes []Change
	var merges, others []string
	for line := range strings.Lines(string(out)) {
		ids := strings.Fields(line)
		changes = append(changes, Change{Commit: ids[0], Merge: len(ids) > 2})
		if len(ids) == 3 {
			merges = append(merges, ids[0])
		} else {
			others = append(others, ids[0])
		}
	}
	paths, err := r.Paths(ctx, others)
	if err == nil {
		err = r.remerge(ctx, merges, paths)
	}
	if err != nil {
		return nil, err
	}
	for i, ch := range changes {
		own, ok := paths[ch.Commit]
		if !ok {
			return nil, fmt.Errorf("git log said nothing of the merge %s", ch.Commit)
		}
		changes[i].Paths = own
	}
	slices.Reverse(changes)
	return changes, nil
}

// remerge adds the paths in which merges differ from what git makes of their
// parents. Children must come first: git log forgets the parents of a commit
// once it is shown, so that with --reverse it finds no merge base and lists
// whatever the parents differ in (2.39).
func (r *Repo) remerge(ctx context.Context, merges []string, paths map[string][]string) error {
	if len(merges) == 0 {
		return nil
	}
	args := append([]string{
		"log", "--no-walk=unsorted", "--format=tformat:%H", "--no-color", "--no-decorate", "--no-notes",
		"--no-show-signature", "--diff-merges=remerge",
	}, rawDiff()...)
	c := command{diff: true, args: append(args, "--stdin"), stdin: strings.NewReader(strings.Join(merges, "\n") + "\n")}
	return r.stream(ctx, c, func(p io.Reader) error { return addPaths(p, paths) })
}

func addPaths(p io.Reader, paths map[string][]string) error {
	return readRaw(p, func(head string) error {
		paths[head] = []string{}
		return nil
	}, func(head string, ch PathChange) error {
		paths[head] = append(paths[head], ch.Path)
		return nil
	})
}

// rawDiff asks for differences that can be read without doubt: the raw format
// marks every path, so none is taken for a commit, whatever it is called. A
// .gitmodules that says "ignore = all" hides nothing.
func rawDiff() []string {
	return []string{"-r", "-z", "--raw", "--no-abbrev", "--root", "--no-renames", "--no-ext-diff",
		"--no-relative", "--ignore-submodules=none"}
}

// maxDifferences bounds what is read of one listing, in paths and commits.
const maxDifferences = 2_000_000

// readRaw reads heads (the lines of commits) and the raw differences after each.
func readRaw(p io.Reader, head func(string) error, change func(head string, ch PathChange) error) error {
	in := bufio.NewReaderSize(p, 64<<10)
	current := ""
	for n := 0; ; n++ {
		if n > maxDifferences {
			return fmt.Errorf("there are more than %d differences", maxDifferences)
		}
		token, err := in.ReadString(0)
		if errors.Is(err, io.EOF) && token == "" {
			return nil
		}
		if err != nil {
			return endedEarly(err)
		}
		token = strings.TrimPrefix(strings.TrimSuffix(token, "\x00"), "\n") // log puts a line end before the first
		switch {
		case token == "":
		case token[0] != ':':
			current = token
			err = head(current)
		default:
			var ch PathChange
			if ch, err = parseRaw(token); err != nil {
				break
			}
			if ch.Path, err = in.ReadString(0); err != nil {
				return endedEarly(err)
			}
			ch.Path = strings.TrimSuffix(ch.Path, "\x00")
			err = change(current, ch)
		}
		if err != nil {
			return err
		}
	}
}

// parseRaw reads ":<mode> <mode> <id> <id> <status>".
func parseRaw(token string) (PathChange, error) {
	f := strings.Split(token[1:], " ")
	if len(f) != 5 {
		return PathChange{}, fmt.Errorf("reading differences: git wrote %q", token)
	}
	entry := func(mode, id string) Entry {
		if mode = strings.TrimLeft(mode, "0"); mode == "" {
			return Entry{}
		}
		return Entry{Mode: mode, ID: id}
	}
	return PathChange{Before: entry(f[0], f[2]), After: entry(f[1], f[3])}, nil
}

// Remains is what is left of a commit's changes.
type Remains struct {
	Gone     bool // nothing is what the commit left
	Restored bool // everything is what it was before the commit
}

// Remain says what stands at tip of what commits changed against their first
// parents (a root: of all that it has). One that changed nothing has the zero
// Remains. Two processes for any number of commits.
func (r *Repo) Remain(ctx context.Context, commits []string, tip string) (map[string]Remains, error) {
	left := map[string][]PathChange{}
	seen := map[string]bool{}
	var paths []string
	err := r.ChangesOf(ctx, commits, func(string) {}, func(commit string, ch PathChange) {
		left[commit] = append(left[commit], ch)
		if !seen[ch.Path] {
			seen[ch.Path] = true
			paths = append(paths, ch.Path)
		}
	})
	if err != nil {
		return nil, err
	}
	now, err := r.Entries(ctx, tip, paths)
	if err != nil {
		return nil, err
	}
	remains := make(map[string]Remains, len(commits))
	for _, c := range commits {
		some := len(left[c]) > 0
		is := Remains{some, some}
		for _, ch := range left[c] {
			is.Gone = is.Gone && now[ch.Path] != ch.After
			is.Restored = is.Restored && now[ch.Path] == ch.Before
		}
		remains[c] = is
	}
	return remains, nil
}
