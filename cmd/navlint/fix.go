package main

import (
	"os"

	"github.com/urfave/cli/v2"

	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/internal/lint"
)

func fixCommand(action cli.ActionFunc) *cli.Command {
	return &cli.Command{
		Name: "fix", Usage: "move misplaced trailers to where git reads them", ArgsUsage: "FILE|- or --commit COMMIT", Description: helpFix, Action: action,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "write", Aliases: []string{"w"}, Usage: "change the file"},
			&cli.StringFlag{Name: "commit", Usage: "print the mended message of this `COMMIT`"},
		},
	}
}

// fix prints a whole message to stdout, for another program, and then what it
// did to stderr; or only what it did or would do, to stdout.
func (e env) fix(c *cli.Context) error {
	files := 1
	if c.IsSet("commit") {
		files = 0
	}
	if err := arguments(c, files); err != nil {
		return err
	}
	name := c.Args().First()
	filter := files == 0 || name == "-"
	if filter && c.Bool("write") {
		return exit.Hint(exit.Usagef("--write needs a file"), "without it, the message goes to standard output")
	}
	conf := lint.Config{Note: e.err, Getenv: func(name string) string { return variable(e.environ, name) }}
	how := lint.Fixing{Show: e.out}
	if filter {
		how.Show, how.Message = e.err, e.out
	}
	if c.Bool("write") {
		how.Write = func(data []byte) error { return os.WriteFile(name, data, 0o666) } // one that is there keeps its mode
	}
	repo, err := e.open(c.Context)
	if err == nil {
		defer repo.Close()
	}
	if files == 0 {
		if err != nil {
			return err
		}
		return conf.FixCommit(c.Context, repo, c.String("commit"), how)
	}
	var clone lint.Clone // stays nil outside of a repository
	if err == nil {
		clone = repo
	}
	file, err := e.file(name, lint.ReadCommitMsg)
	if err != nil {
		return err
	}
	if name == "-" {
		name = "stdin"
	}
	return conf.FixFile(c.Context, clone, name, file, how)
}
