package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/internal/watchd"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

func circuitCommand(e env) *cli.Command {
	return &cli.Command{
		Name:  "circuit",
		Usage: "the circuit that stops reverts until a person looked",
		Subcommands: []*cli.Command{{
			Name:      "reset",
			Usage:     "close the circuit of an Application, or of the repository, with a reason",
			ArgsUsage: "APP|--repository",
			Flags: append(settingFlags("repository"),
				&cli.BoolFlag{Name: "repository", Usage: "the circuit of the whole repository"},
				&cli.StringFlag{Name: "repo", Usage: "URL or path of the repository [REPOSITORY]"},
				&cli.StringFlag{Name: "reason", Usage: "what was found, for those who read the notes later"}),
			Action: func(c *cli.Context) error { return resetCircuit(c, e) },
		}},
	}
}

// resetCircuit writes one line to `people` with the watcher's identity.
func resetCircuit(c *cli.Context, e env) error {
	line := verdict.PeopleLine{Kind: verdict.PeopleReset, Reason: strings.TrimSpace(c.String("reason")), At: e.now()}
	switch {
	case line.Reason == "":
		return exit.Hint(exit.Usagef("circuit reset wants a reason"), "--reason 'what you found'")
	case c.Bool("repository") && c.NArg() == 0:
	case !c.Bool("repository") && c.NArg() == 1:
		app, err := verdict.ParseApp(c.Args().First())
		if err != nil {
			return exit.Misused(err)
		}
		line.App = app.String()
	default:
		return exit.Usagef("circuit reset wants one APP, or --repository")
	}
	set, err := settings(c, e, map[string]string{"repository": c.String("repo"), "dry-run": "true", "folder": "."})
	if err != nil {
		return err
	}
	repo, rem, err := openMirror(c.Context, e, set)
	if err != nil {
		return err
	}
	line.By = set.Watcher.Name
	s := &store{repo: repo, remote: rem, watcher: set.Watcher}
	if err := appendPeople(c.Context, s, line); errors.Is(err, watchd.ErrRefused) {
		return exit.Hint(err, "push as the user whom `navhook install --watcher` named on the server, with the same name in watcher.name (--watcher-name)")
	} else if err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.stdout, "circuit of %s reset by %s\n", whose(line), line.By)
	return err
}

func whose(l verdict.PeopleLine) string {
	if l.App == "" {
		return "the repository"
	}
	return l.App
}

// appendPeople fetches, adds the line and pushes, again if somebody was faster.
func appendPeople(ctx context.Context, s *store, line verdict.PeopleLine) error {
	var err error
	for range 10 {
		if _, err = s.Fetch(ctx); err != nil {
			return err
		}
		err = s.Write(ctx, watchd.Write{People: []verdict.PeopleLine{line}, Message: "nav: " + line.Kind + " " + whose(line), At: line.At})
		if !errors.Is(err, watchd.ErrStale) {
			return err
		}
	}
	return err
}
