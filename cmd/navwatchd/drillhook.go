package main

import (
	"context"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/nav-watchdog/nav-watchdog/internal/drill"
	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/hook"
	"github.com/nav-watchdog/nav-watchdog/internal/lint"
)

const drillHook = "drill-hook"

// The drill pushes as several people and on a clock of its own, which no host
// would vouch for: its hooks are told both. Hooks that `navhook install` made
// know neither.
const (
	drillUser = "NAV_DRILL_USER"
	drillNow  = "NAV_DRILL_NOW"
)

// drillHookCommand is what the hooks of a drill's repository call; they are
// those of navhook, but for who pushes and when.
func drillHookCommand(e env) *cli.Command {
	return &cli.Command{
		Name: drillHook, Hidden: true, HideHelp: true,
		Subcommands: []*cli.Command{
			{Name: "pre-receive", Action: func(c *cli.Context) error {
				push, done, err := drillPush(c.Context, e)
				if err != nil {
					return err
				}
				defer done()
				return hook.PreReceive(c.Context, push)
			}},
			{Name: "post-receive", Action: func(c *cli.Context) error {
				push, done, err := drillPush(c.Context, e)
				if err != nil {
					return err
				}
				defer done()
				hook.PostReceive(c.Context, push)
				return nil
			}},
		},
	}
}

func drillPush(ctx context.Context, e env) (push hook.Config, done func(), err error) {
	get := getenv(e.environ)
	user := get(drillUser)
	at, err := time.Parse(time.RFC3339, get(drillNow))
	if err != nil || user == "" {
		return push, nil, exit.Hint(exit.Usagef("this repository belongs to a drill, which is over"),
			"navhook install makes hooks that stay")
	}
	repo, err := gitstore.OpenHook(ctx, ".", gitstore.Options{Env: e.environ})
	if err != nil {
		return push, nil, err
	}
	return hook.Config{
		Stdin: e.stdin, Out: e.stderr, Repo: hookStore{gitstore.Served{Repo: repo}},
		User: func() (string, error) { return user, nil }, Now: drill.NewClock(at).Now,
	}, repo.Close, nil
}

// hookStore is the repository as internal/hook wants it.
type hookStore struct{ gitstore.Served }

func (s hookStore) Log(ctx context.Context, tips, exclude []string, fn func(lint.Commit) error) error {
	return s.Served.Log(ctx, tips, exclude, func(c gitstore.Commit) error {
		return fn(lint.Commit{ID: c.ID, Parents: c.Parents, Message: c.Message, Truncated: c.Truncated})
	})
}

func (s hookStore) Append(ctx context.Context, ref, tip string, lines map[string][]string, key func(string) string, message string, at time.Time) (int, error) {
	who := gitstore.Identity{Name: "navhook", Email: "navhook@localhost", When: at}
	added, err := s.AppendNotesFrom(ctx, ref, tip, lines, key, message, who)
	if err != nil {
		return added, fmt.Errorf("queueing: %w", err)
	}
	return added, nil
}
