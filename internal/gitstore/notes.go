package gitstore

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Limits of a notes ref: people may push to some of them.
const (
	MaxNote  = 1 << 20   // bytes of one note
	maxNotes = 256 << 20 // bytes of all notes of a ref
	maxPaths = 1 << 20   // paths in a notes tree, folders counted
	maxParts = 1 << 10   // paths of one object
)

// Notes is a notes ref as it was read at one moment.
type Notes struct {
	Ref string
	Tip string // its commit; "" while there is no such ref

	read  string                 // Tip as it was read: what WriteNotes builds on
	tree  string                 // of Tip
	m     map[string][]byte      // object -> content
	from  map[string]string      // object -> ids of the blobs that make it up
	trees map[string][]treeEntry // for NotesSince
	blobs map[string][]byte      // for NotesSince
}

// Get gives the note of an object, by full id. Do not write into it.
func (n *Notes) Get(object string) ([]byte, bool) {
	data, ok := n.m[object]
	return data, ok
}

// Objects lists what has a note, sorted.
func (n *Notes) Objects() []string { return slices.Sorted(maps.Keys(n.m)) }

// Len is the number of objects that have a note.
func (n *Notes) Len() int { return len(n.m) }

// Notes reads all notes of a ref, given by its full name: two processes. A ref
// that does not exist has no notes.
func (r *Repo) Notes(ctx context.Context, ref string) (*Notes, error) {
	n, _, err := r.NotesSince(ctx, nil, ref)
	return n, err
}

// NotesSince reads the notes of a ref anew and says which objects have got,
// lost or changed their note since old was read (sorted; all of them when old
// is nil or of another ref). Only what differs is read.
func (r *Repo) NotesSince(ctx context.Context, old *Notes, ref string) (n *Notes, changed []string, err error) {
	if old == nil || old.Ref != ref {
		old = &Notes{}
	}
	tip, err := r.notesTip(ctx, ref)
	if err != nil {
		return nil, nil, fmt.Errorf("reading notes of %q: %w", ref, err)
	}
	if tip == old.read && old.Ref == ref {
		return old, nil, nil
	}
	n = &Notes{
		Ref: ref, Tip: tip, read: tip, m: map[string][]byte{}, from: map[string]string{},
		trees: map[string][]treeEntry{}, blobs: map[string][]byte{},
	}
	if tip != "" {
		if err := r.readNotes(ctx, n, old); err != nil {
			return nil, nil, fmt.Errorf("reading notes of %q: %w", ref, err)
		}
	}
	for object, from := range n.from {
		if old.from[object] != from {
			changed = append(changed, object)
		}
	}
	for object := range old.from {
		if _, still := n.from[object]; !still {
			changed = append(changed, object)
		}
	}
	slices.Sort(changed)
	return n, changed, nil
}

// notesTip asks for exactly this ref. To cat-file and log a missing
// refs/notes/x would also be refs/heads/refs/notes/x, which anybody may push.
func (r *Repo) notesTip(ctx context.Context, ref string) (string, error) {
	if err := checkRef(ref); err != nil {
		return "", err
	}
	refs, err := r.Refs(ctx, ref)
	if err != nil {
		return "", err
	}
	return refs[ref], nil
}

func (r *Repo) readNotes(ctx context.Context, n, old *Notes) error {
	b, err := r.openBatch(ctx)
	if err != nil {
		return err
	}
	return b.close(n.load(b, old))
}

func (n *Notes) load(b *batch, old *Notes) error {
	var err error
	if n.tree, err = b.commitTree(n.Tip); err != nil {
		return err
	}
	t := &trees{batch: b, known: maps.Clone(old.trees)}
	if t.known == nil {
		t.known = map[string][]treeEntry{}
	}
	w := walk{trees: t, used: n.trees}
	if err := w.run(n.tree); err != nil {
		return err
	}
	var want []string
	for _, f := range w.found {
		if data, ok := old.blobs[f.blob]; ok {
			n.blobs[f.blob] = data
		} else if _, asked := n.blobs[f.blob]; !asked {
			n.blobs[f.blob] = nil
			want = append(want, f.blob)
		}
	}
	total := int64(0)
	err = b.each(want, MaxNote, func(i int, o object) error {
		if o.kind != "blob" {
			return fmt.Errorf("the blob %s of a note is missing or no blob (%q)", want[i], o.kind)
		}
		if total += o.size; total > maxNotes {
			return &SizeError{What: "the notes ref", Size: total, Limit: maxNotes}
		}
		n.blobs[want[i]] = o.data
		return nil
	})
	if err != nil {
		return err
	}
	return n.combine(w.found)
}

// combine joins the blobs of an object that has several paths, as git does
// while it loads the tree (notes.c, combine_notes_concatenate).
func (n *Notes) combine(found []notePath) error {
	total := int64(0)
	for _, f := range found {
		data := n.blobs[f.blob]
		from, again := n.from[f.object]
		if !again {
			n.m[f.object], n.from[f.object] = data, f.blob
			continue
		}
		if len(from) > maxParts*len(f.blob) {
			return fmt.Errorf("the note of %s: %w", f.object, errNotesBomb)
		}
		n.from[f.object] = from + " " + f.blob
		if bytes.Equal(n.m[f.object], data) { // note_tree_insert: the same is not said twice
			continue
		}
		joined := joinNotes(n.m[f.object], data)
		if len(joined) > MaxNote {
			return &SizeError{What: "the note of " + f.object, Size: int64(len(joined)), Limit: MaxNote}
		}
		if total += int64(len(joined)); total > maxNotes {
			return &SizeError{What: "the notes ref", Size: total, Limit: maxNotes}
		}
		n.m[f.object] = joined
	}
	return nil
}

func joinNotes(before, data []byte) []byte {
	switch {
	case len(data) == 0:
		return before
	case len(before) == 0:
		return data
	}
	before = slices.Clone(before)
	if before[len(before)-1] == '\n' {
		before = before[:len(before)-1]
	}
	return append(append(before, "\n\n"...), data...)
}

// commitTree gives the tree of a commit.
func (b *batch) commitTree(id string) (string, error) {
	var tree string
	err := b.each([]string{id}, MaxMessage, func(_ int, o object) error {
		if o.kind != "commit" {
			return fmt.Errorf("%s is missing or no commit (%q)", id, o.kind)
		}
		line, _, _ := strings.Cut(string(o.data), "\n")
		var ok bool
		if tree, ok = strings.CutPrefix(line, "tree "); !ok || b.repo.checkID(tree) != nil {
			return fmt.Errorf("commit %s is malformed", id)
		}
		return nil
	})
	return tree, err
}
