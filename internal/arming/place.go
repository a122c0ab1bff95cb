package arming

import (
	"maps"
	"slices"
	"time"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// Place is what one place knows: the cluster, the tree of a commit, the
// inventory.
type Place struct {
	From string
	At   time.Time

	Apps     []Facts
	Sets     []AppSet
	Projects []AppProject
	Updaters []Updater
	Global   []GlobalProject
	// Whole says of a kind that the place has all there are, so that one that is
	// not in it is not there; otherwise it is not known.
	Whole Whole

	Watcher *Watcher // what the watcher says of itself; nil: the place does not know
}

// TreeAsk says which manifests of a commit are read, and for what.
type TreeAsk struct {
	Commit string
	// Parent is the first parent, if Changed is all that differs from it; empty:
	// that is not said.
	Parent string
	// Base is a commit that was there before and stays, from which what stands in
	// Commit can be found out by what differs; empty: there is none.
	Base string
	// Globs name the files; without any they are looked for: among Changed, the
	// paths that the commit changed, and, if Search says so, in the whole tree.
	Globs   []string
	Changed []string
	Search  bool
	// Touched: of what Globs name, only what is among Changed.
	Touched bool
	// All: everything that the files hold is asked for.
	All bool
	// Apps are the names of the Applications that are asked about. Others need
	// only be found where a changed path lies in what they deploy.
	Apps []string
}

// Whole lists kinds of which a place has all there are.
type Whole struct {
	Apps, Sets, Projects, Global bool
	Updaters                     verdict.Tri // No: the cluster does not know the kind
}

// Watcher is what the inventory says of the watcher.
type Watcher struct {
	At    time.Time     // its heartbeat
	Every time.Duration // how often it writes one
	Signs verdict.Tri   // it signs its reverts
	// Circuits says of an Application, or of all ("*"), why its circuit is open.
	Circuits map[string]string
}

// Find gives what the place says of an Application, with the objects around it.
// Of several that a name without a namespace fits, all are given.
func (p Place) Find(app verdict.App) []Facts {
	var out []Facts
	for _, f := range p.Apps {
		if app.Matches(f.App) {
			out = append(out, p.Around(f))
		}
	}
	return out
}

// Around adds to an Application what the place knows of its ApplicationSet, its
// AppProject and the ImageUpdater resources.
func (p Place) Around(f Facts) Facts {
	if f.From == "" {
		f.From = p.From
	}
	if f.At.IsZero() {
		f.At = p.At
	}
	if f.OwnedBySet && f.Template == nil {
		for _, s := range p.Sets {
			if s.Name == f.Set && sameOrUnsaid(s.Namespace, f.App.Namespace) {
				f.Template = &s
				break
			}
		}
	}
	if f.Rules == nil {
		f.Rules = p.project(f)
	}
	f.UpdaterCRD, f.Updaters = p.Whole.Updaters, p.Updaters
	return f
}

func (p Place) project(f Facts) *AppProject {
	name := f.Project
	if name == "" {
		name = "default" // what Argo CD takes for an empty one
	}
	found := p.projectOf(name, f)
	if found == nil {
		return nil
	}
	merged := *found
	merged.Windows = slices.Clone(found.Windows)
	merged.GlobalUnknown = found.GlobalUnknown || !p.Whole.Global
	for _, g := range p.Global {
		if g.Project == name || !g.Selector.Matches(found.Labels) {
			continue
		}
		if global := p.projectOf(g.Project, f); global != nil {
			merged.Windows = append(merged.Windows, global.Windows...)
		} else {
			merged.GlobalUnknown = true
		}
	}
	return &merged
}

// projectOf finds a project in the namespace of the Argo CD that controls the
// Application, or the only one of that name.
func (p Place) projectOf(name string, f Facts) *AppProject {
	var found []AppProject
	for _, pr := range p.Projects {
		if pr.Name == name && sameOrUnsaid(pr.Namespace, f.Controller) {
			found = append(found, pr)
		}
	}
	if len(found) > 1 { // nobody said where Argo CD lives: beside the Application, perhaps
		found = slices.DeleteFunc(found, func(pr AppProject) bool { return pr.Namespace != f.App.Namespace })
	}
	if len(found) != 1 {
		return nil
	}
	return &found[0]
}

func sameOrUnsaid(a, b string) bool { return a == "" || b == "" || a == b }

// Paths are the source paths in this repository of the Applications that the
// places know, each once.
func Paths(places []Place, isOurs func(url string) bool) []AppPaths {
	byApp := map[verdict.App]AppPaths{}
	for _, p := range places {
		for _, f := range p.Apps {
			at := byApp[f.App]
			at.App = f.App
			for _, s := range f.Sources {
				if s.Kind != verdict.SourceGit || !f.ours(isOurs, s.RepoURL) {
					continue
				}
				if s.Path == "" && s.Ref != "" {
					at.AnyFile = true
				} else if !slices.Contains(at.Paths, s.Path) {
					at.Paths = append(at.Paths, s.Path)
				}
			}
			if at.AnyFile || len(at.Paths) > 0 {
				byApp[f.App] = at
			}
		}
	}
	out := slices.Collect(maps.Values(byApp))
	slices.SortFunc(out, func(a, b AppPaths) int {
		if a.App.String() < b.App.String() {
			return -1
		}
		return 1
	})
	return out
}

// ours reports whether an address is this repository, as far as names are known
// or the place knows it itself.
func (f Facts) ours(isOurs func(url string) bool, url string) bool {
	return isOurs != nil && isOurs(url) || slices.ContainsFunc(f.Ours, func(o string) bool { return o == url || verdict.SameRepo(o, url) })
}

// SourcesOf are the plain git sources that are this repository.
func (f Facts) SourcesOf(isOurs func(url string) bool) []verdict.Source {
	return ourSources(Request{IsOurRepo: isOurs}, f)
}
