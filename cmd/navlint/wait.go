package main

import (
	"time"

	"github.com/urfave/cli/v2"

	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/lint"
)

// shortestWait is how often the notes, and a remote, may be asked at most.
const shortestWait = 100 * time.Millisecond

func waitCommand(action cli.ActionFunc, format cli.Flag) *cli.Command {
	return &cli.Command{
		Name: "wait", Usage: "wait for the verdicts of a commit", ArgsUsage: "COMMIT", Description: helpWait, Action: action,
		Flags: []cli.Flag{
			format,
			&cli.StringSliceFlag{Name: "app", Usage: "wait for this `APP` only (NAME or NAMESPACE/NAME); may be repeated"},
			&cli.DurationFlag{Name: "timeout", Value: time.Hour, Usage: "`TIME` after which to give up"},
			&cli.DurationFlag{Name: "interval", Value: 10 * time.Second, Usage: "`TIME` between two looks"},
			&cli.StringFlag{Name: "remote", Usage: "fetch the verdicts of this `REMOTE` before each look"},
		},
	}
}

func (e env) wait(c *cli.Context) error {
	if err := check(c, 1, plainFormats()); err != nil {
		return err
	}
	how := lint.Waiting{
		Apps: c.StringSlice("app"), Timeout: c.Duration("timeout"), Interval: c.Duration("interval"), Remote: c.String("remote"),
		Format: c.String("format"), Terminal: e.terminal, Now: e.now,
	}
	switch {
	case how.Timeout <= 0:
		return exit.Usagef("--timeout %s: must be more than 0", how.Timeout)
	case how.Interval < shortestWait:
		return exit.Usagef("--interval %s: must be at least %s", how.Interval, shortestWait)
	}
	// Unlike the other commands, it keeps no process: one has only so much time.
	repo, err := gitstore.Open(c.Context, ".", gitstore.Options{Env: e.environ, Hook: true})
	if err != nil {
		return err
	}
	return e.config(c).Wait(c.Context, newStore(repo), e.out, c.Args().First(), how)
}
