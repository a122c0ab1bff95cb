package verdict

import (
	"slices"
	"strings"
)

// Rev is what the repository knows of a revision that an Application names.
type Rev struct {
	Looked   bool   // the repository was asked, after a fetch
	Commit   string // the commit it peels to; empty: none that the repository has
	Contains Tri    // does it contain the commit in question
}

// Answers is what Git says about one commit, as of one fetch. It is plain
// data, so that a judgement can be repeated.
type Answers struct {
	Commit   string
	Names    []string        // addresses by which Argo CD may know this repository
	OursURLs map[string]bool // addresses that proved to be this repository in earlier looks
	Revs     map[string]Rev  // by the string in the Application
	Paths    []string        // what the commit changed against its first parent
	Branches map[string]Tri  // short branch name -> contains the commit
	Default  string          // short name of the default branch
}

// Revisions lists the revision strings of a look that Git must be asked about.
func (l Look) Revisions() []string {
	out := addRevisions(nil, l.Compared)
	out = addRevisions(out, l.Operation.Revisions)
	if l.History != nil {
		out = addRevisions(out, l.History.Revisions)
	}
	return out
}

// addRevisions adds those that are not there yet; there are few.
func addRevisions(out []string, rs []Revision) []string {
	for i := range rs {
		if r := &rs[i]; r.Source.Kind == SourceGit && !slices.Contains(out, r.Rev) && hexRevision.MatchString(r.Rev) {
			out = append(out, r.Rev)
		}
	}
	return out
}

// hexRevision: a commit, a short id or a tag object (R3). Chart versions,
// digests and raw refs are no questions for Git.
var hexRevision = idForm(func(n int) bool { return n >= 7 && n <= 64 })

// fullRevision is a whole object id (SHA-1 or SHA-256).
var fullRevision = idForm(func(n int) bool { return n == 40 || n == 64 })

// idForm is a length of hexadecimal digits. It is asked several times a look,
// for every watch.
type idForm func(n int) bool

// MatchString reports whether s has the form.
func (f idForm) MatchString(s string) bool {
	if !f(len(s)) {
		return false
	}
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return false
		}
	}
	return true
}

// ours tells whether a git source is this repository, and whether that is
// known by its address or only by a revision that is a commit here.
func (a Answers) ours(l Look, s Source) (is Tri, byRevision bool) {
	if s.Kind != SourceGit {
		return No, false
	}
	for _, n := range a.Names {
		if SameRepo(n, s.RepoURL) {
			return Yes, false
		}
	}
	if a.OursURLs[s.RepoURL] {
		return Yes, true
	}
	is = Unknown
	lists := [][]Revision{l.Compared, l.Operation.Revisions}
	if l.History != nil {
		lists = append(lists, l.History.Revisions)
	}
	for _, rs := range lists {
		for _, r := range rs {
			if r.Source.RepoURL != s.RepoURL || r.Source.Kind != SourceGit || !fullRevision.MatchString(r.Rev) {
				continue
			}
			switch rev := a.Revs[r.Rev]; {
			case rev.Commit != "":
				return Yes, true
			case rev.Looked:
				is = No
			}
		}
	}
	return is, false
}

// follows names the branch of this repository that a source follows.
func (a Answers) follows(s Source) (branch string, ok bool) {
	t := strings.TrimPrefix(s.TargetRevision, "refs/heads/")
	if t == "" || t == "HEAD" {
		return a.Default, a.Default != ""
	}
	_, ok = a.Branches[t]
	return t, ok
}

// touches tells whether one of the paths lies in what a source deploys (R17).
// A source without a path, or one that only lends its files (`ref`), counts as
// the whole repository.
func touches(s Source, paths []string) bool {
	dir := cleanDir(s.Path)
	if dir == "" {
		return len(paths) > 0
	}
	for _, p := range paths {
		if inside(p, dir) {
			return true
		}
		for _, g := range s.GeneratePaths {
			if generated(p, g) {
				return true
			}
		}
	}
	return false
}

func cleanDir(p string) string {
	p = strings.Trim(p, "/")
	p = strings.TrimPrefix(p, "./")
	if p == "." {
		return ""
	}
	return p
}

// inside reports whether path is dir or lies below it; dir "" is the root.
func inside(path, dir string) bool {
	return dir == "" || path == dir || strings.HasPrefix(path, dir+"/")
}

// generated matches a path against an absolute manifest-generate-paths entry.
// A glob counts by the directory before its first special character: wider
// than Argo CD, which only makes a commit count as touching.
func generated(path, pattern string) bool {
	if i := strings.IndexAny(pattern, "*?[{"); i >= 0 {
		pattern = pattern[:strings.LastIndex(pattern[:i], "/")+1]
		return strings.HasPrefix("/"+path, pattern)
	}
	return inside(path, cleanDir(pattern))
}

// relevance is which sources of an Application a watch is judged by.
type relevance struct {
	sources []Source
	branch  string // the branch whose containment starts the clocks
	note    Reason // a source under another address was taken for this repository
}

// relevant picks the sources by which the commit is judged (R1, R2, section
// 3.1 of the facts): those of this repository that it touches, or all of them
// when it touches none; of several branches, those that contain the commit.
// The Reason is why there are none; final tells whether that can change.
func (a Answers) relevant(l Look) (r relevance, why Reason, final bool) {
	if l.Hydrator {
		return r, Reason{"hydrator", "the Source Hydrator deploys other commits than these: " + instead["hydrator"]}, true
	}
	var ours []Source
	var kinds []string
	undecided := false
	for _, s := range l.Spec {
		is, byRevision := a.ours(l, s)
		switch is {
		case Yes:
			ours = append(ours, s)
			if byRevision {
				r.note = Reason{"other-address", s.RepoURL + " is taken for this repository: a revision of it is a commit here"}
			}
		case Unknown:
			undecided = true
		}
		kinds = append(kinds, describe(s))
	}
	if len(ours) == 0 {
		if undecided || len(l.Spec) == 0 {
			return r, Reason{"no-revision", "Argo CD has not resolved a revision yet"}, false
		}
		code := sourceProblem(l.Spec)
		return r, Reason{code, strings.Join(kinds, ", ") + ": " + instead[code] + addresses(a.Names)}, true
	}
	picked := pick(ours, func(s Source) bool { return touches(s, a.Paths) })
	following := pickSome(picked, func(s Source) bool { _, ok := a.follows(s); return ok })
	if len(following) == 0 {
		return r, Reason{"follows-no-branch", "target revision " + quoteWord(picked[0].TargetRevision) + " is no branch of this repository: " + instead["follows-no-branch"]}, true
	}
	r.sources = pick(following, func(s Source) bool { b, _ := a.follows(s); return a.Branches[b] == Yes })
	r.branch, _ = a.follows(r.sources[0])
	return r, Reason{}, false
}

// pick returns the matching sources, or all when none matches.
func pick(in []Source, ok func(Source) bool) []Source {
	if out := pickSome(in, ok); len(out) > 0 {
		return out
	}
	return in
}

func pickSome(in []Source, ok func(Source) bool) []Source {
	var out []Source
	for _, s := range in {
		if ok(s) {
			out = append(out, s)
		}
	}
	return out
}

func describe(s Source) string {
	switch s.Kind {
	case SourceChart:
		return "chart " + quoteWord(s.Chart) + " of " + s.RepoURL
	case SourceOCI:
		return "OCI source " + s.RepoURL
	default:
		return "git source " + s.RepoURL
	}
}

func sourceProblem(spec []Source) string {
	for _, s := range spec {
		if s.Kind == SourceGit {
			return "other-repository"
		}
	}
	if spec[0].Kind == SourceOCI {
		return "oci-source"
	}
	return "chart-source"
}

// instead is what to do where a commit cannot be watched (design, section 5).
var instead = map[string]string{
	"chart-source":      "pin the version in a file of this repository, as a dependency or in a values source, and watch that",
	"oci-source":        "pin the digest in a file of this repository and watch the Application that deploys it",
	"other-repository":  "put the trailer on commits of that repository, or name its address in the policy's repositories if it is this one",
	"follows-no-branch": "watch an Application that follows a branch",
	"hydrator":          "watch it by other means",
}

func addresses(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; this repository is known as " + strings.Join(names, ", ")
}

// at finds the revision that a list gives for a source. Lists carry their own
// snapshot of the sources, so they are matched by what the source is, not by
// index (section 3.1 of the facts). Of two that differ only in the branch that
// they follow, the one with the same branch counts.
func at(rs []Revision, s Source) (rev string, ok bool) {
	for _, r := range rs {
		if r.Source.Kind != s.Kind || r.Source.RepoURL != s.RepoURL || cleanDir(r.Source.Path) != cleanDir(s.Path) || r.Source.Ref != s.Ref {
			continue
		}
		if r.Source.TargetRevision == s.TargetRevision {
			return r.Rev, true
		}
		if !ok {
			rev, ok = r.Rev, true
		}
	}
	return rev, ok
}

// contain answers for all relevant sources together: Yes when every one
// contains the commit, No when one is known not to, Unknown otherwise. The
// revision is that of the first source.
func (a Answers) contain(rs []Revision, sources []Source) (Tri, string) {
	answer, first := Yes, ""
	for i, s := range sources {
		rev, ok := at(rs, s)
		if i == 0 {
			first = rev
		}
		c := Unknown
		if ok && hexRevision.MatchString(rev) {
			c = a.Revs[rev].Contains
		}
		if c == No {
			answer = No
		} else if c == Unknown && answer == Yes {
			answer = Unknown
		}
	}
	if len(sources) == 0 {
		return Unknown, ""
	}
	return answer, first
}

func short(id string) string {
	if fullRevision.MatchString(id) {
		return id[:12]
	}
	return id
}

func quoteWord(s string) string {
	if s == "" {
		return `""`
	}
	return s
}
