// Package watcher runs navwatchd as an operator does: a configuration file, a
// mirror, and git's own ways to log in.
package watcher

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/e2e/process"
)

// Options says what is watched.
type Options struct {
	Bin        string // navwatchd
	Dir        string // its home; mirror, log and configuration lie there
	Repository string
	Name       string   // of the watcher on the server
	Settings   string   // more YAML, such as source and dry-run
	Env        []string // how it logs in
}

// Watcher is a navwatchd.
type Watcher struct {
	*process.Process
	Mirror string
}

// New writes the configuration; Start starts it.
func New(o Options) (*Watcher, error) {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, err
	}
	config := filepath.Join(o.Dir, "navwatchd.yaml")
	w := &Watcher{Mirror: filepath.Join(o.Dir, "mirror.git")}
	err := os.WriteFile(config, fmt.Appendf(nil, `version: 1
repository: %s
mirror: %s
notes: hook
interval: 1s
status-interval: 10s
refresh: {reconciliation: 15s, jitter: 15s}
watcher: {name: %s, email: %[3]s@example.com}
log: {level: debug}
%s
`, o.Repository, w.Mirror, o.Name, o.Settings), 0o600)
	if err != nil {
		return nil, err
	}
	w.Process = &process.Process{
		Name: "navwatchd", Bin: o.Bin, Args: []string{"run", "--config", config}, Dir: o.Dir, Log: filepath.Join(o.Dir, "log"),
		// Nothing of whoever runs the tests.
		Alone: true,
		Env:   append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + o.Dir, "GIT_CONFIG_SYSTEM=/dev/null", "GIT_TERMINAL_PROMPT=0"}, o.Env...),
	}
	return w, nil
}

// Selfcheck runs navwatchd selfcheck with the same settings, and returns what it
// says and its exit code.
func (w *Watcher) Selfcheck(ctx context.Context) (string, int, error) {
	cmd := exec.CommandContext(ctx, w.Bin, append([]string{"selfcheck"}, w.Args[1:]...)...)
	cmd.Dir, cmd.Env = w.Dir, w.Env
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return string(out), exit.ExitCode(), nil
	}
	return string(out), 0, err
}

// Await waits until it has looked at everything once.
func (w *Watcher) Await(ctx context.Context) error { return w.looked(ctx, 1) }

// Again starts it anew, and waits until it has looked at everything: what was
// before that it does not know.
func (w *Watcher) Again(ctx context.Context) error {
	before := strings.Count(w.Text(), firstPass)
	if err := w.Start(); err != nil {
		return err
	}
	return w.looked(ctx, before+1)
}

const firstPass = "first pass done"

func (w *Watcher) looked(ctx context.Context, times int) error {
	return w.Process.Await(ctx, func(context.Context) error {
		if log := w.Text(); strings.Count(log, firstPass) < times {
			return fmt.Errorf("no first pass yet: %s", log)
		}
		return nil
	})
}

// Text is what it logged.
func (w *Watcher) Text() string {
	data, err := os.ReadFile(w.Log)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// Askpass writes a program that git asks for a user and a token, and returns
// the environment that lets git ask it. The token is in no argument, no address
// and no configuration.
func Askpass(dir, user, token string) ([]string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	secret, program := filepath.Join(dir, "token"), filepath.Join(dir, "askpass")
	if err := os.WriteFile(secret, []byte(token+"\n"), 0o600); err != nil {
		return nil, err
	}
	script := fmt.Sprintf("#!/bin/sh\ncase $1 in Username*) echo %s ;; *) cat %s ;; esac\n", user, secret)
	return []string{"GIT_ASKPASS=" + program}, os.WriteFile(program, []byte(script), 0o700)
}

// Mounted writes a Secret as it is mounted, and returns the environment that lets
// git log in by the configuration of deploy/, which expects it elsewhere.
func Mounted(dir, gitconfig, user, token string) ([]string, error) {
	const mount = "/run/secrets/nav-watchdog"
	text, err := os.ReadFile(gitconfig)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(string(text), mount) {
		return nil, fmt.Errorf("%s does not mention %s", gitconfig, mount)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "gitconfig")
	return []string{"GIT_CONFIG_GLOBAL=" + config}, errors.Join(
		os.WriteFile(filepath.Join(dir, "username"), []byte(user), 0o400),
		os.WriteFile(filepath.Join(dir, "password"), []byte(token), 0o400),
		os.WriteFile(config, []byte(strings.ReplaceAll(string(text), mount, dir)), 0o600),
	)
}
