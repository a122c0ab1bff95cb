package manifest

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
)

// Repository is what is asked of a repository. Paths are of regular files, ids
// of their contents.
type Repository interface {
	// Below maps the paths below a folder of a revision ("" is its root).
	Below(ctx context.Context, rev, dir string) (map[string]string, error)
	// At maps those of the paths that a revision has.
	At(ctx context.Context, rev string, paths []string) (map[string]string, error)
	// Grep lists the files of a revision, by path with the endings given, that
	// hold a text.
	Grep(ctx context.Context, rev, text string, endings []string) ([]string, error)
	// Between maps the paths in which two revisions differ to what the second has
	// there; "": none.
	Between(ctx context.Context, from, to string) (map[string]string, error)
	// Compare is Between for many pairs at once, below a folder ("" is the root).
	Compare(ctx context.Context, pairs [][2]string, dir string, fn func(i int, path, id string)) error
	// Small hands over contents of at most limit bytes; of larger ones, and of
	// what is no file, nil.
	Small(ctx context.Context, ids []string, limit int64, fn func(id string, data []byte) error) error
}

// Reader reads facts from the trees of commits. What a content holds is found
// out once, whatever commit and path it stands at. It is not safe from two
// goroutines.
type Reader struct {
	repo    Repository
	memory  Memory
	known   map[string]parsed   // by blob
	listed  map[string]listing  // by globs; "": a search of the whole tree; below a folder, with a NUL before it
	coming  coming              // the commits that are going to be asked about
	runs    map[string]*run     // by what is listed
	holding map[string]heldFile // files of manifests, by blob
	holds   int                 // bytes of them
}

type parsed struct {
	brief *brief // not parsed yet
	place arming.Place
	err   error
}

// NewReader reads from a repository. Nothing is read yet.
func NewReader(repo Repository) *Reader {
	return &Reader{
		repo: repo, known: map[string]parsed{}, listed: map[string]listing{},
		runs: map[string]*run{}, holding: map[string]heldFile{},
	}
}

// Limits on what is read of one tree.
const (
	maxFiles   = 20_000
	maxTotal   = 64 << 20 // bytes of all contents that are kept parsed
	maxSkipped = 20       // reasons that are kept
)

// Place is what the manifests of a commit say. Bad are the files that a glob
// names and that cannot be read: what stands in them is not known. Skipped says
// of others why they were passed over. A file that plainly is about another
// Application, and about no folder that the commit changes, is not parsed.
func (r *Reader) Place(ctx context.Context, ask arming.TreeAsk) (p arming.Place, bad, skipped []string, err error) {
	commit, globs := ask.Commit, ask.Globs
	files, err := r.files(ctx, ask)
	if err != nil {
		return p, nil, nil, fmt.Errorf("looking for manifests in %s: %w", commit, err)
	}
	if len(files) > maxFiles {
		return p, []string{fmt.Sprintf("%d files may be manifests, more than %d", len(files), maxFiles)}, nil, nil
	}
	named := len(globs) > 0
	if err := r.load(ctx, files, named); err != nil {
		return p, nil, nil, fmt.Errorf("reading manifests of %s: %w", commit, err)
	}
	p.From = "manifests"
	folders := foldersOf(ask.Changed)
	for _, name := range sorted(files) {
		is := r.known[files[name]]
		if is.brief != nil {
			if !ask.All && !is.brief.concerns(ask.Apps, folders) {
				continue
			}
			text := is.brief.text
			is = parsed{}
			is.err = Find(&is.place, []byte(text))
			r.known[files[name]] = is
		}
		switch {
		case is.err == nil:
			p = merge(p, is.place, "manifest "+name)
		case named && len(bad) < maxSkipped:
			bad = append(bad, name+": "+is.err.Error())
		case len(skipped) < maxSkipped:
			skipped = append(skipped, name+": "+is.err.Error())
		}
	}
	return p, bad, skipped, nil
}

// common is the folder in which everything lies that rooted globs name, as far
// as they name one without a pattern; "" is the root.
func common(globs []string) string {
	dir, first := "", true
	for _, g := range globs {
		g = strings.TrimPrefix(g, "/")
		if !strings.Contains(strings.TrimSuffix(g, "/"), "/") {
			return "" // matches at any depth
		}
		if i := strings.IndexAny(g, `*?[\`); i >= 0 {
			g = g[:i]
		}
		d := path.Dir(g + "x")
		if d == "." {
			return ""
		}
		if first {
			dir, first = d, false
		}
		for dir != d && !strings.HasPrefix(d, dir+"/") {
			if dir = path.Dir(dir); dir == "." {
				return ""
			}
		}
	}
	return dir
}

// Ahead gets ready for whoever is going to ask for many commits one after the
// other: where no glob says which files, those that the commits changed are read
// at once, and what is too much to keep is left for then.
func (r *Reader) Ahead(ctx context.Context, asks []arming.TreeAsk) error {
	r.coming = comingOf(asks)
	files := map[string]string{}
	for _, ask := range asks {
		if len(ask.Globs) > 0 {
			continue
		}
		found, err := r.changed(ctx, ask)
		if err != nil {
			return fmt.Errorf("looking for manifests in %s: %w", ask.Commit, err)
		}
		for _, id := range found {
			files[id] = id
		}
	}
	total := 0
	return r.repo.Small(ctx, r.unknown(files), maxFile, func(id string, data []byte) error {
		if Mentions(data) {
			total += len(data)
		}
		if total <= maxTotal {
			r.known[id] = parse(data, false)
		}
		return nil
	})
}

// unknown are the contents that nobody has read, each once.
func (r *Reader) unknown(files map[string]string) []string {
	ids := slices.Sorted(maps.Values(files))
	return slices.DeleteFunc(slices.Compact(ids), func(id string) bool {
		_, known := r.known[id]
		return known
	})
}

// load parses the contents that are not known yet.
func (r *Reader) load(ctx context.Context, files map[string]string, named bool) error {
	total := 0
	return r.repo.Small(ctx, r.unknown(files), maxFile, func(id string, data []byte) error {
		if total += len(data); total > maxTotal {
			r.known[id] = parsed{err: fmt.Errorf("the manifests have more than %d bytes together", maxTotal)}
			return nil
		}
		r.known[id] = parse(data, named)
		return nil
	})
}

// parse reads a content; one that no glob names, and that mentions nothing of
// ours, is passed over.
func parse(data []byte, named bool) (is parsed) {
	switch {
	case data == nil:
		is.err = ErrLarge
	case named || Mentions(data):
		if b, plain := plainly(data); plain {
			is.brief = &b
		} else {
			is.err = Find(&is.place, data)
		}
	}
	return is
}

// merge adds what a file says, under its name.
func merge(p, q arming.Place, from string) arming.Place {
	for _, f := range q.Apps {
		f.From = from
		p.Apps = append(p.Apps, f)
	}
	p.Sets = append(p.Sets, q.Sets...)
	p.Projects = append(p.Projects, q.Projects...)
	p.Updaters = append(p.Updaters, q.Updaters...)
	return p
}

func sorted(files map[string]string) []string { return slices.Sorted(maps.Keys(files)) }
