package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/hook"
)

func (e env) installCommand() *cli.Command {
	return &cli.Command{
		Name: "install", Usage: "put the hooks of a repository in place, or take them back", ArgsUsage: "REPO", Action: e.install,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "clone", Usage: "REPO is a developer's clone: commit-msg, and verdicts are fetched and shown"},
			&cli.StringFlag{Name: "host", Usage: "`HOST` on which the repository is: gitea, gitlab, gitolite, http or plain; without it, as it was, at first plain"},
			&cli.StringFlag{Name: "watcher", Usage: "`NAME` of the user as whom navwatchd pushes; without it, nobody may write verdicts"},
			&cli.BoolFlag{Name: "no-queue", Usage: "post-receive only prints, because refs that a hook writes are not replicated (Gitaly Cluster); =false takes it back"},
			&cli.StringFlag{Name: "global", Usage: "instead of REPO, `DIR` that serves all repositories: GitLab's custom_hooks_dir, gitolite's LOCAL_CODE"},
			&cli.BoolFlag{Name: "repo-specific", Usage: "with --host gitolite --global: hooks for the repositories that gitolite.conf names"},
			&cli.BoolFlag{Name: "uninstall", Usage: "take the hooks and settings back; a hook that was chained is put in its place"},
		},
	}
}

func (e env) install(c *cli.Context) error {
	self, err := e.executable()
	if err == nil {
		self, err = filepath.Abs(self)
	}
	if err != nil {
		return fmt.Errorf("asking where navhook is: %w", err)
	}
	in := hook.Install{
		Out: e.out, Command: []string{self}, Clone: c.Bool("clone"),
		Host: c.String("host"), Watcher: c.String("watcher"), Knows: e.knows,
		Global: c.String("global"), Specific: c.Bool("repo-specific"),
	}
	if c.IsSet("no-queue") {
		in.NoQueue = new(c.Bool("no-queue"))
	}
	if in.Global == "" {
		repo, err := e.named(c)
		if err != nil {
			return err
		}
		in.Home = repo
	} else if c.NArg() > 0 {
		return exit.Hint(exit.Misused(errors.New("install: --global and REPO do not go together")),
			"what one repository needs otherwise stands in its own configuration: install without --global")
	}
	if c.Bool("uninstall") {
		if repo, ok := in.Home.(*gitstore.Repo); ok {
			if err := memoryIn(repo.CommonDir()).forget(); err != nil {
				return fmt.Errorf("forgetting where manifests were: %w", err)
			}
		}
		return in.Undo(c.Context)
	}
	return in.Run(c.Context)
}

// named opens the repository that is the only argument.
func (e env) named(c *cli.Context) (*gitstore.Repo, error) {
	if err := wantArgs(c, 1); err != nil {
		return nil, err
	}
	repo, err := gitstore.Open(c.Context, c.Args().First(), gitstore.Options{Env: e.environ})
	if err != nil {
		return nil, exit.Misused(err)
	}
	return repo, nil
}
