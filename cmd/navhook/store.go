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
	gitstore.Served
	files *gitstore.FileTrees
}

func newStore(repo *gitstore.Repo) store {
	return store{gitstore.Served{Repo: repo}, gitstore.NewFileTrees(repo)}
}

func (s store) Log(ctx context.Context, tips, exclude []string, fn func(lint.Commit) error) error {
	return s.Served.Log(ctx, tips, exclude, func(c gitstore.Commit) error {
		return fn(lint.Commit{ID: c.ID, Parents: c.Parents, Message: c.Message, Truncated: c.Truncated})
	})
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
