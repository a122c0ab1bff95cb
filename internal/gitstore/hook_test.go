package gitstore

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
)

// A hook's repository is opened without asking git, and is the one that git
// would have said.
func TestOpenHook(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	r := navtest.Bare(t)
	r.Put("one", navtest.Files{"a": navtest.Text("a")})
	sha256 := navtest.Bare(t, "--object-format=sha256")
	sha256.Put("one", navtest.Files{"a": navtest.Text("a")})
	for name, repo := range map[string]*navtest.Repo{"sha1": r, "sha256": sha256} {
		asked, err := Open(ctx, repo.Dir, Options{Env: repo.Env()})
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range []string{".", repo.Dir} {
			got, err := OpenHook(ctx, repo.Dir, Options{Env: append(repo.Env(), "GIT_DIR="+dir)})
			if err != nil {
				t.Fatal(err)
			}
			if got.Dir() != asked.Dir() || got.format != asked.format || got.shallow != asked.shallow {
				t.Errorf("%s: GIT_DIR=%s opens %s (%s), git says %s (%s)", name, dir, got.Dir(), got.format, asked.Dir(), asked.format)
			}
			refs, err := got.Refs(ctx, "refs/heads/main")
			if err != nil || refs["refs/heads/main"] != repo.Tip("main") {
				t.Errorf("%s: main is %v (%v)", name, refs, err)
			}
		}
	}
	if _, err := OpenHook(ctx, t.TempDir(), Options{Env: append(r.Env(), "GIT_CEILING_DIRECTORIES="+os.TempDir())}); err == nil {
		t.Error("opened a folder that is no repository")
	}
}

// A ref stands for what git says that it does.
func TestTarget(t *testing.T) {
	t.Parallel()
	r := navtest.Bare(t)
	r.Put("one", navtest.Files{"a": navtest.Text("a")})
	r.Git("symbolic-ref", "refs/heads/old", "refs/heads/main")
	r.Git("symbolic-ref", "refs/heads/older", "refs/heads/old")
	r.Git("symbolic-ref", "refs/heads/unborn", "refs/heads/nowhere")
	if err := os.Symlink("refs/heads/main", filepath.Join(r.Dir, "refs/heads/link")); err != nil {
		t.Fatal(err)
	}
	g, err := OpenHook(t.Context(), r.Dir, Options{Env: append(r.Env(), "GIT_DIR=.")})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"main", "old", "older", "unborn", "link", "missing"} {
		ref := "refs/heads/" + name
		want, err := g.askTarget(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := g.Target(t.Context(), ref); err != nil || got != want {
			t.Errorf("%s stands for %q (%v), git says %q", name, got, err, want)
		}
	}
	r.Git("symbolic-ref", "refs/heads/a", "refs/heads/b")
	r.Git("symbolic-ref", "refs/heads/b", "refs/heads/a")
	if got, err := g.Target(t.Context(), "refs/heads/a"); err == nil {
		t.Errorf("a circle stands for %q", got)
	}
}

func TestHeadBranch(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	r := navtest.Bare(t)
	repo, err := Open(ctx, r.Dir, Options{Env: r.Env()})
	if err != nil {
		t.Fatal(err)
	}
	for _, head := range []string{"refs/heads/main", "refs/heads/a/b", "refs/heads/ü"} {
		r.Git("symbolic-ref", "HEAD", head)
		want, err := repo.DefaultBranch(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := repo.HeadBranch(ctx); err != nil || got != want {
			t.Errorf("HeadBranch = %q (%v), git says %q", got, err, want)
		}
	}
	r.Git("update-ref", "--no-deref", "HEAD", r.Put("one", navtest.Files{"a": navtest.Text("a")}))
	if got, err := repo.HeadBranch(ctx); err == nil {
		t.Errorf("detached: HeadBranch = %q", got)
	}
	// What a repository with another ref storage has there.
	if err := os.WriteFile(filepath.Join(r.Dir, "HEAD"), []byte("ref: refs/heads/.invalid\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if got, err := repo.HeadBranch(ctx); err == nil && got == "refs/heads/.invalid" {
		t.Errorf("took git's placeholder for a branch")
	}
}

func TestFileAt(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	r := navtest.Bare(t)
	id := r.Put("one", navtest.Files{
		"file": navtest.Text("text\n"), "empty": navtest.Text(""), "run": navtest.Exec("#!/bin/sh\n"), "dir/deep/file": navtest.Text("deep"),
		"link": navtest.Link("file"), "sub": navtest.Submodule(strings.Repeat("1", 40)), "large": navtest.Text(strings.Repeat("x", MaxBlob+1)),
	})
	repo, err := Open(ctx, r.Dir, Options{Env: r.Env()})
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct{ data, odd string }{
		"file": {"text\n", ""}, "run": {"#!/bin/sh\n", ""}, "dir/deep/file": {"deep", ""},
		"link": {"", "it is a symbolic link, not a file"}, "sub": {"", "it is a submodule, not a file"}, "dir": {"", "it is a folder, not a file"},
	}
	for path, want := range tests {
		data, odd, err := repo.FileAt(ctx, id, path)
		if err != nil || string(data) != want.data || odd != want.odd {
			t.Errorf("FileAt(%q) = %q, %q, %v, want %q, %q", path, data, odd, err, want.data, want.odd)
		}
	}
	if data, odd, err := repo.FileAt(ctx, id, "empty"); data == nil || len(data) > 0 || odd != "" || err != nil {
		t.Errorf("an empty file: %v, %q, %v", data, odd, err)
	}
	for _, path := range []string{"nosuch", "file/below", "dir/nosuch"} {
		if data, odd, err := repo.FileAt(ctx, id, path); data != nil || odd != "" || err != nil {
			t.Errorf("FileAt(%q) = %v, %q, %v", path, data, odd, err)
		}
	}
	if data, odd, err := repo.FileAt(ctx, id, "large"); data != nil || !strings.Contains(odd, "more than the limit") || err != nil {
		t.Errorf("a large file: %d bytes, %q, %v", len(data), odd, err)
	}
	for _, bad := range []string{"main", "", strings.Repeat("2", 40)} {
		if _, _, err := repo.FileAt(ctx, bad, "file"); err == nil {
			t.Errorf("FileAt of %q is no error", bad)
		}
	}
}

// A hook's repository keeps one cat-file for all questions, also after one
// that went wrong, and answers as one that starts a process each time.
func TestKeptProcess(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	r := navtest.Bare(t)
	c := r.Put("one", navtest.Files{"a": navtest.Text("a"), "big": navtest.Text(strings.Repeat("x", MaxBlob+1))})
	g, err := OpenHook(ctx, r.Dir, Options{Env: append(r.Env(), "GIT_DIR=.")})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	once, err := Open(ctx, r.Dir, Options{Env: r.Env()})
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"HEAD", "HEAD:a", "nothing", "HEAD:no such file", " HEAD", "contents HEAD", c}
	ask := func() {
		t.Helper()
		got, err := g.Resolve(ctx, names)
		if err != nil {
			t.Fatal(err)
		}
		want, err := once.Resolve(ctx, names)
		if err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(got, want) {
			t.Errorf("resolved %v, want %v", got, want)
		}
		if data, odd, err := g.FileAt(ctx, c, "a"); string(data) != "a" || odd != "" || err != nil {
			t.Errorf("a is %q, %q, %v", data, odd, err)
		}
	}
	ask()
	first := g.kept.Load()
	ask()
	if first == nil || g.kept.Load() != first {
		t.Error("the process was not kept")
	}
	if _, odd, err := g.FileAt(ctx, c, "big"); odd == "" || err != nil {
		t.Errorf("too large: %q, %v", odd, err)
	}
	if g.kept.Load() == first {
		t.Error("a process is kept whose answer was not read to the end")
	}
	ask()
	r.Put("two", navtest.Files{"b": navtest.Text("b")}) // comes in while the process runs
	ask()
	for range 2 { // what it has read so far is packed, and packed anew, while it runs
		kept := g.kept.Load()
		r.Git("gc", "-q", "--prune=now")
		r.Put("more", navtest.Files{"c": navtest.Text("c")})
		ask()
		if kept == nil || g.kept.Load() != kept {
			t.Error("the process did not outlive a gc")
		}
	}
	var asking sync.WaitGroup // one of them gets the process, and one leaves its own
	for range 8 {
		asking.Go(ask)
	}
	asking.Wait()
	if g.kept.Load() == nil {
		t.Error("no process was kept")
	}
	g.Close()
	if g.kept.Load() != nil {
		t.Error("closed, and still there")
	}
	ask()
}

// A process that is kept does not outlive its time, nor does its end outlive one
// question.
func TestKeptEnds(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	r := navtest.Bare(t)
	c := r.Put("one", navtest.Files{"a": navtest.Text("a")})
	g, err := Open(ctx, r.Dir, Options{Env: r.Env(), Keep: true, Timeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	ask := func() error {
		_, err := g.Resolve(ctx, []string{c})
		return err
	}
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	old := g.kept.Load()
	<-old.p.ctx.Done()
	if err := ask(); err != nil || g.kept.Load() == old {
		t.Errorf("after its time: %v, the same process: %v", err, g.kept.Load() == old)
	}
	killed := g.kept.Load()
	if err := killed.p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := ask(); err != nil {
		t.Errorf("after the one that was killed: %v", err)
	}
}
