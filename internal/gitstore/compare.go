package gitstore

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// Compare lists for each pair of commits, given by their ids, the paths in which
// the second differs from the first below a folder ("" is the root): one process.
// Changes are handed over in the order of the pairs, by their index.
func (r *Repo) Compare(ctx context.Context, pairs [][2]string, dir string, change func(i int, ch PathChange)) error {
	if len(pairs) == 0 {
		return nil
	}
	var in strings.Builder
	for _, p := range pairs {
		if err := r.checkIDs(p[:]); err != nil {
			return fmt.Errorf("comparing commits: %w", err)
		}
		// A commit and what is to be taken for its parent (git-diff-tree(1), --stdin).
		in.WriteString(p[1] + " " + p[0] + "\n")
	}
	args := append([]string{"diff-tree", "--stdin", "--always", "--diff-merges=first-parent"}, rawDiff()...)
	args = append(args, "--")
	if dir != "" {
		if err := checkPath(dir); err != nil {
			return fmt.Errorf("comparing commits: %w", err)
		}
		args = append(args, dir)
	}
	at := -1
	err := r.stream(ctx, command{diff: true, args: args, stdin: strings.NewReader(in.String())}, func(p io.Reader) error {
		return readRaw(p, func(commit string) error {
			// It says nothing of a commit that is not there, and goes on.
			if at++; at == len(pairs) || pairs[at][1] != commit {
				return fmt.Errorf("git diff-tree wrote %q, not what was asked", commit)
			}
			return nil
		}, func(_ string, ch PathChange) error {
			change(at, ch)
			return nil
		})
	})
	if err == nil && at != len(pairs)-1 {
		err = fmt.Errorf("%s is not a commit", pairs[at+1][1])
	}
	if err != nil {
		return fmt.Errorf("comparing commits: %w", err)
	}
	return nil
}
