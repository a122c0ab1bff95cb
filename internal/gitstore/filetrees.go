package gitstore

import "context"

// FileTrees answers what files revisions hold: contents by path, for whoever
// reads manifests; symbolic links are marked (LinkMark). What Paths saw of a commit is kept and not looked up
// again. It is not safe from two goroutines.
type FileTrees struct {
	repo    *Repo
	changed map[string]map[string]string // by commit and path: the file there, "" if it is none
}

// NewFileTrees reads from a repository.
func NewFileTrees(r *Repo) *FileTrees {
	return &FileTrees{r, map[string]map[string]string{}}
}

// Paths is Repo.Paths.
func (t *FileTrees) Paths(ctx context.Context, commits []string) (map[string][]string, error) {
	paths := make(map[string][]string, len(commits))
	head := func(commit string) { paths[commit], t.changed[commit] = []string{}, map[string]string{} }
	change := func(commit string, ch PathChange) {
		paths[commit] = append(paths[commit], ch.Path)
		t.changed[commit][ch.Path] = ch.After.FileID()
	}
	if few, ok := t.repo.fewChanges(ctx, commits); ok {
		for commit, changes := range few {
			head(commit)
			for _, ch := range changes {
				change(commit, ch)
			}
		}
		return paths, nil
	}
	err := t.repo.ChangesOf(ctx, commits, head, change)
	if err != nil {
		return nil, err
	}
	return paths, nil
}

// FileID is the id of a regular file; of a symbolic link, which has no contents of
// its own, the id after LinkMark; "": it is neither.
func (e Entry) FileID() string {
	switch e.Mode {
	case modeFile, modeExec:
		return e.ID
	case modeSymlink:
		return LinkMark + e.ID
	}
	return ""
}

// LinkMark stands before the id of a symbolic link where FileTrees answers: what
// reads contents by their ids must not take it for a file.
const LinkMark = "@"

// Below maps the paths of the files below a folder of a revision ("" is its
// root).
func (t *FileTrees) Below(ctx context.Context, rev, dir string) (map[string]string, error) {
	files, few := t.repo.fewFiles(ctx, rev, dir)
	var err error
	if !few {
		files, err = t.repo.Files(ctx, rev, dir)
	}
	below := make(map[string]string, len(files))
	for _, f := range files {
		if id := (Entry{f.Mode, f.ID}).FileID(); id != "" {
			below[f.Path] = id
		}
	}
	return below, err
}

// At maps those of the paths that are files of a revision.
func (t *FileTrees) At(ctx context.Context, rev string, paths []string) (map[string]string, error) {
	at := make(map[string]string, len(paths))
	var asked []string
	for _, path := range paths {
		id, known := t.changed[rev][path]
		if !known {
			asked = append(asked, path)
		} else if id != "" {
			at[path] = id
		}
	}
	if len(asked) == 0 {
		return at, nil
	}
	entries, err := t.repo.Entries(ctx, rev, asked)
	for path, e := range entries {
		if id := e.FileID(); id != "" {
			at[path] = id
		}
	}
	return at, err
}

// Between maps the paths in which two revisions differ to the files that the
// second has there; "": none.
func (t *FileTrees) Between(ctx context.Context, from, to string) (map[string]string, error) {
	changes, few := t.repo.fewBetween(ctx, from, to)
	var err error
	if !few {
		changes, err = t.repo.Between(ctx, from, to)
	}
	differs := make(map[string]string, len(changes))
	for _, ch := range changes {
		differs[ch.Path] = ch.After.FileID()
	}
	return differs, err
}

// Compare does what Between does for many pairs, below a folder ("" is the root),
// in one process. Paths are handed over by the index of their pair.
func (t *FileTrees) Compare(ctx context.Context, pairs [][2]string, dir string, fn func(i int, path, id string)) error {
	return t.repo.Compare(ctx, pairs, dir, func(i int, ch PathChange) { fn(i, ch.Path, ch.After.FileID()) })
}

// Grep is Repo.Grep.
func (t *FileTrees) Grep(ctx context.Context, rev, text string, endings []string) ([]string, error) {
	return t.repo.Grep(ctx, rev, text, endings)
}

// Small is Repo.SmallBlobs.
func (t *FileTrees) Small(ctx context.Context, ids []string, limit int64, fn func(id string, data []byte) error) error {
	return t.repo.SmallBlobs(ctx, ids, limit, fn)
}
