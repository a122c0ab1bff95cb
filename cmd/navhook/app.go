package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/hook"
	"github.com/nav-watchdog/nav-watchdog/internal/lint"
)

// version is set by the linker.
var version = "v0.0.0-dev"

// env is the world outside of the program.
type env struct {
	in         io.Reader
	out, err   io.Writer
	environ    []string
	executable func() (string, error)
	user       func() (string, error)
	now        func() time.Time
}

func run(ctx context.Context, args []string, e env) error {
	app := &cli.App{
		Name: "navhook", Usage: "what a Git server and a clone run for nav-watchdog",
		Version: version, Writer: e.out, ErrWriter: e.err,
		Commands: []*cli.Command{
			{Name: "commit-msg", Usage: "lint a message before it is committed", ArgsUsage: "FILE", Action: e.commitMsg},
			{Name: "pre-receive", Usage: "refuse a push that asks for what cannot be watched", Action: noArgs(e.preReceive)},
			{Name: "post-receive", Usage: "queue what arrived on a watched branch", Action: noArgs(e.postReceive)},
			{
				Name: "install", Usage: "put the hooks of a repository in place", ArgsUsage: "REPO", Action: e.install,
				Flags: []cli.Flag{
					&cli.BoolFlag{Name: "clone", Usage: "REPO is a developer's clone: commit-msg, and verdicts are fetched and shown"},
					&cli.StringFlag{Name: "watcher", Usage: "`NAME` of the user as whom navwatchd pushes; without it, nobody may write verdicts"},
				},
			},
		},
	}
	return exit.Run(ctx, app, args)
}

func (e env) preReceive(ctx context.Context) error {
	repo, err := e.open(ctx)
	if err != nil {
		return err
	}
	defer repo.Close()
	return hook.PreReceive(ctx, e.push(repo))
}

// postReceive says what went wrong and succeeds: the push is in already.
func (e env) postReceive(ctx context.Context) error {
	repo, err := e.open(ctx)
	if err != nil {
		exit.Report(e.err, "navhook", fmt.Errorf("nothing was queued: %w", err))
		return nil
	}
	defer repo.Close()
	hook.PostReceive(ctx, e.push(repo))
	return nil
}

func (e env) open(ctx context.Context) (*gitstore.Repo, error) {
	return gitstore.OpenHook(ctx, ".", gitstore.Options{Env: e.environ})
}

func (e env) push(repo *gitstore.Repo) hook.Config {
	return hook.Config{Stdin: e.in, Out: e.err, Repo: store{repo}, User: e.user, Now: e.now}
}

func (e env) commitMsg(c *cli.Context) error {
	if err := wantArgs(c, 1); err != nil {
		return err
	}
	f, err := os.Open(c.Args().First())
	if err != nil {
		return exit.Misused(err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	msg, err := lint.ReadCommitMsg(f)
	if err != nil {
		return err
	}
	repo, err := gitstore.Open(c.Context, ".", gitstore.Options{Env: e.environ, Hook: true})
	if err != nil {
		return err
	}
	check := lint.Config{Handler: &lint.Text{W: e.err}, Note: e.err, Getenv: e.getenv}
	return check.CommitMsg(c.Context, store{repo}, c.Args().First(), msg)
}

func (e env) install(c *cli.Context) error {
	if err := wantArgs(c, 1); err != nil {
		return err
	}
	repo, err := gitstore.Open(c.Context, c.Args().First(), gitstore.Options{Env: e.environ})
	if err != nil {
		return exit.Misused(err)
	}
	self, err := e.executable()
	if err != nil {
		return fmt.Errorf("asking where navhook is: %w", err)
	}
	if self, err = filepath.Abs(self); err != nil {
		return fmt.Errorf("asking where navhook is: %w", err)
	}
	return hook.Install{
		Home: repo, Out: e.out, Command: []string{self},
		Clone: c.Bool("clone"), Watcher: c.String("watcher"),
	}.Run(c.Context)
}

func (e env) getenv(name string) string { return variable(e.environ, name) }

// noArgs is a command that takes none.
func noArgs(do func(context.Context) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		if err := wantArgs(c, 0); err != nil {
			return err
		}
		return do(c.Context)
	}
}

func wantArgs(c *cli.Context, n int) error {
	if c.NArg() == n {
		return nil
	}
	return exit.Hint(exit.Misused(errors.New(c.Command.Name+": wrong number of arguments")),
		"usage: navhook %s %s", c.Command.Name, c.Command.ArgsUsage)
}
