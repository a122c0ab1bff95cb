// Storebench measures what reading and writing a repository costs, beside one
// git process that does the same: all messages of a history read and linted,
// many watches asked for in it, many notes appended, and the start of navhook.
//
//	go run ./internal/navtest/storebench [-runs 5] [-commits 100000] [-watches 10000] [-repo PATH]
//
// A figure is a median of user and system time of a program and of everything
// that it started and waited for; the ratio of elapsed times stands beside it.
// The two of a pair take turns, so that whatever else the machine does meets
// both. Nothing is asserted: the ratios count, never a figure of one machine
// against one of another.
//
// The same is measured on a real repository: the one that -repo or
// NAV_BENCH_REPO names, which is not written to.
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
	runs, commits, watches int
	repo                   string
	child, dir             string
	out                    io.Writer
}

func main() {
	c := config{out: os.Stdout}
	flag.IntVar(&c.runs, "runs", 5, "measured runs of each program")
	flag.IntVar(&c.commits, "commits", 100_000, "commits of the history that is made")
	flag.IntVar(&c.watches, "watches", 10_000, "watches, and notes")
	flag.StringVar(&c.repo, "repo", os.Getenv("NAV_BENCH_REPO"), "a real repository (NAV_BENCH_REPO)")
	flag.StringVar(&c.child, "child", "", "for itself: what to do in -dir, with what stands on standard input")
	flag.StringVar(&c.dir, "dir", "", "for itself")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	run := measureAll
	if c.child != "" {
		run = child
	}
	err := run(ctx, c)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "storebench: error:", err)
		os.Exit(1)
	}
}

func measureAll(ctx context.Context, c config) error {
	dir, err := os.MkdirTemp("", "storebench")
	if err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // what is left is in the temporary folder
	b, err := newBench(ctx, dir)
	if err != nil {
		return err
	}
	if err := c.head("start", "once each"); err != nil {
		return err
	}
	if err := c.measure(ctx, b.startUp()); err != nil {
		return err
	}
	made, err := b.make(ctx, "made.git", c.commits, false)
	if err != nil {
		return fmt.Errorf("making the history: %w", err)
	}
	if err := c.on(ctx, b, made, fmt.Sprintf("a history of %d commits", c.commits)); err != nil {
		return err
	}
	if err := c.onWatched(ctx, b); err != nil {
		return err
	}
	if c.repo == "" {
		_, err = fmt.Fprintln(c.out, "SKIPPED the same on a real repository: none is named (-repo PATH, or NAV_BENCH_REPO)")
		return err
	}
	real, err := b.copy(ctx, c.repo)
	if err != nil {
		return fmt.Errorf("copying %q: %w", c.repo, err)
	}
	return c.on(ctx, b, real, c.repo)
}

// on measures everything on one repository, without and with a commit-graph.
func (c config) on(ctx context.Context, b *bench, repo, name string) error {
	s, err := b.subject(ctx, repo, c.watches)
	if err != nil {
		return fmt.Errorf("reading %q: %w", name, err)
	}
	if err := c.head(name, fmt.Sprintf("%d commits, %d watches, medians of %d", s.count, len(s.watched), c.runs)); err != nil {
		return err
	}
	for _, p := range s.pairs() {
		if err := c.measure(ctx, p); err != nil {
			return fmt.Errorf("measuring %s: %w", p.name, err)
		}
	}
	if _, err := b.git(ctx, nil, "-C", repo, "commit-graph", "write", "--reachable"); err != nil {
		return err
	}
	for _, p := range s.pairs() {
		if !p.reading {
			continue
		}
		p.name += ", commit-graph"
		if err := c.measure(ctx, p); err != nil {
			return fmt.Errorf("measuring %s: %w", p.name, err)
		}
	}
	return nil
}

// onWatched lints a history of which each tenth commit has a watch. Of those it is
// asked, too, what they changed and what is known of the app, which is no part of
// the limit for messages.
func (c config) onWatched(ctx context.Context, b *bench) error {
	repo, err := b.make(ctx, "watched.git", c.commits/5, true)
	if err != nil {
		return fmt.Errorf("making the watched history: %w", err)
	}
	s, err := b.subject(ctx, repo, 0)
	if err != nil {
		return err
	}
	if err := c.head("a history of which each tenth commit has a watch", fmt.Sprintf("%d commits, medians of %d", s.count, c.runs)); err != nil {
		return err
	}
	p := s.pairs()[0]
	p.name, p.limit = "messages and watches, linted", "none"
	return c.measure(ctx, p)
}

// pair is something of ours beside git; its programs say what a run used.
type pair struct {
	name, beside string
	limit        string
	reading      bool // of history, for which git may have a commit-graph
	runs         int  // of one measurement; 0: one
	ours, git    func(ctx context.Context, n int) (used, error)
}

// used is what a process and its children used.
type used struct{ cpu, wall time.Duration }

func (c config) head(name, more string) error {
	_, err := fmt.Fprintf(c.out, "\n%s (%s)\n%-46s %10s %10s %8s %8s %7s\n", name, more, "cpu, in ms", "ours", "git", "ours/git", "(wall)", "limit")
	return err
}

// measure lets the two run in turn. The first round warms the caches and does
// not count.
func (c config) measure(ctx context.Context, p pair) error {
	var all [2][2][]time.Duration // ours and git's; cpu and wall
	for round := range c.runs + 1 {
		for i, run := range []func(context.Context, int) (used, error){p.ours, p.git} {
			var sum used
			for range max(p.runs, 1) {
				u, err := run(ctx, round)
				if err != nil {
					return err
				}
				sum.cpu, sum.wall = sum.cpu+u.cpu, sum.wall+u.wall
			}
			if round > 0 {
				all[i][0], all[i][1] = append(all[i][0], sum.cpu), append(all[i][1], sum.wall)
			}
		}
	}
	n := float64(max(p.runs, 1)) * float64(time.Millisecond)
	cpu := [2]float64{float64(measure.Median(all[0][0])) / n, float64(measure.Median(all[1][0])) / n}
	wall := [2]float64{float64(measure.Median(all[0][1])) / n, float64(measure.Median(all[1][1])) / n}
	_, err := fmt.Fprintf(c.out, "%-46s %10.1f %10.1f %8.2f %8.2f %7s\n", p.name+" / "+p.beside, cpu[0], cpu[1], cpu[0]/cpu[1], wall[0]/wall[1], p.limit)
	return err
}
