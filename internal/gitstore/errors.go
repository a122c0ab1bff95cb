package gitstore

import (
	"errors"
	"fmt"
	"strings"
)

// What became of a write, and why something cannot be done. All are found with
// errors.Is.
var (
	// ErrStale: somebody else moved a ref since it was read. Read again.
	ErrStale = errors.New("the repository changed since it was read")
	// ErrRefused: the update did not happen and every ref is where it was.
	ErrRefused = errors.New("the update was refused")
	// ErrUnknown: the update may have happened or may still happen. Read again
	// before anything else is written.
	ErrUnknown = errors.New("the outcome of the update is unknown")
	// ErrNoAtomic: refused, because the server does not offer atomic pushes.
	ErrNoAtomic = errors.New("the server does not offer atomic pushes")
	// ErrFormat: one repository has SHA-1 ids, the other SHA-256.
	ErrFormat = errors.New("object formats differ\nhint: navwatchd, as Argo CD, works with SHA-1 repositories")
	// ErrDetached: HEAD names a commit, not a branch.
	ErrDetached = errors.New("HEAD is detached: it names no branch")
	// ErrShallow: "no" cannot be said, because history was cut off.
	ErrShallow = errors.New("the history is shallow\nhint: fetch with --unshallow")
	// ErrRoot: a root commit has no parent whose content could be put back.
	ErrRoot = errors.New("a root commit cannot be reverted")
	// ErrEmpty: the revert would change nothing.
	ErrEmpty = errors.New("the revert would change nothing")
)

// RootError is ErrRoot with the commit.
type RootError struct{ Commit string }

func (e *RootError) Error() string { return fmt.Sprintf("%s: %v", e.Commit, ErrRoot) }

// Unwrap gives ErrRoot.
func (e *RootError) Unwrap() error { return ErrRoot }

// ExactError refuses a revert that would not be the exact inverse any more
// (design, section 6, gate exact).
type ExactError struct {
	Paths []string // sorted; as in the tree, bytes
}

func (e *ExactError) Error() string {
	quoted := make([]string, 0, 4)
	for i, p := range e.Paths {
		if i == 3 {
			quoted = append(quoted, fmt.Sprintf("and %d more", len(e.Paths)-i))
			break
		}
		quoted = append(quoted, fmt.Sprintf("%q", p))
	}
	return "changed since the commit: " + strings.Join(quoted, ", ")
}

// SizeError refuses content that is larger than what its reader bears.
type SizeError struct {
	What  string
	Size  int64 // bytes
	Limit int64 // bytes
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("%s has %d bytes, more than the limit of %d", e.What, e.Size, e.Limit)
}
