package main

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/lint"
)

// version is set by the linker.
var version = "v0.0.0-dev"

// env is the world outside of the program.
type env struct {
	in       io.Reader
	out, err io.Writer
	environ  []string
	terminal bool // somebody looks at out
}

func run(ctx context.Context, args []string, e env) error {
	format := &cli.StringFlag{Name: "format", Value: lint.FormatText, Usage: "`FORMAT` of the output: text or json"}
	strict := &cli.BoolFlag{Name: "strict", Usage: "fail for warnings, too"}
	app := &cli.App{
		Name: "navlint", Usage: "lint commit messages that ask nav-watchdog to watch them",
		Version: version, Writer: e.out, ErrWriter: e.err,
		Commands: []*cli.Command{
			{Name: "parse", Usage: "print the trailers of a message as git reads them", ArgsUsage: "FILE|-", Flags: []cli.Flag{format}, Action: e.parse},
			{Name: "message", Usage: "lint the file of a commit-msg hook", ArgsUsage: "FILE|-", Flags: []cli.Flag{format, strict}, Action: e.message},
			{
				Name: "commits", Usage: "lint the commits of a range, or of a list", ArgsUsage: "RANGE", Action: e.commits,
				Flags: []cli.Flag{format, strict, &cli.BoolFlag{Name: "stdin", Usage: "read commits from standard input, one a line, instead of a range"}},
			},
			{Name: "show", Usage: "print the verdicts of a commit", ArgsUsage: "COMMIT", Flags: []cli.Flag{format}, Action: e.show},
		},
	}
	return exit.Run(ctx, app, args)
}

func (e env) parse(c *cli.Context) error {
	if err := check(c, 1); err != nil {
		return err
	}
	msg, err := e.file(c.Args().First(), lint.ReadMessage)
	if err != nil {
		return err
	}
	var escape func(string) string
	if e.terminal {
		escape = exit.Printable
	}
	return lint.Parse(e.out, msg, c.String("format"), escape)
}

func (e env) message(c *cli.Context) error {
	if err := check(c, 1); err != nil {
		return err
	}
	name := c.Args().First()
	msg, err := e.file(name, lint.ReadCommitMsg)
	if err != nil {
		return err
	}
	if name == "-" {
		name = "stdin"
	}
	var clone lint.Clone // stays nil outside of a repository
	if repo, err := e.open(c.Context); err == nil {
		clone = repo
	} else if _, note := e.err.Write([]byte("not in a git repository: default limits and settings\n")); note != nil {
		return note
	}
	return e.config(c).CommitMsg(c.Context, clone, name, msg)
}

func (e env) commits(c *cli.Context) error {
	if c.Bool("stdin") {
		if err := check(c, 0); err != nil {
			return err
		}
		revs, err := lint.ReadRevs(e.in)
		if err != nil {
			return err
		}
		repo, err := e.open(c.Context)
		if err != nil {
			return err
		}
		return e.config(c).List(c.Context, repo, revs)
	}
	if err := check(c, 1); err != nil {
		return err
	}
	revs, err := lint.ParseRange(c.Args().First())
	if err != nil {
		return err
	}
	repo, err := e.open(c.Context)
	if err != nil {
		return err
	}
	return e.config(c).Range(c.Context, repo, revs)
}

func (e env) show(c *cli.Context) error {
	if err := check(c, 1); err != nil {
		return err
	}
	repo, err := e.open(c.Context)
	if err != nil {
		return err
	}
	return e.config(c).Show(c.Context, repo, e.out, c.Args().First(), c.String("format"))
}

func (e env) config(c *cli.Context) lint.Config {
	conf := lint.Config{Note: e.err, Strict: c.Bool("strict"), Getenv: func(name string) string { return variable(e.environ, name) }}
	if c.String("format") == lint.FormatJSON {
		conf.Handler = &lint.JSON{W: e.out, Command: c.Command.Name}
	} else {
		// https://no-color.org: set and not empty means no colour.
		conf.Handler = &lint.Text{W: e.out, Color: e.terminal && conf.Getenv("NO_COLOR") == ""}
	}
	return conf
}

// open opens the repository around the working directory. navlint also runs in
// a commit-msg hook, where the environment says which one that is.
func (e env) open(ctx context.Context) (store, error) {
	repo, err := gitstore.Open(ctx, ".", gitstore.Options{Env: e.environ, Hook: true})
	return store{repo}, err
}

func (e env) file(name string, read func(io.Reader) ([]byte, error)) ([]byte, error) {
	if name == "-" {
		return read(e.in)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, exit.Misused(err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	return read(f)
}

func check(c *cli.Context, args int) error {
	if f := c.String("format"); f != lint.FormatText && f != lint.FormatJSON {
		return exit.Hint(exit.Usagef("unknown format %q", f), "formats: text, json")
	}
	if c.NArg() != args {
		return exit.Hint(exit.Misused(errors.New(c.Command.Name+": wrong number of arguments")),
			"usage: navlint %s %s", c.Command.Name, c.Command.ArgsUsage)
	}
	return nil
}
