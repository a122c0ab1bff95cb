package gitstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
)

// MaxBlob is the largest file that is read, in bytes.
const MaxBlob = 1 << 20

// MaxStatus is MaxBlob for the files in the tree of StatusRef, which grow with
// the open watches and the Applications of a cluster.
const MaxStatus = 32 << 20

// limitOf is how large the file of a path may be.
func limitOf(path string) int64 {
	if path == "status.json" || path == "inventory.json" {
		return MaxStatus
	}
	return MaxBlob
}

// File is a path in a tree.
type File struct {
	Path string // bytes
	Mode string // "100644", "100755", "120000" (symlink), "160000" (submodule)
	ID   string
}

// Regular reports whether it is a regular file: no symbolic link, no submodule.
func (f File) Regular() bool { return f.Mode == modeFile || f.Mode == modeExec }

// ReadFiles reads the regular files below a folder of a revision, in one process,
// by their paths below it.
func (r *Repo) ReadFiles(ctx context.Context, rev, dir string) (map[string][]byte, error) {
	files, err := r.Files(ctx, rev, dir)
	if err != nil {
		return nil, err
	}
	var ids, names []string
	for _, f := range files {
		if f.Regular() {
			ids, names = append(ids, f.ID), append(names, strings.TrimPrefix(strings.TrimPrefix(f.Path, dir), "/"))
		}
	}
	out := make(map[string][]byte, len(names))
	next := 0
	err = r.BlobsByID(ctx, ids, func(_ string, data []byte) error {
		out[names[next]] = data
		next++
		return nil
	})
	return out, err
}

// Blob reads a regular file of a revision; false: there is none by that path.
// What is there but is no regular file, or has more than MaxBlob (MaxStatus)
// bytes, is an error.
func (r *Repo) Blob(ctx context.Context, rev, path string) ([]byte, bool, error) {
	data, ok, err := r.blob(ctx, rev, path)
	if err != nil {
		return nil, false, fmt.Errorf("reading %q of %q: %w", path, rev, err)
	}
	return data, ok, nil
}

func (r *Repo) blob(ctx context.Context, rev, path string) ([]byte, bool, error) {
	if err := checkPath(path); err != nil {
		return nil, false, err
	}
	files, err := r.listTree(ctx, rev, path, false)
	if err != nil {
		return nil, false, err
	}
	named := 0
	for _, f := range files {
		if f.Path == path {
			named++
		}
	}
	if named > 1 {
		return nil, false, errors.New("it stands twice in its folder")
	}
	for _, f := range files {
		switch {
		case f.Path != path:
			continue
		case !f.Regular():
			return nil, false, fmt.Errorf("it is %s, not a file", kindOf(f.Mode))
		}
		var data []byte
		err := r.blobsByID(ctx, []string{f.ID}, limitOf(path), func(_ string, d []byte) error {
			data = d
			return nil
		})
		return data, err == nil, err
	}
	return nil, false, nil
}

func kindOf(mode string) string {
	switch mode {
	case modeSymlink:
		return "a symbolic link"
	case modeSubmodule:
		return "a submodule"
	case modeTree, "0" + modeTree:
		return "a folder"
	default:
		return "of mode " + mode
	}
}

// Files lists everything below a folder of a revision ("" is its root),
// folders themselves left out. A tree that has a name twice, or its names out of
// order, is an error: git writes none, but takes it from a push, and of two
// readers each may see another file by that name.
func (r *Repo) Files(ctx context.Context, rev, dir string) ([]File, error) {
	dir = strings.TrimSuffix(dir, "/")
	if dir != "" {
		if err := checkPath(dir); err != nil {
			return nil, fmt.Errorf("listing files of %q: %w", rev, err)
		}
		dir += "/"
	}
	files, err := r.listTree(ctx, rev, dir, true)
	if err != nil {
		return nil, fmt.Errorf("listing files of %q below %q: %w", rev, dir, err)
	}
	for i := 1; i < len(files); i++ {
		if files[i-1].Path >= files[i].Path {
			return nil, fmt.Errorf("listing files of %q below %q: %q stands twice or out of order", rev, dir, files[i].Path)
		}
	}
	return files, nil
}

func (r *Repo) listTree(ctx context.Context, rev, path string, deep bool) ([]File, error) {
	args := []string{"ls-tree", "-z", "--full-tree"}
	if deep {
		args = append(args, "-r")
	}
	if rev == "" {
		return nil, errors.New("no revision is given")
	}
	args = append(args, "--end-of-options", rev)
	if path != "" {
		args = append(args, path)
	}
	out, err := r.output(ctx, command{args: args})
	if err != nil {
		return nil, err
	}
	var files []File
	for line := range bytes.SplitSeq(out, []byte{0}) {
		if len(line) == 0 {
			continue
		}
		head, name, ok := strings.Cut(string(line), "\t")
		f := strings.Fields(head)
		if !ok || len(f) != 3 {
			return nil, fmt.Errorf("git ls-tree answered %q", line)
		}
		files = append(files, File{Path: name, Mode: f[0], ID: f[2]})
	}
	return files, nil
}

// BlobsByID reads blobs in the order given, in one process. A missing one, one
// that is no blob, or one of more than MaxBlob bytes is an error; an error of fn
// ends it and is returned as it is.
func (r *Repo) BlobsByID(ctx context.Context, ids []string, fn func(id string, data []byte) error) error {
	return r.blobsByID(ctx, ids, MaxBlob, fn)
}

func (r *Repo) blobsByID(ctx context.Context, ids []string, limit int64, fn func(id string, data []byte) error) error {
	return r.readBlobs(ctx, ids, fn, func(b *batch, fn func(id string, data []byte) error) error {
		return b.each(ids, limit, func(i int, o object) error {
			if o.kind != "blob" {
				return fmt.Errorf("%s is missing or no blob (%q)", ids[i], o.kind)
			}
			return fn(ids[i], o.data)
		})
	})
}

// readBlobs opens a batch for read, and keeps the errors of fn apart from git's.
func (r *Repo) readBlobs(ctx context.Context, ids []string, fn func(id string, data []byte) error, read func(b *batch, fn func(id string, data []byte) error) error) error {
	if len(ids) == 0 {
		return nil
	}
	if err := r.checkIDs(ids); err != nil {
		return fmt.Errorf("reading blobs: %w", err)
	}
	b, err := r.openBatch(ctx)
	if err != nil {
		return fmt.Errorf("reading blobs: %w", err)
	}
	var fnErr error
	err = b.close(read(b, func(id string, data []byte) error {
		fnErr = fn(id, data)
		return fnErr
	}))
	if fnErr != nil {
		return fnErr
	}
	if err != nil {
		return fmt.Errorf("reading blobs: %w", err)
	}
	return nil
}
