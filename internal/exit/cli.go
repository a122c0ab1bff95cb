package exit

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

// Tame closes the traps of urfave/cli v2 in app and all its commands, so that
// every failure comes back from Run as an error of ours:
//
//   - Run must not call os.Exit for an error that happens to have a code;
//   - a bad flag is a usage error on stderr, not a page of help on stdout;
//   - an unknown command is a usage error (the library's own answer is the
//     code 3, our "could not decide"), and so is none at all;
//   - a flag behind the first argument that Run did not move is a usage error:
//     the library takes it for an argument;
//   - a text flag that is said and empty is a usage error: mostly it is a shell's
//     variable that was not set, and without the flag something else would be
//     done. One with an Action looks at its value itself;
//   - a command has no "help" command below it, which would shadow a file of
//     that name; --help stays.
//
// Commands must not use Flag.Required: its error bypasses all of this.
func Tame(app *cli.App) *cli.App {
	app.ExitErrHandler = func(*cli.Context, error) {}
	app.OnUsageError = onUsage
	app.HideHelpCommand = true
	if app.Action == nil {
		app.Action = unknown(app.Commands)
	}
	for _, c := range app.Commands {
		tame(c)
	}
	return app
}

func tame(c *cli.Command) {
	c.OnUsageError = onUsage
	c.HideHelpCommand = true
	for _, sub := range c.Subcommands {
		tame(sub)
	}
	run := c.Action
	if run == nil {
		c.Action = unknown(c.Subcommands)
		return
	}
	if c.SkipFlagParsing {
		return
	}
	c.Action = func(ctx *cli.Context) error {
		for _, arg := range ctx.Args().Slice() {
			if len(arg) > 1 && arg[0] == '-' {
				return Hint(Usagef("%s: flag %q is not known", ctx.Command.Name, arg),
					"%s %s --help shows the flags; a file whose name begins with a dash is ./%s", ctx.App.Name, ctx.Command.Name, arg)
			}
		}
		if err := empty(ctx); err != nil {
			return err
		}
		return run(ctx)
	}
}

func empty(ctx *cli.Context) error {
	for _, f := range ctx.Command.Flags {
		if s, is := f.(*cli.StringFlag); is && s.Action == nil && ctx.IsSet(s.Name) && ctx.String(s.Name) == "" {
			return Hint(Usagef("%s: --%s is empty", ctx.Command.Name, s.Name), "leave --%s out, or give it a value", s.Name)
		}
	}
	return nil
}

func onUsage(ctx *cli.Context, err error, _ bool) error {
	name := ctx.App.Name
	if ctx.Command != nil && ctx.Command.Name != "" && ctx.Command.Name != name {
		name += " " + ctx.Command.Name
	}
	return Hint(Misused(err), "%s --help shows the flags", name)
}

// unknown is the action of a command that only has commands below it.
func unknown(commands []*cli.Command) cli.ActionFunc {
	return func(ctx *cli.Context) error {
		var names []string
		for _, c := range commands {
			if !c.Hidden {
				names = append(names, c.Name)
			}
		}
		err := fmt.Errorf("no command given")
		if ctx.Args().Present() {
			err = fmt.Errorf("unknown command %q", ctx.Args().First())
		}
		return Hint(Misused(err), "commands: %s", strings.Join(names, ", "))
	}
}
