package gitstore_test

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
)

const notesRef = "refs/notes/nav/verdicts"

// object is a made-up id: notes may name objects that do not exist.
func object(i int) string {
	sum := sha1.Sum(fmt.Append(nil, i))
	return hex.EncodeToString(sum[:])
}

// commits makes n commits, for fast-import annotates no others.
func commits(t testing.TB, r *navtest.Repo, n int) []string {
	t.Helper()
	linear(t, r, n)
	return strings.Fields(r.Git("rev-list", "main"))
}

// gitNotes is what git itself reads: every object of `git notes list`, and what
// `git notes show` prints of it.
func gitNotes(t testing.TB, r *navtest.Repo) map[string]string {
	t.Helper()
	// The list names blobs; where git joined several, it is one it made up.
	var blobs, objects []string
	for line := range strings.Lines(r.Git("notes", "--ref=nav/verdicts", "list")) {
		f := strings.Fields(line)
		blobs, objects = append(blobs, f[0]), append(objects, f[1])
	}
	notes := map[string]string{}
	out := r.GitIn([]byte(strings.Join(blobs, "\n")), "cat-file", "--batch=%(objectsize)") + "\n"
	for _, o := range objects {
		size, rest, _ := strings.Cut(out, "\n")
		n := must[int](t)(strconv.Atoi(size))
		notes[o], out = strings.TrimSuffix(rest[:n], "\n"), rest[n+1:]
	}
	return notes
}

func ours(n *gitstore.Notes) map[string]string {
	notes := map[string]string{}
	for _, o := range n.Objects() {
		data, _ := n.Get(o)
		notes[o] = strings.TrimSuffix(string(data), "\n")
	}
	return notes
}

func agree(t *testing.T, r *navtest.Repo, g *gitstore.Repo) *gitstore.Notes {
	t.Helper()
	n := must[*gitstore.Notes](t)(g.Notes(context.Background(), notesRef))
	if diff := cmp.Diff(gitNotes(t, r), ours(n)); diff != "" {
		t.Errorf("notes (-git +ours):\n%s", diff)
	}
	if n.Len() != len(n.Objects()) {
		t.Errorf("Len = %d", n.Len())
	}
	return n
}

// importNotes writes notes as fast-import does: uniform fan-out, by its own rule.
func importNotes(t testing.TB, r *navtest.Repo, notes map[string]string, from string) {
	t.Helper()
	var in bytes.Buffer
	fmt.Fprintf(&in, "commit %s\ncommitter x <x@example.com> 1800000000 +0000\ndata 1\nx\n", notesRef)
	if from != "" {
		fmt.Fprintf(&in, "from %s\n", from)
	}
	for _, o := range slices.Sorted(maps.Keys(notes)) {
		fmt.Fprintf(&in, "N inline %s\ndata %d\n%s\n", o, len(notes[o]), notes[o])
	}
	r.GitIn(in.Bytes(), "fast-import", "--quiet")
}

func TestNotesOfNoRef(t *testing.T) {
	ctx := context.Background()
	r := navtest.Bare(t)
	g := open(t, r)
	// To git's name lookup these would be the notes ref.
	id := r.Put("one", nil)
	r.Git("update-ref", "refs/heads/"+notesRef, id)
	r.Git("update-ref", "refs/tags/"+notesRef, id)
	n := must[*gitstore.Notes](t)(g.Notes(ctx, notesRef))
	if n.Tip != "" || n.Len() != 0 || len(n.Objects()) != 0 {
		t.Errorf("notes = %+v", n)
	}
	if _, ok := n.Get(id); ok {
		t.Error("a note from nowhere")
	}
	tip := must[string](t)(g.WriteNotes(ctx, &n.NotesTree, nil, "x", who()))
	if tip != "" {
		t.Errorf("no edits made the commit %s", tip)
	}
	for _, ref := range []string{"", "nav/verdicts", "refs/notes/nav/*", "--all"} {
		if _, err := g.Notes(ctx, ref); err == nil {
			t.Errorf("%q was taken", ref)
		}
	}
}

// What git writes, we read; what we write, git reads.
func TestNotesRoundTrip(t *testing.T) {
	ctx := context.Background()
	r := navtest.Bare(t)
	one, two := r.Put("one", nil), r.Put("two", nil)
	r.Git("notes", "--ref=nav/verdicts", "add", "-m", "by git\n\n# not a comment", one)
	g := open(t, r)
	n := agree(t, r, g)
	edits := map[string][]byte{two: []byte("by us\n"), one: []byte("changed\n"), object(1): []byte("of nothing")}
	tip := must[string](t)(g.WriteNotes(ctx, &n.NotesTree, edits, "nav: two", who()))
	if got := r.Git("rev-parse", notesRef); got != n.Tip {
		t.Errorf("the ref moved to %s", got)
	}
	check(t, g.UpdateRefs(ctx, gitstore.RefUpdate{Ref: notesRef, Old: n.Tip, New: tip}))
	if got := r.Git("log", "-1", "--format=%P %an %ce %s %at", tip); got != n.Tip+" watcher watcher@example.com nav: two 1767229200" {
		t.Errorf("commit = %q", got)
	}
	agree(t, r, g)
	if got := r.Git("notes", "--ref=nav/verdicts", "show", two); got != "by us" {
		t.Errorf("git notes show: %q", got)
	}
	if got := r.Git("log", "-1", "--notes=nav/verdicts", "--format=%N", two); strings.TrimSpace(got) != "by us" {
		t.Errorf("git log --notes: %q", got)
	}
	// Git goes on from what we wrote.
	r.Git("notes", "--ref=nav/verdicts", "append", "-m", "and git", two)
	r.Git("notes", "--ref=nav/verdicts", "copy", "-f", two, one)
	n = agree(t, r, g)
	tip = must[string](t)(g.WriteNotes(ctx, &n.NotesTree, map[string][]byte{one: nil, two: {}, object(2): nil}, "gone", who()))
	check(t, g.UpdateRefs(ctx, gitstore.RefUpdate{Ref: notesRef, Old: n.Tip, New: tip}))
	if n = agree(t, r, g); n.Len() != 1 {
		t.Errorf("left: %v", n.Objects())
	}
	if same := must[string](t)(g.WriteNotes(ctx, &n.NotesTree, map[string][]byte{object(1): []byte("of nothing"), one: nil}, "same", who())); same != n.Tip {
		t.Errorf("nothing changed, but the tip is %s", same)
	}
	tip = must[string](t)(g.WriteNotes(ctx, &n.NotesTree, map[string][]byte{object(1): nil}, "last", who()))
	check(t, g.UpdateRefs(ctx, gitstore.RefUpdate{Ref: notesRef, Old: n.Tip, New: tip}))
	if n = agree(t, r, g); n.Len() != 0 || n.Tip == "" {
		t.Errorf("left: %v at %q", n.Objects(), n.Tip)
	}
	if got := r.Git("fsck", "--strict"); strings.Contains(got, "error") {
		t.Errorf("fsck: %s", got)
	}
}

func TestNotesNeedTheirBase(t *testing.T) {
	r := navtest.Bare(t)
	id := r.Put("one", nil)
	g := open(t, r)
	for _, base := range []*gitstore.NotesTree{{Ref: notesRef, Tip: id}, {Tip: object(1)}} {
		if _, err := g.WriteNotes(context.Background(), base, map[string][]byte{id: []byte("x")}, "x", who()); err == nil {
			t.Error("a tip that nobody read was taken")
		}
	}
}

func TestNotesBounds(t *testing.T) {
	ctx := context.Background()
	r := navtest.Bare(t)
	r.Commit(navtest.Commit{Branch: notesRef, Files: navtest.Files{object(1): navtest.Text(strings.Repeat("x", gitstore.MaxNote+1))}})
	g := open(t, r)
	var size *gitstore.SizeError
	if _, err := g.Notes(ctx, notesRef); !errors.As(err, &size) {
		t.Errorf("reading: %v", err)
	}
	empty := must[*gitstore.Notes](t)(g.Notes(ctx, "refs/notes/other"))
	big := map[string][]byte{object(1): make([]byte, gitstore.MaxNote+1)}
	if _, err := g.WriteNotes(ctx, &empty.NotesTree, big, "x", who()); !errors.As(err, &size) {
		t.Errorf("writing: %v", err)
	}
	for _, bad := range []string{"", "main", strings.ToUpper(object(1)), object(1)[:39], object(1) + "/x"} {
		if _, err := g.WriteNotes(ctx, &empty.NotesTree, map[string][]byte{bad: []byte("x")}, "x", who()); err == nil {
			t.Errorf("object %q was taken", bad)
		}
	}
	for _, bad := range []gitstore.Identity{{}, {Name: "x\ny", Email: "e", When: navtest.Start()}, {Name: "x", Email: "<e>", When: navtest.Start()}, {Name: "x", Email: "e"}} {
		if _, err := g.WriteNotes(ctx, &empty.NotesTree, map[string][]byte{object(1): []byte("x")}, "x", bad); err == nil {
			t.Errorf("identity %+v was taken", bad)
		}
	}
	// A missing blob is an error, not a note less.
	r = navtest.Bare(t)
	r.Commit(navtest.Commit{Branch: notesRef, Files: navtest.Files{object(1): navtest.Text("soon gone"), object(2): navtest.Text("y")}})
	blob := r.Git("rev-parse", notesRef+":"+object(1))
	check(t, os.Remove(filepath.Join(r.Dir, "objects", blob[:2], blob[2:])))
	if _, err := open(t, r).Notes(ctx, notesRef); err == nil || !strings.Contains(err.Error(), blob) {
		t.Errorf("a missing blob: %v", err)
	}
}

// since reads what changed, by object; "-" is a note that is gone.
func since(t testing.TB, g *gitstore.Repo, old *gitstore.NotesTree) (*gitstore.NotesTree, map[string]string) {
	t.Helper()
	changed := map[string]string{}
	n, err := g.NotesSince(context.Background(), old, notesRef, func(object string, note []byte) error {
		if _, twice := changed[object]; twice {
			t.Errorf("%s was handed over twice", object)
		}
		if changed[object] = string(note); note == nil {
			changed[object] = "-"
		}
		return nil
	})
	check(t, err)
	return n, changed
}

func TestNotesSince(t *testing.T) {
	r := navtest.Bare(t)
	objects := commits(t, r, 401)
	many := map[string]string{}
	for i, o := range objects[:400] {
		many[o] = fmt.Sprintf("note %d\n", i)
	}
	importNotes(t, r, many, "")
	g := open(t, r)
	old, changed := since(t, g, nil)
	if diff := cmp.Diff(many, changed); diff != "" {
		t.Errorf("first (-want +got):\n%s", diff)
	}
	if _, changed := since(t, g, old); len(changed) != 0 {
		t.Errorf("same: %d changed", len(changed))
	}
	r.Git("notes", "--ref=nav/verdicts", "add", "-f", "-m", "changed", objects[1])
	r.Git("notes", "--ref=nav/verdicts", "remove", objects[2])
	r.Git("notes", "--ref=nav/verdicts", "add", "-m", "added", objects[400])
	// What did not change is not read again: it is gone, and is not missed.
	blob := r.Git("rev-parse", notesRef+":"+objects[9][:2]+"/"+objects[9][2:])
	store := filepath.Join(r.Dir, "objects")
	r.GitIn(nil, "repack", "-adq")
	r.Git("prune-packed")
	packs := must[[]string](t)(filepath.Glob(filepath.Join(store, "pack", "*.pack")))
	for _, p := range packs {
		moved := filepath.Join(t.TempDir(), "p")
		check(t, os.Rename(p, moved))
		check(t, os.Remove(strings.TrimSuffix(p, "pack")+"idx"))
		r.GitIn(must[[]byte](t)(os.ReadFile(moved)), "unpack-objects", "-q")
	}
	check(t, os.Remove(filepath.Join(store, blob[:2], blob[2:])))
	now, changed := since(t, g, old)
	want := map[string]string{objects[1]: "changed\n", objects[2]: "-", objects[400]: "added\n"}
	if diff := cmp.Diff(want, changed); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
	failed := errors.New("not now")
	if _, err := g.NotesSince(context.Background(), old, notesRef, func(string, []byte) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("the error of whoever reads became %v", err)
	}
	r.Git("update-ref", "-d", notesRef)
	gone, changed := since(t, g, now)
	if gone.Tip != "" || len(changed) != 400 || changed[objects[3]] != "-" {
		t.Errorf("deleted: %d changed", len(changed))
	}
}

// However two trees differ, what is handed over is what git says differs.
func TestNotesSinceAgreesWithGit(t *testing.T) {
	r := navtest.Bare(t)
	objects := commits(t, r, 60)
	g := open(t, r)
	rng := rand.New(rand.NewPCG(1, 2))
	at, had := since(t, g, nil)
	for step := range 60 {
		files := navtest.Files{}
		if step%20 == 19 { // all of it, elsewhere
			r.Git("update-ref", "-d", notesRef)
		}
		for range 1 + rng.IntN(12) {
			o := objects[rng.IntN(len(objects))]
			path := o
			switch rng.IntN(4) {
			case 0:
				path = o[:2] + "/" + o[2:]
			case 1:
				path = o[:2] + "/" + o[2:4] + "/" + o[4:]
			case 2:
				path = strings.ToUpper(o[:2]) + "/" + o[2:]
			}
			if files[path] = navtest.Text(fmt.Sprintf("%d\n", rng.IntN(3))); rng.IntN(3) == 0 {
				files[path] = navtest.Gone()
			}
		}
		files["README"] = navtest.Text(fmt.Sprint(step))
		r.Commit(navtest.Commit{Branch: notesRef, Files: files})
		now := gitNotes(t, r)
		next, changed := since(t, g, at)
		for o, text := range changed {
			if text == "-" {
				delete(had, o)
			} else {
				had[o] = strings.TrimSuffix(text, "\n")
			}
		}
		if diff := cmp.Diff(now, had); diff != "" {
			t.Fatalf("step %d (-git +ours):\n%s", step, diff)
		}
		for _, o := range objects[:5] {
			got := must[map[string][]byte](t)(g.NotesOf(context.Background(), notesRef, []string{o}))
			if text, there := now[o]; there != (got[o] != nil) || strings.TrimSuffix(string(got[o]), "\n") != text {
				t.Errorf("step %d: the note of %s is %q, git has %q", step, o, got[o], text)
			}
		}
		at = next
	}
}

// Two clones that write by themselves are merged by git.
func TestNotesMerge(t *testing.T) {
	ctx := context.Background()
	r := navtest.Bare(t)
	id := r.Put("one", nil)
	g := open(t, r)
	for i, ref := range []string{notesRef, "refs/notes/nav/other"} {
		must[int](t)(g.AppendNotes(ctx, ref, map[string][]string{id: {fmt.Sprintf(`{"line":%d}`, i)}, object(i): {"own"}}, "x", who()))
	}
	r.Git("notes", "--ref=nav/verdicts", "merge", "-q", "-s", "cat_sort_uniq", "refs/notes/nav/other")
	n := agree(t, r, g)
	if got, _ := n.Get(id); string(got) != "{\"line\":0}\n{\"line\":1}\n" || n.Len() != 3 {
		t.Errorf("merged = %q of %d", got, n.Len())
	}
}
