package main

import (
	"context"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/lint"
)

// store is the repository as internal/lint wants it: its interfaces mention no
// type of gitstore.
type store struct {
	*gitstore.Repo
	files *gitstore.FileTrees
}

func newStore(repo *gitstore.Repo) store { return store{repo, gitstore.NewFileTrees(repo)} }

func (s store) Log(ctx context.Context, tips, exclude []string, fn func(lint.Commit) error) error {
	return s.Repo.Log(ctx, tips, exclude, func(c gitstore.Commit) error { return fn(commit(c)) })
}

func (s store) Ordered(ctx context.Context, tips, exclude []string, fn func(lint.Commit) error) error {
	return s.Repo.Ordered(ctx, tips, exclude, func(c gitstore.Commit) error { return fn(commit(c)) })
}

func (s store) Each(ctx context.Context, ids []string, fn func(lint.Commit) error) error {
	commits, err := s.Commits(ctx, ids)
	if err != nil {
		return err
	}
	for _, c := range commits {
		if err := fn(commit(c)); err != nil {
			return err
		}
	}
	return nil
}

func (s store) Note(ctx context.Context, ref, object string) ([]byte, bool, error) {
	notes, err := s.NotesOf(ctx, ref, []string{object})
	if err != nil {
		return nil, false, err
	}
	data, there := notes[object]
	return data, there, nil
}

func commit(c gitstore.Commit) lint.Commit {
	return lint.Commit{ID: c.ID, Parents: c.Parents, Message: c.Message, Truncated: c.Truncated}
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
