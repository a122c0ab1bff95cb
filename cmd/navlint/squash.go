package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/internal/lint"
)

func squashFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "squash-message", Usage: "lint the commit that squashing the range would make, of a merge request whose title and description are in `FILE`"},
		&cli.StringFlag{Name: "host", Usage: "`HOST` whose default template makes that message: " + strings.Join(lint.SquashHosts(), ", ") + " (default: what CI or the remotes say, else all that have one)"},
	}
}

// squash lints what a merge request would become.
func (e env) squash(c *cli.Context) error {
	if c.Bool("stdin") {
		return exit.Usagef("--squash-message wants a range, not --stdin")
	}
	if err := check(c, 1, lint.Formats()); err != nil {
		return err
	}
	name := c.String("squash-message")
	text, err := e.file(name, lint.ReadMessage)
	if err != nil {
		return err
	}
	revs, err := lint.ParseRange(c.Args().First())
	if err != nil {
		return err
	}
	repo, conf, err := e.withFacts(c)
	if err != nil {
		return err
	}
	urls, err := repo.RemoteURLs(c.Context)
	if err != nil {
		return err
	}
	hosts, err := e.squashHosts(c.String("host"), urls)
	if err != nil {
		return err
	}
	return conf.Squash(c.Context, repo, revs, name, text, hosts)
}

// squashHosts is the host that was named, or that a CI system or an address
// tells; else all whose templates are known.
func (e env) squashHosts(named string, urls []string) ([]string, error) {
	if named != "" {
		if !slices.Contains(lint.SquashHosts(), named) {
			return nil, exit.Hint(exit.Usagef("there is no host %q", named), "hosts: %s", strings.Join(lint.SquashHosts(), ", "))
		}
		return []string{named}, nil
	}
	for _, ci := range []struct{ variable, host string }{
		{"GITEA_ACTIONS", lint.HostGitea}, {"GITHUB_ACTIONS", lint.HostGitHub}, {"GITLAB_CI", lint.HostGitLab},
	} {
		if variable(e.environ, ci.variable) != "" { // Gitea Actions says that it is GitHub's as well
			return []string{ci.host}, nil
		}
	}
	for _, url := range urls {
		for _, host := range []string{lint.HostGitHub, lint.HostGitLab, lint.HostGitea} {
			if strings.Contains(url, host+".") {
				return []string{host}, nil
			}
		}
	}
	return []string{lint.HostGitHub, lint.HostGitLab, lint.HostGitea}, nil
}
