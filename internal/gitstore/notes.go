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
	maxNotes = 256 << 20 // bytes of all notes of a ref that are held at once
	maxRead  = 4 << 30   // bytes of all notes of a ref that are handed over one by one
	maxPaths = 1 << 20   // paths in a notes tree, folders counted
	maxParts = 1 << 10   // paths of one object
)

// NotesTree is where the notes of a ref are, as it was read at one moment: what
// WriteNotes builds on. It holds no note.
type NotesTree struct {
	Ref string
	Tip string // its commit; "" while there is no such ref

	read  string                 // Tip as it was read: what WriteNotes builds on
	tree  string                 // of Tip
	trees map[string][]treeEntry // folders by id; some may be of older trees
	full  int                    // how many there were when all were in use
}

// Notes is a notes ref with all its notes.
type Notes struct {
	NotesTree
	m map[string][]byte // object -> content
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
	n := &Notes{m: map[string][]byte{}}
	total := int64(0)
	at, err := r.NotesSince(ctx, nil, ref, func(object string, note []byte) error {
		if total += int64(len(note)); total > maxNotes {
			return fmt.Errorf("reading notes of %q: %w", ref, &SizeError{What: "the notes ref", Size: total, Limit: maxNotes})
		}
		n.m[object] = note
		return nil
	})
	if err != nil {
		return nil, err
	}
	n.NotesTree = *at
	return n, nil
}

// NotesSince reads a ref anew and hands over the note of each object that has
// got, lost (nil) or changed its note since old was read; all of them when old is
// nil or of another ref. Only what differs is read, and nothing is kept but the
// folders. An error of fn ends it and is returned as it is. Old is not to be
// read by others meanwhile.
func (r *Repo) NotesSince(ctx context.Context, old *NotesTree, ref string, fn func(object string, note []byte) error) (*NotesTree, error) {
	tip, err := r.notesTip(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("reading notes of %q: %w", ref, err)
	}
	return r.NotesAt(ctx, old, ref, tip, fn)
}

// NotesAt is NotesSince for a caller who has just read the ref: tip is its value,
// "" if it was not there.
func (r *Repo) NotesAt(ctx context.Context, old *NotesTree, ref, tip string, fn func(object string, note []byte) error) (*NotesTree, error) {
	if old == nil || old.Ref != ref {
		old = &NotesTree{}
	}
	if tip == old.read && old.Ref == ref {
		return old, nil
	}
	if tip == "" && old.tree == "" {
		return &NotesTree{Ref: ref}, nil
	}
	b, err := r.openBatch(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading notes of %q: %w", ref, err)
	}
	n := &NotesTree{Ref: ref, Tip: tip, read: tip}
	var fnErr error
	err = b.close(n.load(b, old, func(object string, note []byte) error {
		fnErr = fn(object, note)
		return fnErr
	}))
	switch {
	case fnErr != nil:
		return nil, fnErr
	case err != nil:
		return nil, fmt.Errorf("reading notes of %q: %w", ref, err)
	}
	return n, nil
}

// NotesOf reads the notes of some objects, as the ref is now. Only the folders on
// their ways are read: two processes, however many notes there are. What has no
// note is not in the map.
func (r *Repo) NotesOf(ctx context.Context, ref string, objects []string) (map[string][]byte, error) {
	tip, err := r.notesTip(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("reading notes of %q: %w", ref, err)
	}
	out := map[string][]byte{}
	if tip == "" || len(objects) == 0 {
		return out, nil
	}
	b, err := r.openBatch(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading notes of %q: %w", ref, err)
	}
	read := func() error {
		root, err := b.commitTree(tip)
		if err != nil {
			return err
		}
		t := &trees{batch: b, known: map[string][]treeEntry{}}
		for _, o := range objects {
			note, there, err := t.note(root, o)
			if err != nil {
				return err
			}
			if there {
				out[o] = note
			}
		}
		return nil
	}
	if err := b.close(read()); err != nil {
		return nil, fmt.Errorf("reading notes of %q: %w", ref, err)
	}
	return out, nil
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

// load finds what differs and hands it over.
func (n *NotesTree) load(b *batch, old *NotesTree, fn func(string, []byte) error) error {
	var err error
	if n.Tip != "" {
		if n.tree, err = b.commitTree(n.Tip); err != nil {
			return err
		}
	}
	t := &trees{batch: b, known: old.trees}
	if t.known == nil {
		t.known = map[string][]treeEntry{}
	}
	everything := old.tree == "" || len(t.known) > 2*old.full+maxLookups // or what no tree has any more would pile up
	changed, all, err := t.changed(old.tree, n.tree, everything)
	if err != nil {
		return err
	}
	n.trees, n.full = t.known, old.full
	if all != nil {
		n.trees, n.full = all, len(all)
	}
	return b.notes(changed, fn)
}

// notes reads the notes of objects and hands them over; one without a blob has
// none any more.
func (b *batch) notes(found []noteBlobs, fn func(string, []byte) error) error {
	var want []string
	for _, f := range found {
		want = append(want, f.blobs...)
	}
	at, part, total := 0, 0, int64(0)
	var join joining
	next := func() error { // hands over every object up to the next that has blobs to come
		for at < len(found) && part == len(found[at].blobs) {
			if err := fn(found[at].object, join.note); err != nil {
				return err
			}
			at, part, join = at+1, 0, joining{}
		}
		return nil
	}
	if err := next(); err != nil {
		return err
	}
	return b.each(want, MaxNote, func(i int, o object) error {
		if o.kind != "blob" {
			return fmt.Errorf("the blob %s of a note is missing or no blob (%q)", want[i], o.kind)
		}
		if total += o.size; total > maxRead {
			return &SizeError{What: "the notes ref", Size: total, Limit: maxRead}
		}
		if err := join.add(found[at].object, o.data); err != nil {
			return err
		}
		part++
		return next()
	})
}

// joining makes one note of the blobs of an object that has several paths, as
// git does while it loads the tree (notes.c, combine_notes_concatenate).
type joining struct {
	note  []byte
	begun bool
}

func (j *joining) add(object string, data []byte) error {
	if !j.begun {
		j.note, j.begun = data, true
		return nil
	}
	if bytes.Equal(j.note, data) { // note_tree_insert: the same is not said twice
		return nil
	}
	if len(j.note)+len(data) > MaxNote {
		return &SizeError{What: "the note of " + object, Size: int64(len(j.note) + len(data)), Limit: MaxNote}
	}
	j.note = joinNotes(j.note, data)
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
