package gitstore

import (
	"errors"
	"strings"
)

// How a notes tree is laid out (notes.c, load_subtree): a note is a regular
// file whose name, after the names of the folders above it, is the whole id of
// the object; a folder whose name is two hex digits is fan-out; at any depth,
// mixed, in upper or lower case. Everything else is no note, and is kept.

// notePath is one path of a notes tree that holds a note.
type notePath struct{ object, path, blob string }

var errNotesBomb = errors.New("the notes tree has too many paths")

// remainder says whether an entry holds a note of an object whose id begins
// with prefix.
func (e treeEntry) remainder(prefix string) bool {
	return len(prefix)+len(e.name) == len(e.id) && e.isRegular() && isLowerHex(strings.ToLower(e.name))
}

// fanout says whether an entry is a folder of the fan-out below prefix. The
// last two digits of an id are always a note's own name.
func (e treeEntry) fanout(prefix string) bool {
	return len(e.name) == 2 && len(prefix)+2 < len(e.id) && e.isTree() && isLowerHex(strings.ToLower(e.name))
}

// walk finds all notes below a tree, in the order in which git joins them.
type walk struct {
	trees *trees
	used  map[string][]treeEntry // what was needed
	found []notePath
	count int // of visited entries: one tree may be below itself many times over
}

// run reads the trees level by level, many in one go, and then visits them.
func (w *walk) run(root string) error {
	level := map[string]int{root: 0}
	for len(level) > 0 {
		ids := make([]string, 0, len(level))
		for id := range level {
			ids = append(ids, id)
		}
		if err := w.trees.load(ids); err != nil {
			return err
		}
		next := map[string]int{}
		for id, depth := range level {
			w.used[id] = w.trees.known[id]
			prefix := strings.Repeat("0", depth)
			for _, e := range w.used[id] {
				if e.fanout(prefix) {
					next[e.id] = depth + 2
				}
			}
		}
		level = next
	}
	return w.visit(root, "", "")
}

func (w *walk) visit(id, prefix, at string) error {
	for _, e := range w.used[id] {
		if w.count++; w.count > maxPaths {
			return errNotesBomb
		}
		switch {
		case e.remainder(prefix):
			object := prefix + strings.ToLower(e.name)
			w.found = append(w.found, notePath{object: object, path: at + e.name, blob: e.id})
		case e.fanout(prefix):
			if err := w.visit(e.id, prefix+strings.ToLower(e.name), at+e.name+"/"); err != nil {
				return err
			}
		}
	}
	return nil
}

// place is where the note of one object is, and where it goes when it is
// written.
type place struct {
	found []notePath
	path  string
	count int // of visited folders: the same name has many spellings
}

// Above this many notes in one folder, new ones go one level down. Git counts
// otherwise (determine_fanout) but reads any depth.
const maxFlat = 256

// Each fan-out level can be spelt in four ways; nobody does so at all of them.
const maxSpellings = 1 << 12

// locate looks an object up at every depth. Only the folders on its way are
// read.
func (t *trees) locate(root, object string) (place, error) {
	var p place
	err := t.descend(root, object, 0, "", &p, true)
	return p, err
}

func (t *trees) descend(id, object string, depth int, at string, p *place, choose bool) error {
	if p.count++; p.count > maxSpellings {
		return errNotesBomb
	}
	entries, err := t.get(id)
	if err != nil {
		return err
	}
	prefix, down := object[:depth], ""
	if choose {
		down = whereDown(entries, prefix, object[depth:], t.coming>>(4*depth))
		if down == "" {
			p.path = at + object[depth:]
		}
		if down != "" && find(entries, down).mode == "" { // a folder that is not there yet
			p.path = at + down + "/" + object[depth+2:]
		}
	}
	for _, e := range entries {
		switch {
		case e.remainder(prefix) && strings.EqualFold(e.name, object[depth:]):
			p.found = append(p.found, notePath{object: object, path: at + e.name, blob: e.id})
		case e.fanout(prefix) && strings.EqualFold(e.name, object[depth:depth+2]):
			err := t.descend(e.id, object, depth+2, at+e.name+"/", p, choose && e.name == down)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// whereDown names the folder below which a note goes; "" is right here. coming
// is how many are about to be written.
func whereDown(entries []treeEntry, prefix, rest string, coming int) string {
	if len(rest) <= 2 {
		return ""
	}
	notes, fans, taken := 0, 0, false
	for _, e := range entries {
		switch {
		case e.fanout(prefix):
			if strings.EqualFold(e.name, rest[:2]) {
				return e.name
			}
			fans++
		case e.remainder(prefix):
			notes++
		case e.name == rest[:2]:
			taken = true // by a file that is no note
		}
	}
	if !taken && (fans > 0 || notes+coming > maxFlat) {
		return rest[:2]
	}
	return ""
}
