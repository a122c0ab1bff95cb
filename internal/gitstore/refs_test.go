package gitstore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
)

func TestRefs(t *testing.T) {
	ctx := context.Background()
	r := navtest.Bare(t)
	id := r.Put("one", nil)
	for _, ref := range []string{"refs/heads/a/b", "refs/heads/-x", "refs/heads/ünï", "refs/headsy/z", "refs/notes/nav/watches", "refs/notes/navy", "refs/tags/v1"} {
		r.Git("update-ref", ref, id)
	}
	g := open(t, r)
	for _, c := range []struct{ prefixes, want []string }{
		{[]string{"refs/heads/"}, []string{"refs/heads/main", "refs/heads/a/b", "refs/heads/-x", "refs/heads/ünï"}},
		{[]string{"refs/heads"}, []string{"refs/heads/main", "refs/heads/a/b", "refs/heads/-x", "refs/heads/ünï"}},
		{[]string{"refs/heads/a"}, []string{"refs/heads/a/b"}},
		{[]string{"refs/heads/main", "refs/notes/nav"}, []string{"refs/heads/main", "refs/notes/nav/watches"}},
		{[]string{"refs/heads/mai"}, nil},
	} {
		want := map[string]string{}
		for _, ref := range c.want {
			want[ref] = id
		}
		if diff := cmp.Diff(want, must[map[string]string](t)(g.Refs(ctx, c.prefixes...))); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.prefixes, diff)
		}
	}
	if got := must[map[string]string](t)(g.Refs(ctx)); len(got) != 8 {
		t.Errorf("all refs = %v", got)
	}
	for _, bad := range []string{"--format=%(raw)", "-x", "refs/heads/*", "refs/[h]eads/", "heads/"} {
		if got, err := g.Refs(ctx, bad); err == nil {
			t.Errorf("%q was taken: %v", bad, got)
		}
	}
}

func TestUpdateRefs(t *testing.T) {
	ctx := context.Background()
	r := navtest.Bare(t)
	one := r.Put("one", nil)
	two := r.Put("two", nil)
	g := open(t, r)
	type up = gitstore.RefUpdate
	check(t, g.UpdateRefs(ctx))
	check(t, g.UpdateRefs(ctx, up{Ref: "refs/heads/a", New: one}, up{Ref: "refs/heads/-b", New: one}))
	check(t, g.UpdateRefs(ctx, up{Ref: "refs/heads/a", Old: one, New: two}, up{Ref: "refs/heads/-b", Old: one}))
	// Asked for again, it has happened already.
	check(t, g.UpdateRefs(ctx, up{Ref: "refs/heads/a", Old: one, New: two}, up{Ref: "refs/heads/-b", Old: one}))
	stale := map[string][]up{
		"wrong old value": {{Ref: "refs/heads/main", Old: one, New: one}, {Ref: "refs/heads/a", Old: one, New: one}},
		"exists already":  {{Ref: "refs/heads/main", New: one}},
		"is gone":         {{Ref: "refs/heads/gone", Old: one, New: two}},
		"deleted since":   {{Ref: "refs/heads/a", Old: one}},
	}
	for name, ups := range stale {
		if err := g.UpdateRefs(ctx, ups...); !errors.Is(err, gitstore.ErrStale) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// One that is stale holds the others back.
	err := g.UpdateRefs(ctx, up{Ref: "refs/heads/new", New: one}, up{Ref: "refs/heads/a", Old: one, New: one})
	if !errors.Is(err, gitstore.ErrStale) {
		t.Errorf("half stale: %v", err)
	}
	want := map[string]string{"refs/heads/main": two, "refs/heads/a": two}
	if diff := cmp.Diff(want, must[map[string]string](t)(g.Refs(ctx))); diff != "" {
		t.Errorf("refs (-want +got):\n%s", diff)
	}
}

func TestUpdateRefsRefused(t *testing.T) {
	ctx := context.Background()
	r := navtest.Bare(t)
	one := r.Put("one", nil)
	g := open(t, r)
	hooks := filepath.Join(r.Dir, "hooks")
	check(t, os.MkdirAll(hooks, 0o755))
	check(t, os.WriteFile(filepath.Join(hooks, "reference-transaction"), []byte("#!/bin/sh\necho no >&2\nexit 1\n"), 0o755))
	err := g.UpdateRefs(ctx, gitstore.RefUpdate{Ref: "refs/heads/a", New: one})
	if !errors.Is(err, gitstore.ErrRefused) {
		t.Errorf("a hook says no: %v", err)
	}
	for _, ref := range []string{"", "main", "HEAD", "refs/heads/a b", "refs/heads/..", "refs/heads/x\nrefs/heads/y", "refs/heads/a\x00b", "--stdin", "refs/heads/a:b", "refs/heads/x.lock"} {
		if err := g.UpdateRefs(ctx, gitstore.RefUpdate{Ref: ref, New: one}); err == nil || errors.Is(err, gitstore.ErrRefused) {
			t.Errorf("ref %q reached git: %v", ref, err)
		}
	}
	if err := g.UpdateRefs(ctx, gitstore.RefUpdate{Ref: "refs/heads/a", New: "HEAD"}); err == nil {
		t.Error("a name was taken for an id")
	}
}

// Writers who swap the same ref: every success is one step, nothing is lost.
func TestUpdateRefsRace(t *testing.T) {
	ctx := context.Background()
	r := navtest.Bare(t)
	base := r.Put("base", nil)
	tree := r.Git("rev-parse", base+"^{tree}")
	g := open(t, r)
	const ref, writers = "refs/heads/main", 20
	var wg sync.WaitGroup
	won := make(chan string, writers)
	for i := range writers {
		id := r.GitIn([]byte(fmt.Sprint(i)), "commit-tree", "-p", base, tree)
		wg.Go(func() {
			switch err := g.UpdateRefs(ctx, gitstore.RefUpdate{Ref: ref, Old: base, New: id}); {
			case err == nil:
				won <- id
			case errors.Is(err, gitstore.ErrStale), errors.Is(err, gitstore.ErrRefused):
			default:
				t.Errorf("writer %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	close(won)
	winner := <-won
	if second, more := <-won; more {
		t.Errorf("two writers won: %s and %s", winner, second)
	}
	if got := must[map[string]string](t)(g.Refs(ctx, ref)); got[ref] != winner || winner == "" {
		t.Errorf("ref = %v, the winner says %q", got, winner)
	}
}
