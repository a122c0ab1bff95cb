// Package repository is a bare Git repository that Argo CD deploys from, and
// what people do to it.
package repository

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// Repository is a bare repository with a clone to work in.
type Repository struct {
	URL string // file://...

	bare, work string
	mu         sync.Mutex
}

// New makes a bare repository DIR/NAME.git with a branch main.
func New(ctx context.Context, dir, name string) (*Repository, error) {
	r := &Repository{bare: filepath.Join(dir, name+".git"), work: filepath.Join(dir, name)}
	r.URL = "file://" + r.bare
	for _, args := range [][]string{
		{"init", "--quiet", "--bare", "--initial-branch=main", r.bare},
		{"clone", "--quiet", r.bare, r.work},
	} {
		if _, err := git(ctx, "", args...); err != nil {
			return nil, err
		}
	}
	_, err := r.git(ctx, "checkout", "--quiet", "-B", "main")
	return r, err
}

// Commit writes files (an empty content deletes one), commits them on the
// current branch and returns the commit. It is not pushed.
func (r *Repository) Commit(ctx context.Context, message string, files map[string]string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, content := range files {
		f := filepath.Join(r.work, name)
		if content == "" {
			if err := os.Remove(f); err != nil {
				return "", err
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(f), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(f, []byte(content), 0o644); err != nil {
			return "", err
		}
	}
	if _, err := r.git(ctx, "add", "--all"); err != nil {
		return "", err
	}
	if _, err := r.git(ctx, "commit", "--quiet", "--allow-empty", "-m", message); err != nil {
		return "", err
	}
	return r.git(ctx, "rev-parse", "HEAD")
}

// Git runs git in the clone.
func (r *Repository) Git(ctx context.Context, args ...string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.git(ctx, args...)
}

// Push pushes the clone's branches and tags; force also rewrites.
func (r *Repository) Push(ctx context.Context, force bool) error {
	args := []string{"push", "--quiet", "--all", "origin"}
	if force {
		args = append(args, "--force")
	}
	if _, err := r.Git(ctx, args...); err != nil {
		return err
	}
	_, err := r.Git(ctx, "push", "--quiet", "--tags", "origin")
	return err
}

// Bundle writes everything that the repository holds into one file.
func (r *Repository) Bundle(ctx context.Context, file string) error {
	_, err := git(ctx, r.bare, "bundle", "create", "--quiet", file, "--all")
	return err
}

func (r *Repository) git(ctx context.Context, args ...string) (string, error) {
	return git(ctx, r.work, args...)
}

func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=Alice", "GIT_AUTHOR_EMAIL=alice@example.com", "GIT_COMMITTER_NAME=Alice", "GIT_COMMITTER_EMAIL=alice@example.com")
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
		}
		return "", fmt.Errorf("running git %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}
