package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/nav-watchdog/nav-watchdog/internal/hook"
)

func (e env) doctorCommand() *cli.Command {
	return &cli.Command{
		Name: "doctor", Usage: "say what is missing or wrong with the hooks and notes of a repository", ArgsUsage: "REPO", Action: e.doctor,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "clone", Usage: "REPO is a developer's clone, whatever it looks like"},
			&cli.StringFlag{Name: "global", Usage: "`DIR` for which install --host gitlab --global was run"},
		},
	}
}

func (e env) doctor(c *cli.Context) error {
	repo, err := e.named(c)
	if err != nil {
		return err
	}
	return hook.Doctor{
		Repo: patient{newStore(repo)}, Out: e.out, Clone: c.Bool("clone"), Global: c.String("global"),
		Program: e.ask, Git: func(ctx context.Context) (string, error) { return e.ask(ctx, "git") },
		Knows: e.knows,
	}.Run(c.Context)
}

// patient is the repository as the doctor wants it.
type patient struct{ store }

func (p patient) EachNote(ctx context.Context, ref string, fn func(object string, note []byte)) error {
	notes, err := p.Notes(ctx, ref)
	if err != nil {
		return err
	}
	for _, object := range notes.Objects() {
		note, _ := notes.Get(object)
		fn(object, note)
	}
	return nil
}

// askTime is how long a program may take to say its version, and maxSaid how
// much of that is shown.
const (
	askTime = 10 * time.Second
	maxSaid = 100
)

// ask is the first line of what a program answers to --version.
func (e env) ask(ctx context.Context, program string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "--version")
	cmd.Env, cmd.WaitDelay = e.environ, time.Second
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("running %s --version: %w", program, err)
	}
	said, _, _ := strings.Cut(string(out), "\n")
	return said[:min(len(said), maxSaid)], nil
}
