package lint

import (
	"context"
	"slices"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// Everything gathers what is known of all Applications: from the inventory, from
// all manifests in the tree of a commit ("": there is none), and from a live
// Argo CD.
func (k *Known) Everything(ctx context.Context, commit string, policy arming.Policy) (*CommitFacts, error) {
	if err := k.standing(ctx); err != nil {
		return nil, err
	}
	cf := &CommitFacts{known: k, commit: commit, places: slices.Clone(k.places), contents: map[verdict.App]*arming.Content{}}
	if k.Manifests != nil && commit != "" {
		p, bad, skipped, err := k.Manifests.Place(ctx, arming.TreeAsk{Commit: commit, Globs: policy.Manifests, Search: true, All: true})
		if err != nil {
			return nil, err
		}
		cf.places, cf.bad, cf.skipped = append(cf.places, p), bad, skipped
	}
	for _, p := range cf.places {
		cf.asked = append(cf.asked, p.From)
	}
	cf.isOurs = k.names(cf.places, policy)
	cf.others = arming.Paths(cf.places, cf.isOurs)
	return cf, nil
}

// apps lists the Applications that any place knows, each once, by the fullest
// name; of a live Argo CD only those that may use this repository. elsewhere
// counts its others.
func (cf *CommitFacts) apps() (apps []verdict.App, elsewhere int) {
	for _, p := range cf.places {
		for _, f := range p.Apps {
			if p.From == fromLive && cf.isOurs != nil && len(f.SourcesOf(cf.isOurs)) == 0 {
				if !slices.ContainsFunc(cf.places, func(q arming.Place) bool { return q.From != fromLive && len(q.Find(f.App)) > 0 }) {
					elsewhere++
					continue
				}
			}
			i := slices.IndexFunc(apps, func(a verdict.App) bool { return a.Matches(f.App) })
			switch {
			case i < 0:
				apps = append(apps, f.App)
			case apps[i].Namespace == "":
				apps[i] = f.App
			}
		}
	}
	return apps, elsewhere
}

// fromLive is the name of the place that is a running Argo CD.
const fromLive = "live"
