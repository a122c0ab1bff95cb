package main

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"time"

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
	now      func() time.Time
}

func run(ctx context.Context, args []string, e env) error {
	app := &cli.App{
		Name: "navlint", Usage: "lint commit messages that ask nav-watchdog to watch them", Description: helpApp,
		Version: version, Writer: e.out, ErrWriter: e.err, Commands: e.commands(),
		Metadata: map[string]any{exit.FlagValues: flagValues},
	}
	return exit.Run(ctx, app, args)
}

// commands are those of docs/navlint.md, in its order.
func (e env) commands() []*cli.Command {
	plain := &cli.StringFlag{Name: "format", Value: lint.FormatText, Usage: "`FORMAT` of the output: text or json"}
	report := &cli.StringFlag{Name: "format", Value: lint.FormatText, Usage: "`FORMAT` of the report: " + strings.Join(lint.Formats(), ", ")}
	strict := &cli.BoolFlag{Name: "strict", Usage: "fail for warnings, too"}
	return []*cli.Command{
		{
			Name: "parse", Usage: "print the trailers of a message as git reads them", ArgsUsage: "FILE|-", Description: helpParse,
			Flags: []cli.Flag{plain}, Action: e.parse,
		},
		{
			Name: "message", Usage: "lint the file of a commit-msg hook", ArgsUsage: "FILE|-", Description: helpMessage,
			Flags: append([]cli.Flag{report, strict}, factFlags()...), Action: e.message,
		},
		{
			Name: "commits", Usage: "lint the commits of a range, or of a list", ArgsUsage: "RANGE", Description: helpCommits, Action: e.commits,
			Flags: append([]cli.Flag{report, strict, &cli.BoolFlag{Name: "stdin", Usage: "read commits from standard input, one a line, instead of a range"}}, append(squashFlags(), factFlags()...)...),
		},
		manifestsCommand(e.manifests, report, strict),
		explainCommand(e.explain, plain),
		{
			Name: "show", Usage: "print the verdicts of a commit", ArgsUsage: "COMMIT", Description: helpShow,
			Flags: []cli.Flag{plain}, Action: e.show,
		},
		waitCommand(e.wait, plain),
		fixCommand(e.fix),
	}
}

// plainFormats are those of what is no report.
func plainFormats() []string { return []string{lint.FormatText, lint.FormatJSON} }

func (e env) parse(c *cli.Context) error {
	if err := check(c, 1, plainFormats()); err != nil {
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
	if err := check(c, 1, lint.Formats()); err != nil {
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
	conf := e.config(c)
	if repo, err := e.open(c.Context); err == nil {
		defer repo.Close()
		clone = repo
		if conf.Known, err = e.known(c, repo); err != nil {
			return err
		}
	} else if _, note := e.err.Write([]byte("not in a git repository: default limits and settings\n")); note != nil {
		return note
	}
	return conf.CommitMsg(c.Context, clone, name, msg)
}

func (e env) commits(c *cli.Context) error {
	if c.IsSet("squash-message") {
		return e.squash(c)
	}
	if c.IsSet("host") {
		return exit.Hint(exit.Usagef("--host says by whose template a merge request becomes a message, and none is named"), "add --squash-message FILE")
	}
	if c.Bool("stdin") {
		if err := check(c, 0, lint.Formats()); err != nil {
			return err
		}
		revs, err := lint.ReadRevs(e.in)
		if err != nil {
			return err
		}
		repo, conf, err := e.withFacts(c)
		if err != nil {
			return err
		}
		defer repo.Close()
		return conf.List(c.Context, repo, revs)
	}
	if err := check(c, 1, lint.Formats()); err != nil {
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
	defer repo.Close()
	return conf.Range(c.Context, repo, revs)
}

// withFacts opens the repository for a lint that asks the arming rules.
func (e env) withFacts(c *cli.Context) (store, lint.Config, error) {
	conf := e.config(c)
	repo, err := e.open(c.Context)
	if err == nil {
		conf.Known, err = e.known(c, repo)
	}
	conf.Branch = e.landing(c)
	return repo, conf, err
}

func (e env) show(c *cli.Context) error {
	if err := check(c, 1, plainFormats()); err != nil {
		return err
	}
	repo, err := e.open(c.Context)
	if err != nil {
		return err
	}
	defer repo.Close()
	return e.config(c).Show(c.Context, repo, e.out, c.Args().First(), c.String("format"))
}

func (e env) config(c *cli.Context) lint.Config {
	conf := lint.Config{Note: e.err, Strict: c.Bool("strict"), Getenv: func(name string) string { return variable(e.environ, name) }}
	conf.Handler = lint.NewHandler(c.String("format"), lint.Output{
		W: e.out, Command: c.Command.Name, Version: version, Strict: conf.Strict,
		What: noun(c.Command.Name),
		// https://no-color.org: set and not empty means no colour.
		Color: e.terminal && conf.Getenv("NO_COLOR") == "",
	})
	return conf
}

// noun is what a command checks.
func noun(command string) string {
	if command == "manifests" {
		return "file"
	}
	return "message"
}

// open opens the repository around the working directory. navlint also runs in
// a commit-msg hook, where the environment says which one that is. It keeps a
// process for all questions about objects, which Close ends: of a range, each
// commit may raise some.
func (e env) open(ctx context.Context) (store, error) {
	repo, err := gitstore.OpenHook(ctx, ".", gitstore.Options{Env: e.environ, Hook: true})
	return newStore(repo), err
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

func check(c *cli.Context, args int, formats []string) error {
	if f := c.String("format"); !slices.Contains(formats, f) {
		return exit.Hint(exit.Usagef("unknown format %q", f), "formats: %s", strings.Join(formats, ", "))
	}
	return arguments(c, args)
}

func arguments(c *cli.Context, n int) error {
	if c.NArg() != n {
		return exit.Hint(exit.Misused(errors.New(c.Command.Name+": wrong number of arguments")),
			"usage: navlint %s %s", c.Command.Name, c.Command.ArgsUsage)
	}
	return nil
}
