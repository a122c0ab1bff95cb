package main

import (
	"context"
	"strings"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/lint"
)

// store is the repository as the shells want it: their interfaces mention no
// type of gitstore.
type store struct {
	*gitstore.Repo
	files *gitstore.FileTrees
}

func newStore(repo *gitstore.Repo) store { return store{repo, gitstore.NewFileTrees(repo)} }

func (s store) Log(ctx context.Context, tips, exclude []string, fn func(lint.Commit) error) error {
	return s.LogByDate(ctx, tips, exclude, func(c gitstore.Commit) error {
		return fn(lint.Commit{ID: c.ID, Parents: c.Parents, Message: c.Message, Truncated: c.Truncated})
	})
}

func (s store) IDs(ctx context.Context, names []string) (map[string]string, error) {
	objects, err := s.Resolve(ctx, names)
	ids := make(map[string]string, len(objects))
	for name, o := range objects {
		if !o.Missing {
			ids[name] = o.ID
		}
	}
	return ids, err
}

func (s store) DefaultBranch(ctx context.Context) (string, error) { return s.HeadBranch(ctx) }

func (s store) Tree(ctx context.Context, rev string) (map[string]string, error) {
	files, err := s.Files(ctx, rev, "")
	tree := make(map[string]string, len(files))
	for _, f := range files {
		if f.Mode == "100644" || f.Mode == "100755" { // git reads nothing else as a note
			tree[f.Path] = f.ID
		}
	}
	return tree, err
}

func (s store) Contents(ctx context.Context, ids []string, fn func(string, []byte) error) error {
	return s.BlobsByID(ctx, ids, fn)
}

func (s store) Append(ctx context.Context, ref, tip string, lines map[string][]string, key func(string) string, message string, at time.Time) (int, error) {
	who := gitstore.Identity{Name: "navhook", Email: "navhook@localhost", When: at}
	return s.AppendNotesFrom(ctx, ref, tip, lines, key, message, who)
}

func (s store) Paths(ctx context.Context, commits []string) (map[string][]string, error) {
	return s.files.Paths(ctx, commits)
}

// variable is the value that counts of an environment: the last one.
func variable(environ []string, name string) string {
	value := ""
	for _, kv := range environ {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = v
		}
	}
	return value
}
