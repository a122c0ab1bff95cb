package gitstore_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
)

// Hundreds of notes, by git notes (ragged fan-out), by fast-import (uniform) and
// by us (what is there, or one level down), are all the same to git and to us.
func TestNotesFanout(t *testing.T) {
	ctx := context.Background()
	type notes = map[string]string
	fill := map[string]func(r *navtest.Repo, many notes){
		"git notes": func(r *navtest.Repo, many notes) {
			first := r.Commit(navtest.Commit{Branch: "source"})
			r.Git("notes", "--ref=nav/verdicts", "add", "-m", "copied", first)
			var in bytes.Buffer
			for o := range many {
				fmt.Fprintf(&in, "%s %s\n", first, o)
			}
			r.GitIn(in.Bytes(), "notes", "--ref=nav/verdicts", "copy", "--stdin")
		},
		"fast-import":  func(r *navtest.Repo, many notes) { importNotes(t, r, many, "") },
		"one at first": func(r *navtest.Repo, _ notes) { importNotes(t, r, notes{r.Tip("main"): "x"}, "") },
		"nothing":      func(*navtest.Repo, notes) {},
	}
	for name, fill := range fill {
		t.Run(name, func(t *testing.T) {
			r := navtest.Bare(t)
			objects := commits(t, r, 500)
			many := notes{}
			for i, o := range objects[:300] {
				many[o] = fmt.Sprintf("note %d\n", i)
			}
			fill(r, many)
			g := open(t, r)
			n := agree(t, r, g)
			edits := map[string][]byte{}
			for i := 150; i < 500; i++ {
				edits[objects[i]] = fmt.Appendf(nil, "ours %d\n", i)
			}
			edits[objects[1]] = nil
			tip := must[string](t)(g.WriteNotes(ctx, &n.NotesTree, edits, "ours", who()))
			check(t, g.UpdateRefs(ctx, gitstore.RefUpdate{Ref: notesRef, Old: n.Tip, New: tip}))
			n = agree(t, r, g)
			if _, there := n.Get(objects[1]); there {
				t.Error("a removed note is back")
			}
			if got, _ := n.Get(objects[400]); string(got) != "ours 400\n" {
				t.Errorf("note 400 = %q", got)
			}
			// Git rewrites the tree by its own rule.
			r.Git("notes", "--ref=nav/verdicts", "add", "-f", "-m", "git again", objects[400])
			agree(t, r, g)
		})
	}
}

// Our own writer must not let one folder grow for ever.
func TestNotesGrowDownwards(t *testing.T) {
	ctx := context.Background()
	r := navtest.Bare(t)
	g := open(t, r)
	n := must[*gitstore.Notes](t)(g.Notes(ctx, notesRef))
	for batch := range 5 {
		edits := map[string][]byte{}
		for i := range 120 {
			edits[object(batch*1000+i)] = []byte("x\n")
		}
		tip := must[string](t)(g.WriteNotes(ctx, &n.NotesTree, edits, "x", who()))
		check(t, g.UpdateRefs(ctx, gitstore.RefUpdate{Ref: notesRef, Old: n.Tip, New: tip}))
		n = must[*gitstore.Notes](t)(g.Notes(ctx, notesRef))
	}
	if root := strings.Count(r.Git("ls-tree", "--name-only", notesRef), "\n"); root > 560 { // 600 notes
		t.Errorf("the root folder has %d entries", root)
	}
	agree(t, r, g)
}

// fast-import looks a note up at one depth only, and leaves a second path for
// the same object; git then shows old + blank line + new.
func TestNotesWithTwoPaths(t *testing.T) {
	ctx := context.Background()
	r := navtest.Bare(t)
	objects := commits(t, r, 151)
	first, trapped, same := objects[150], objects[3], objects[4]
	r.Git("notes", "--ref=nav/verdicts", "add", "-m", "old", first)
	var in bytes.Buffer
	for _, o := range objects[:150] {
		fmt.Fprintf(&in, "%s %s\n", first, o)
	}
	r.GitIn(in.Bytes(), "notes", "--ref=nav/verdicts", "copy", "--stdin")
	importNotes(t, r, map[string]string{trapped: "new\n", same: "old\n"}, notesRef+"^0")
	g := open(t, r)
	n := agree(t, r, g)
	if got, _ := n.Get(trapped); string(got) != "old\n\nnew\n" {
		t.Errorf("joined = %q: the trap is not set", got)
	}
	if got, _ := n.Get(same); string(got) != "old\n" {
		t.Errorf("twice the same = %q", got)
	}
	tip := must[string](t)(g.WriteNotes(ctx, &n.NotesTree, map[string][]byte{trapped: []byte("only\n")}, "x", who()))
	check(t, g.UpdateRefs(ctx, gitstore.RefUpdate{Ref: notesRef, Old: n.Tip, New: tip}))
	if agree(t, r, g); r.Git("notes", "--ref=nav/verdicts", "show", trapped) != "only" {
		t.Error("the second path is still there")
	}
	if paths := r.Git("ls-tree", "-r", "--name-only", notesRef); strings.Count(strings.ReplaceAll(paths, "/", ""), trapped) != 1 {
		t.Error("not one path")
	}
}

// Trees as nobody should write them, but as git reads them.
func TestNotesOddTrees(t *testing.T) {
	ctx := context.Background()
	a, b, c, d := object(1), object(2), object(3), object(4)
	up := strings.ToUpper
	files := navtest.Files{
		"README": navtest.Text("no note\n"), "aa": navtest.Text("a file, no fan-out\n"), "zz/" + a[2:]: navtest.Text("no hex\n"),
		"docs/x": navtest.Exec("no note\n"), a + "x": navtest.Text("too long\n"), a[1:]: navtest.Text("too short\n"),
		b: navtest.Link("a link is no note"), "ab/" + b[2:3] + "/x": navtest.Text("no note\n"), c[:2] + "/sub": navtest.Submodule(a),
		a: navtest.Text("flat\n"), a[:2] + "/" + a[2:]: navtest.Exec("two\n"), up(a[:2]) + "/" + a[2:4] + "/" + a[4:]: navtest.Text("upper\n"),
		c[:2] + "/" + up(c[2:]): navtest.Text("c upper"), c[:2] + "/" + c[2:4] + "/" + c[4:6] + "/" + c[6:]: navtest.Text("c deep"),
		d[:2] + "/" + d[2:]: navtest.Text(""), up(d): navtest.Text("d flat\n\n"),
	}
	deep := object(5)
	path := ""
	for i := 0; i < 38; i += 2 {
		path += deep[i:i+2] + "/"
	}
	files[path+deep[38:]] = navtest.Text("deepest\n")
	r := navtest.Bare(t)
	r.Commit(navtest.Commit{Branch: notesRef, Files: files})
	g := open(t, r)
	n := agree(t, r, g)
	edits := map[string][]byte{}
	for _, o := range n.Objects() {
		edits[o] = []byte("one path now\n")
	}
	if len(edits) != 4 {
		t.Fatalf("objects with a note: %v", n.Objects())
	}
	tip := must[string](t)(g.WriteNotes(ctx, &n.NotesTree, edits, "x", who()))
	check(t, g.UpdateRefs(ctx, gitstore.RefUpdate{Ref: notesRef, Old: n.Tip, New: tip}))
	agree(t, r, g)
	notes := 0
	for p := range strings.Lines(r.Git("ls-tree", "-r", "--name-only", notesRef)) {
		if o := strings.ToLower(strings.ReplaceAll(strings.TrimSpace(p), "/", "")); edits[o] != nil {
			notes++
		}
	}
	if notes != 4 {
		t.Errorf("%d paths for 4 notes", notes)
	}
	for _, kept := range []string{"README", "aa", "zz/" + a[2:], "docs/x", a + "x", a[1:], b, c[:2] + "/sub"} {
		if before, after := r.Git("ls-tree", n.Tip, kept), r.Git("ls-tree", tip, kept); before != after || before == "" {
			t.Errorf("%s: %q became %q", kept, before, after)
		}
	}
}

// A tree that is below itself 256 times at every level has more paths than
// there is memory.
func TestNotesBomb(t *testing.T) {
	r := navtest.Bare(t)
	blob := r.GitIn([]byte("x"), "hash-object", "-w", "--stdin")
	tree := r.GitIn([]byte("100644 blob "+blob+"\t"+object(1)[38:]+"\n"), "mktree")
	for range 5 {
		var in bytes.Buffer
		for i := range 256 {
			fmt.Fprintf(&in, "040000 tree %s\t%02x\n", tree, i)
		}
		tree = r.GitIn(in.Bytes(), "mktree")
	}
	r.Git("update-ref", notesRef, r.Git("commit-tree", "-m", "bomb", tree))
	if n, err := open(t, r).Notes(context.Background(), notesRef); err == nil {
		t.Errorf("%d notes", n.Len())
	}
	// Many paths of one object: joining them would take hours.
	one := strings.Repeat("ab", 20)
	flat := navtest.Files{}
	for i := range 1 << 12 {
		name := ""
		for bit := range 12 {
			name += string("aA"[i>>bit&1]) + "b"
		}
		flat[name+one[24:]] = navtest.Text(fmt.Sprint(i))
	}
	r.Commit(navtest.Commit{Branch: notesRef, Parents: []string{}, Files: flat})
	if _, err := open(t, r).Notes(context.Background(), notesRef); err == nil {
		t.Error("4096 paths of one object were joined")
	}
	// Looking up one object is no safer: each of its folders in four spellings.
	letters := strings.Repeat("ab", 20)
	tree = r.GitIn([]byte("100644 blob "+blob+"\tab\n"), "mktree")
	for range 19 {
		var in bytes.Buffer
		for _, name := range []string{"ab", "aB", "Ab", "AB"} {
			fmt.Fprintf(&in, "040000 tree %s\t%s\n", tree, name)
		}
		tree = r.GitIn(in.Bytes(), "mktree")
	}
	r.Git("update-ref", notesRef, r.Git("commit-tree", "-m", "bomb", tree))
	_, err := open(t, r).AppendNotes(context.Background(), notesRef, map[string][]string{letters: {"x"}}, "x", who())
	if err == nil {
		t.Error("a bomb was appended to")
	}
}
