package gitstore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
)

const watchesRef = "refs/notes/nav/watches"

func TestAppendNotes(t *testing.T) {
	ctx := context.Background()
	r := navtest.Bare(t)
	one, two := r.Put("one", nil), r.Put("two", nil)
	r.Git("notes", "--ref=nav/watches", "add", "-m", "a", two)
	blob := r.GitIn([]byte("no line end"), "hash-object", "-w", "--stdin")
	r.Git("notes", "--ref=nav/watches", "add", "-C", blob, one)
	g := open(t, r)
	lines := map[string][]string{one: {"x", "y", "x"}, two: {"a", "b"}}
	for i, want := range []int{3, 0} {
		if got := must[int](t)(g.AppendNotes(ctx, watchesRef, lines, "nav: x", who())); got != want {
			t.Errorf("time %d: added %d", i, got)
		}
	}
	want := map[string]string{one: "no line end\nx\ny", two: "a\nb"}
	for o, text := range want {
		if got := r.Git("notes", "--ref=nav/watches", "show", o); got != text {
			t.Errorf("note = %q, want %q", got, text)
		}
	}
	if got := r.Git("rev-list", "--count", watchesRef); got != "3" {
		t.Errorf("%s commits: nothing added must make none", got)
	}
	byFirst := func(line string) string { return strings.Fields(line)[0] }
	added := must[int](t)(g.AppendNotesFunc(ctx, watchesRef, map[string][]string{two: {"a again", "c new", "c again"}}, byFirst, "x", who()))
	if got := r.Git("notes", "--ref=nav/watches", "show", two); got != "a\nb\nc new" || added != 1 {
		t.Errorf("by key: %d added: %q", added, got)
	}
	for _, bad := range []map[string][]string{{one: {"two\nlines"}}, {one: {""}}, {one: {"nul\x00"}}, {"main": {"x"}}, {one[:10]: {"x"}}} {
		if n, err := g.AppendNotes(ctx, watchesRef, bad, "x", who()); err == nil || n != 0 {
			t.Errorf("%v was taken", bad)
		}
	}
	if got := must[int](t)(g.AppendNotes(ctx, "refs/notes/nav/none", nil, "x", who())); got != 0 {
		t.Errorf("no lines: %d", got)
	}
}

// git notes add itself loses a third here (git-notes reads, then writes without
// an old value). Whoever adds a line with us, in twenty processes at once, keeps
// it, on the same object and on others.
func TestAppendNotesRace(t *testing.T) {
	ctx := context.Background()
	r := navtest.Bare(t)
	shared := r.Put("shared", nil)
	const writers, rounds = 20, 2
	var wg sync.WaitGroup
	for w := range writers {
		g := open(t, r) // as 20 hooks would
		wg.Go(func() {
			for round := range rounds {
				line := fmt.Sprintf("line %d.%d", w, round)
				added, err := g.AppendNotes(ctx, watchesRef, map[string][]string{shared: {line, "the same"}, object(w): {line}}, "x", who())
				if err != nil || added < 2 {
					t.Errorf("writer %d: %d, %v", w, added, err)
				}
			}
		})
	}
	wg.Wait()
	text := r.Git("notes", "--ref=nav/watches", "show", shared)
	for w := range writers {
		for round := range rounds {
			if line := fmt.Sprintf("line %d.%d", w, round); strings.Count(text+"\n", line+"\n") != 1 {
				t.Errorf("%q is there %d times", line, strings.Count(text+"\n", line+"\n"))
			}
		}
	}
	if strings.Count(text, "the same") != 1 {
		t.Errorf("one line %d times", strings.Count(text, "the same"))
	}
	n := must[*gitstore.Notes](t)(open(t, r).Notes(ctx, watchesRef))
	if n.Len() != writers+1 {
		t.Errorf("%d objects", n.Len())
	}
}

func TestAppendNotesRefused(t *testing.T) {
	r := navtest.Bare(t)
	id := r.Put("one", nil)
	hooks := filepath.Join(r.Dir, "hooks")
	check(t, os.MkdirAll(hooks, 0o755))
	check(t, os.WriteFile(filepath.Join(hooks, "reference-transaction"), []byte("#!/bin/sh\nexit 1\n"), 0o755))
	g := open(t, r)
	_, err := g.AppendNotes(context.Background(), watchesRef, map[string][]string{id: {"x"}}, "x", who())
	if !errors.Is(err, gitstore.ErrRefused) {
		t.Errorf("err = %v", err)
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := g.AppendNotes(gone, watchesRef, map[string][]string{id: {"x"}}, "x", who()); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

func TestWriteBlobCommit(t *testing.T) {
	ctx := context.Background()
	for _, format := range []string{"sha1", "sha256"} {
		r := navtest.Bare(t, "--object-format="+format)
		g := open(t, r)
		first := must[string](t)(g.WriteBlobCommit(ctx, map[string][]byte{"status": []byte("up\n"), "dir/x": {0, 1}, "dir/y": nil}, "nav: status", who()))
		if got := r.Git("ls-tree", "-r", "--name-only", first); got != "dir/x\ndir/y\nstatus" {
			t.Errorf("files: %q", got)
		}
		if got := r.Git("cat-file", "blob", first+":status"); got != "up" {
			t.Errorf("status: %q", got)
		}
		second := must[string](t)(g.WriteBlobCommit(ctx, nil, "empty\n", who(), first))
		if got := r.Git("log", "-1", "--format=%P %T", second); got != first+" "+must[string](t)(g.EmptyTree(ctx)) {
			t.Errorf("second: %q", got)
		}
		r.Git("update-ref", "refs/heads/main", second)
		if got := r.Git("fsck", "--strict"); got != "" {
			t.Errorf("fsck: %s", got)
		}
		if diff := cmp.Diff([]string{first, second}, ids(logOf(t, g, []string{second}, nil))); diff != "" {
			t.Error(diff)
		}
		// Notes and refs know both formats too.
		must[int](t)(g.AppendNotes(ctx, watchesRef, map[string][]string{second: {"x"}}, "x", who()))
		if got := r.Git("notes", "--ref=nav/watches", "show", second); got != "x" {
			t.Errorf("note: %q", got)
		}
	}
	g := open(t, navtest.Bare(t))
	for _, bad := range []string{"", "/a", "a//b", "../a", ".git/config", "a/.GIT/x", "a\x00b"} {
		if _, err := g.WriteBlobCommit(ctx, map[string][]byte{bad: nil}, "x", who()); err == nil {
			t.Errorf("path %q was taken", bad)
		}
	}
	if _, err := g.WriteBlobCommit(ctx, map[string][]byte{"a": nil, "a/b": nil}, "x", who()); err == nil {
		t.Error("a is both a file and a folder")
	}
	if _, err := g.WriteBlobCommit(ctx, nil, "nul\x00", who()); err == nil {
		t.Error("a NUL was taken")
	}
}

func tenThousand(b *testing.B) (*navtest.Repo, []string) {
	r := navtest.Bare(b)
	objects := commits(b, r, 10_000)
	notes := map[string]string{}
	for i, o := range objects {
		notes[o] = fmt.Sprintf("%d %s\n", i, strings.Repeat("x", 90))
	}
	importNotes(b, r, notes, "")
	return r, objects
}

func BenchmarkNotesReadAll(b *testing.B) {
	r, _ := tenThousand(b)
	g := open(b, r)
	for b.Loop() {
		if n := must[*gitstore.Notes](b)(g.Notes(context.Background(), notesRef)); n.Len() != 10_000 {
			b.Fatal(n.Len())
		}
	}
}

// What git's own tools need for the same.
func BenchmarkNotesReadAllByGit(b *testing.B) {
	r, _ := tenThousand(b)
	for b.Loop() {
		var in strings.Builder
		for line := range strings.Lines(r.Git("ls-tree", "-r", notesRef)) {
			in.WriteString(strings.Fields(line)[2] + "\n")
		}
		r.GitIn([]byte(in.String()), "cat-file", "--batch", "--buffer")
	}
}

func BenchmarkNotesSince(b *testing.B) {
	r, objects := tenThousand(b)
	g := open(b, r)
	old := must[*gitstore.Notes](b)(g.Notes(context.Background(), notesRef))
	r.Git("notes", "--ref=nav/verdicts", "append", "-m", "x", objects[0])
	for b.Loop() {
		changed := 0
		_, err := g.NotesSince(context.Background(), &old.NotesTree, notesRef, func(string, []byte) error { changed++; return nil })
		if err != nil || changed != 1 {
			b.Fatal(changed, err)
		}
	}
}

func BenchmarkNotesAppend(b *testing.B) {
	r, objects := tenThousand(b)
	g := open(b, r)
	for i := 0; b.Loop(); i++ {
		must[int](b)(g.AppendNotes(context.Background(), notesRef, map[string][]string{objects[i%len(objects)]: {fmt.Sprint(i)}}, "x", who()))
	}
}

// More notes than may be files of their own come as a pack, in git's own layout,
// and what comes after them does too.
func TestAppendMany(t *testing.T) {
	ctx := context.Background()
	r := navtest.Bare(t)
	g := open(t, r)
	lines := map[string][]string{}
	for i := range 3000 {
		lines[object(i)] = []string{fmt.Sprintf("line %d", i)}
	}
	for _, want := range []int{3000, 0} {
		if got := must[int](t)(g.AppendNotes(ctx, watchesRef, lines, "x", who())); got != want {
			t.Errorf("%d were added, not %d", got, want)
		}
	}
	r.Git("fsck", "--strict", "--no-dangling")
	if n := len(strings.Fields(r.Git("ls-tree", "--name-only", watchesRef))); n > 256 {
		t.Errorf("%d entries stand in one folder", n)
	}
	if n := strings.Count(r.Git("notes", "--ref=nav/watches", "list")+"\n", "\n"); n != 3000 {
		t.Errorf("git lists %d notes", n)
	}
	packs, err := filepath.Glob(filepath.Join(r.Dir, "objects", "pack", "*.pack"))
	check(t, err)
	if len(packs) != 1 {
		t.Errorf("%d packs", len(packs))
	}
}

// The status of a large cluster is read, and no other file of that size.
func TestLargeStatus(t *testing.T) {
	ctx := context.Background()
	g := open(t, navtest.Bare(t))
	large := []byte(strings.Repeat("x", gitstore.MaxBlob+1))
	id := must[string](t)(g.WriteBlobCommit(ctx, map[string][]byte{"status.json": large, "inventory.json": large, "other.json": large}, "x", who()))
	for _, name := range []string{"status.json", "inventory.json", "other.json"} {
		data, _, err := g.Blob(ctx, id, name)
		if ok := err == nil && len(data) == len(large); ok != (name != "other.json") {
			t.Errorf("%s: %d bytes, %v", name, len(data), err)
		}
		data, odd, err := g.FileAt(ctx, id, name)
		if ok := odd == "" && len(data) == len(large); err != nil || ok != (name != "other.json") {
			t.Errorf("%s at a commit: %d bytes, %q, %v", name, len(data), odd, err)
		}
	}
}
