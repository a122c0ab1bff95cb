// Package people are those who work with a repository: each has a clone, and
// git's own ways to log in.
package people

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Clone is one person's clone of a repository.
type Clone struct {
	Name string // of the person
	Dir  string
	env  []string
}

// New clones url into dir. More is added to the environment of git: how the
// person logs in.
func New(ctx context.Context, dir, name, url string, more ...string) (*Clone, error) {
	c := &Clone{Name: name, Dir: dir, env: append(environment(name), more...)}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main"},
		{"remote", "add", "origin", url},
		{"fetch", "--quiet", "origin"},
	} {
		if out, err := c.Git(ctx, args...); err != nil {
			return nil, fmt.Errorf("cloning %s for %s: %w\n%s", url, name, err, out)
		}
	}
	if _, err := c.Git(ctx, "rev-parse", "--verify", "--quiet", "origin/main"); err == nil {
		if out, err := c.Git(ctx, "reset", "--quiet", "--hard", "origin/main"); err != nil {
			return nil, fmt.Errorf("checking out for %s: %w\n%s", name, err, out)
		}
	}
	return c, nil
}

// environment is git's without anything of whoever runs the tests.
func environment(name string) []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GIT_") && !strings.HasPrefix(v, "SSH_") {
			env = append(env, v)
		}
	}
	return append(env, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C",
		"GIT_AUTHOR_NAME="+name, "GIT_AUTHOR_EMAIL="+name+"@example.com",
		"GIT_COMMITTER_NAME="+name, "GIT_COMMITTER_EMAIL="+name+"@example.com")
}

// Password is the environment that logs in over HTTP, by a credential helper.
func Password(user, password string) []string {
	return []string{
		"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=credential.helper", "GIT_CONFIG_VALUE_0=",
		"GIT_CONFIG_KEY_1=credential.helper",
		"GIT_CONFIG_VALUE_1=!f() { echo username=" + user + "; echo password=" + password + "; }; f",
	}
}

// Key is the environment that logs in over SSH with a private key. More are
// options of ssh.
func Key(file string, more ...string) []string {
	return []string{"GIT_SSH_COMMAND=ssh -F /dev/null -i " + file + " " + strings.Join(more, " ") +
		" -o IdentitiesOnly=yes -o IdentityAgent=none -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"}
}

// NewKey makes a key pair and returns the public half.
func NewKey(ctx context.Context, file string) (public string, err error) {
	cmd := exec.CommandContext(ctx, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", filepath.Base(file), "-f", file)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("making a key: %w\n%s", err, out)
	}
	data, err := os.ReadFile(file + ".pub")
	return strings.TrimSpace(string(data)), err
}

// Git runs git in the clone. The text is all that it printed.
func (c *Clone) Git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env = c.Dir, c.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("running git %s as %s: %w", strings.Join(args, " "), c.Name, err)
	}
	return strings.TrimSpace(string(out)), err
}

// Pull lets the clone stand where the server's branch stands.
func (c *Clone) Pull(ctx context.Context, branch string) error {
	if out, err := c.Git(ctx, "fetch", "--quiet", "origin"); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	if out, err := c.Git(ctx, "checkout", "--quiet", "-B", branch, "origin/"+branch); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// Commit writes files and commits them on the current branch; it returns the
// commit.
func (c *Clone) Commit(ctx context.Context, message string, files map[string]string) (string, error) {
	for name, content := range files {
		file := filepath.Join(c.Dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			return "", err
		}
	}
	for _, args := range [][]string{{"add", "--all"}, {"commit", "--quiet", "--allow-empty", "-m", message}} {
		if out, err := c.Git(ctx, args...); err != nil {
			return "", fmt.Errorf("%w\n%s", err, out)
		}
	}
	return c.Git(ctx, "rev-parse", "HEAD")
}

// Note is a note of the server, fetched anew; empty if there is none.
func (c *Clone) Note(ctx context.Context, ref, commit string) (string, error) {
	if out, err := c.Git(ctx, "fetch", "--quiet", "origin", "+refs/notes/nav/*:refs/notes/nav/*"); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	out, err := c.Git(ctx, "notes", "--ref="+ref, "show", commit)
	if err != nil && strings.Contains(strings.ToLower(out), "no note found") {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return out, nil
}
