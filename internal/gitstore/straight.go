package gitstore

import (
	"bytes"
	"context"
	"slices"
	"strings"
)

// maxStraight is how many new commits are read one by one: more are listed
// faster by a process of their own.
const maxStraight = 8

// straight lists what tip reaches and base does not, oldest first, where that is a
// short line: from tip on, every commit has one parent, until the parent is base.
// Nothing of it can be behind base then. It needs no process but the cat-file that
// is kept; false: git log must be asked, and says what is wrong if anything is.
func (r *Repo) straight(ctx context.Context, tips, exclude []string) ([]Commit, bool) {
	if !r.hook || r.shallow || len(tips) != 1 || len(exclude) != 1 || r.checkIDs(tips, exclude) != nil {
		return nil, false
	}
	b, err := r.openBatch(ctx)
	if err != nil {
		return nil, false
	}
	var line []Commit
	next, plain := tips[0], true
	for err == nil && plain && (len(line) == 0 || next != exclude[0]) {
		if len(line) == maxStraight {
			plain = false
			break
		}
		err = b.each([]string{next}, MaxMessage, func(_ int, o object) error {
			var c Commit
			if _, c, plain = r.plainCommit(o); len(c.Parents) != 1 {
				plain = false
			}
			if plain {
				line, next = append(line, c), c.Parents[0]
			}
			return nil // an error would end the process, which is good for more
		})
	}
	slices.Reverse(line)
	return line, b.close(err) == nil && plain
}

// plainCommit reads a commit as git log would show it, and its tree; false: one of
// an unusual form, or in another encoding.
func (r *Repo) plainCommit(o object) (tree string, c Commit, plain bool) {
	head, message, ok := bytes.Cut(o.data, []byte("\n\n"))
	if o.kind != "commit" || !ok || bytes.IndexByte(head, 0) >= 0 {
		return "", Commit{}, false
	}
	lines := strings.Split(string(head), "\n")
	tree, ok = strings.CutPrefix(lines[0], "tree ")
	if !ok || r.checkID(tree) != nil {
		return "", Commit{}, false
	}
	c.ID, lines = o.id, lines[1:]
	for len(lines) > 0 && strings.HasPrefix(lines[0], "parent ") {
		parent := strings.TrimPrefix(lines[0], "parent ")
		if r.checkID(parent) != nil {
			return "", Commit{}, false
		}
		c.Parents, lines = append(c.Parents, parent), lines[1:]
	}
	odd := func(line string) bool {
		return line == "" || strings.HasPrefix(line, "parent ") || strings.HasPrefix(line, "encoding")
	}
	if len(lines) < 2 || !strings.HasPrefix(lines[0], "author ") || !strings.HasPrefix(lines[1], "committer ") || slices.ContainsFunc(lines, odd) {
		return "", Commit{}, false
	}
	message, _, _ = bytes.Cut(message, []byte{0}) // as in git
	c.Message = message
	return tree, c, true
}
