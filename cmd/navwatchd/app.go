package main

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/nav-watchdog/nav-watchdog/internal/exit"
)

// version is set by the linker.
var version = "v0.0.0-dev"

// run is the whole program.
func run(ctx context.Context, args []string, e env) error {
	e.args = args
	app := &cli.App{
		Name:            "navwatchd",
		Usage:           "judge what becomes of watched commits, and take back what must not stay",
		Version:         version,
		Reader:          e.stdin,
		Writer:          e.stdout,
		ErrWriter:       e.stderr,
		HideHelpCommand: true,
		Commands: []*cli.Command{
			runCommand(e),
			onceCommand(e),
			selfcheckCommand(e),

			replayCommand(e),
			freezeCommand(e),
			thawCommand(e),
			circuitCommand(e),
			drillCommand(e),
			drillHookCommand(e),
		},
	}
	return exit.Run(ctx, exit.Describe(app, examples()), args)
}
