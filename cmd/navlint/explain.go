package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/internal/lint"
)

func explainCommand(action cli.ActionFunc, format cli.Flag) *cli.Command {
	return &cli.Command{
		Name: "explain", Usage: "say what is known of an Application, and what that means for arming", ArgsUsage: "[APP]", Description: helpExplain, Action: action,
		Flags: []cli.Flag{
			format,
			&cli.StringFlag{Name: "argocd-server", Usage: "ask the Argo CD at `URL`, too; its token is read from ARGOCD_AUTH_TOKEN"},
			&cli.StringFlag{Name: "branch", Usage: "`BRANCH` on which commits land (default: any that the policy watches)"},
		},
	}
}

func (e env) explain(c *cli.Context) error {
	if c.NArg() > 1 {
		return arguments(c, 1)
	}
	if err := check(c, c.NArg(), plainFormats()); err != nil {
		return err
	}
	if c.NArg() == 1 && c.Args().First() == "" {
		return exit.Usagef("explain: the name is empty")
	}
	repo, err := e.open(c.Context)
	if err != nil {
		return err
	}
	defer repo.Close()
	conf := e.config(c)
	if conf.Known, err = e.known(c, repo); err != nil {
		return err
	}
	return conf.Explain(c.Context, repo, e.out, lint.ExplainAsk{
		App: c.Args().First(), Branch: strings.TrimPrefix(c.String("branch"), "refs/heads/"), Server: c.String("argocd-server"), Format: c.String("format"),
	})
}
