package gitstore

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// OpenHook is Open for a hook of receive-pack, which has said in GIT_DIR what
// Open would ask git for. It starts no process, because a hook's time is the
// pusher's, unless there is something it must ask: a linked worktree, another
// object format, a shallow repository.
//
// The Repo keeps one cat-file for all that it is asked: a process costs more
// than most answers. So it is for one goroutine, and must be closed.
func OpenHook(ctx context.Context, dir string, o Options) (*Repo, error) {
	r, err := openHook(ctx, dir, o)
	if r != nil {
		r.keep = true
	}
	return r, err
}

func openHook(ctx context.Context, dir string, o Options) (*Repo, error) {
	o.Hook = true
	gitDir := variable(o.Env, "GIT_DIR")
	if gitDir == "" || variable(o.Env, "GIT_COMMON_DIR") != "" {
		return Open(ctx, dir, o)
	}
	if !filepath.IsAbs(gitDir) {
		abs, err := filepath.Abs(filepath.Join(dir, gitDir))
		if err != nil {
			return Open(ctx, dir, o)
		}
		gitDir = abs
	}
	// Both are settings of this very file: git follows no include for them
	// (setup.c, read_repository_format).
	conf, err := os.ReadFile(filepath.Join(gitDir, "config"))
	if err != nil || bytes.Contains(bytes.ToLower(conf), []byte("objectformat")) ||
		exists(gitDir, "shallow") || exists(gitDir, "commondir") {
		return Open(ctx, dir, o)
	}
	r := newRepo(dir, o)
	r.format = "sha1"
	r.bind(gitDir, true)
	return r, nil
}

func exists(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return !os.IsNotExist(err)
}

// variable is the value that counts of an environment: the last one.
func variable(env []string, name string) string {
	value := ""
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = v
		}
	}
	return value
}

// LogByDate is Log in the order in which git finds commits, newest first by
// date: a parent may come before its child. With a commit-graph, the
// topological order of Log costs more than the rest of a small answer, because
// new commits are not in the graph yet.
func (r *Repo) LogByDate(ctx context.Context, tips, exclude []string, fn func(Commit) error) error {
	if len(tips) == 0 { // git would take HEAD
		return nil
	}
	in, err := revs(tips, exclude)
	if err != nil {
		return fmt.Errorf("listing commits: %w", err)
	}
	var fnErr error
	err = r.log(ctx, nil, in, func(c Commit) error {
		fnErr = fn(c)
		return fnErr
	})
	if fnErr != nil {
		return fnErr
	}
	if err != nil {
		return fmt.Errorf("listing commits: %w", err)
	}
	return nil
}

// HeadBranch is DefaultBranch without a process where HEAD can be read as what
// it is, a file that names a branch. Where refs are stored otherwise, git keeps
// a HEAD that names none (refs/heads/.invalid), and is asked.
func (r *Repo) HeadBranch(ctx context.Context) (string, error) {
	head, err := os.ReadFile(filepath.Join(r.gitDir, "HEAD"))
	name, symbolic := strings.CutPrefix(strings.TrimRight(string(head), "\n"), "ref: ")
	if err != nil || !symbolic || !strings.HasPrefix(name, "refs/heads/") || name == "refs/heads/.invalid" || checkRef(name) != nil {
		return r.DefaultBranch(ctx)
	}
	return name, nil
}
