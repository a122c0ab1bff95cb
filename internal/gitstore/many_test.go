package gitstore_test

import (
	"bytes"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
)

// manyCommits makes n commits without a tree worth its name, and gives their ids.
func manyCommits(t testing.TB, r *navtest.Repo, n int) []string {
	t.Helper()
	var in bytes.Buffer
	for i := range n {
		fmt.Fprintf(&in, "commit refs/heads/many\nmark :%d\ncommitter x <x@example.com> %d +0000\ndata 1\nx\n", i+1, 1_800_000_000+i)
	}
	r.GitIn(in.Bytes(), "fast-import", "--quiet")
	return strings.Fields(r.Git("rev-list", "--reverse", "many"))
}

// listed is what `git notes list` says: object to blob.
func listed(t testing.TB, r *navtest.Repo) map[string]string {
	t.Helper()
	out := map[string]string{}
	for line := range strings.Lines(r.Git("notes", "--ref=nav/verdicts", "list")) {
		blob, object, _ := strings.Cut(strings.TrimSpace(line), " ")
		out[object] = blob
	}
	return out
}

// sameBlobs compares by ids: to show tens of thousands of notes takes git a
// process each.
func sameBlobs(t testing.TB, r *navtest.Repo, g *gitstore.Repo) *gitstore.NotesTree {
	t.Helper()
	ours := map[string]string{}
	n, err := g.NotesSince(context.Background(), nil, notesRef, func(object string, note []byte) error {
		ours[object] = fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(note), note)))
		return nil
	})
	check(t, err)
	if diff := cmp.Diff(listed(t, r), ours); diff != "" {
		t.Fatalf("notes (-git +ours):\n%.4000s", diff)
	}
	return n
}

// However many notes there are, and whoever wrote them last (fast-import with its
// fan-out, git notes with its own, we, people who put files beside them), git and
// we see the same; git goes on from what we write, merges included.
func TestManyNotes(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 300, 10_000, 70_000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			r := navtest.Bare(t)
			ids := manyCommits(t, r, size+40)
			many := map[string]string{}
			for i, o := range ids[:size] {
				many[o] = fmt.Sprintf("note %d\n", i)
			}
			importNotes(t, r, many, "")
			g := open(t, r)
			n := sameBlobs(t, r, g)

			more, last := ids[size:], ids[size-1]
			r.Git("notes", "--ref=nav/verdicts", "add", "-f", "-m", "by git", more[0])
			r.Git("notes", "--ref=nav/verdicts", "append", "-m", "by git", last)
			write := func(at *gitstore.NotesTree, edits map[string][]byte) {
				t.Helper()
				tip := must[string](t)(g.WriteNotes(ctx, at, edits, "ours", who()))
				check(t, g.UpdateRefs(ctx, gitstore.RefUpdate{Ref: notesRef, Old: at.Tip, New: tip}))
			}
			edits := map[string][]byte{ids[0]: []byte("first\n")}
			edits[last] = []byte("ours\n") // the first, where there is but one
			for _, o := range more[1:30] {
				edits[o] = []byte("ours " + o + "\n")
			}
			write(sameBlobs(t, r, g), edits)
			sameBlobs(t, r, g)
			// Beside the notes, and with a fan-out of a person's own.
			deep := more[30]
			r.Commit(navtest.Commit{Branch: notesRef, Files: navtest.Files{
				"README": navtest.Text("no note\n"), "docs/a": navtest.Text("no note\n"),
				deep[:2] + "/" + deep[2:4] + "/" + deep[4:6] + "/" + deep[6:]: navtest.Text("deep\n"),
			}})
			write(sameBlobs(t, r, g), map[string][]byte{deep: []byte("shallow\n"), more[31]: []byte("x\n")})
			sameBlobs(t, r, g)
			for _, kept := range []string{"README", "docs/a"} {
				if got := r.Git("show", notesRef+":"+kept); got != "no note" {
					t.Errorf("%s: %q", kept, got)
				}
			}
			for _, strategy := range []string{"union", "cat_sort_uniq"} {
				r.Git("update-ref", "refs/notes/nav/other", notesRef)
				must[int](t)(g.AppendNotes(ctx, "refs/notes/nav/other", map[string][]string{last: {"z other " + strategy}, more[32]: {"other"}}, "x", who()))
				must[int](t)(g.AppendNotes(ctx, notesRef, map[string][]string{last: {"a here " + strategy}}, "x", who()))
				r.Git("notes", "--ref=nav/verdicts", "merge", "-q", "-s", strategy, "refs/notes/nav/other")
				sameBlobs(t, r, g)
				got := must[map[string][]byte](t)(g.NotesOf(ctx, notesRef, []string{last}))[last]
				for _, line := range []string{"ours\n", "a here " + strategy + "\n", "z other " + strategy + "\n"} {
					if !bytes.Contains(got, []byte(line)) {
						t.Errorf("%s lost %q: %q", strategy, line, got)
					}
				}
			}
			// What changed since the beginning is what a reader from then is told.
			changed := 0
			_, err := g.NotesSince(ctx, n, notesRef, func(string, []byte) error { changed++; return nil })
			check(t, err)
			want := 34 // 29+1 new by us, one by git, deep, one by the merge, the last, the first
			if size == 1 {
				want-- // which are the same
			}
			if changed != want+1 {
				t.Errorf("%d changed, want %d", changed, want+1)
			}
		})
	}
}

func TestManyNotesSHA256(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := navtest.Bare(t, "--object-format=sha256")
	ids := manyCommits(t, r, 400)
	many := map[string]string{}
	for i, o := range ids[:300] {
		many[o] = fmt.Sprintf("note %d\n", i)
	}
	importNotes(t, r, many, "")
	r.Git("notes", "--ref=nav/verdicts", "append", "-m", "by git", ids[3])
	g := open(t, r)
	n := agree(t, r, g)
	edits := map[string][]byte{}
	for _, o := range ids[200:] {
		edits[o] = []byte("ours\n")
	}
	tip := must[string](t)(g.WriteNotes(ctx, &n.NotesTree, edits, "ours", who()))
	check(t, g.UpdateRefs(ctx, gitstore.RefUpdate{Ref: notesRef, Old: n.Tip, New: tip}))
	agree(t, r, g)
	must[int](t)(g.AppendNotes(ctx, notesRef, map[string][]string{ids[0]: {"a line"}}, "x", who()))
	agree(t, r, g)
	// A mirror speaks one kind of ids: it says so, and changes nothing.
	m := mirror(t, r.Env())
	if _, err := m.Remote(r.Dir).Fetch(ctx); !errors.Is(err, gitstore.ErrFormat) || !strings.Contains(err.Error(), "64 digits") || !strings.Contains(err.Error(), "hint: ") {
		t.Errorf("a SHA-1 mirror of a SHA-256 repository: %v", err)
	}
}

// What this git cannot read is refused with what to do.
func TestOpenReftable(t *testing.T) {
	t.Parallel()
	r := navtest.Bare(t)
	r.Git("config", "core.repositoryFormatVersion", "1")
	r.Git("config", "extensions.refStorage", "reftable")
	_, err := gitstore.Open(context.Background(), r.Dir, gitstore.Options{Env: r.Env()})
	if err == nil || !strings.Contains(err.Error(), "refstorage") || !strings.Contains(err.Error(), "hint: ") {
		t.Errorf("err = %v", err)
	}
}

// In a partial clone git brings what is missing when it is asked for; where it
// cannot, nothing is made up.
func TestPartialClone(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	server := navtest.Bare(t)
	server.Put("one", navtest.Files{"a": navtest.Text("1"), "d/b": navtest.Text("x")})
	two := server.Put("two", navtest.Files{"a": navtest.Text("2")})
	server.Git("notes", "--ref=nav/verdicts", "add", "-m", "a note", two)
	server.Git("config", "uploadpack.allowFilter", "true")
	server.Git("config", "uploadpack.allowAnySHA1InWant", "true")
	for _, there := range []bool{true, false} {
		c := navtest.At(t, filepath.Join(t.TempDir(), "clone"))
		navtest.Git(t, t.TempDir(), "clone", "-q", "--bare", "--filter=tree:0", "file://"+server.Dir, c.Dir)
		c.Git("fetch", "-q", "--filter=blob:none", "origin", "refs/notes/nav/*:refs/notes/nav/*")
		g := open(t, c)
		if !there {
			check(t, os.Rename(server.Dir, server.Dir+"-away"))
		}
		n, err := g.Notes(ctx, notesRef)
		changes, cerr := g.Changes(ctx, two)
		_, blobThere, berr := g.Blob(ctx, two, "d/b")
		if !there {
			if err == nil || cerr == nil || berr == nil {
				t.Errorf("out of nothing: %v, %v, %v", err, cerr, berr)
			}
			continue
		}
		check(t, err)
		check(t, cerr)
		check(t, berr)
		if note, _ := n.Get(two); string(note) != "a note\n" || len(changes) != 1 || !blobThere {
			t.Errorf("note %q, changes %v, blob there: %v", note, changes, blobThere)
		}
	}
}

// A shallow server cannot be mirrored: a commit that it cut off would look like
// one that never was. The mirror says so and stays whole.
func TestMirrorOfAShallowRepository(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	whole := navtest.Bare(t)
	whole.Put("one", nil)
	whole.Put("two", nil)
	shallow := navtest.At(t, filepath.Join(t.TempDir(), "shallow.git"))
	navtest.Git(t, t.TempDir(), "clone", "-q", "--bare", "--depth=1", "file://"+whole.Dir, shallow.Dir)
	m := mirror(t, whole.Env())
	_, err := m.Remote("file://" + shallow.Dir).Fetch(ctx)
	if err == nil || !strings.Contains(err.Error(), "shallow") {
		t.Errorf("err = %v", err)
	}
	if refs := must[map[string]string](t)(m.Refs(ctx)); len(refs) != 0 {
		t.Errorf("refs = %v", refs)
	}
}

// A disk that is full while objects are written: an error, no ref moved, and the
// same again once there is room.
func TestWriteToAFullDisk(t *testing.T) {
	ctx := context.Background()
	r := navtest.Bare(t)
	id := r.Put("one", nil)
	r.Git("notes", "--ref=nav/verdicts", "add", "-m", "x", id)
	g := open(t, r)
	n := must[*gitstore.Notes](t)(g.Notes(ctx, notesRef))
	var noise strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&noise, "%x", sha1.Sum(fmt.Append(nil, i)))
	}
	edits := map[string][]byte{id: []byte(noise.String() + "\n")}
	real := must[string](t)(filepath.EvalSymlinks(must[string](t)(exec.LookPath("git"))))
	bin := t.TempDir()
	check(t, os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\nulimit -f 16\ntrap '' XFSZ\nexec "+real+" \"$@\"\n"), 0o755))
	path := os.Getenv("PATH")
	t.Setenv("PATH", bin+":"+path)
	if tip, err := g.WriteNotes(ctx, &n.NotesTree, edits, "x", who()); err == nil {
		t.Errorf("written to a full disk: %s", tip)
	}
	if _, err := g.AppendNotes(ctx, notesRef, map[string][]string{id: {noise.String()}}, "x", who()); err == nil {
		t.Error("appended on a full disk")
	}
	t.Setenv("PATH", path)
	if got := r.Git("rev-parse", notesRef); got != n.Tip {
		t.Errorf("the ref moved to %s", got)
	}
	tip := must[string](t)(g.WriteNotes(ctx, &n.NotesTree, edits, "x", who()))
	check(t, g.UpdateRefs(ctx, gitstore.RefUpdate{Ref: notesRef, Old: n.Tip, New: tip}))
	agree(t, r, g)
	r.Git("fsck", "--strict")
}
