package gitstore

import (
	"context"
	"errors"
	"fmt"
)

// FileAt reads a regular file of a commit, given by its full id, in one
// process. nil data: there is none by that path, or odd says why what is there
// is not read: it is no regular file, or has more than MaxBlob
// (MaxStatus) bytes.
func (r *Repo) FileAt(ctx context.Context, commit, path string) (data []byte, odd string, err error) {
	if err := errors.Join(r.checkID(commit), checkPath(path)); err != nil {
		return nil, "", fmt.Errorf("reading %q of %q: %w", path, commit, err)
	}
	b, err := r.openBatch(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("reading %q of %s: %w", path, commit, err)
	}
	data, odd, err = b.fileAt(commit, path)
	err = b.close(err)
	var large *SizeError
	if errors.As(err, &large) {
		return nil, large.Error(), nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("reading %q of %s: %w", path, commit, err)
	}
	return data, odd, nil
}

func (b *batch) fileAt(commit, path string) (data []byte, odd string, err error) {
	root, err := b.commitTree(commit)
	if err != nil {
		return nil, "", err
	}
	t := &trees{batch: b, known: map[string][]treeEntry{}}
	e, err := t.lookup(root, path)
	if err != nil || e.id == "" {
		return nil, "", err
	}
	if !e.isRegular() {
		return nil, "it is " + kindOf(e.canonical()) + ", not a file", nil
	}
	err = b.each([]string{e.id}, limitOf(path), func(_ int, o object) error {
		if o.kind != "blob" {
			return fmt.Errorf("%s is missing or no blob (%q)", e.id, o.kind)
		}
		data = o.data
		return nil
	})
	return data, "", err
}
