package gitstore

import "context"

// IDs resolves names to object ids; one that names nothing is left out.
func (r *Repo) IDs(ctx context.Context, names []string) (map[string]string, error) {
	objects, err := r.Resolve(ctx, names)
	ids := make(map[string]string, len(objects))
	for name, o := range objects {
		if !o.Missing {
			ids[name] = o.ID
		}
	}
	return ids, err
}

// Served is the repository of a server, as its hooks read it.
type Served struct{ *Repo }

// DefaultBranch is HeadBranch: a hook asks for it once a push.
func (s Served) DefaultBranch(ctx context.Context) (string, error) { return s.HeadBranch(ctx) }

// Tree lists the files of a revision with the ids of their contents: those that
// git reads as notes, so no symbolic link and no submodule.
func (s Served) Tree(ctx context.Context, rev string) (map[string]string, error) {
	files, err := s.Files(ctx, rev, "")
	tree := make(map[string]string, len(files))
	for _, f := range files {
		if f.Regular() {
			tree[f.Path] = f.ID
		}
	}
	return tree, err
}

// Contents is BlobsByID.
func (s Served) Contents(ctx context.Context, ids []string, fn func(string, []byte) error) error {
	return s.BlobsByID(ctx, ids, fn)
}
