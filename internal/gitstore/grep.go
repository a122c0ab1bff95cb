package gitstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
)

// Grep lists the files of a commit, given by its full id, whose contents hold a
// text and whose names end in one of the endings; in the order of the tree. One
// process, which reads everything with such a name. What attributes call binary
// is read, too: they come from whoever pushes.
func (r *Repo) Grep(ctx context.Context, commit, text string, endings []string) ([]string, error) {
	if err := r.checkID(commit); err != nil {
		return nil, fmt.Errorf("searching %q: %w", commit, err)
	}
	args := []string{"grep", "-l", "-z", "-a", "-F", "--no-textconv", "--full-name", "--no-color", "--no-recurse-submodules", "-e", text, commit, "--"}
	for _, e := range endings {
		args = append(args, ":(top,glob)**/*"+e)
	}
	out, err := r.output(ctx, command{args: args, env: []string{"GIT_LITERAL_PATHSPECS=0"}})
	var failed *Error
	if errors.As(err, &failed) && failed.Code == 1 {
		return nil, nil // nothing holds it
	}
	if err != nil {
		return nil, fmt.Errorf("searching %s: %w", commit, err)
	}
	var paths []string
	for line := range bytes.SplitSeq(out, []byte{0}) {
		if p, ok := strings.CutPrefix(string(line), commit+":"); ok {
			paths = append(paths, p)
		}
	}
	return paths, nil
}
