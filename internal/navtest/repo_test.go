package navtest_test

import (
	"strings"
	"testing"

	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
)

// Ids must not depend on who runs the tests, nor on when.
func TestSameIDsEverywhere(t *testing.T) {
	t.Setenv("GIT_AUTHOR_NAME", "Somebody Else")
	t.Setenv("GIT_DIR", "/nonexistent")
	t.Setenv("GIT_CONFIG_PARAMETERS", "'core.bare'='false'")
	r := navtest.Bare(t)
	first := r.Put("first", navtest.Files{"a": navtest.Text("1\n"), "sub/x": navtest.Exec("#!/bin/sh\n")})
	second := r.Put("second", navtest.Files{"a": navtest.Gone(), "l": navtest.Link("sub/x"), "m": navtest.Submodule(first)})
	if want := "8995a5fc456ea1d51097899fef814cc4cfced4f5"; second != want {
		t.Errorf("second commit = %s, want %s", second, want)
	}
	if got := r.Git("log", "-1", "--format=%an %ad", "--date=iso-strict", first); got != "Nav Test 2026-01-01T00:00:00+00:00" {
		t.Errorf("first commit is by %q", got)
	}
	if got := r.Git("fsck", "--strict"); got != "" {
		t.Errorf("fsck: %s", got)
	}
}

// Whatever bytes a path or a message has, the commit has them.
func TestAnyBytes(t *testing.T) {
	r := navtest.Bare(t)
	path, message := "a \"b\"\n\xff\t\\é", "s\xffubject\n\nbody \x01 without a line end"
	id := r.Commit(navtest.Commit{Message: message, Files: navtest.Files{path: navtest.Text("x")}})
	if got := r.Git("ls-tree", "-z", "--name-only", id); got != path+"\x00" {
		t.Errorf("path = %q", got)
	}
	raw := r.Git("cat-file", "commit", id)
	if _, got, _ := strings.Cut(raw, "\n\n"); got != message {
		t.Errorf("message = %q", got)
	}
}

func TestMergesAndRoots(t *testing.T) {
	r := navtest.Bare(t)
	base := r.Put("base", navtest.Files{"a": navtest.Text("1")})
	side := r.Commit(navtest.Commit{Branch: "side", Parents: []string{base}, Files: navtest.Files{"b": navtest.Text("2")}})
	merge := r.Merge("main", "merge\n", navtest.Files{"b": navtest.Text("2")}, side)
	root := r.Commit(navtest.Commit{Branch: "side", Parents: []string{}})
	if got := r.Git("log", "-1", "--format=%P", merge); got != base+" "+side {
		t.Errorf("parents of the merge = %q", got)
	}
	if got := r.Git("log", "--format=%H", "side"); got != root {
		t.Errorf("side = %q, want only the root %s", got, root)
	}
}
