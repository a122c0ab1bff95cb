package gitstore_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
)

func TestOpen(t *testing.T) {
	ctx := context.Background()
	work := navtest.New(t)
	work.Put("one", navtest.Files{"sub/a": navtest.Text("1")})
	work.Git("reset", "-q", "--hard")
	linked := filepath.Join(t.TempDir(), "linked")
	work.Git("worktree", "add", "-q", linked)
	for name, dir := range map[string]string{
		"work tree": work.Dir, "below it": filepath.Join(work.Dir, "sub"),
		"git dir": filepath.Join(work.Dir, ".git"), "linked": linked, "bare": navtest.Bare(t).Dir,
		"sha256": navtest.Bare(t, "--object-format=sha256").Dir,
	} {
		r, err := gitstore.Open(ctx, dir, gitstore.Options{Env: work.Env()})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if branch, err := r.DefaultBranch(ctx); err != nil || !strings.HasPrefix(branch, "refs/heads/") {
			t.Errorf("%s: default branch %q, %v", name, branch, err)
		}
	}
	_, err := gitstore.Open(ctx, t.TempDir(), gitstore.Options{Env: append(work.Env(), "GIT_CEILING_DIRECTORIES=/")})
	if err == nil || !strings.Contains(err.Error(), "not a usable git repository") {
		t.Errorf("an empty folder: %v", err)
	}
}

// A repository that the environment names is not the one to open, but in a hook.
func TestOpenScrubs(t *testing.T) {
	ctx := context.Background()
	one, other := navtest.Bare(t), navtest.Bare(t)
	id := one.Put("one", nil)
	env := append(one.Env(), "GIT_DIR="+other.Dir, "GIT_OBJECT_DIRECTORY=/nonexistent", "GIT_CONFIG_PARAMETERS='core.bare'='false'")
	r := must[*gitstore.Repo](t)(gitstore.Open(ctx, one.Dir, gitstore.Options{Env: env}))
	if got := must[map[string]string](t)(r.Refs(ctx)); got["refs/heads/main"] != id {
		t.Errorf("refs = %v", got)
	}
	hook := must[*gitstore.Repo](t)(gitstore.Open(ctx, one.Dir, gitstore.Options{Env: append(one.Env(), "GIT_DIR="+other.Dir), Hook: true}))
	if got := must[map[string]string](t)(hook.Refs(ctx)); len(got) != 0 {
		t.Errorf("in a hook, refs = %v", got)
	}
}

// The user's configuration must not change what is read.
func TestHostileConfiguration(t *testing.T) {
	ctx := context.Background()
	r := navtest.Bare(t)
	home := t.TempDir()
	config := "[log]\n showSignature = true\n mailmap = true\n diffMerges = on\n[diff]\n ignoreSubmodules = all\n renames = copies\n noprefix = true\n orderFile = /nonexistent\n" +
		"[core]\n quotePath = true\n[format]\n pretty = oneline\n[color]\n ui = always\n[i18n]\n logOutputEncoding = latin1\n[trailer]\n separators = =\n[submodule]\n recurse = true\n"
	config += "[safe]\n bareRepository = explicit\n[core]\n attributesFile = " + filepath.Join(home, "attributes") + "\n"
	check(t, os.WriteFile(filepath.Join(home, "attributes"), []byte("* merge=ours -diff\n"), 0o600))
	check(t, os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o600))
	one := r.Put("ünï", navtest.Files{"ä": navtest.Text("1"), ".gitmodules": navtest.Text("[submodule \"m\"]\n path = m\n url = ./m\n ignore = all\n")})
	two := r.Put("two", navtest.Files{"m": navtest.Submodule(one)})
	for _, where := range []string{"user", "repository"} {
		env := r.Env()
		if where == "user" {
			env = append(env, "HOME="+home, "GIT_CONFIG_GLOBAL="+filepath.Join(home, ".gitconfig"))
		} else {
			text := must[[]byte](t)(os.ReadFile(filepath.Join(r.Dir, "config")))
			config := strings.ReplaceAll(config, " orderFile = /nonexistent\n", "") // an administrator's own repository
			check(t, os.WriteFile(filepath.Join(r.Dir, "config"), append(text, config...), 0o600))
		}
		g := must[*gitstore.Repo](t)(gitstore.Open(ctx, r.Dir, gitstore.Options{Env: env}))
		commits := must[[]gitstore.Commit](t)(g.Commits(ctx, []string{one, two}))
		if string(commits[0].Message) != "ünï\n" {
			t.Errorf("%s: message = %q", where, commits[0].Message)
		}
		want := map[string][]string{one: {".gitmodules", "ä"}, two: {"m"}}
		if diff := cmp.Diff(want, must[map[string][]string](t)(g.Paths(ctx, []string{one, two}))); diff != "" {
			t.Errorf("%s: paths (-want +got):\n%s", where, diff)
		}
		changes := must[[]gitstore.PathChange](t)(g.Changes(ctx, two))
		if len(changes) != 1 || changes[0].After != (gitstore.Entry{Mode: "160000", ID: one}) {
			t.Errorf("%s: changes = %v", where, changes)
		}
	}
}

// refs/replace/* can be pushed by anybody and must not change a commit.
func TestReplaceRefsAreNotObeyed(t *testing.T) {
	ctx := context.Background()
	r := navtest.Bare(t)
	one := r.Put("honest", nil)
	forged := r.Commit(navtest.Commit{Branch: "evil", Parents: []string{}, Message: "forged\n"})
	r.Git("replace", one, forged)
	commits := must[[]gitstore.Commit](t)(open(t, r).Commits(ctx, []string{one}))
	if got := string(commits[0].Message); got != "honest\n" {
		t.Errorf("message = %q", got)
	}
}

func TestDefaultBranch(t *testing.T) {
	ctx := context.Background()
	r := navtest.Bare(t)
	g := open(t, r)
	if got := must[string](t)(g.DefaultBranch(ctx)); got != "refs/heads/main" {
		t.Errorf("unborn: %q", got)
	}
	id := r.Put("one", nil)
	r.Git("symbolic-ref", "HEAD", "refs/heads/dev/x")
	if got := must[string](t)(g.DefaultBranch(ctx)); got != "refs/heads/dev/x" {
		t.Errorf("switched: %q", got)
	}
	r.Git("update-ref", "--no-deref", "HEAD", id)
	if _, err := g.DefaultBranch(ctx); !errors.Is(err, gitstore.ErrDetached) {
		t.Errorf("detached: %v", err)
	}
}

// A git that hangs is ended, with what it started.
func TestTimeout(t *testing.T) {
	r := navtest.Bare(t)
	id := r.Put("one", nil)
	hook := filepath.Join(r.Dir, "hooks")
	check(t, os.MkdirAll(hook, 0o755))
	check(t, os.WriteFile(filepath.Join(hook, "reference-transaction"), []byte("#!/bin/sh\nsleep 1000\n"), 0o755))
	g := must[*gitstore.Repo](t)(gitstore.Open(context.Background(), r.Dir, gitstore.Options{Env: r.Env(), Timeout: 300 * time.Millisecond}))
	err := g.UpdateRefs(context.Background(), gitstore.RefUpdate{Ref: "refs/heads/x", New: id})
	if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, gitstore.ErrRefused) {
		t.Errorf("err = %v", err)
	}
}

// The other object format: every id is longer, and the pack's sum is another.
func TestSHA256(t *testing.T) {
	ctx := context.Background()
	server := navtest.Bare(t, "--object-format=sha256")
	base := server.Put("base", navtest.Files{"a": navtest.Text("1")})
	change := server.Put("change", navtest.Files{"a": navtest.Gone(), "b/c": navtest.Text("2")})
	g := open(t, server)
	revert := must[string](t)(buildRevert(g, change, change))
	if got, want := server.Git("rev-parse", revert+"^{tree}"), server.Git("rev-parse", base+"^{tree}"); got != want {
		t.Errorf("tree = %s, want %s", got, want)
	}
	contains := must[map[string]map[string]bool](t)(g.Contains(ctx, []string{base, revert}, []string{change, revert}))
	if !contains[base][revert] || contains[revert][change] {
		t.Errorf("contains = %v", contains)
	}
	check(t, g.UpdateRefs(ctx, gitstore.RefUpdate{Ref: "refs/heads/main", Old: change, New: revert}))
	if got := must[map[string][]string](t)(g.Paths(ctx, []string{revert})); !cmp.Equal(got[revert], []string{"a", "b/c"}) {
		t.Errorf("paths = %v", got)
	}
}
