// Lintbench measures what a lint of commit messages costs: navlint, commitlint
// (from npm, its whole process) and git's own parse of the trailers, on the same
// message, and on a range of commits.
//
//	go run ./internal/navtest/lintbench [-runs 9] [-commits 1000]
//
// A figure is the median of user and system time of a program and of everything
// that it started and waited for. The programs take turns, so that whatever else
// the machine does meets all of them. Nothing is asserted: the ratios count,
// never a figure of one machine against one of another.
//
// commitlint is installed once, in a folder that NAV_BENCH_CACHE names, or below
// the user's cache. Where npm or its registry cannot be reached its part is
// SKIPPED, with the reason.
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
	runs, commits int
	out           io.Writer
}

func main() {
	c := config{out: os.Stdout}
	flag.IntVar(&c.runs, "runs", 9, "measured runs of each program on a message; of a range a third of them")
	flag.IntVar(&c.commits, "commits", 1000, "commits in the range")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, c)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "lintbench: error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, c config) error {
	dir, err := os.MkdirTemp("", "lintbench")
	if err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // what is left is in the temporary folder
	b, err := newBench(ctx, dir, c.commits)
	if err != nil {
		return err
	}
	skipped := b.installCommitlint(ctx)
	for _, part := range b.parts(c, skipped == nil) {
		if err := c.measure(ctx, part); err != nil {
			return fmt.Errorf("measuring, %s: %w", part.name, err)
		}
	}
	if skipped != nil {
		_, err = fmt.Fprintf(c.out, "SKIPPED commitlint: %v\n", skipped)
	}
	return err
}

// part is a comparison; the first program is what the others are held against.
type part struct {
	name     string
	runs     int
	programs []program
}

// program is one of those that are measured; it says how much cpu a run took.
type program struct {
	name string
	run  func(context.Context) (time.Duration, error)
}

// measure lets each program run in turn. The first round warms the caches and
// does not count.
func (c config) measure(ctx context.Context, p part) error {
	used := make([][]time.Duration, len(p.programs))
	for round := range p.runs + 1 {
		for i, program := range p.programs {
			cpu, err := program.run(ctx)
			if err != nil {
				return fmt.Errorf("running %s: %w", program.name, err)
			}
			if round > 0 {
				used[i] = append(used[i], cpu)
			}
		}
	}
	if _, err := fmt.Fprintf(c.out, "cpu of a lint of %s, medians of %d\n", p.name, p.runs); err != nil {
		return err
	}
	ours := measure.Median(used[0])
	for i, program := range p.programs {
		m := measure.Median(used[i])
		if _, err := fmt.Fprintf(c.out, "  %-32s %9.1f ms %8.1f x navlint\n", program.name, float64(m)/float64(time.Millisecond), m.Seconds()/ours.Seconds()); err != nil {
			return err
		}
	}
	return nil
}
