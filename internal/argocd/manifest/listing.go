package manifest

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
)

// Memory keeps what a search of a whole tree found for the next program that
// searches. Whatever it forgets is searched anew.
type Memory interface {
	// Recall gives the commit that was searched, and the contents of what was
	// found by path; false: nothing is remembered.
	Recall() (commit string, files map[string]string, ok bool)
	Keep(commit string, files map[string]string)
}

// Remember has searches of whole trees begin where an earlier program ended.
func (r *Reader) Remember(m Memory) { r.memory = m }

// listing is which files of a commit may be manifests, by path.
type listing struct {
	commit string
	files  map[string]string
}

// scope is what of trees is listed.
type scope struct {
	key      string // of Reader.listed
	dir      string // in which all of it lies; "" is the root
	concerns func(path string) bool
}

// searched are the endings of files that are looked at without a glob.
func searched() []string { return []string{".yaml", ".yml", ".json"} }

// isLink tells of an id that it is that of a symbolic link: it begins with '@'.
func isLink(id string) bool { return strings.HasPrefix(id, "@") }

// withoutLinks drops symbolic links: an Application behind one is found where it
// lies.
func withoutLinks(files map[string]string) map[string]string {
	maps.DeleteFunc(files, func(_, id string) bool { return isLink(id) })
	return files
}

// files are those that a request is about.
func (r *Reader) files(ctx context.Context, ask arming.TreeAsk) (map[string]string, error) {
	if len(ask.Globs) > 0 && !ask.Touched {
		set := arming.NewPathSet(ask.Globs)
		in := scope{strings.Join(ask.Globs, "\x00"), common(ask.Globs), set.Match}
		files, err := r.follow(ctx, ask, in, func() (listing, error) {
			files, err := r.repo.Below(ctx, ask.Commit, in.dir)
			maps.DeleteFunc(files, func(name, _ string) bool { return !set.Match(name) })
			return listing{ask.Commit, files}, err
		})
		return withoutLinks(files), err
	}
	files, err := r.changed(ctx, ask)
	if err != nil || !ask.Search {
		return files, err
	}
	found, err := r.follow(ctx, ask, scope{concerns: IsManifest}, func() (listing, error) { return r.search(ctx, ask) })
	if err != nil {
		return nil, err
	}
	out := withoutLinks(maps.Clone(found))
	maps.Copy(out, files)
	return out, nil
}

// changed are the files of a commit among the paths that are said to be changed,
// which globs narrow.
func (r *Reader) changed(ctx context.Context, ask arming.TreeAsk) (map[string]string, error) {
	concerns := IsManifest
	if len(ask.Globs) > 0 {
		concerns = arming.NewPathSet(ask.Globs).Match
	}
	candidates := slices.DeleteFunc(slices.Clone(ask.Changed), func(p string) bool { return !concerns(p) })
	if len(candidates) == 0 {
		return map[string]string{}, nil
	}
	files, err := r.repo.At(ctx, ask.Commit, candidates)
	return withoutLinks(files), err
}

// follow lists the files of a commit by what differs from the one that was
// listed last, because most commits of a large tree change little of it.
func (r *Reader) follow(ctx context.Context, ask arming.TreeAsk, in scope, first func() (listing, error)) (map[string]string, error) {
	last, known := r.listed[in.key]
	if !known {
		var err error
		if last, err = first(); err != nil {
			return nil, err
		}
	}
	if last.commit != ask.Commit {
		differs, err := r.differs(ctx, last.commit, ask, in)
		if err != nil {
			return nil, err
		}
		if in.key == "" && len(differs) > maxDrift { // another line of history: git searches it faster
			if last, err = r.grep(ctx, ask.Commit); err != nil {
				return nil, err
			}
		} else {
			apply(last.files, differs, in.concerns)
			last.commit = ask.Commit
		}
	}
	r.listed[in.key] = last
	return last.files, nil
}

// differs is what the commit has at the paths in which it differs from another,
// "": nothing.
func (r *Reader) differs(ctx context.Context, from string, ask arming.TreeAsk, in scope) (map[string]string, error) {
	if ask.Parent != from {
		return r.between(ctx, from, ask.Commit, in)
	}
	paths := slices.DeleteFunc(slices.Clone(ask.Changed), func(p string) bool { return !in.concerns(p) })
	if len(paths) == 0 {
		return nil, nil
	}
	there, err := r.repo.At(ctx, ask.Commit, paths)
	differs := make(map[string]string, len(paths))
	for _, p := range paths {
		differs[p] = there[p]
	}
	return differs, err
}

func apply(files, differs map[string]string, concerns func(path string) bool) {
	for name, id := range differs {
		switch {
		case id == "":
			delete(files, name)
		case concerns(name):
			files[name] = id
		}
	}
}

// maxDrift is by how many paths what is remembered may differ from a tree before
// it is worth remembering anew.
const maxDrift = 1000

// search looks through a whole tree: that of the base, which is remembered, or
// else that of the commit.
func (r *Reader) search(ctx context.Context, ask arming.TreeAsk) (listing, error) {
	if r.memory == nil || ask.Base == "" {
		return r.grep(ctx, ask.Commit)
	}
	if commit, files, ok := r.memory.Recall(); ok {
		// A commit that is not here any more, a memory of another repository: it
		// is searched.
		if differs, err := r.repo.Between(ctx, commit, ask.Base); err == nil {
			apply(files, differs, IsManifest)
			if len(differs) > maxDrift {
				return r.remembered(ctx, ask.Base)
			}
			return listing{ask.Base, files}, nil
		}
	}
	return r.remembered(ctx, ask.Base)
}

func (r *Reader) remembered(ctx context.Context, commit string) (listing, error) {
	l, err := r.grep(ctx, commit)
	if err == nil {
		r.memory.Keep(l.commit, l.files)
	}
	return l, err
}

func (r *Reader) grep(ctx context.Context, commit string) (listing, error) {
	found, err := r.repo.Grep(ctx, commit, marks[0], searched())
	if err != nil || len(found) == 0 {
		return listing{commit, map[string]string{}}, err
	}
	files, err := r.repo.At(ctx, commit, found)
	return listing{commit, files}, err
}
