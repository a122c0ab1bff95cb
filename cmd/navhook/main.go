package main

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/exit"
)

// collectLate has the garbage of a small push never collected: the first
// collection comes at 32 MiB instead of 4 (GOGC of 4 MiB, runtime/debug), and from
// then on it is as usual.
func collectLate() {
	was := debug.SetGCPercent(800)
	runtime.AddCleanup(new([64]byte), func(was int) { debug.SetGCPercent(was) }, was)
}

func main() {
	// A hook waits for git. More threads than one would only look for work,
	// and that is a tenth of what a small push costs.
	runtime.GOMAXPROCS(1)
	collectLate()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends what waits for input
	// A pusher who hangs up must not keep a commit from being queued: with a
	// handler, writing to a closed pipe is an error and no longer the end.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	err := run(ctx, os.Args, env{os.Stdin, os.Stdout, os.Stderr, os.Environ(), os.Executable, osUser, knowsUser, time.Now})
	stop()
	os.Exit(exit.Report(os.Stderr, "navhook", err))
}
