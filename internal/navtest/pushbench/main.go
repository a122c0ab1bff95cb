// Pushbench measures what the hooks of nav-watchdog add to a push.
//
// It makes a bare repository with a long history and many refs, and pushes
// single commits to it: with the hooks that "navhook install" puts there, with
// a pre-receive hook that only runs one git log of the new commits with their
// trailers, and with none. The three take turns in one run, so that whatever
// else the machine does meets all of them.
//
//	go run ./internal/navtest/pushbench [-pushes 15] [-commits 100000] [-refs 1000] [-files 100000] [-apps 1000]
//	go run ./internal/navtest/pushbench -burst 10000 [-repo PATH]
//
// A figure is the median of user and system time of git push and of everything
// that it started and waited for. Nothing is asserted: compare the ratio of
// ours to that of git log, never a figure of one machine with one of another.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/navtest/measure"
)

// config is one run.
type config struct {
	pushes, commits, refs int
	files, apps           int
	burst                 int    // commits in one push; 0: one commit a push
	repo                  string // a real one, whose newest commits are the burst
	out                   io.Writer
}

// kind is what is pushed.
type kind struct {
	name    string
	trailer string
	graph   bool // the server has a commit-graph
	named   bool // the policy says where the manifests of Applications are
}

func kinds() []kind {
	const shadow = "Nav-Watchdog: app=web deadline=600\n"
	const armed = "Nav-Watchdog: app=web deadline=600 mode=arm\n"
	return []kind{
		{"no trailer", "", false, true},
		{"shadow", shadow, false, true},
		{"armed", armed, false, true},
		{"armed, manifests searched", armed, false, false},
		{"no trailer, commit-graph", "", true, true},
		{"armed, commit-graph", armed, true, true},
	}
}

func main() {
	c := config{out: os.Stdout}
	flag.IntVar(&c.pushes, "pushes", 15, "measured pushes a hook and a kind of push")
	flag.IntVar(&c.commits, "commits", 100_000, "commits in the history")
	flag.IntVar(&c.refs, "refs", 1000, "refs of the server")
	flag.IntVar(&c.files, "files", 0, "manifests in the tree")
	flag.IntVar(&c.apps, "apps", 1, "manifests of Applications among them")
	flag.IntVar(&c.burst, "burst", 0, "push so many commits at once instead, again and again")
	flag.StringVar(&c.repo, "repo", "", "with -burst: push the newest commits of this repository")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, c)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "pushbench: error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, c config) error {
	dir, err := os.MkdirTemp("", "pushbench")
	if err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // what is left is in the temporary folder
	b, err := newBench(ctx, dir, c)
	if err != nil {
		return err
	}
	if c.burst > 0 {
		return c.runBursts(ctx, b)
	}
	_, err = fmt.Fprintf(c.out, "cpu of a push of 1 commit onto %d commits, %d refs, %d files and %d Applications, medians of %d, in ms\n%-26s %8s %8s %8s  %s\n",
		c.commits, c.refs, c.files, c.apps, c.pushes, "", "no hook", "git log", "navhook", "navhook/git log")
	if err != nil {
		return err
	}
	for _, k := range kinds() {
		if k.graph {
			if err := b.writeGraph(ctx); err != nil {
				return err
			}
		}
		text := policy
		if k.named {
			text += named
		}
		if err := b.rules(ctx, text); err != nil {
			return fmt.Errorf("giving the server a policy: %w", err)
		}
		if err := c.measure(ctx, b, k); err != nil {
			return fmt.Errorf("pushing, %s: %w", k.name, err)
		}
	}
	return nil
}

func (c config) runBursts(ctx context.Context, b *bench) error {
	onto := fmt.Sprintf("%d commits onto %d commits and %d refs", c.burst, c.commits, c.refs)
	if c.repo != "" {
		onto = "the newest commits of " + c.repo
	}
	_, err := fmt.Fprintf(c.out, "cpu of a push of %s, medians of %d, in ms\n%-26s %8s %8s %8s  %s\n", onto, c.pushes, "", "no hook", "git log", "navhook", "navhook/git log (limit 2)")
	switch {
	case err != nil:
		return err
	case c.repo != "":
		return c.measureReal(ctx, b)
	}
	if err := b.rules(ctx, policy+named); err != nil {
		return fmt.Errorf("giving the server a policy: %w", err)
	}
	return c.measureBursts(ctx, b)
}

// measure pushes with each kind of hook in turn. The first two rounds warm the
// caches and do not count.
func (c config) measure(ctx context.Context, b *bench, k kind) error {
	const warm = 2
	used := map[string][]time.Duration{}
	for round := range c.pushes + warm {
		for _, h := range []string{hooksNone, hooksLog, hooksOurs} {
			cpu, err := b.push(ctx, h, k.trailer)
			if err != nil {
				return fmt.Errorf("with %s: %w", h, err)
			}
			if round >= warm {
				used[h] = append(used[h], cpu)
			}
		}
	}
	return c.row(k.name, used)
}

func (c config) row(name string, used map[string][]time.Duration) error {
	none, log, ours := measure.Median(used[hooksNone]), measure.Median(used[hooksLog]), measure.Median(used[hooksOurs])
	_, err := fmt.Fprintf(c.out, "%-26s %8.0f %8.0f %8.0f  %.2f\n", name, ms(none), ms(log), ms(ours), ours.Seconds()/log.Seconds())
	return err
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
