package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/exit"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends what waits for input
	if os.Getenv("GOGC") == "" {
		// It is over before a collection pays.
		debug.SetGCPercent(400)
	}
	err := run(ctx, os.Args, env{os.Stdin, os.Stdout, os.Stderr, os.Environ(), terminal(os.Stdout), time.Now})
	stop()
	os.Exit(exit.Report(os.Stderr, "navlint", err))
}

// terminal guesses whether somebody looks at f: a character device.
func terminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
