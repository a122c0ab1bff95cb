package gitstore

import (
	"context"
	"errors"
	"strings"
)

// A process of its own lists more folders than maxFolders faster, and is bounded
// in what it says of larger ones.
const (
	maxFolders = 32
	maxFolder  = 512 << 10 // bytes of a tree object
)

// errNotFew says that git ls-tree must be asked.
var errNotFew = errors.New("not a few plain folders")

// fewFiles is Files of a commit, given by its id, where a few folders hold all of
// it. It needs no process but the cat-file that is kept; false: git ls-tree must
// be asked, and says what is wrong if anything is.
func (r *Repo) fewFiles(ctx context.Context, rev, dir string) ([]File, bool) {
	dir = strings.TrimSuffix(dir, "/")
	if !r.hook || r.checkID(rev) != nil || dir == "" || checkPath(dir) != nil {
		return nil, false
	}
	b, err := r.openBatch(ctx)
	if err != nil {
		return nil, false
	}
	l := listing{trees: &trees{batch: b, known: map[string][]treeEntry{}, limit: maxFolder}}
	root, err := b.commitTree(rev)
	var at treeEntry
	if err == nil {
		at, err = l.trees.lookup(root, dir)
	}
	switch {
	case err != nil:
	case at.isTree():
		err = l.add(at.id, dir+"/")
	default: // nothing, no folder, or one that only git takes for one
		err = errNotFew
	}
	return l.files, b.wasFew(err)
}

// listing gathers the files below a folder, in git's order.
type listing struct {
	trees *trees
	read  int // folders
	files []File
}

func (l *listing) add(id, prefix string) error {
	if l.read++; l.read > maxFolders {
		return errNotFew
	}
	entries, err := l.trees.get(id)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.plain() || e.name == "" || strings.Contains(e.name, "/") {
			return errNotFew // git writes no such tree
		}
		path := prefix + e.name
		if e.isTree() {
			if err := l.add(e.id, path+"/"); err != nil {
				return err
			}
			continue
		}
		if n := len(l.files); n > 0 && l.files[n-1].Path >= path {
			return errNotFew
		}
		l.files = append(l.files, File{Path: path, Mode: e.canonical(), ID: e.id})
	}
	return nil
}

// plain reports whether git writes such a mode.
func (e treeEntry) plain() bool {
	switch e.mode {
	case modeFile, modeExec, modeSymlink, modeSubmodule, modeTree:
		return true
	}
	return false
}
