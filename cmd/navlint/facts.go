package main

import (
	"context"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd/api"
	"github.com/nav-watchdog/nav-watchdog/internal/argocd/manifest"
	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/internal/lint"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// factFlags say where facts about Applications come from.
func factFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "argocd-server", Usage: "ask the Argo CD at `URL`, too; its token is read from ARGOCD_AUTH_TOKEN"},
		&cli.StringFlag{Name: "branch", Usage: "`BRANCH` on which the commits are going to land (default: what CI says, else origin/HEAD)"},
	}
}

// tokenVariable is the one that Argo CD's own command reads. A token on the
// command line could be read by everybody on the machine.
const tokenVariable = "ARGOCD_AUTH_TOKEN"

// known gathers facts from the notes, the trees and the remotes of a clone, and
// from a live Argo CD where one is named.
func (e env) known(c *cli.Context, repo store) (*lint.Known, error) {
	k := &lint.Known{Files: repo, Manifests: manifest.NewReader(repo.files), Now: e.now(), Thorough: true}
	k.Names = func(context.Context) (func(string) bool, error) { return e.ours(c, repo) }
	if server := c.String("argocd-server"); server != "" {
		client, err := api.New(server, variable(e.environ, tokenVariable))
		if err != nil {
			return nil, exit.Misused(err)
		}
		k.Live = func(ctx context.Context) (arming.Place, error) { return client.Place(ctx, e.now()) }
	}
	return k, nil
}

// ours tells which addresses are a clone's remotes; nil: it has none.
func (e env) ours(c *cli.Context, repo store) (func(url string) bool, error) {
	urls, err := repo.RemoteURLs(c.Context)
	if err != nil || len(urls) == 0 {
		return nil, err
	}
	return func(url string) bool {
		return slices.ContainsFunc(urls, func(u string) bool { return verdict.SameRepo(u, url) })
	}, nil
}

// landing is the branch that was said, or that a CI system says.
func (e env) landing(c *cli.Context) string {
	if b := c.String("branch"); b != "" {
		return strings.TrimPrefix(b, "refs/heads/")
	}
	for _, name := range []string{"GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "CI_COMMIT_BRANCH"} {
		if b := variable(e.environ, name); b != "" {
			return b
		}
	}
	if variable(e.environ, "GITHUB_REF_TYPE") == "branch" {
		return variable(e.environ, "GITHUB_REF_NAME")
	}
	return ""
}
