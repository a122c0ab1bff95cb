package lint

import (
	"context"
	"slices"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/pkg/trailer"
)

// before adds what the files that the commit changes said, in its first parent,
// of the Applications that it arms: a revert brings that back, together with all
// else that it does. A file that could not be read then says nothing; an
// Application that only they know is gone, and stays unknown.
func (cf *CommitFacts) before(ctx context.Context, globs []string, ws []trailer.Watch) error {
	if cf.known.Manifests == nil || cf.back == "" || len(cf.paths) == 0 {
		return nil
	}
	ask := arming.TreeAsk{Commit: cf.back, Globs: globs, Changed: cf.paths, Touched: true}
	var armed []trailer.Watch
	for _, w := range ws {
		if app, err := appOf(w); err == nil && Asks(w) && len(cf.of(w)) > 0 {
			ask.Apps, armed = append(ask.Apps, app.Name), append(armed, w)
		}
	}
	if len(armed) == 0 {
		return nil
	}
	p, _, _, err := cf.known.Manifests.Place(ctx, ask)
	if err != nil {
		return err
	}
	p.Apps = slices.DeleteFunc(p.Apps, func(f arming.Facts) bool {
		return !slices.ContainsFunc(armed, func(w trailer.Watch) bool {
			app, err := appOf(w)
			return err == nil && app.Matches(f.App)
		})
	})
	if len(p.Apps) == 0 {
		return nil
	}
	for i := range p.Apps {
		p.Apps[i].From += beforeThis
	}
	p.From += beforeThis
	cf.places = append(slices.Clone(cf.places), p)
	return nil
}

const beforeThis = " before this commit"
