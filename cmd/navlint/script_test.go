package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"navlint": func() {
			// A script has no terminal; it may say that it has one.
			e := env{os.Stdin, os.Stdout, os.Stderr, os.Environ(), os.Getenv("NAV_TEST_TERMINAL") != "", time.Now}
			os.Exit(exit.Report(os.Stderr, "navlint", run(context.Background(), os.Args, e)))
		},
	})
}

func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			home := filepath.Join(e.WorkDir, "home")
			for _, kv := range navtest.Env(home) {
				if strings.HasPrefix(kv, "GIT_") || strings.HasPrefix(kv, "HOME=") || strings.HasPrefix(kv, "LC_ALL=") {
					e.Vars = append(e.Vars, kv)
				}
			}
			hooks, err := filepath.Abs("../../hooks")
			if err != nil {
				return err
			}
			e.Setenv("HOOKS", hooks)
			// A program with the race detector waits a second before it ends.
			e.Setenv("GORACE", "atexit_sleep_ms=0")
			// Nothing above the script's folder is its repository.
			e.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(e.WorkDir))
			return os.MkdirAll(home, 0o777)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": status,
			"raw":    raw,
			"note":   note,
			"ci":     ci,
			"set":    set,
			"argocd": argocd,
		},
	})
}

// status N COMMAND... runs navlint and holds its exit code against
// N: a script's own ! only knows "not 0".
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: status N ARGS...")
	}
	err := ts.Exec("navlint", args[1:]...)
	got := "0"
	if err != nil {
		var failed *exec.ExitError
		if !errors.As(err, &failed) {
			ts.Fatalf("running navlint: %v", err)
		}
		got = strconv.Itoa(failed.ExitCode())
	}
	if got != args[0] {
		ts.Fatalf("navlint %s: exit code %s, want %s", strings.Join(args[1:], " "), got, args[0])
	}
}

// raw turns \xNN, \r and \0 of a file into the bytes: a script is text.
func raw(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: raw FILE")
	}
	b := []byte(ts.ReadFile(args[0]))
	for from, to := range map[string]string{`\x1b`: "\x1b", `\x9b`: "\x9b", `\x07`: "\x07", `\r`: "\r", `\0`: "\x00", `\u202e`: "\u202e"} {
		b = bytes.ReplaceAll(b, []byte(from), []byte(to))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b, 0o666))
}

// note FILE [VERDICT] writes a note as the watcher does.
func note(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: note FILE [VERDICT]")
	}
	at := navtest.Start()
	s := verdict.New(verdict.Watch{
		Commit: strings.Repeat("a", 40), App: verdict.App{Namespace: "argocd", Name: "web"}, Mode: "arm", Expect: "Healthy",
		Deadline: 15 * time.Minute, Reach: 15 * time.Minute, Stable: 2 * time.Minute, Queued: at,
	}, "navhook")
	s.Branch, s.Verdict, s.Decided = "main", verdict.Fail, at.Add(15*time.Minute)
	s.Reason = verdict.Reason{Code: "deadline", Detail: "Degraded"}
	s.Gates = []verdict.Gate{{Name: "mode", Pass: true}, {Name: "baseline", Why: "the app was not healthy before"}}
	if len(args) > 1 && args[1] != "FAIL" {
		s.Verdict, s.Reason, s.Gates = verdict.Verdict(args[1]), verdict.Reason{Code: "healthy"}, nil
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), verdict.FormatNote([]verdict.State{s}), 0o666))
}

// set NAME COMMAND... sets a variable of the environment to what a command
// prints, without the line feed.
func set(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: set NAME COMMAND...")
	}
	ts.Check(ts.Exec(args[1], args[2:]...))
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}
