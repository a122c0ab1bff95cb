package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/internal/lint"
	"github.com/nav-watchdog/nav-watchdog/pkg/trailer"
)

func manifestsCommand(action cli.ActionFunc, flags ...cli.Flag) *cli.Command {
	return &cli.Command{
		Name: "manifests", Usage: "lint files that declare Applications and ApplicationSets", ArgsUsage: "[PATH...]", Description: helpManifests, Action: action,
		Flags: append(flags,
			&cli.StringFlag{Name: "mode", Usage: "ask whether all can be watched in this `MODE`: shadow or arm"},
			&cli.StringFlag{Name: "argocd-version", Usage: "the `VERSION` of Argo CD that will read them, such as 3.2"},
			&cli.StringFlag{Name: "branch", Usage: "`BRANCH` on which commits land (default: any that the policy watches)"},
		),
	}
}

// modes are those that --mode takes.
func modes() []string { return []string{string(trailer.Shadow), string(trailer.Arm)} }

func (e env) manifests(c *cli.Context) error {
	if err := check(c, c.NArg(), lint.Formats()); err != nil {
		return err
	}
	ask := lint.ManifestsAsk{Paths: c.Args().Slice(), Mode: trailer.Mode(c.String("mode")), Branch: strings.TrimPrefix(c.String("branch"), "refs/heads/")}
	if ask.Mode != "" && !slices.Contains(modes(), string(ask.Mode)) {
		return exit.Hint(exit.Usagef("unknown mode %q", ask.Mode), "modes: %s", strings.Join(modes(), ", "))
	}
	if v := c.String("argocd-version"); v != "" {
		var err error
		if ask.Version, err = arming.ParseVersion(v); err != nil {
			return exit.Misused(err)
		}
	}
	var clone lint.Clone // stays nil outside of a repository
	conf := e.config(c)
	repo, err := e.open(c.Context)
	if err == nil {
		defer repo.Close()
		clone = repo
		if ask.IsOurs, err = e.ours(c, repo); err != nil {
			return err
		}
	}
	w, err := newWorktree(c.Context, e.in, repo.Repo)
	if err != nil {
		return err
	}
	return conf.Manifests(c.Context, clone, w, ask)
}
