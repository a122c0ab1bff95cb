package watchd

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// asker answers what judgements ask of Git. What it keeps is immutable, but
// for ours, which only grows.
type asker struct {
	git      History
	names    []string          // addresses of this repository
	refresh  time.Duration     // how long Argo CD takes at most to look again
	ours     map[string]bool   // addresses that proved to be this repository
	peeled   map[string]string // revision -> commit; absent: no commit when last asked
	contains map[[2]string]bool
	paths    map[string][]string

	standing     map[string]standing // by commit, at the tip looked at last
	between      [2]string
	touchedPaths map[string]bool

	// missed are revisions that were no commit here when the branches stood as
	// they do: they are not asked about again before something was fetched.
	missed map[string]bool
	tips   string
}

func newAsker(git History, names []string) *asker {
	return &asker{
		git: git, names: names, ours: map[string]bool{}, peeled: map[string]string{},
		contains: map[[2]string]bool{}, paths: map[string][]string{}, missed: map[string]bool{}, standing: map[string]standing{},
	}
}

// question is one commit to be judged by some looks: what of them Git is asked
// about. A pass has one for each watch, and goes through them several times.
type question struct {
	commit  string
	revs    []string // of the commit, the looks and the memory; nearly all once
	targets []string // what the looks follow
}

func newQuestion(commit string, memory verdict.Memory, looks ...*verdict.Look) question {
	q := question{commit: commit, revs: append(memory.Questions(), commit)}
	for _, l := range looks {
		q.add(l)
	}
	return q
}

// add takes in a look. Whatever stands twice far apart is asked twice.
func (q *question) add(l *verdict.Look) {
	const near = 16
	for _, r := range l.Revisions() {
		if !slices.Contains(q.revs[max(0, len(q.revs)-near):], r) {
			q.revs = append(q.revs, r)
		}
	}
	for i := range l.Spec {
		if t := l.Spec[i].TargetRevision; !slices.Contains(q.targets, t) {
			q.targets = append(q.targets, t)
		}
	}
}

// branches are those that the looks follow: only their tips matter.
func (q question) branches(view View) []string {
	var out []string
	for _, t := range q.targets {
		if b, ok := view.branch(t); ok && !slices.Contains(out, b) {
			out = append(out, b)
		}
	}
	slices.Sort(out)
	return out
}

// branch finds the branch that a target revision names.
func (v View) branch(target string) (string, bool) {
	b := strings.TrimPrefix(target, "refs/heads/")
	if b == "" || b == "HEAD" {
		b = v.Default
	}
	_, ok := v.Branches[b]
	return b, ok
}

// maxCached bounds the memory of answers; beyond it they are asked again.
const maxCached = 500_000

// prepare asks Git everything that the questions need in a constant number of
// processes, whatever their number.
func (a *asker) prepare(ctx context.Context, view View, qs []question) error {
	if len(a.contains) > maxCached {
		a.contains = map[[2]string]bool{}
	}
	if err := a.resolve(ctx, view, qs); err != nil {
		return err
	}
	asked, missing := map[string][]string{}, map[string]bool{}
	for _, q := range qs {
		if a.peeled[q.commit] != q.commit {
			a.gone(view, q)
			continue
		}
		ask := func(target string) {
			if a.contained(q.commit, target) == verdict.Unknown && target != "" {
				asked[q.commit] = append(asked[q.commit], target)
			}
		}
		for _, b := range q.branches(view) {
			ask(view.Branches[b])
		}
		for _, r := range q.revs {
			ask(a.peeled[strings.ToLower(r)])
		}
		if _, known := a.paths[q.commit]; !known {
			missing[q.commit] = true
		}
	}
	if len(asked) > 0 {
		got, err := a.git.Contains(ctx, asked)
		if err != nil {
			return fmt.Errorf("asking what contains the watched commits: %w", err)
		}
		for c, in := range got {
			for t, yes := range in {
				a.contains[[2]string{c, t}] = yes
			}
		}
	}
	if len(missing) > 0 {
		got, err := a.git.Paths(ctx, keys(missing))
		if err != nil {
			return fmt.Errorf("reading what the watched commits changed: %w", err)
		}
		for c, p := range got {
			a.paths[c] = p
		}
	}
	return nil
}

// gone answers for a commit that the repository does not have, such as one that
// was pushed away before this mirror was made: nothing here contains it.
func (a *asker) gone(view View, q question) {
	for _, b := range q.branches(view) {
		a.contains[[2]string{q.commit, view.Branches[b]}] = false
	}
	for _, r := range q.revs {
		if c := a.peeled[strings.ToLower(r)]; c != "" {
			a.contains[[2]string{q.commit, c}] = false
		}
	}
}

// resolve peels the revisions that are not known yet.
func (a *asker) resolve(ctx context.Context, view View, qs []question) error {
	if tips := view.fingerprint(); tips != a.tips {
		a.tips, a.missed = tips, map[string]bool{}
	}
	ask := map[string]bool{}
	for _, q := range qs {
		for _, r := range q.revs {
			if r = strings.ToLower(r); r != "" && a.peeled[r] == "" && !a.missed[r] {
				ask[r] = true
			}
		}
	}
	if len(ask) == 0 {
		return nil
	}
	got, err := a.git.Resolve(ctx, keys(ask))
	if err != nil {
		return fmt.Errorf("resolving revisions: %w", err)
	}
	for r := range ask {
		if c := got[r]; c != "" {
			a.peeled[r] = c
		} else {
			a.missed[r] = true
		}
	}
	return nil
}

// fingerprint changes whenever a branch does.
func (v View) fingerprint() string {
	var b strings.Builder
	for _, name := range keys(v.Branches) {
		b.WriteString(name + " " + v.Branches[name] + "\n")
	}
	return b.String()
}

// answers puts together what was prepared.
func (a *asker) answers(view View, q question) verdict.Answers {
	out := verdict.Answers{
		Commit: q.commit, Names: a.names, OursURLs: a.ours, Paths: a.paths[q.commit], Default: view.Default,
		Revs: make(map[string]verdict.Rev, len(q.revs)), Branches: make(map[string]verdict.Tri, len(view.Branches)),
	}
	for b, tip := range view.Branches {
		out.Branches[b] = a.contained(q.commit, tip)
	}
	for _, r := range q.revs {
		c := a.peeled[strings.ToLower(r)]
		out.Revs[r] = verdict.Rev{Looked: true, Commit: c, Contains: a.contained(q.commit, c)}
	}
	return out
}

func (a *asker) contained(commit, target string) verdict.Tri {
	switch target {
	case "":
		return verdict.Unknown
	case commit:
		return verdict.Yes
	}
	yes, known := a.contains[[2]string{commit, target}]
	if !known {
		return verdict.Unknown
	}
	return verdict.TriOf(yes)
}

// learn remembers addresses under which commits of this repository are
// deployed, so that a look without any revision still finds its source.
func (a *asker) learn(l *verdict.Look) {
	lists := [][]verdict.Revision{l.Compared, l.Operation.Revisions}
	if l.History != nil {
		lists = append(lists, l.History.Revisions)
	}
	for _, rs := range lists {
		for _, r := range rs {
			if len(r.Rev) >= 40 && r.Source.Kind == verdict.SourceGit && a.peeled[strings.ToLower(r.Rev)] != "" {
				a.ours[r.Source.RepoURL] = true
			}
		}
	}
}

func keys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}
