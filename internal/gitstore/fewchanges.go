package gitstore

import (
	"context"
	"errors"
	"strings"
)

// fewChanges is ChangesOf where there are few commits that changed few folders,
// by commit. It needs no process but the cat-file that is kept; false: git
// diff-tree must be asked, and says what is wrong if anything is.
func (r *Repo) fewChanges(ctx context.Context, ids []string) (map[string][]PathChange, bool) {
	if !r.hook || r.shallow || len(ids) == 0 || len(ids) > maxStraight || r.checkIDs(ids) != nil {
		return nil, false
	}
	b, err := r.openBatch(ctx)
	if err != nil {
		return nil, false
	}
	d := comparing{trees: &trees{batch: b, known: map[string][]treeEntry{}, limit: maxFolder}}
	found := make(map[string][]PathChange, len(ids))
	for _, id := range ids {
		if err = d.commit(id); err != nil {
			break
		}
		found[id], d.changes = d.changes, nil
	}
	return found, b.wasFew(err)
}

// fewBetween is Between where few folders differ, in the same way.
func (r *Repo) fewBetween(ctx context.Context, from, to string) ([]PathChange, bool) {
	if !r.hook || r.checkIDs([]string{from, to}) != nil {
		return nil, false
	}
	b, err := r.openBatch(ctx)
	if err != nil {
		return nil, false
	}
	d := comparing{trees: &trees{batch: b, known: map[string][]treeEntry{}, limit: maxFolder}}
	was, _, err := d.treeOf(from)
	now := ""
	if err == nil {
		now, _, err = d.treeOf(to)
	}
	if err == nil && was != now {
		err = d.folder(was, now, "")
	}
	return d.changes, b.wasFew(err)
}

// wasFew closes a batch. After errNotFew every answer was read: the process is
// good for more.
func (b *batch) wasFew(err error) bool {
	if errors.Is(err, errNotFew) {
		_ = b.close(nil)
		return false
	}
	return b.close(err) == nil
}

// comparing gathers the paths in which trees differ, in git's order.
type comparing struct {
	trees   *trees
	read    int // folders that differ
	changes []PathChange
}

// commit compares a commit with its first parent, a root with nothing.
func (d *comparing) commit(id string) error {
	now, parent, err := d.treeOf(id)
	if err != nil {
		return err
	}
	was := ""
	if parent != "" {
		if was, _, err = d.treeOf(parent); err != nil {
			return err
		}
	}
	if was == now {
		return nil
	}
	return d.folder(was, now, "")
}

func (d *comparing) treeOf(id string) (tree, parent string, err error) {
	b, plain := d.trees.batch, false
	err = b.each([]string{id}, MaxMessage, func(_ int, o object) error {
		var c Commit
		if tree, c, plain = b.repo.plainCommit(o); len(c.Parents) > 0 {
			parent = c.Parents[0]
		}
		return nil
	})
	if err == nil && !plain {
		err = errNotFew
	}
	return tree, parent, err
}

// folder compares two trees, "" is an empty one.
func (d *comparing) folder(was, now, prefix string) error {
	if d.read++; d.read > maxFolders {
		return errNotFew
	}
	before, err := d.entries(was)
	if err != nil {
		return err
	}
	after, err := d.entries(now)
	if err != nil {
		return err
	}
	for len(before)+len(after) > 0 {
		var old, young treeEntry
		if len(after) == 0 || len(before) > 0 && before[0].sortKey() <= after[0].sortKey() {
			old = before[0]
		}
		if old.mode == "" || len(after) > 0 && after[0].sortKey() == old.sortKey() {
			young, after = after[0], after[1:]
		}
		if old.mode != "" {
			before = before[1:]
		}
		if err := d.entry(old, young, prefix); err != nil {
			return err
		}
	}
	return nil
}

// entry compares what stands under one name, of which one side may be missing.
func (d *comparing) entry(old, young treeEntry, prefix string) error {
	if old == young {
		return nil
	}
	path := prefix + old.name
	if old.name == "" {
		path = prefix + young.name
	}
	if old.isTree() || young.isTree() { // both, if none is missing: a folder sorts otherwise
		return d.folder(old.id, young.id, path+"/")
	}
	d.changes = append(d.changes, PathChange{Path: path, Before: Entry{old.mode, old.id}, After: Entry{young.mode, young.id}})
	return nil
}

// entries reads a tree that git could have written.
func (d *comparing) entries(id string) ([]treeEntry, error) {
	entries, err := d.trees.get(id)
	if err != nil {
		return nil, err
	}
	for i, e := range entries {
		if !e.plain() || e.name == "" || strings.Contains(e.name, "/") || i > 0 && entries[i-1].sortKey() >= e.sortKey() {
			return nil, errNotFew
		}
	}
	return entries, nil
}
