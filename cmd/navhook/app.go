package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd/manifest"
	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/hook"
	"github.com/nav-watchdog/nav-watchdog/internal/lint"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
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
	knows      func(ctx context.Context, user string) bool
	now        func() time.Time
}

func run(ctx context.Context, args []string, e env) error {
	app := &cli.App{
		Name: "navhook", Usage: "what a Git server and a clone run for nav-watchdog",
		Version: version, Writer: e.out, ErrWriter: e.err,
		Commands: []*cli.Command{
			{Name: "commit-msg", Usage: "lint a message before it is committed", ArgsUsage: "FILE", Action: e.commitMsg},
			{Name: "pre-receive", Usage: "refuse a push that asks for what cannot be watched", Flags: hostFlags(), Action: e.preReceive},
			{Name: "post-receive", Usage: "queue what arrived on a watched branch", Flags: hostFlags(), Action: e.postReceive},
			e.installCommand(), e.doctorCommand(),
		},
	}
	return exit.Run(ctx, exit.Describe(app, examples()), args)
}

// hostFlags stand in the shims of install --global, which serve many
// repositories; what stands in a repository's configuration comes first.
func hostFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "host", Usage: "`HOST`, where the repository's nav.host does not say it"},
		&cli.StringFlag{Name: "watcher", Usage: "`NAME`, where the repository's nav.watcher does not say it"},
		&cli.BoolFlag{Name: "no-queue", Usage: "write nothing, where the repository's nav.queue does not say it"},
	}
}

// preReceive reports its own error: a host may show only what is said in its
// own way, and main does not know which host that is.
func (e env) preReceive(c *cli.Context) error {
	if err := wantArgs(c, 0); err != nil {
		return err
	}
	repo, err := e.open(c.Context)
	if err != nil {
		return told(hook.Voice(c.Context, hook.Config{Out: e.err, Getenv: e.getenv}), err)
	}
	defer repo.Close()
	push := e.push(c, repo)
	push.Out = hook.Voice(c.Context, push)
	if err := hook.PreReceive(c.Context, push); err != nil {
		return told(push.Out, err)
	}
	return nil
}

func told(w io.Writer, err error) error {
	return &exit.Error{Code: exit.Report(w, "navhook", err), Err: err, Reported: true}
}

// postReceive says what went wrong and succeeds: the push is in already.
func (e env) postReceive(c *cli.Context) error {
	if err := wantArgs(c, 0); err != nil {
		return err
	}
	repo, err := e.open(c.Context)
	if err != nil {
		exit.Report(e.err, "navhook", fmt.Errorf("nothing was queued: %w", err))
		return nil
	}
	defer repo.Close()
	hook.PostReceive(c.Context, e.push(c, repo))
	return nil
}

func (e env) open(ctx context.Context) (*gitstore.Repo, error) {
	return gitstore.OpenHook(ctx, ".", gitstore.Options{Env: e.environ})
}

func (e env) push(c *cli.Context, repo *gitstore.Repo) hook.Config {
	s := newStore(repo)
	trees := manifest.NewReader(s.files)
	trees.Remember(memoryIn(repo.CommonDir()))
	return hook.Config{
		Stdin: e.in, Out: e.err, Repo: s, Manifests: trees, User: e.user, Now: e.now, Getenv: e.getenv,
		Options: hook.Options{Host: c.String("host"), Watcher: c.String("watcher"), NoQueue: c.Bool("no-queue")},
	}
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
	clone := newStore(repo)
	check := lint.Config{
		Handler: &lint.Text{W: e.err}, Note: e.err, Getenv: e.getenv,
		Known: &lint.Known{Files: clone, Manifests: manifest.NewReader(clone.files), Now: e.now()},
	}
	urls, err := repo.RemoteURLs(c.Context)
	if err != nil {
		return err
	}
	if len(urls) > 0 {
		check.Known.IsOurs = func(url string) bool {
			return slices.ContainsFunc(urls, func(u string) bool { return verdict.SameRepo(u, url) })
		}
	}
	return check.CommitMsg(c.Context, clone, c.Args().First(), msg)
}

func (e env) getenv(name string) string { return variable(e.environ, name) }

func wantArgs(c *cli.Context, n int) error {
	if c.NArg() == n {
		return nil
	}
	return exit.Hint(exit.Misused(errors.New(c.Command.Name+": wrong number of arguments")),
		"usage: navhook %s %s", c.Command.Name, c.Command.ArgsUsage)
}
