package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/drill"
	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/hook"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// What is in the drill's folder.
const (
	serverDir = "server.git"
	cloneDir  = "clone"
	mirrorDir = "mirror.git"
	logFile   = "navwatchd.log"
	wasSaid   = "remote: " // how git shows what a hook says
	drillName = "navwatchd"
)

// gitTimeout bounds one git process of a person.
const gitTimeout = time.Minute

// drillRepo is the server's repository and a clone, in which everybody works.
type drillRepo struct {
	dir     string
	environ []string
	clock   *drill.Clock
	server  *gitstore.Repo
}

func newDrillRepo(ctx context.Context, dir string, e env, clock *drill.Clock) (*drillRepo, error) {
	r := &drillRepo{dir: dir, environ: e.environ, clock: clock}
	for _, d := range []string{"home", cloneDir} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			return nil, err
		}
	}
	o := gitstore.Options{Env: drillEnv(e.environ, dir, drillName, clock)}
	var err error
	if r.server, err = gitstore.Init(ctx, filepath.Join(dir, serverDir), o); err != nil {
		return nil, err
	}
	err = hook.Install{
		Home: r.server, Out: io.Discard, Command: []string{e.executable, drillHook}, Watcher: drillName,
	}.Run(ctx)
	if err != nil {
		return nil, fmt.Errorf("installing the hooks: %w", err)
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--template=", "--initial-branch=main"},
		{"remote", "add", "origin", r.server.Dir()},
		// What a clone may repack behind our back would outlive the drill.
		{"config", "gc.auto", "0"},
		{"config", "maintenance.auto", "false"},
	} {
		if _, err := r.git(ctx, drillName, args...); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// git runs a person's git in the clone.
func (r *drillRepo) git(ctx context.Context, who string, args ...string) (string, error) {
	out, said, err := r.try(ctx, who, args...)
	if err != nil {
		return "", fmt.Errorf("running git %s: %w: %s", args[0], err, strings.TrimSpace(said))
	}
	return out, nil
}

// try is git where it may fail; it gives stdout and stderr.
func (r *drillRepo) try(ctx context.Context, who string, args ...string) (string, string, error) {
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env = filepath.Join(r.dir, cloneDir), drillEnv(r.environ, r.dir, who, r.clock)
	cmd.WaitDelay = 5 * time.Second // a grandchild may hold the pipes open
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	return out.String(), said.String(), err
}

// Push commits on top of what the branch has, and pushes.
func (r *drillRepo) Push(ctx context.Context, c drill.Change) (drill.Pushed, error) {
	if err := r.upToDate(ctx, c.Who); err != nil {
		return drill.Pushed{}, err
	}
	commit := []string{"commit", "--quiet", "--message=" + c.Message}
	if c.Revert != "" {
		commit = []string{"revert", "--no-edit", c.Revert}
	}
	if err := r.write(c.Files); err != nil {
		return drill.Pushed{}, err
	}
	for _, args := range [][]string{{"add", "--all"}, commit} {
		if _, err := r.git(ctx, c.Who, args...); err != nil {
			return drill.Pushed{}, err
		}
	}
	id, err := r.git(ctx, c.Who, "rev-parse", "HEAD")
	if err != nil {
		return drill.Pushed{}, err
	}
	p := drill.Pushed{Commit: strings.TrimSpace(id)}
	_, said, err := r.try(ctx, c.Who, "push", "origin", "main")
	for line := range strings.Lines(said) {
		if text, ok := strings.CutPrefix(line, wasSaid); ok {
			p.Said = append(p.Said, strings.TrimRight(text, " \n"))
		}
	}
	if len(p.Said) > 0 && p.Said[len(p.Said)-1] == "" {
		p.Said = p.Said[:len(p.Said)-1]
	}
	var failed *exec.ExitError
	switch {
	case err == nil:
	case errors.As(err, &failed) && strings.Contains(said, "pre-receive hook declined"):
		p.Refused = true
	default:
		return p, fmt.Errorf("running git push: %w: %s", err, strings.TrimSpace(said))
	}
	return p, nil
}

// upToDate makes the clone what the branch is; nothing is there before the
// first push.
func (r *drillRepo) upToDate(ctx context.Context, who string) error {
	if _, err := r.git(ctx, who, "fetch", "--quiet", "origin"); err != nil {
		return err
	}
	refs, err := r.server.Refs(ctx, "refs/heads/")
	if err != nil || len(refs) == 0 {
		return err
	}
	_, err = r.git(ctx, who, "reset", "--quiet", "--hard", "origin/main")
	return err
}

func (r *drillRepo) write(files map[string]string) error {
	for path, content := range files {
		name := filepath.Join(r.dir, cloneDir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Tip tells what the branch holds now.
func (r *drillRepo) Tip(ctx context.Context) (drill.Tip, error) {
	names := []string{"refs/heads/main", "main^{tree}", "main~1", "main~2^{tree}"}
	got, err := r.server.Resolve(ctx, names)
	if err != nil {
		return drill.Tip{}, err
	}
	t := drill.Tip{Commit: got[names[0]].ID, Tree: got[names[1]].ID, Parent: got[names[2]].ID, GrandTree: got[names[3]].ID}
	if got[names[0]].Missing {
		return t, errors.New("the branch main is not there")
	}
	line, err := r.log(ctx, "--no-walk", "--format=%s", t.Commit)
	t.Subject = strings.TrimSpace(line)
	return t, err
}

// Verdicts reads the note of a commit as the server has it.
func (r *drillRepo) Verdicts(ctx context.Context, commit string) ([]verdict.State, error) {
	notes, err := r.server.NotesOf(ctx, verdictsRef, []string{commit})
	if err != nil || notes[commit] == nil {
		return nil, err
	}
	return verdict.ParseNote(notes[commit])
}

// Log is what git prints, on the server.
func (r *drillRepo) Log(ctx context.Context, commits []string) (string, error) {
	return r.log(ctx, append([]string{"--no-walk=unsorted", "--notes=nav/verdicts"}, commits...)...)
}

func (r *drillRepo) log(ctx context.Context, args ...string) (string, error) {
	return r.git(ctx, drillName, slices.Concat([]string{"--git-dir=" + r.server.Dir(), "--no-pager", "log"}, args)...)
}
