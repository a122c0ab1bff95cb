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

func mirror(t testing.TB, env []string) *gitstore.Repo {
	t.Helper()
	return must[*gitstore.Repo](t)(gitstore.Init(context.Background(), filepath.Join(t.TempDir(), "mirror.git"), gitstore.Options{Env: env}))
}

func hook(t testing.TB, r *navtest.Repo, name, script string) {
	t.Helper()
	dir := filepath.Join(r.Dir, "hooks")
	check(t, os.MkdirAll(dir, 0o755))
	check(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o755))
}

func TestFetch(t *testing.T) {
	ctx := context.Background()
	server := navtest.Bare(t)
	one := server.Put("one", nil)
	two := server.Put("two", nil)
	server.Branch("dev", one)
	server.Git("tag", "-a", "-m", "x", "v1", one)
	must[int](t)(open(t, server).AppendNotes(ctx, watchesRef, map[string][]string{two: {"x"}}, "x", who()))
	for _, hidden := range []string{"refs/pull/1/head", "refs/notes/commits", "refs/replace/" + one} {
		server.Git("update-ref", hidden, two)
	}
	m := mirror(t, server.Env())
	remote := m.Remote("file://" + server.Dir)
	same := func(when string) gitstore.RemoteRefs {
		t.Helper()
		got := must[gitstore.RemoteRefs](t)(remote.Fetch(ctx))
		want := must[map[string]string](t)(open(t, server).Refs(ctx, "refs/heads/", "refs/tags/", "refs/notes/nav/"))
		if diff := cmp.Diff(want, got.Refs); diff != "" {
			t.Errorf("%s: what fetch says (-server +mirror):\n%s", when, diff)
		}
		if diff := cmp.Diff(want, must[map[string]string](t)(m.Refs(ctx))); diff != "" {
			t.Errorf("%s: what is there (-server +mirror):\n%s", when, diff)
		}
		return got
	}
	if got := same("first"); got.HEAD != "refs/heads/main" {
		t.Errorf("HEAD = %q", got.HEAD)
	}
	same("nothing new")

	// Rewritten, deleted, a folder of refs where a ref was and the other way round.
	forced := server.Commit(navtest.Commit{Parents: []string{}, Message: "rewritten\n"})
	server.Git("update-ref", "-d", "refs/heads/dev")
	server.Branch("dev/x", forced)
	server.Git("tag", "-f", "v1", forced)
	server.Git("update-ref", gitstore.StatusRef, forced)
	server.Git("symbolic-ref", "HEAD", "refs/heads/dev/x")
	if got := same("rewritten"); got.HEAD != "refs/heads/dev/x" {
		t.Errorf("HEAD = %q", got.HEAD)
	}
	if got := must[string](t)(m.DefaultBranch(ctx)); got != "refs/heads/dev/x" {
		t.Errorf("the mirror's default branch: %q", got)
	}
	server.Git("update-ref", "-d", "refs/heads/dev/x")
	server.Branch("dev", forced)
	server.Git("update-ref", "-d", watchesRef)
	server.Git("update-ref", gitstore.StatusRef, one)
	if got := same("deleted"); got.HEAD != "" {
		t.Errorf("HEAD names no branch that exists, but %q", got.HEAD)
	}
	check(t, m.Maintain(ctx))
	same("maintained")
}

func TestFetchFromAnEmptyRepository(t *testing.T) {
	server := navtest.Bare(t)
	m := mirror(t, server.Env())
	got := must[gitstore.RemoteRefs](t)(m.Remote(server.Dir).Fetch(context.Background()))
	if len(got.Refs) != 0 || got.HEAD != "" {
		t.Errorf("got %+v", got)
	}
}

// A remote whose names would be options, or a mirror's own remotes.
func TestRemoteAddresses(t *testing.T) {
	ctx := context.Background()
	server := navtest.Bare(t)
	id := server.Put("one", nil)
	m := mirror(t, server.Env())
	navtest.Git(t, m.Dir(), "config", "remote.origin.url", server.Dir)
	touched := filepath.Join(t.TempDir(), "touched")
	for _, address := range []string{
		"", "-x", "--upload-pack=touch " + touched, "--receive-pack=touch " + touched, "origin",
		"ext::touch " + touched, "ssh://-oProxyCommand=touch%20" + touched + "/x", "-oProxyCommand=touch " + touched + ":x",
		"file://" + server.Dir + "-nope", "a\nb",
	} {
		remote := m.Remote(address)
		if _, err := remote.Fetch(ctx); err == nil {
			t.Errorf("fetched from %q", address)
		}
		if err := remote.Push(ctx, []gitstore.RefUpdate{{Ref: "refs/heads/x", New: id}}); err == nil {
			t.Errorf("pushed to %q", address)
		}
	}
	if _, err := os.Stat(touched); err == nil {
		t.Error("a command from an address was run")
	}
	// A branch whose name looks like an option is a branch.
	server.Branch("-x", id)
	server.Branch("--upload-pack=touch", id)
	got := must[gitstore.RemoteRefs](t)(m.Remote("file://" + server.Dir).Fetch(ctx))
	if got.Refs["refs/heads/--upload-pack=touch"] != id || got.Refs["refs/heads/-x"] != id {
		t.Errorf("refs = %v", got.Refs)
	}
	check(t, m.Remote(server.Dir).Push(ctx, []gitstore.RefUpdate{{Ref: "refs/heads/-y", New: id}, {Ref: "refs/heads/-x", Old: id}}))
	if server.Tip("-y") != id || server.Tip("-x") != "" {
		t.Error("the push did not do what was asked")
	}
}

func TestErrorsHideCredentials(t *testing.T) {
	m := mirror(t, navtest.Env(t.TempDir()))
	for _, address := range []string{"http://user:s3cret@127.0.0.1:1/x.git", "http://s3cret@127.0.0.1:1/x.git"} {
		_, err := m.Remote(address).Fetch(context.Background())
		if err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v", address, err)
		}
	}
}

// pushing is a server with a commit, and a mirror of it with one more.
func pushing(t *testing.T) (server *navtest.Repo, m *gitstore.Repo, remote *gitstore.Remote, old, next string) {
	server = navtest.Bare(t)
	server.Put("base", nil)
	old = server.Put("old", navtest.Files{"a": navtest.Text("1")})
	m = mirror(t, server.Env())
	remote = m.Remote("file://" + server.Dir)
	must[gitstore.RemoteRefs](t)(remote.Fetch(context.Background()))
	next = must[string](t)(m.WriteBlobCommit(context.Background(), map[string][]byte{"a": []byte("2")}, "next", who(), old))
	return server, m, remote, old, next
}

func TestPush(t *testing.T) {
	ctx := context.Background()
	server, m, remote, old, next := pushing(t)
	type ups = []gitstore.RefUpdate
	note := must[string](t)(m.WriteBlobCommit(ctx, map[string][]byte{old: []byte("x")}, "note", who()))
	status := must[string](t)(m.WriteBlobCommit(ctx, map[string][]byte{"status": []byte("1")}, "status", who()))
	again := must[string](t)(m.WriteBlobCommit(ctx, map[string][]byte{"status": []byte("2")}, "status", who()))
	check(t, remote.Push(ctx, nil))
	check(t, remote.Push(ctx, ups{{Ref: "refs/heads/main", Old: old, New: next}, {Ref: notesRef, New: note}, {Ref: gitstore.StatusRef, New: status}}))
	check(t, remote.Push(ctx, ups{{Ref: gitstore.StatusRef, Old: status, New: again}}))
	// Asked for again, it has happened already.
	check(t, remote.Push(ctx, ups{{Ref: "refs/heads/main", Old: old, New: next}, {Ref: gitstore.StatusRef, Old: status, New: again}}))
	want := map[string]string{"refs/heads/main": next, notesRef: note, gitstore.StatusRef: again}
	if diff := cmp.Diff(want, must[map[string]string](t)(open(t, server).Refs(ctx))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// All or nothing, and each failure by its right name.
func TestPushFails(t *testing.T) {
	ctx := context.Background()
	type ups = []gitstore.RefUpdate
	server, m, remote, old, next := pushing(t)
	base := server.Git("rev-parse", old+"^")
	other := must[string](t)(m.WriteBlobCommit(ctx, map[string][]byte{"b": nil}, "other", who(), old))
	rootless := must[string](t)(m.WriteBlobCommit(ctx, nil, "root", who()))
	server.Branch("moved", old)
	for _, c := range []struct {
		name string
		ups  ups
		want error
	}{
		{"not forward", ups{{Ref: "refs/heads/main", Old: old, New: base}}, gitstore.ErrRefused},
		{"not forward, no relation", ups{{Ref: notesRef, New: other}, {Ref: "refs/heads/main", Old: old, New: rootless}}, gitstore.ErrRefused},
		{"moved since", ups{{Ref: "refs/heads/moved", Old: base, New: next}}, gitstore.ErrStale},
		{"one of two moved since", ups{{Ref: "refs/heads/main", Old: old, New: next}, {Ref: "refs/heads/moved", Old: base, New: next}}, gitstore.ErrStale},
		{"exists already", ups{{Ref: "refs/heads/main", Old: old, New: next}, {Ref: "refs/heads/moved", New: next}}, gitstore.ErrStale},
		{"gone since", ups{{Ref: "refs/heads/gone", Old: old, New: next}}, gitstore.ErrStale},
		{"status moved since", ups{{Ref: gitstore.StatusRef, Old: old, New: rootless}}, gitstore.ErrStale},
	} {
		err := remote.Push(ctx, c.ups)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		var push *gitstore.PushError
		if !errors.As(err, &push) {
			t.Errorf("%s: no PushError", c.name)
		}
	}
	for _, u := range []gitstore.RefUpdate{
		{Ref: "refs/heads/main", Old: old, New: old[:10]}, {Ref: "main", Old: old, New: next}, {Ref: "refs/heads/a:refs/heads/b", New: next},
		{Ref: "+refs/heads/main", New: next}, {Ref: "refs/heads/*", New: next}, {Ref: "refs/heads/main", Old: old, New: "HEAD"},
	} {
		if err := remote.Push(ctx, ups{u}); err == nil {
			t.Errorf("%+v was taken", u)
		}
	}
	want := map[string]string{"refs/heads/main": old, "refs/heads/moved": old}
	if diff := cmp.Diff(want, must[map[string]string](t)(open(t, server).Refs(ctx))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	check(t, os.RemoveAll(server.Dir))
	if err := remote.Push(ctx, ups{{Ref: "refs/heads/main", Old: old, New: next}}); !errors.Is(err, gitstore.ErrUnknown) {
		t.Errorf("the server is gone: %v", err)
	}
}

func TestPushDeclined(t *testing.T) {
	ctx := context.Background()
	server, m, remote, old, next := pushing(t)
	note := must[string](t)(m.WriteBlobCommit(ctx, map[string][]byte{old: []byte("x")}, "note", who()))
	both := []gitstore.RefUpdate{{Ref: notesRef, New: note}, {Ref: "refs/heads/main", Old: old, New: next}}
	// The branch alone is refused: the note must not go without it.
	hook(t, server, "update", "test \"$1\" != refs/heads/main || { echo the branch is protected >&2; exit 1; }\n")
	err := remote.Push(ctx, both)
	var push *gitstore.PushError
	if !errors.Is(err, gitstore.ErrRefused) || errors.Is(err, gitstore.ErrNoAtomic) || !errors.As(err, &push) {
		t.Fatalf("declined: %v", err)
	}
	if !strings.Contains(push.Stderr, "the branch is protected") || len(push.Status) != 2 {
		t.Errorf("for people: %q %q", push.Stderr, push.Status)
	}
	if got := must[map[string]string](t)(open(t, server).Refs(ctx, notesRef)); len(got) != 0 {
		t.Errorf("half a push: %v", got)
	}
	check(t, remote.Push(ctx, both[:1]))
}

// What is said of a push that failed is what the server has, not how it failed:
// here the server dies between the update and its answer.
func TestPushFailedButApplied(t *testing.T) {
	server, _, remote, old, next := pushing(t)
	hook(t, server, "reference-transaction", "test \"$1\" != committed || kill -9 $PPID\n")
	if err := remote.Push(context.Background(), []gitstore.RefUpdate{{Ref: "refs/heads/main", Old: old, New: next}}); err != nil {
		t.Errorf("applied, but: %v", err)
	}
	if server.Tip("main") != next {
		t.Error("the test proves nothing: the server did not take the push")
	}
	_, err := navtest.TryGit(t, t.TempDir(), "--git-dir="+server.Dir, "push", "-q", server.Dir, old+":refs/heads/x")
	if err == nil {
		t.Error("the test proves nothing: a plain push succeeds")
	}
}

func TestPushWithoutAtomic(t *testing.T) {
	ctx := context.Background()
	server, _, remote, old, next := pushing(t)
	if ok := must[bool](t)(remote.Atomic(ctx)); !ok {
		t.Error("a server that offers atomic pushes")
	}
	server.Git("config", "receive.advertiseAtomic", "false")
	if ok := must[bool](t)(remote.Atomic(ctx)); ok {
		t.Error("a server that does not")
	}
	both := []gitstore.RefUpdate{{Ref: "refs/heads/main", Old: old, New: next}, {Ref: "refs/heads/other", New: next}}
	err := remote.Push(ctx, both)
	if !errors.Is(err, gitstore.ErrNoAtomic) || !errors.Is(err, gitstore.ErrRefused) {
		t.Errorf("err = %v", err)
	}
	if server.Tip("main") != old || server.Tip("other") != "" {
		t.Error("pushed all the same")
	}
	for _, one := range both {
		if err := remote.Push(ctx, []gitstore.RefUpdate{one}); err != nil {
			t.Errorf("one ref needs no atomic push: %v", err)
		}
	}
	if server.Tip("main") != next || server.Tip("other") != next {
		t.Error("not pushed one by one")
	}
}

// A server that takes longer than we wait may still do it: that is not "no".
func TestPushCutOff(t *testing.T) {
	ctx := context.Background()
	server, m, _, old, next := pushing(t)
	hook(t, server, "pre-receive", "exec sleep 1000\n")
	impatient := must[*gitstore.Repo](t)(gitstore.Open(ctx, m.Dir(), gitstore.Options{Env: server.Env(), Timeout: 2 * time.Second}))
	err := impatient.Remote(server.Dir).Push(ctx, []gitstore.RefUpdate{{Ref: "refs/heads/main", Old: old, New: next}})
	if !errors.Is(err, gitstore.ErrUnknown) {
		t.Errorf("err = %v", err)
	}
}

// The user's own configuration is in force where it must be: an address is
// rewritten here, as credentials would be found.
func TestRemoteUsesTheUsersConfiguration(t *testing.T) {
	server := navtest.Bare(t)
	id := server.Put("one", nil)
	home := t.TempDir()
	config := "[url \"file://" + server.Dir + "\"]\n\tinsteadOf = https://git.example.com/deploy.git\n[fetch]\n\tprune = false\n[push]\n\tfollowTags = true\n[transfer]\n\tfsckObjects = true\n"
	check(t, os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o600))
	m := mirror(t, navtest.Env(home))
	got := must[gitstore.RemoteRefs](t)(m.Remote("https://git.example.com/deploy.git").Fetch(context.Background()))
	if got.Refs["refs/heads/main"] != id {
		t.Errorf("refs = %v", got.Refs)
	}
}
