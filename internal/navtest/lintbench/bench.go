package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/navtest/measure"
)

// message passes both linters, so that both read it to its end.
const message = "feat: bump shop to 4.5\n\nThe new cart needs the new image.\n\nNav-Watchdog: app=shop deadline=10m\nSigned-off-by: Ada <ada@example.com>\n"

// The versions that are compared with.
var commitlint = []string{"@commitlint/cli@21.2.4", "@commitlint/config-conventional@21.2.4"}

// bench is a repository with a range of commits, and the programs.
type bench struct {
	repo, file, navlint string
	modules             string // where commitlint is
	env                 []string
}

func newBench(ctx context.Context, dir string, commits int) (*bench, error) {
	b := &bench{
		repo: filepath.Join(dir, "repo"), navlint: filepath.Join(dir, "navlint"),
		env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C", "TZ=UTC", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull},
	}
	b.file = filepath.Join(b.repo, ".git", "COMMIT_EDITMSG")
	if err := measure.Build(ctx, b.navlint, "navlint"); err != nil {
		return nil, err
	}
	if _, err := b.command(ctx, "", nil, "git", "init", "-q", "-b", "main", b.repo); err != nil {
		return nil, err
	}
	for _, r := range ranges() {
		if _, err := b.command(ctx, b.repo, r.history(commits), "git", "fast-import", "--quiet"); err != nil {
			return nil, err
		}
	}
	return b, os.WriteFile(b.file, []byte(message), 0o666)
}

// kind is a range; every one of its commits has a watch, or each tenth, or none.
type kind struct {
	name  string
	every int
}

func ranges() []kind {
	return []kind{{"without-watch", 0}, {"each-tenth-with-watch", 10}, {"all-with-watch", 1}}
}

// history is a base and a range of commits above it: on the branches NAME-base
// and NAME.
func (k kind) history(commits int) []byte {
	var s bytes.Buffer
	for i := range commits + 1 {
		text := strings.Replace(message, "4.5", fmt.Sprintf("4.%d", i), 1)
		if k.every == 0 || i%k.every != 0 {
			text = strings.Replace(text, "Nav-Watchdog: app=shop deadline=10m\n", "", 1)
		}
		fmt.Fprintf(&s, "commit refs/heads/%s\ncommitter Bench <bench@example.com> %d +0000\ndata %d\n%s", k.name, 1_600_000_000+i*60, len(text), text)
		data := fmt.Sprintf("image: example.com/shop:4.%d\n", i)
		fmt.Fprintf(&s, "M 100644 inline shop/values.yaml\ndata %d\n%s\n", len(data), data)
		if i == 0 {
			fmt.Fprintf(&s, "reset refs/heads/%s-base\nfrom refs/heads/%s\n\n", k.name, k.name)
		}
	}
	return s.Bytes()
}

// installCommitlint installs commitlint unless it is there; the error says why
// it can't be.
func (b *bench) installCommitlint(ctx context.Context) error {
	cache := os.Getenv("NAV_BENCH_CACHE")
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return err
		}
		cache = filepath.Join(user, "nav-watchdog-bench")
	}
	// The versions are part of the name, so others are never taken for them.
	b.modules = filepath.Join(cache, strings.NewReplacer("/", "-", "@", "-").Replace(commitlint[0][1:]))
	if _, err := os.Stat(b.bin()); err == nil {
		return b.link()
	}
	if _, err := exec.LookPath("npm"); err != nil {
		return errors.New("there is no npm here")
	}
	if err := os.MkdirAll(b.modules, 0o777); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	install := exec.CommandContext(limited, "npm", append([]string{"install", "--prefix", b.modules, "--no-audit", "--no-fund", "--ignore-scripts", "--silent"}, commitlint...)...)
	install.Dir = b.modules
	if out, err := install.CombinedOutput(); err != nil {
		return fmt.Errorf("running npm install: %w: %s", err, strings.Join(strings.Fields(string(out)), " "))
	}
	if err := os.WriteFile(b.settings(), []byte("export default {extends: ['@commitlint/config-conventional']};\n"), 0o666); err != nil {
		return err
	}
	return b.link()
}

// link gives the repository its node_modules, where npx looks.
func (b *bench) link() error {
	return os.Symlink(filepath.Join(b.modules, "node_modules"), filepath.Join(b.repo, "node_modules"))
}

func (b *bench) bin() string { return filepath.Join(b.modules, "node_modules", ".bin", "commitlint") }
func (b *bench) settings() string {
	return filepath.Join(b.modules, "commitlint.config.mjs")
}

func (b *bench) parts(c config, withCommitlint bool) []part {
	run := func(name string, args ...string) program {
		return program{name, func(ctx context.Context) (time.Duration, error) {
			return b.command(ctx, b.repo, nil, args[0], args[1:]...)
		}}
	}
	one := part{"one message", c.runs, []program{
		run("navlint message", b.navlint, "message", b.file),
		run("git interpret-trailers --parse", "git", "interpret-trailers", "--parse", "--no-divider", b.file),
	}}
	if withCommitlint {
		lint := []string{"commitlint", "--config", b.settings(), "--edit", b.file}
		one.programs = append(one.programs,
			run("commitlint --edit", append([]string{b.bin()}, lint[1:]...)...),
			run("npx --no -- commitlint --edit", append([]string{"npx", "--no", "--"}, lint...)...)) // how its own guide has a hook start it
	}
	parts := []part{one}
	for _, k := range ranges() {
		many := part{fmt.Sprintf("%d commits, %s", c.commits, strings.ReplaceAll(k.name, "-", " ")), max(c.runs/3, 1), []program{
			run("navlint commits", b.navlint, "commits", k.name+"-base.."+k.name),
			run("git log --format=%(trailers)", "git", "log", "--format=%H %(trailers:key=Nav-Watchdog)", k.name+"-base.."+k.name),
		}}
		if withCommitlint {
			many.programs = append(many.programs, run("commitlint --from --to", b.bin(), "--config", b.settings(), "--from", k.name+"-base", "--to", k.name))
		}
		parts = append(parts, many)
	}
	return parts
}

// command runs a program, which must pass, and says how much cpu it took.
func (b *bench) command(ctx context.Context, dir string, stdin []byte, name string, args ...string) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, b.env, bytes.NewReader(stdin)
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("running %s: %w\n%s", name, err, out)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}
