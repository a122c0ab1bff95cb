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
	executable     string        // this program, for the drill's hooks
	look           time.Duration // how often settings and program are looked at again

	args   []string // as it was started; set by run
	digest string   // of this program; "" where nobody asked yet
}

// look is how often the settings and the program's file are looked at.
const look = 5 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	self, _ := os.Executable() // without it only the drill's hooks cannot be installed
	err := run(ctx, os.Args, env{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, environ: os.Environ(), now: time.Now, executable: self, look: look})
	stop()
	os.Exit(exit.Report(os.Stderr, "navwatchd", err))
}
