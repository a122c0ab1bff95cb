package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd"
	"github.com/nav-watchdog/nav-watchdog/internal/config"
	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/watchd"
)

func replayCommand(e env) *cli.Command {
	return &cli.Command{
		Name:      "replay",
		Usage:     "judge a recorded timeline on its own clock; nothing is written",
		ArgsUsage: "FILE",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "repo", Usage: "repository or bundle that was deployed from (default: FILE with the ending .bundle)"},
			&cli.StringFlag{Name: "commit", Usage: "watched commit (default: the recording's)"},
			&cli.StringFlag{Name: "watch", Usage: "fields of the watch, as in the trailer (default: the recording's)"},
			&cli.StringFlag{Name: "policy", Usage: "policy file that says who may arm (default: every arm counts as allowed)"},
			&cli.BoolFlag{Name: "json", Usage: "print one object"},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return exit.Hint(exit.Usagef("replay wants one FILE, got %d", c.NArg()), "navwatchd replay --help shows the flags")
			}
			return replay(c.Context, e, c)
		},
	}
}

func replay(ctx context.Context, e env, c *cli.Context) error {
	file := c.Args().First()
	cfg := watchd.ReplayConfig{Commit: c.String("commit"), Fields: c.String("watch")}
	var err error
	if cfg.Timeline, err = openTimeline(file); err != nil {
		return err
	}
	if p := c.String("policy"); p != "" {
		data, err := os.ReadFile(p)
		if err != nil {
			return exit.Misused(err)
		}
		policy, err := config.ParsePolicy(data, p)
		if err != nil {
			return exit.Misused(err)
		}
		cfg.Policy = &policy
	}
	from := c.String("repo")
	if from == "" {
		from = strings.TrimSuffix(file, filepath.Ext(file)) + ".bundle"
	}
	done, err := openHistory(ctx, e, from, &cfg)
	if err != nil {
		return exit.Hint(fmt.Errorf("opening the repository of the recording: %w", err), "name the repository or the bundle with --repo")
	}
	defer done()
	r, err := watchd.RunReplay(ctx, cfg)
	switch {
	case errors.Is(err, watchd.ErrNoWatch), errors.Is(err, watchd.ErrNoCommit):
		return exit.Misused(err)
	case err != nil:
		return err
	}
	if c.Bool("json") {
		return printReplayJSON(e.stdout, r)
	}
	return printReplay(e.stdout, r)
}

func openTimeline(file string) (*watchd.Timeline, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, exit.Misused(err)
	}
	defer f.Close() //nolint:errcheck // only read
	t, err := watchd.ReadTimeline(f, file, decodeSnapshot)
	if err != nil {
		return nil, exit.Misused(err)
	}
	return t, nil
}

func decodeSnapshot(raw []byte, at time.Time) (watchd.Snapshot, error) {
	a, err := argocd.Decode(raw)
	if err != nil {
		return watchd.Snapshot{}, err
	}
	return watchd.Snapshot{Look: a.Look(at, true), Facts: a.Facts("recording", at)}, nil
}

// openHistory opens a repository as it is, or a bundle by way of a temporary
// mirror.
func openHistory(ctx context.Context, e env, from string, cfg *watchd.ReplayConfig) (done func(), err error) {
	done = func() {}
	o := gitstore.Options{Env: e.environ}
	info, err := os.Stat(from)
	if err != nil {
		return done, exit.Misused(err)
	}
	var repo *gitstore.Repo
	if info.IsDir() {
		if repo, err = gitstore.Open(ctx, from, o); err != nil {
			return done, err
		}
	} else {
		dir, err := os.MkdirTemp("", "navwatchd-replay-")
		if err != nil {
			return done, err
		}
		done = func() { _ = os.RemoveAll(dir) } // a leftover in the temporary folder harms nobody
		if repo, err = openBundle(ctx, dir, from, o); err != nil {
			done()
			return func() {}, err
		}
	}
	cfg.Git = history{repo}
	refs, err := repo.Refs(ctx, "refs/heads/")
	if err != nil {
		return done, err
	}
	cfg.Branches = map[string]string{}
	for ref, id := range refs {
		cfg.Branches[strings.TrimPrefix(ref, "refs/heads/")] = id
	}
	head, err := repo.DefaultBranch(ctx)
	cfg.Default = strings.TrimPrefix(head, "refs/heads/")
	return done, err
}

func openBundle(ctx context.Context, dir, bundle string, o gitstore.Options) (*gitstore.Repo, error) {
	repo, err := gitstore.Init(ctx, filepath.Join(dir, "mirror.git"), o)
	if err != nil {
		return nil, err
	}
	abs, err := filepath.Abs(bundle)
	if err != nil {
		return nil, err
	}
	if _, err := repo.Remote(abs).Fetch(ctx); err != nil {
		return nil, err
	}
	return repo, nil
}

func printReplay(w io.Writer, r *watchd.Replay) error {
	var b strings.Builder
	for _, t := range r.Transitions {
		fmt.Fprintf(&b, "%s  %s\n", t.At.UTC().Format("2006-01-02T15:04:05.000Z"), exit.Printable(t.Text))
	}
	fmt.Fprintf(&b, "\n%s\n", exit.Printable(r.State.Headline()))
	switch {
	case r.WouldRevert:
		fmt.Fprintf(&b, "%s\n", exit.Printable(r.WouldDo))
	case len(r.State.Gates) > 0:
		b.WriteString("no revert would have been pushed\n")
	}
	if r.Recovery != "" {
		fmt.Fprintf(&b, "the recorded revert: %s\n", r.Recovery)
	}
	for _, a := range r.Assumed {
		fmt.Fprintf(&b, "assumed: %s\n", a)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// replayJSON is the object that --json prints; docs/operations.md describes it.
type replayJSON struct {
	Version     int                 `json:"version"`
	App         string              `json:"app"`
	Commit      string              `json:"commit"`
	Verdict     string              `json:"verdict"`
	Reason      string              `json:"reason"`
	Headline    string              `json:"headline"`
	WouldRevert bool                `json:"would_revert"`
	WouldDo     string              `json:"would_do"`
	Recovery    string              `json:"recovery"`
	Gates       map[string]gateJSON `json:"gates"`
	Events      []eventJSON         `json:"events"`
	Assumed     []string            `json:"assumed"`
}

type gateJSON struct {
	Result string `json:"result"` // pass or hold
	Why    string `json:"why"`
}

type eventJSON struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

func printReplayJSON(w io.Writer, r *watchd.Replay) error {
	s := r.State
	out := replayJSON{
		Version: 1, App: s.Watch.App.String(), Commit: s.Watch.Commit,
		Verdict: string(s.Verdict), Reason: s.Reason.String(), Headline: s.Headline(),
		WouldRevert: r.WouldRevert, WouldDo: r.WouldDo, Recovery: string(r.Recovery),
		Gates: map[string]gateJSON{}, Events: []eventJSON{}, Assumed: r.Assumed,
	}
	for _, g := range s.Gates {
		result := "hold"
		if g.Pass {
			result = "pass"
		}
		out.Gates[g.Name] = gateJSON{result, g.Why}
	}
	for _, t := range r.Transitions {
		out.Events = append(out.Events, eventJSON{t.At.UTC(), t.Text})
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}
