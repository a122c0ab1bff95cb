package gitstore

import (
	"sort"
	"strings"
)

// edit is a set of path changes as a tree of names: what the name itself
// becomes, and what happens below it.
type edit struct {
	leaf  *Entry // nil: not changed; Mode "": no file there
	below map[string]*edit
}

// newEdit turns paths into an edit. An entry without a mode takes the file away.
func newEdit(paths map[string]Entry) *edit {
	root := &edit{}
	for path, entry := range paths {
		e := root
		for name := range strings.SplitSeq(path, "/") {
			if e.below == nil {
				e.below = map[string]*edit{}
			}
			if e.below[name] == nil {
				e.below[name] = &edit{}
			}
			e = e.below[name]
		}
		leaf := entry
		e.leaf = &leaf
	}
	return root
}

// editor applies edits to trees and gathers the objects that have to be written.
// Only folders that change are read.
type editor struct {
	trees     *trees
	pack      *pack
	conflicts []string // paths where a file and a folder want the same name
}

// apply gives the tree that id becomes; "" is the empty tree, which no tree
// holds as an entry.
func (ed *editor) apply(id string, e *edit, at string) (string, error) {
	old, err := ed.trees.get(id)
	if err != nil {
		return "", err
	}
	var entries []treeEntry
	for _, was := range old {
		if e.below[was.name] == nil {
			entries = append(entries, was)
		}
	}
	names := make([]string, 0, len(e.below))
	for name := range e.below {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		now, err := ed.child(find(old, name), name, e.below[name], at+name)
		if err != nil {
			return "", err
		}
		if now.mode != "" {
			entries = append(entries, now)
		}
	}
	if len(entries) == 0 {
		return "", nil
	}
	data, err := formatTree(entries)
	if err != nil {
		return "", err
	}
	return ed.pack.add("tree", data), nil
}

// child gives what one name becomes. Git's index knows files only, so a folder
// is there exactly as long as something is below it.
func (ed *editor) child(was treeEntry, name string, e *edit, path string) (treeEntry, error) {
	file, folder := was, treeEntry{}
	if was.isTree() {
		file, folder = treeEntry{}, was
	}
	if e.leaf != nil {
		file = treeEntry{mode: e.leaf.Mode, name: name, id: e.leaf.ID}
	}
	if len(e.below) > 0 {
		id, err := ed.apply(folder.id, e, path+"/")
		if err != nil {
			return treeEntry{}, err
		}
		folder = treeEntry{}
		if id != "" {
			folder = treeEntry{mode: modeTree, name: name, id: id}
		}
	}
	switch {
	case folder.mode != "" && file.mode != "":
		ed.conflicts = append(ed.conflicts, path)
		return folder, nil
	case folder.mode != "":
		return folder, nil
	default:
		return file, nil
	}
}
