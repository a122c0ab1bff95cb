// Package measure is what the benches of whole processes have in common.
package measure

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"
)

// Build builds programs of this module as make build does, into out: a file for
// one, a folder for several.
func Build(ctx context.Context, out string, programs ...string) error {
	args := []string{"build", "-trimpath", "-tags", "urfave_cli_no_docs", "-ldflags", "-s -w", "-o", out}
	for _, p := range programs {
		args = append(args, "github.com/nav-watchdog/nav-watchdog/cmd/"+p)
	}
	build := exec.CommandContext(ctx, "go", args...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building the programs: %w\n%s", err, text)
	}
	return nil
}

// Median is the middle of some times; 0 of none.
func Median(ds []time.Duration) time.Duration {
	if len(ds) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(ds))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
