// Package gitstore reads and writes a repository through the git executable:
// refs, history, notes, the exact revert, fetch and push.
package gitstore

import (
	"context"
	"errors"
	"time"
)

var errTodo = errors.New("not built yet")

// Options say how git is started.
type Options struct {
	Env     []string
	Hook    bool
	Timeout time.Duration
}

// Repo is one repository.
type Repo struct{}

func Open(ctx context.Context, dir string, o Options) (*Repo, error) { return nil, errTodo }
func Init(ctx context.Context, dir string, o Options) (*Repo, error) { return nil, errTodo }

var (
	ErrStale    = errors.New("the repository changed since it was read")
	ErrRefused  = errors.New("the update was refused")
	ErrUnknown  = errors.New("the outcome of the write is unknown")
	ErrNoAtomic = errors.New("the server does not offer atomic pushes")
	ErrRoot     = errors.New("a root commit cannot be reverted")
	ErrEmpty    = errors.New("the revert would change nothing")
)

type RootError struct{ Commit string }

func (e *RootError) Error() string        { return e.Commit + " is a root commit" }
func (e *RootError) Is(target error) bool { return target == ErrRoot }

type ExactError struct{ Paths []string }

func (e *ExactError) Error() string { return "paths changed since" }

type PushError struct {
	Err    error
	Stderr string
}

func (e *PushError) Error() string { return e.Err.Error() }
func (e *PushError) Unwrap() error { return e.Err }

func (r *Repo) Refs(ctx context.Context, prefixes ...string) (map[string]string, error) {
	return nil, errTodo
}
func (r *Repo) DefaultBranch(ctx context.Context) (string, error) { return "", errTodo }

type RefUpdate struct{ Ref, Old, New string }

func (r *Repo) UpdateRefs(ctx context.Context, ups ...RefUpdate) error { return errTodo }

type Commit struct {
	ID          string
	Parents     []string
	Message     []byte
	AuthorName  string
	AuthorEmail string
	Time        time.Time
	Truncated   bool
}

func (r *Repo) Log(ctx context.Context, tips, exclude []string, fn func(Commit) error) error {
	return errTodo
}
func (r *Repo) Commits(ctx context.Context, ids []string) ([]Commit, error) { return nil, errTodo }

type Object struct {
	ID, Type string
	Missing  bool
}

func (r *Repo) Resolve(ctx context.Context, names []string) (map[string]Object, error) {
	return nil, errTodo
}
func (r *Repo) Contains(ctx context.Context, commits, revs []string) (map[string]map[string]bool, error) {
	return nil, errTodo
}

type Change struct {
	Commit string
	Paths  []string
	Merge  bool
}

func (r *Repo) Paths(ctx context.Context, ids []string) (map[string][]string, error) {
	return nil, errTodo
}
func (r *Repo) OwnPaths(ctx context.Context, tips, exclude []string) ([]Change, error) {
	return nil, errTodo
}
func (r *Repo) Blob(ctx context.Context, rev, path string) ([]byte, bool, error) {
	return nil, false, errTodo
}

type File struct{ Path, Mode, ID string }

func (r *Repo) Files(ctx context.Context, rev, dir string) ([]File, error) { return nil, errTodo }
func (r *Repo) BlobsByID(ctx context.Context, ids []string, fn func(id string, data []byte) error) error {
	return errTodo
}

type Notes struct{ Ref, Tip string }

func (r *Repo) Notes(ctx context.Context, ref string) (*Notes, error) { return nil, errTodo }
func (r *Repo) NotesSince(ctx context.Context, old *Notes, ref string) (*Notes, []string, error) {
	return nil, nil, errTodo
}
func (n *Notes) Get(object string) ([]byte, bool) { return nil, false }
func (n *Notes) Objects() []string                { return nil }
func (n *Notes) Len() int                         { return 0 }

type Identity struct {
	Name, Email string
	When        time.Time
}

func (r *Repo) WriteNotes(ctx context.Context, base *Notes, edits map[string][]byte, message string, who Identity) (string, error) {
	return "", errTodo
}
func (r *Repo) AppendNotes(ctx context.Context, ref string, lines map[string][]string, message string, who Identity) (int, error) {
	return 0, errTodo
}

// AppendNotesFunc is AppendNotes where two lines are the same if key says so.
func (r *Repo) AppendNotesFunc(ctx context.Context, ref string, lines map[string][]string, key func(line string) string, message string, who Identity) (int, error) {
	return 0, errTodo
}
func (r *Repo) WriteBlobCommit(ctx context.Context, files map[string][]byte, message string, who Identity, parents ...string) (string, error) {
	return "", errTodo
}
func (r *Repo) EmptyTree(ctx context.Context) (string, error) { return "", errTodo }

type Entry struct{ Mode, ID string }
type PathChange struct {
	Path          string
	Before, After Entry
}

func (r *Repo) Changes(ctx context.Context, commit string) ([]PathChange, error) { return nil, errTodo }
func (r *Repo) ChangedSince(ctx context.Context, commit, tip string) ([]string, error) {
	return nil, errTodo
}
func (r *Repo) BuildRevert(ctx context.Context, commit, tip string, message []byte, author, committer Identity, signKey string) (string, error) {
	return "", errTodo
}

type Remote struct{}
type RemoteRefs struct {
	Refs map[string]string
	HEAD string
}

func (r *Repo) Remote(url string) *Remote                         { return nil }
func (m *Remote) Fetch(ctx context.Context) (RemoteRefs, error)   { return RemoteRefs{}, errTodo }
func (m *Remote) Push(ctx context.Context, ups []RefUpdate) error { return errTodo }
