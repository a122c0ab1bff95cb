package gitstore

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"sort"
	"strings"
)

// Modes of tree entries, canonical as in git's canon_mode.
const (
	modeFile      = "100644"
	modeExec      = "100755"
	modeSymlink   = "120000"
	modeSubmodule = "160000"
	modeTree      = "40000"
)

const maxTree = 64 << 20 // bytes of one tree object

// treeEntry is one line of a tree object. The mode is as it was written, so
// that an entry nobody touches stays what it is.
type treeEntry struct{ mode, name, id string }

func (e treeEntry) isTree() bool { return strings.TrimLeft(e.mode, "0") == modeTree }

func (e treeEntry) sortKey() string {
	if e.isTree() {
		return e.name + "/"
	}
	return e.name
}

// isRegular is C's S_ISREG of the mode.
func (e treeEntry) isRegular() bool {
	m := strings.TrimLeft(e.mode, "0")
	return len(m) == 6 && strings.HasPrefix(m, "10")
}

// canonical is the mode as every git command shows it.
func (e treeEntry) canonical() string {
	switch m := strings.TrimLeft(e.mode, "0"); {
	case !e.isRegular():
		return m
	case (m[3]-'0')&1 == 1: // the owner's execute bit
		return modeExec
	default:
		return modeFile
	}
}

func parseTree(data []byte, hashSize int) ([]treeEntry, error) {
	var entries []treeEntry
	for len(data) > 0 {
		space := bytes.IndexByte(data, ' ')
		nul := bytes.IndexByte(data, 0)
		if space < 1 || nul < space || len(data) < nul+1+hashSize {
			return nil, errors.New("malformed tree object")
		}
		entries = append(entries, treeEntry{
			mode: string(data[:space]),
			name: string(data[space+1 : nul]),
			id:   hex.EncodeToString(data[nul+1 : nul+1+hashSize]),
		})
		data = data[nul+1+hashSize:]
	}
	return entries, nil
}

// formatTree writes a tree object in git's order: a folder sorts as if its name
// ended in a slash (tree.c, base_name_compare).
func formatTree(entries []treeEntry) ([]byte, error) {
	sort.SliceStable(entries, func(i, j int) bool { return entries[i].sortKey() < entries[j].sortKey() })
	var b bytes.Buffer
	for _, e := range entries {
		raw, err := hex.DecodeString(e.id)
		if err != nil {
			return nil, fmt.Errorf("writing the tree entry %q: %w", e.name, err)
		}
		b.WriteString(e.mode + " " + e.name + "\x00")
		b.Write(raw)
	}
	return b.Bytes(), nil
}

// trees reads tree objects, each once.
type trees struct {
	batch *batch
	under map[string][]treeEntry // known before, and not to be written into
	known map[string][]treeEntry
	limit int64 // bytes of one; 0: maxTree

	coming int // notes that are about to be written: their folders are chosen for all of them
}

func (t *trees) get(id string) ([]treeEntry, error) {
	if id == "" {
		return nil, nil
	}
	if entries, ok := t.under[id]; ok {
		return entries, nil
	}
	if err := t.load([]string{id}); err != nil {
		return nil, err
	}
	return t.known[id], nil
}

// load reads many trees in one go.
func (t *trees) load(ids []string) error {
	var want []string
	asked := map[string]bool{}
	for _, id := range ids {
		if _, ok := t.known[id]; !ok && !asked[id] {
			asked[id] = true
			want = append(want, id)
		}
	}
	limit := t.limit
	if limit == 0 {
		limit = maxTree
	}
	return t.batch.each(want, limit, func(i int, o object) error {
		if o.kind != "tree" {
			return fmt.Errorf("reading tree %s: it is missing or no tree (%q)", want[i], o.kind)
		}
		entries, err := parseTree(o.data, len(want[i])/2)
		if err != nil {
			return fmt.Errorf("reading tree %s: %w", want[i], err)
		}
		t.known[want[i]] = entries
		return nil
	})
}

// lookup finds what a path names below a tree; the zero entry: nothing.
func (t *trees) lookup(root, path string) (treeEntry, error) {
	id := root
	for {
		name, rest, deeper := strings.Cut(path, "/")
		entries, err := t.get(id)
		if err != nil {
			return treeEntry{}, err
		}
		e, err := only(entries, name)
		if err != nil {
			return treeEntry{}, fmt.Errorf("tree %s: %w", id, err)
		}
		if !deeper {
			return e, nil
		}
		if !e.isTree() {
			return treeEntry{}, nil
		}
		id, path = e.id, rest
	}
}

// only is find where it matters which entry a name has: git writes no tree that
// has one twice, but takes it from a push, and of two readers each may see
// another.
func only(entries []treeEntry, name string) (found treeEntry, err error) {
	for _, e := range entries {
		switch {
		case e.name != name:
		case found.mode != "":
			return treeEntry{}, fmt.Errorf("%q stands twice", name)
		default:
			found = e
		}
	}
	return found, nil
}

func find(entries []treeEntry, name string) treeEntry {
	for _, e := range entries {
		if e.name == name {
			return e
		}
	}
	return treeEntry{}
}
