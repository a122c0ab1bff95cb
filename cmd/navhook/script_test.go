package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"navhook": func() {
			// Watchers of scripts are no users of the machine.
			knows := func(_ context.Context, user string) bool { return user != "stranger" }
			e := env{os.Stdin, os.Stdout, os.Stderr, os.Environ(), os.Executable, askID, knows, testNow}
			os.Exit(exit.Report(os.Stderr, "navhook", run(context.Background(), os.Args, e)))
		},
		"rawpush": rawPush,
	})
}

// testNow is the clock of scripts; the shipped program has no such switch.
func testNow() time.Time {
	if at, err := time.Parse(time.RFC3339, os.Getenv("NAV_TEST_NOW")); err == nil {
		return at
	}
	return navtest.Start()
}

// TestScript pushes with real git through installed hooks. Who pushes is what
// the scripts' own `id` says, the first on their PATH: $PUSHER.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			home, bin := filepath.Join(e.WorkDir, "home"), filepath.Join(e.WorkDir, "bin")
			for _, dir := range []string{home, bin} {
				if err := os.MkdirAll(dir, 0o777); err != nil {
					return err
				}
			}
			path := e.Getenv("PATH")
			for _, kv := range navtest.Env(home) {
				if strings.HasPrefix(kv, "GIT_") || strings.HasPrefix(kv, "HOME=") || strings.HasPrefix(kv, "LC_ALL=") {
					e.Vars = append(e.Vars, kv)
				}
			}
			e.Setenv("PATH", bin+string(filepath.ListSeparator)+path)
			e.Setenv("PUSHER", "alice")
			// Built with -race, every program would sleep for a second at its end.
			e.Setenv("GORACE", "atexit_sleep_ms=0")
			e.Setenv("NAV_TEST_NOW", navtest.Start().Format(time.RFC3339))
			id := "#!/bin/sh\nif [ \"$PUSHER\" = nobody-known ]; then exit 1; fi\necho \"$PUSHER\"\n"
			return os.WriteFile(filepath.Join(bin, "id"), []byte(id), 0o755)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"history":  history,
			"parallel": parallel,
			"save":     save,
			"httpd":    httpd,
		},
	})
}

// history REPO BRANCH N [LAST] gives a branch N commits on top of what it has,
// the last one with the message in the file LAST.
func history(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: history REPO BRANCH N [LAST]")
	}
	n, err := strconv.Atoi(args[2])
	ts.Check(err)
	var b bytes.Buffer
	ref := "refs/heads/" + args[1]
	dir := ts.MkAbs(args[0])
	for i := range n {
		msg := fmt.Sprintf("commit %d\n\nSigned-off-by: A <a@example.com>\n", i)
		if i == n-1 && len(args) > 3 {
			msg = ts.ReadFile(args[3])
		}
		fmt.Fprintf(&b, "commit %s\ncommitter A <a@example.com> %d +0000\ndata %d\n%s\n", ref, 1767225600+i, len(msg), msg)
		if i == 0 && exec.Command("git", "-C", dir, "show-ref", "--verify", "--quiet", ref).Run() == nil {
			fmt.Fprintf(&b, "from %s^0\n", ref)
		}
		fmt.Fprintf(&b, "M 100644 inline f%d\ndata %d\n%d\n", i%100, len(strconv.Itoa(i)), i)
	}
	cmd := exec.Command("git", "-C", dir, "fast-import", "--quiet")
	cmd.Stdin = &b
	out, err := cmd.CombinedOutput()
	if err != nil {
		ts.Fatalf("fast-import: %v\n%s", err, out)
	}
}

// parallel N COMMAND... runs a command N times at once, with %d replaced by a
// number, and fails if one of them does.
func parallel(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: parallel N COMMAND...")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	env := []string{}
	for _, name := range []string{"PATH", "HOME", "PUSHER", "NAV_TEST_NOW", "LC_ALL", "GORACE"} {
		env = append(env, name+"="+ts.Getenv(name))
	}
	for _, kv := range navtest.Env(ts.Getenv("HOME")) {
		if strings.HasPrefix(kv, "GIT_") {
			env = append(env, kv)
		}
	}
	var wg sync.WaitGroup
	errs := make([]string, n)
	for i := range n {
		wg.Go(func() {
			words := make([]string, len(args)-1)
			for j, w := range args[1:] {
				words[j] = strings.ReplaceAll(w, "%d", strconv.Itoa(i))
			}
			cmd := exec.Command(words[0], words[1:]...)
			cmd.Dir, cmd.Env = ts.MkAbs("."), env
			if out, err := cmd.CombinedOutput(); err != nil {
				errs[i] = fmt.Sprintf("%q: %v\n%s", words, err, out)
			}
		})
	}
	wg.Wait()
	if failed := strings.Join(errs, ""); failed != "" {
		ts.Fatalf("%s", failed)
	}
}

// save NAME puts the last stdout, without its line end, into a variable.
func save(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: save NAME")
	}
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}
