package arming

import (
	"maps"
	"path"
	"slices"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// checkForeignPath holds foreign-path: a revert would also take back what the
// commit did to an Application that it does not name, and that nobody watches.
func checkForeignPath(r Request) []Finding {
	if r.PathsUnknown {
		return []Finding{found(RuleForeignPath, NotAssessed, "what the commit changes is not known yet")}
	}
	owners := map[string][]verdict.App{} // source path -> foreign apps
	var readers []string                 // foreign apps that may read any file
	for _, o := range r.Others {
		if named(r, o.App) {
			continue
		}
		for _, p := range o.Paths {
			dir := cleanDir(p)
			owners[dir] = append(owners[dir], o.App)
		}
		if o.AnyFile {
			readers = append(readers, o.App.String())
		}
	}
	var fs []Finding
	var hits []string // the paths, in the commit's order
	apps := map[string]bool{}
	for _, p := range r.Paths {
		if touched := ownersOf(p, owners); len(touched) > 0 {
			hits = append(hits, p)
			for _, a := range touched {
				apps[a.String()] = true
			}
		}
	}
	if len(hits) > 0 {
		fs = append(fs, found(RuleForeignPath, Refuse, "the commit changes %s, inside the source path of %s, which it does not name",
			list(hits), list(slices.Sorted(maps.Keys(apps)))))
	}
	if len(readers) > 0 {
		slices.Sort(readers)
		fs = append(fs, found(RuleForeignPath, NotAssessed,
			"whether %s, which may read any file of this repository (a source without a path), uses what the commit changes was not looked at",
			list(slices.Compact(readers))))
	}
	return fs
}

func named(r Request, app verdict.App) bool {
	return r.app().Matches(app) || slices.ContainsFunc(r.Named, func(n verdict.App) bool { return n.Matches(app) })
}

// ownersOf walks from a path up to the root, so that its cost is the depth of
// the path, however many Applications there are.
func ownersOf(p string, owners map[string][]verdict.App) []verdict.App {
	apps := slices.Clone(owners[""])
	for dir := p; dir != "." && dir != "/" && dir != ""; dir = path.Dir(dir) {
		apps = append(apps, owners[dir]...)
	}
	return apps
}
