package gitstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
)

// Ignored gives those of the paths that git ignores in a worktree, whose folder
// is root: by .gitignore, info/exclude and the user's core.excludesFile, and not
// tracked. Paths are relative to root, with slashes.
func (r *Repo) Ignored(ctx context.Context, root string, paths []string) (map[string]bool, error) {
	ignored := map[string]bool{}
	if len(paths) == 0 {
		return ignored, nil
	}
	args := []string{"-C", root, "--work-tree=" + root, "check-ignore", "-z", "--stdin"}
	out, err := r.output(ctx, command{own: true, args: args, stdin: strings.NewReader(strings.Join(paths, "\x00") + "\x00")})
	var failed *Error
	if errors.As(err, &failed) && failed.Code == 1 {
		return ignored, nil // none is
	}
	if err != nil {
		return nil, fmt.Errorf("asking what is ignored: %w", err)
	}
	for name := range bytes.SplitSeq(out, []byte{0}) {
		if len(name) > 0 {
			ignored[string(name)] = true
		}
	}
	return ignored, nil
}
