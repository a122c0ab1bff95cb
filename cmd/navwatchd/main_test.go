package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"navwatchd": func() {
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			self, _ := os.Executable()
			err := run(ctx, os.Args, env{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, environ: os.Environ(), now: testNow, executable: self, look: 20 * time.Millisecond})
			stop()
			os.Exit(exit.Report(os.Stderr, "navwatchd", err))
		},
	})
}

// testNow is the clock of scripts; the shipped program has no such switch.
func testNow() time.Time {
	if at, err := time.Parse(time.RFC3339, os.Getenv("NAV_TEST_NOW")); err == nil {
		return at
	}
	return navtest.Start()
}
