package gitstore

import (
	"context"
	"fmt"
)

// Entries gives what paths name in a revision, as git's index would: a folder,
// or nothing, is the zero Entry. One process.
func (r *Repo) Entries(ctx context.Context, rev string, paths []string) (map[string]Entry, error) {
	if err := r.checkIDs([]string{rev}); err != nil {
		return nil, fmt.Errorf("reading entries: %w", err)
	}
	b, err := r.openBatch(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading entries of %s: %w", rev, err)
	}
	out := make(map[string]Entry, len(paths))
	read := func() error {
		root, err := b.commitTree(rev)
		if err != nil {
			return err
		}
		t := &trees{batch: b, known: map[string][]treeEntry{}}
		for _, p := range paths {
			if out[p], err = t.entry(root, p); err != nil {
				return err
			}
		}
		return nil
	}
	if err := b.close(read()); err != nil {
		return nil, fmt.Errorf("reading entries of %s: %w", rev, err)
	}
	return out, nil
}
