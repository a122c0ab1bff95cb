package gitstore

import (
	"context"
	"fmt"
)

// SmallBlobs reads blobs in the order given, in one process. Of one that has
// more than limit bytes, is missing or no blob, data is nil; an empty one is not.
// An error of fn ends it and is returned as it is.
func (r *Repo) SmallBlobs(ctx context.Context, ids []string, limit int64, fn func(id string, data []byte) error) error {
	return r.readBlobs(ctx, ids, fn, func(b *batch, fn func(id string, data []byte) error) error {
		return b.small(ids, limit, fn)
	})
}

// small asks for sizes first: a large blob would have to be read to its end.
func (b *batch) small(ids []string, limit int64, fn func(id string, data []byte) error) error {
	fits := make([]string, 0, len(ids))
	read := make([]bool, len(ids))
	err := b.ask("info", ids, func() error {
		for i, id := range ids {
			line, err := b.out.ReadString('\n')
			if err != nil {
				return fmt.Errorf("reading the answer for %q: %w", id, endedEarly(err))
			}
			if o, ok := b.repo.parseHeader(line, id); ok && o.kind == "blob" && o.size <= limit {
				fits, read[i] = append(fits, id), true
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	next := 0
	skip := func() error {
		for ; next < len(ids) && !read[next]; next++ {
			if err := fn(ids[next], nil); err != nil {
				return err
			}
		}
		return nil
	}
	err = b.each(fits, limit, func(_ int, o object) error {
		if err := skip(); err != nil {
			return err
		}
		next++
		return fn(o.id, o.data)
	})
	if err != nil {
		return err
	}
	return skip()
}
