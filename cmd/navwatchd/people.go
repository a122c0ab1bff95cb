package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/nav-watchdog/nav-watchdog/internal/config"
	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/lint"
	"github.com/nav-watchdog/nav-watchdog/internal/watchd"
	"github.com/nav-watchdog/nav-watchdog/pkg/trailer"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// said is one of the things that a person can say in `people`.
type said struct {
	name        string // of the command, as it is typed
	kind, usage string
	done        string // with whose it is, and by whom
	who         string // whom the hook lets say it
}

func freezeCommand(e env) *cli.Command {
	return sayCommand(e, "freeze", said{
		name: "freeze", kind: verdict.PeopleFreeze, usage: "stop the reverts of an Application, or all, until an owner thaws them",
		done: "reverts of %s frozen by %s\n", who: "whoever may push",
	})
}

func thawCommand(e env) *cli.Command {
	return sayCommand(e, "thaw", said{
		name: "thaw", kind: verdict.PeopleThaw, usage: "end freezes from before, of people and of the daemon; for owners of the policy",
		done: "reverts of %s thawed by %s\n", who: "an owner of the policy",
	})
}

func circuitCommand(e env) *cli.Command {
	return &cli.Command{
		Name:  "circuit",
		Usage: "the circuit that stops reverts until a person looked",
		Subcommands: []*cli.Command{sayCommand(e, "reset", said{
			name: "circuit reset", kind: verdict.PeopleReset, usage: "close the circuit of an Application, or of the repository; for owners of the policy, and the watcher",
			done: "circuit of %s reset by %s\n", who: "an owner of the policy, or the watcher",
		})},
	}
}

func sayCommand(e env, name string, s said) *cli.Command {
	return &cli.Command{
		Name: name, Usage: s.usage, ArgsUsage: "APP|--repository",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "repository", Usage: "the whole repository, not one Application"},
			&cli.StringFlag{Name: "reason", Usage: "what was found, for those who read the notes later"},
			&cli.StringFlag{Name: "by", Usage: "`NAME` by which the server knows who pushes (default: git's user.name; for circuit reset with --config, the watcher)"},
			&cli.StringFlag{Name: "repo", Usage: "`URL or PATH` of the repository [REPOSITORY]"},
			&cli.StringFlag{Name: "config", Usage: "`FILE` with the daemon's settings, for the repository"},
			&cli.StringFlag{Name: "signing-key", Usage: "SSH `KEY` that signs it, where notes: signed is said"},
		},
		Action: func(c *cli.Context) error { return say(c, e, s) },
	}
}

// say writes one line to `people`, as the user who runs it: with their
// configuration of git, their credentials and their name.
func say(c *cli.Context, e env, s said) error {
	line := verdict.PeopleLine{Kind: s.kind, Reason: strings.TrimSpace(c.String("reason")), At: e.now()}
	switch {
	case line.Reason == "":
		return exit.Hint(exit.Usagef("%s wants a reason", s.name), "--reason 'what you found'")
	case c.Bool("repository") && c.NArg() == 0:
	case !c.Bool("repository") && c.NArg() == 1:
		if err := trailer.CheckApp(c.Args().First()); err != nil {
			return exit.Misused(fmt.Errorf("no Application can have the name %q: %w", c.Args().First(), err))
		}
		line.App = c.Args().First()
	default:
		return exit.Usagef("%s wants one APP, or --repository", s.name)
	}
	address, watcher, err := repositoryOf(c, e)
	if err != nil {
		return err
	}
	user, err := gitstore.User(c.Context, gitstore.Options{Env: e.environ})
	if err != nil {
		return err
	}
	line.By = strings.TrimSpace(c.String("by"))
	if line.By == "" && s.kind == verdict.PeopleReset {
		line.By = watcher // the operator, with the daemon's settings
	}
	if line.By == "" {
		line.By = user.Name
	}
	if line.By == "" {
		return exit.Hint(exit.Usagef("nobody says who you are"), "--by NAME, as the server knows you, or git config user.name")
	}
	if user.Email == "" {
		user.Email = "people@localhost"
	}
	dir, err := os.MkdirTemp("", "navwatchd-people-")
	if err != nil {
		return fmt.Errorf("making room for the notes: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // what stays is in a folder for what may go
	repo, err := gitstore.Init(c.Context, dir, gitstore.Options{Env: e.environ, Timeout: longestGit, SSH: true})
	if err != nil {
		return err
	}
	st := &store{repo: repo, remote: peopleRemote{repo.Remote(address)}, watcher: config.Watcher{Name: line.By, Email: user.Email}}
	st.sign = c.String("signing-key")
	err = appendPeople(c.Context, st, line)
	if errors.Is(err, watchd.ErrRefused) {
		return exit.Hint(exit.Refused(err), "%s is for %s, and by (here %q) must be the name by which the server knows who pushes: --by NAME", s.name, s.who, line.By)
	}
	if err != nil {
		return err
	}
	if _, err = fmt.Fprintf(e.stdout, s.done, whose(line), line.By); err != nil {
		return err
	}
	return warnUnknown(c.Context, e, st, line)
}

// warnUnknown says so where the watcher sees no Application of that name: a line
// about a misspelt one stops nothing. The line stands all the same, because the
// inventory is as old as the last pass, and has only what deploys from here.
func warnUnknown(ctx context.Context, e env, s *store, line verdict.PeopleLine) error {
	if line.App == "" {
		return nil
	}
	app, err := verdict.ParseApp(line.App)
	if err != nil {
		return err
	}
	known, err := lint.Inventory(ctx, s.repo)
	if err != nil {
		return fmt.Errorf("the line is written; whether there is such an Application could not be read: %w", err)
	}
	text := "the watcher has published no Applications yet, so whether there is one of this name is not known"
	if known != nil {
		for _, f := range known.Apps {
			if app.Matches(f.App) {
				return nil
			}
		}
		text = fmt.Sprintf("the watcher knew no Application %s of this repository at %s", line.App, known.At.UTC().Format(time.RFC3339))
	}
	_, err = fmt.Fprintf(e.stderr, "navwatchd: warning: %s\nhint: check the name; navlint explain lists those that are known\n", text)
	return err
}

// repositoryOf is where the line goes: a flag, the environment, or what the
// daemon's settings say; and the watcher's name, where the settings or the
// environment say it.
func repositoryOf(c *cli.Context, e env) (address, watcher string, err error) {
	get := getenv(e.environ)
	d := config.Daemon{}
	if file := c.String("config"); file != "" {
		data, err := os.ReadFile(file)
		if err != nil {
			return "", "", exit.Misused(fmt.Errorf("reading the settings: %w", err))
		}
		if d, err = config.ParseDaemon(data, file); err != nil {
			return "", "", exit.Misused(err)
		}
	}
	watcher = cmp.Or(get("WATCHER_NAME"), d.Watcher.Name)
	address = cmp.Or(c.String("repo"), get("REPOSITORY"), d.Repository)
	if address == "" {
		return "", "", exit.Hint(exit.Usagef("which repository is not said"), "--repo URL")
	}
	return address, watcher, nil
}

// peopleRemote fetches `people`, and what the watcher published: a person needs no
// mirror.
type peopleRemote struct{ *gitstore.Remote }

func (r peopleRemote) Fetch(ctx context.Context) (gitstore.RemoteRefs, error) {
	refs, err := r.FetchRefs(ctx, peopleRef, gitstore.StatusRef)
	return gitstore.RemoteRefs{Refs: refs}, err
}

func whose(l verdict.PeopleLine) string {
	if l.App == "" {
		return "the repository"
	}
	return l.App
}

// appendPeople fetches, adds the line and pushes, again if somebody was faster. A
// push that was not heard of is an error: who says it again says it twice at
// most, which means the same.
func appendPeople(ctx context.Context, s *store, line verdict.PeopleLine) error {
	var err error
	for range maxTries {
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

// maxTries bounds how often a line is tried against people who are faster.
const maxTries = 10
