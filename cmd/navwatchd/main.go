// Command navwatchd watches commits that asked for it, and says in the
// repository what became of them. See docs/operations.md.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/exit"
)

// env is everything that a command takes from its surroundings.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	environ        []string
	now            func() time.Time
	executable     string // this program, for the drill's hooks
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	self, _ := os.Executable() // without it only the drill's hooks cannot be installed
	err := run(ctx, os.Args, env{os.Stdin, os.Stdout, os.Stderr, os.Environ(), time.Now, self})
	stop()
	os.Exit(exit.Report(os.Stderr, "navwatchd", err))
}
