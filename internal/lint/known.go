package lint

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/pkg/trailer"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// Manifests reads the trees of commits. What a content holds is found out once.
type Manifests interface {
	// Place is what Argo CD's objects in the tree of a commit say. bad are files
	// that a glob names and that cannot be read, skipped others.
	Place(ctx context.Context, ask arming.TreeAsk) (p arming.Place, bad, skipped []string, err error)
	// Ahead gets ready for what is going to be asked for, in that order.
	Ahead(ctx context.Context, asks []arming.TreeAsk) error
	// Content is what the plain manifests below sources hold at a commit, and
	// what of them was not there before it.
	Content(ctx context.Context, ask arming.ContentAsk) arming.Content
}

// Status is the notes ref in which the watcher tells of itself.
const (
	StatusRef  = "refs/notes/nav/status"
	statusFile = "status.json"
)

// files is what reading the inventory asks of a repository.
type files interface {
	IDs(ctx context.Context, names []string) (map[string]string, error)
	FileAt(ctx context.Context, commit, path string) (data []byte, odd string, err error)
}

// Known gathers what is known of the Applications that commits name, from the
// inventory, the commits' own trees, and a live Argo CD. Every place is
// optional and read once.
type Known struct {
	Files     files     // for the inventory
	Manifests Manifests // nil: trees are not read
	// Live asks a running Argo CD; nil: none is asked.
	Live func(ctx context.Context) (arming.Place, error)
	// IsOurs tells which addresses are this repository, besides the policy's;
	// nil: no other name is known.
	IsOurs func(url string) bool
	// Names finds out IsOurs when it is first asked for; nil: IsOurs is it.
	Names func(ctx context.Context) (isOurs func(url string) bool, err error)
	Now   time.Time
	// Base is a commit that was there before and stays, from which a tree may be
	// found out by what differs; empty: none.
	Base string
	// Thorough: a watch in shadow mode is worth a search of the whole tree, too.
	Thorough bool

	read   bool
	places []arming.Place // inventory, live
	trees  map[string]*CommitFacts
}

// CommitFacts is what is known for one commit.
type CommitFacts struct {
	known        *Known
	commit, back string
	paths        []string // that differ between the two; nil: nobody looked
	places       []arming.Place
	asked        []string
	bad, skipped []string
	unsearched   bool
	others       []arming.AppPaths
	isOurs       func(url string) bool
	contents     map[verdict.App]*arming.Content
}

// standing reads the inventory and asks the live Argo CD, once a run.
func (k *Known) standing(ctx context.Context) error {
	if k.read {
		return nil
	}
	if k.Names != nil {
		isOurs, err := k.Names(ctx)
		if err != nil {
			return err
		}
		k.IsOurs = isOurs
	}
	if k.Files != nil {
		p, err := Inventory(ctx, k.Files)
		if err != nil {
			return err
		}
		if p != nil {
			k.places = append(k.places, *p)
		}
	}
	if k.Live != nil {
		p, err := k.Live(ctx)
		if err != nil {
			return fmt.Errorf("asking Argo CD: %w", err)
		}
		k.places = append(k.places, p)
	}
	k.read = true
	return nil
}

// Inventory reads what the watcher published; nil: nothing, or nothing that can
// be read, which a watcher of another version may have written.
func Inventory(ctx context.Context, r files) (*arming.Place, error) {
	ids, err := r.IDs(ctx, []string{StatusRef + "^{commit}"})
	if err != nil {
		return nil, fmt.Errorf("looking for the inventory: %w", err)
	}
	tip := ids[StatusRef+"^{commit}"]
	if tip == "" {
		return nil, nil
	}
	status, _, err := r.FileAt(ctx, tip, statusFile)
	if err != nil {
		return nil, err
	}
	data, _, err := r.FileAt(ctx, tip, arming.InventoryFile)
	if err != nil || data == nil {
		return nil, err
	}
	var beat struct {
		At time.Time `json:"at"`
	}
	if json.Unmarshal(status, &beat) != nil {
		return nil, nil
	}
	p, err := arming.ParseInventory(data, beat.At)
	if err != nil {
		return nil, nil //nolint:nilerr // it counts as none: the rules say what is then not known
	}
	return &p, nil
}

// Ahead gets ready for many commits, in the order in which Of is going to be
// asked: what their trees are going to be asked for is read at once.
func (k *Known) Ahead(ctx context.Context, policy arming.Policy, commits []Commit, paths map[string][]string, ws map[string][]trailer.Watch) error {
	if k.Manifests == nil || len(commits) < 2 {
		return nil
	}
	if err := k.standing(ctx); err != nil {
		return err
	}
	standing := &CommitFacts{places: k.places}
	var asks []arming.TreeAsk
	for _, c := range commits {
		if standing.worthTree(ws[c.ID]) {
			asks = append(asks, arming.TreeAsk{Commit: c.ID, Parent: c.parent(), Globs: policy.Manifests, Changed: paths[c.ID]})
		}
	}
	return k.Manifests.Ahead(ctx, asks)
}

// Of gathers what is known for one commit: paths are what it changed. Search: a
// watch of an Application that nobody knows is worth the whole tree, if it is
// armed or all are looked for thoroughly.
func (k *Known) Of(ctx context.Context, c Commit, paths []string, policy arming.Policy, ws []trailer.Watch) (*CommitFacts, error) {
	if done := k.trees[c.ID]; done != nil {
		return done, nil
	}
	if err := k.standing(ctx); err != nil {
		return nil, err
	}
	cf := &CommitFacts{known: k, commit: c.ID, back: c.parent(), paths: paths, places: slices.Clone(k.places), contents: map[verdict.App]*arming.Content{}}
	if k.Manifests != nil && cf.worthTree(ws) {
		if err := cf.tree(ctx, policy.Manifests, paths, ws); err != nil {
			return nil, err
		}
	}
	for _, p := range cf.places {
		cf.asked = append(cf.asked, p.From)
	}
	if err := cf.before(ctx, policy.Manifests, ws); err != nil {
		return nil, err
	}
	cf.isOurs = k.names(cf.places, policy)
	cf.others = arming.Paths(cf.places, cf.isOurs)
	if k.trees == nil {
		k.trees = map[string]*CommitFacts{}
	}
	k.trees[c.ID] = cf
	return cf, nil
}

// worthTree: a commit that is only judged is warned of what cannot be watched,
// and for that the inventory is enough where it knows the Application.
func (cf *CommitFacts) worthTree(ws []trailer.Watch) bool {
	return slices.ContainsFunc(ws, func(w trailer.Watch) bool { return Asks(w) || len(cf.of(w)) == 0 })
}

func (cf *CommitFacts) tree(ctx context.Context, globs, paths []string, ws []trailer.Watch) error {
	ask := arming.TreeAsk{Commit: cf.commit, Globs: globs, Changed: paths, Base: cf.known.Base}
	if paths != nil { // nil: nobody looked
		ask.Parent = cf.back
	}
	for _, w := range ws {
		if app, err := appOf(w); err == nil {
			ask.Apps = append(ask.Apps, app.Name)
		}
	}
	p, bad, skipped, err := cf.known.Manifests.Place(ctx, ask)
	if err != nil {
		return err
	}
	standing := cf.places
	cf.places = append(slices.Clone(standing), p)
	cf.unsearched = len(globs) == 0
	if cf.unsearched && slices.ContainsFunc(ws, func(w trailer.Watch) bool { return (cf.known.Thorough || Asks(w)) && len(cf.of(w)) == 0 }) {
		ask.Search, cf.unsearched = true, false
		if p, bad, skipped, err = cf.known.Manifests.Place(ctx, ask); err != nil {
			return err
		}
		cf.places = append(slices.Clone(standing), p)
	}
	if len(p.Apps) == 0 && len(globs) == 0 {
		cf.places = standing // nobody said that there are any
	}
	cf.bad, cf.skipped = bad, skipped
	return nil
}

// of lists what each place says of the Application of a watch.
func (cf *CommitFacts) of(w trailer.Watch) (out []arming.Facts) {
	app, err := appOf(w)
	if err != nil {
		return nil
	}
	for _, p := range cf.places {
		out = append(out, p.Find(app)...)
	}
	return out
}

// names tells which addresses are this repository: by the policy, by what the
// host or the clone tells, and by what the watcher found out. nil: no name is
// known.
func (k *Known) names(places []arming.Place, policy arming.Policy) func(string) bool {
	names := slices.Clone(policy.Repositories)
	for _, p := range places {
		for _, f := range p.Apps {
			for _, url := range f.Ours {
				if !slices.Contains(names, url) {
					names = append(names, url)
				}
			}
		}
	}
	if len(names) == 0 {
		return k.IsOurs
	}
	return func(url string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return verdict.SameRepo(n, url) }) || k.IsOurs != nil && k.IsOurs(url)
	}
}

// fill completes a request with what is known of the watch's Application.
func (cf *CommitFacts) fill(ctx context.Context, r *arming.Request, w trailer.Watch) {
	r.Now, r.Deadline, r.Reach = cf.known.Now, w.Deadline, w.Reach
	r.Places, r.Asked, r.Broken, r.Unread = cf.of(w), cf.asked, cf.bad, cf.skipped
	r.Unsearched = cf.unsearched && len(r.Places) == 0
	r.Others, r.IsOurRepo = cf.others, cf.isOurs
	for _, p := range cf.places {
		if p.Watcher != nil {
			r.Watcher, r.Signs = p.Watcher, p.Watcher.Signs
		}
	}
	if Asks(w) && len(r.Places) > 0 && cf.back != "" && cf.known.Manifests != nil {
		r.Content = cf.content(ctx, r.Places)
	}
}

// content reads the plain manifests of an Application once, where all places
// agree on where they are.
func (cf *CommitFacts) content(ctx context.Context, places []arming.Facts) *arming.Content {
	app := places[0].App
	if c := cf.contents[app]; c != nil {
		return c
	}
	c := arming.Content{}
	sources := places[0].SourcesOf(cf.isOurs)
	for _, f := range places[1:] {
		if !sameFolders(sources, f.SourcesOf(cf.isOurs)) {
			c.Unknown = "the places that know it do not agree on its sources"
		}
	}
	if c.Unknown == "" {
		c = cf.known.Manifests.Content(ctx, arming.ContentAsk{Sources: sources, At: cf.commit, Back: cf.back, Changed: cf.paths})
	}
	cf.contents[app] = &c
	return &c
}

func sameFolders(a, b []verdict.Source) bool {
	return slices.EqualFunc(a, b, func(x, y verdict.Source) bool {
		return x.Path == y.Path && x.Recurse == y.Recurse && x.Plain == y.Plain && x.Ref == y.Ref
	})
}
