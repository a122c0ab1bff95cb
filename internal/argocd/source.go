package argocd

import (
	"path"
	"slices"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// snapshot is what a place says of its sources: the spec, sync.comparedTo, a
// result of an operation, an entry of the history.
type snapshot struct {
	sources []verdict.Source
	multi   bool
}

// translator knows what all sources of one Application share.
type translator struct {
	generatePaths []string // the items of manifest-generate-paths, as written
	types         []string // status.sourceType(s)
}

// snapshot reads `source` and `sources` of a place. Several sources count
// where there are any: `source` is then ignored, as Argo CD ignores it, and
// serialised as an empty object all the same.
func (t translator) snapshot(o *object) snapshot {
	if list := o.objects("sources"); len(list) > 0 {
		s := snapshot{multi: true, sources: make([]verdict.Source, len(list))}
		for i := range list {
			s.sources[i] = t.source(&list[i], t.typeOf(i, len(list)))
		}
		return s
	}
	one := o.object("source")
	if one.text("repoURL") == "" {
		return snapshot{}
	}
	return snapshot{sources: []verdict.Source{t.source(one, t.typeOf(0, 1))}}
}

// typeOf is the detected type of source i of n, "" where nothing tells: after
// an error in rendering there is none.
func (t translator) typeOf(i, n int) string {
	if len(t.types) != n {
		return ""
	}
	return t.types[i]
}

func (t translator) source(o *object, detected string) verdict.Source {
	s := verdict.Source{
		RepoURL:        withoutCredentials(o.text("repoURL")),
		Path:           clean(o.text("path")),
		TargetRevision: o.text("targetRevision"),
		Chart:          o.text("chart"),
		Ref:            o.text("ref"),
	}
	switch { // the order of Argo CD's IsHelm and IsOCI
	case s.Chart != "":
		s.Kind = verdict.SourceChart
	case strings.HasPrefix(s.RepoURL, "oci://"): // case counts, R1
		s.Kind = verdict.SourceOCI
	}
	directory := o.object("directory")
	s.Recurse = directory.truth("recurse")
	shaped := rendered(o) || selected(directory)
	s.Plain = s.Kind == verdict.SourceGit && o.text("path") != "" && !shaped && (detected == "" || detected == "Directory")
	if s.Kind == verdict.SourceGit {
		s.GeneratePaths = t.paths(s.Path)
	}
	return s
}

// rendered reports whether a tool is named that makes the manifests. An empty
// object names it too (Argo CD's ExplicitType).
func rendered(o *object) bool {
	found := false
	for _, tool := range []string{"helm", "kustomize", "plugin"} {
		found = o.object(tool).there() || found
	}
	return found
}

// selected reports whether not all files of a directory are taken as they are.
// For jsonnet the empty object is how Argo CD writes that there is none.
func selected(directory *object) bool {
	jsonnet, include, exclude := directory.object("jsonnet"), directory.text("include"), directory.text("exclude")
	return len(jsonnet.fields) > 0 || include != "" || exclude != ""
}

// paths makes manifest-generate-paths absolute for a source: an item that
// begins with / is from the root of the repository, any other from the
// source's path (R17, Argo CD's GetSourceRefreshPaths). Globs stay.
func (t translator) paths(source string) []string {
	var abs []string
	for _, item := range t.generatePaths {
		if !strings.HasPrefix(item, "/") {
			item = "/" + source + "/" + item
		}
		abs = append(abs, path.Clean(item))
	}
	return abs
}

func splitPaths(annotation string) []string {
	var items []string
	for item := range strings.SplitSeq(annotation, ";") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

// clean makes a path relative to the root of its repository; the root itself
// is "", as a source without a path: both stand for the whole repository.
func clean(p string) string {
	if p == "" {
		return ""
	}
	return strings.TrimPrefix(path.Clean("/"+p), "/")
}

// withoutCredentials drops user and password from an HTTP address, which is
// printed, and written into notes that everybody can read. The user of an SSH
// address is part of it and no secret.
func withoutCredentials(address string) string {
	scheme, rest, found := strings.Cut(address, "://")
	if !found || !strings.HasPrefix(strings.ToLower(scheme), "http") {
		return address
	}
	end := strings.IndexByte(rest, '/')
	if end < 0 {
		end = len(rest)
	}
	if at := strings.LastIndexByte(rest[:end], '@'); at >= 0 {
		rest = rest[at+1:]
	}
	return scheme + "://" + rest
}

// revisions are revision and revisions of a place.
type revisions struct {
	one  string
	many []string
}

func revisionsOf(o *object) revisions {
	return revisions{one: o.text("revision"), many: o.texts("revisions")}
}

// empty reports that no revision is named, R16.
func (r revisions) empty() bool {
	return r.one == "" && !slices.ContainsFunc(r.many, func(s string) bool { return s != "" })
}

// align puts revisions beside the sources that they were resolved from. Where
// their number does not fit, no source gets one.
func align(s snapshot, r revisions) []verdict.Revision {
	if len(s.sources) == 0 {
		return nil
	}
	revs := r.many
	if !s.multi {
		revs = []string{r.one}
	}
	aligned := make([]verdict.Revision, len(s.sources))
	for i, source := range s.sources {
		aligned[i].Source = source
		if len(revs) == len(s.sources) {
			aligned[i].Rev = revs[i]
		}
	}
	return aligned
}
