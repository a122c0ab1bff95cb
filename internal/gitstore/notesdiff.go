package gitstore

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// noteBlobs are the blobs of one object's note, in the order in which git joins
// them; none: it has no note.
type noteBlobs struct {
	object string
	blobs  []string
}

// Above this many objects whole trees are walked: to look each up costs more.
const maxLookups = 1000

// changed finds the objects whose notes differ between two trees ("" is empty),
// sorted. Only folders that differ are looked into, so that one note more costs
// one path. Where everything was walked, all are the folders in use.
func (t *trees) changed(from, to string, walk bool) (out []noteBlobs, all map[string][]treeEntry, err error) {
	var objects []string
	if !walk {
		if objects, err = t.differing(from, to); err != nil {
			return nil, nil, err
		}
	}
	if walk || len(objects) > maxLookups {
		return t.changedAll(from, to)
	}
	for _, o := range objects {
		was, err := t.locate(from, o)
		if err != nil {
			return nil, nil, err
		}
		now, err := t.locate(to, o)
		if err != nil {
			return nil, nil, err
		}
		if blobs := now.blobs(); !slices.Equal(was.blobs(), blobs) {
			out = append(out, noteBlobs{o, blobs})
		}
	}
	return out, nil, nil
}

func (p place) blobs() []string {
	ids := make([]string, len(p.found))
	for i, f := range p.found {
		ids[i] = f.blob
	}
	return ids
}

// changedAll is changed by walking both trees.
func (t *trees) changedAll(from, to string) (out []noteBlobs, all map[string][]treeEntry, err error) {
	now, all, err := t.allNotes(to)
	if err != nil {
		return nil, nil, err
	}
	was, _, err := t.allNotes(from)
	if err != nil {
		return nil, nil, err
	}
	for object, blobs := range now {
		if !slices.Equal(was[object], blobs) {
			out = append(out, noteBlobs{object, blobs})
		}
	}
	for object := range was {
		if _, still := now[object]; !still {
			out = append(out, noteBlobs{object: object})
		}
	}
	slices.SortFunc(out, func(a, b noteBlobs) int { return strings.Compare(a.object, b.object) })
	return out, all, nil
}

// allNotes maps every object below a tree to its blobs, and tells which folders
// it took.
func (t *trees) allNotes(root string) (map[string][]string, map[string][]treeEntry, error) {
	w := walk{trees: t, used: map[string][]treeEntry{}}
	byObject := map[string][]string{}
	if root == "" {
		return byObject, w.used, nil
	}
	if err := w.run(root); err != nil {
		return nil, nil, err
	}
	for _, f := range w.found {
		if len(byObject[f.object]) == maxParts {
			return nil, nil, fmt.Errorf("the note of %s: %w", f.object, errNotesBomb)
		}
		byObject[f.object] = append(byObject[f.object], f.blob)
	}
	return byObject, w.used, nil
}

// pair is a folder as it was and as it is.
type pair struct{ from, to, prefix string }

// differing lists the objects of all entries that differ between two trees,
// sorted. Folders with the same id are passed over.
func (t *trees) differing(from, to string) ([]string, error) {
	objects := map[string]bool{}
	count := 0
	level := []pair{{from, to, ""}}
	for len(level) > 0 {
		var ids []string
		for _, p := range level {
			ids = append(ids, p.from, p.to)
		}
		ids = slices.DeleteFunc(ids, func(id string) bool { return id == "" })
		if err := t.load(ids); err != nil {
			return nil, err
		}
		var next []pair
		for _, p := range level {
			was, now := trim(t.known[p.from], t.known[p.to])
			if count += len(was) + len(now); count > maxPaths {
				return nil, errNotesBomb
			}
			next = append(next, compare(was, now, p.prefix, objects)...)
		}
		level = next
	}
	return slices.Sorted(maps.Keys(objects)), nil
}

// trim leaves out what two lists have in common at both ends.
func trim(a, b []treeEntry) (was, now []treeEntry) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return a, b
}

// compare takes in the objects whose entries differ in one folder, and gives
// the folders below that do.
func compare(was, now []treeEntry, prefix string, objects map[string]bool) (below []pair) {
	same := map[treeEntry]bool{}
	for _, e := range was {
		same[e] = true
	}
	folders := map[string]int{}
	for _, e := range now {
		switch {
		case same[e]:
			delete(same, e)
		case e.remainder(prefix):
			objects[prefix+strings.ToLower(e.name)] = true
		case e.fanout(prefix):
			folders[e.name] = len(below)
			below = append(below, pair{"", e.id, prefix + strings.ToLower(e.name)})
		}
	}
	for e := range same { // only in what was
		switch {
		case e.remainder(prefix):
			objects[prefix+strings.ToLower(e.name)] = true
		case e.fanout(prefix):
			if i, there := folders[e.name]; there && below[i].from == "" {
				below[i].from = e.id
				continue
			}
			below = append(below, pair{e.id, "", prefix + strings.ToLower(e.name)})
		}
	}
	return below
}
