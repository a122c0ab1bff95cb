package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/navtest/measure"
)

// bench are the programs and where they run.
type bench struct {
	dir, navlint, navhook, self string
	env                         []string
}

func newBench(ctx context.Context, dir string) (*bench, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	b := &bench{
		dir: dir, navlint: filepath.Join(dir, "navlint"), navhook: filepath.Join(dir, "navhook"), self: self,
		env: []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C", "TZ=UTC",
			"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
			// A repository that is named may belong to somebody else.
			"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
		},
	}
	if err := measure.Build(ctx, dir, "navlint", "navhook"); err != nil {
		return nil, err
	}
	return b, nil
}

// startUp compares the start of a hook with git's own.
func (b *bench) startUp() pair {
	return pair{
		name: "navhook --version", beside: "git --version", limit: "3", runs: 50,
		ours: b.program("", nil, b.navhook, "--version"), git: b.program("", nil, "git", "--version"),
	}
}

// program is one that is measured; it must succeed.
func (b *bench) program(dir string, stdin []byte, name string, args ...string) func(context.Context, int) (used, error) {
	return func(ctx context.Context, _ int) (used, error) { return b.run(ctx, dir, stdin, name, args...) }
}

func (b *bench) run(ctx context.Context, dir string, stdin []byte, name string, args ...string) (used, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, b.env, bytes.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	began := time.Now()
	err := cmd.Run()
	wall := time.Since(began)
	if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == 1 && name == b.navlint { // findings
		err = nil
	}
	if err != nil {
		return used{}, fmt.Errorf("running %s %s: %w\n%.2000s", name, strings.Join(args, " "), err, stderr.Bytes())
	}
	return used{cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), wall}, nil
}

func (b *bench) git(ctx context.Context, stdin []byte, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Env, cmd.Stdin = b.env, bytes.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("running git %s: %w\n%.2000s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return strings.TrimSpace(string(out)), nil
}

// make makes a history: messages as people write them, each tenth with one more
// trailer, a watch or a usual one.
func (b *bench) make(ctx context.Context, name string, commits int, watched bool) (string, error) {
	repo := filepath.Join(b.dir, name)
	if _, err := b.git(ctx, nil, "init", "-q", "--bare", "-b", "main", repo); err != nil {
		return "", err
	}
	var s bytes.Buffer
	for i := range commits {
		text := fmt.Sprintf("chore(service-%d): bump to %d.%d\n\nThe new version has the fix that was asked for. It was\ntried in the staging cluster for two days.\n\nSigned-off-by: Ada <ada@example.com>\n", i%200, i/100, i%100)
		switch {
		case i%10 != 0:
		case !watched:
			text += "Reviewed-by: Grace <grace@example.com>\n"
		default:
			text += fmt.Sprintf("Nav-Watchdog: app=service-%d deadline=10m\n", i%200)
		}
		fmt.Fprintf(&s, "commit refs/heads/main\nmark :%d\ncommitter Ada <ada@example.com> %d +0000\ndata %d\n%s", i+1, 1_600_000_000+i*60, len(text), text)
		data := fmt.Sprintf("image: example.com/service:%d\n", i)
		fmt.Fprintf(&s, "M 100644 inline apps/group-%d/service-%d/values.yaml\ndata %d\n%s\n", i%20, i%200, len(data), data)
	}
	_, err := b.git(ctx, s.Bytes(), "-C", repo, "fast-import", "--quiet")
	return repo, err
}

// copy makes a bare copy that borrows the objects of a repository.
func (b *bench) copy(ctx context.Context, from string) (string, error) {
	from, err := filepath.Abs(from)
	if err != nil {
		return "", err
	}
	repo := filepath.Join(b.dir, "real.git")
	_, err = b.git(ctx, nil, "clone", "-q", "--bare", "--shared", "--", from, repo)
	return repo, err
}
