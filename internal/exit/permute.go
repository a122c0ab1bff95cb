package exit

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

// Run is Tame and app's own Run, with flags allowed behind arguments, and with a
// command that prints completion scripts.
func Run(ctx context.Context, app *cli.App, args []string) error {
	scripts := completion()
	scripts.Description = fmt.Sprintf(completionHelp, app.Name)
	app.Commands = append(app.Commands, scripts)
	if len(args) > 1 && args[1] == completeWord {
		return complete(app.Writer, app, args[2:])
	}
	return Tame(app).RunContext(ctx, permute(app, args))
}

// permute moves flags that stand behind arguments before them, as people type
// them: the library stops to read flags at the first argument. What it does not
// know stays where it is, and Tame refuses it; "--" ends the flags.
func permute(app *cli.App, args []string) []string {
	if len(args) < 2 {
		return args
	}
	commands, flags := app.Commands, app.Flags
	i := 1
	for i < len(args) {
		c := command(commands, args[i])
		if c == nil {
			break
		}
		commands, flags = c.Subcommands, c.Flags
		i++
	}
	var front, back []string
	for j := i; j < len(args); j++ {
		a := args[j]
		if a == "--" {
			back = append(back, args[j:]...)
			break
		}
		takes, known := flagNamed(flags, a)
		if !known {
			back = append(back, a)
			continue
		}
		front = append(front, a)
		if takes && j+1 < len(args) {
			j++
			front = append(front, args[j])
		}
	}
	out := append([]string(nil), args[:i]...)
	out = append(out, front...)
	return append(out, back...)
}

func command(commands []*cli.Command, name string) *cli.Command {
	for _, c := range commands {
		if c.HasName(name) {
			return c
		}
	}
	return nil
}

// flagNamed finds the flag that an argument is, and whether the next argument
// is its value.
func flagNamed(flags []cli.Flag, arg string) (takes, known bool) {
	name := strings.TrimLeft(arg, "-")
	if name == arg || name == "" || len(arg)-len(name) > 2 {
		return false, false
	}
	name, _, joined := strings.Cut(name, "=")
	if name == "help" || name == "h" {
		return false, true
	}
	for _, f := range flags {
		for _, n := range f.Names() {
			if n == name {
				_, isBool := f.(*cli.BoolFlag)
				return !isBool && !joined, true
			}
		}
	}
	return false, false
}
