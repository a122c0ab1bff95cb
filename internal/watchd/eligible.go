package watchd

import (
	"context"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/pkg/trailer"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// eligible asks every arming rule again, live, by the policy that stood when
// the commit landed and by the one that stands now (gate eligible).
func (a *asker) eligible(ctx context.Context, s verdict.State, sc scene) []verdict.Rule {
	var rules []verdict.Rule
	if sc.guard != "" {
		rules = append(rules, verdict.Rule{Name: "notes-guard", Holds: true, Why: sc.guard})
	}
	r := arming.Request{
		Commit: s.Watch.Commit, By: s.Watch.By, Vouched: arming.NotVouched,
		App: s.Watch.App, Mode: trailer.Arm,
		Branch: s.Branch, DefaultBranch: sc.view.Default,
		Paths: sc.answers.Paths, Places: []arming.Facts{sc.facts}, Others: sc.appPaths(),
		Policies: sc.policies, IsOurRepo: a.isOurs, Now: sc.now, Deadline: s.Watch.Deadline, Reach: s.Watch.Reach, Refresh: a.refresh,
		Signs: verdict.TriOf(sc.signs),
	}
	if tip := sc.view.Branches[s.Branch]; tip != "" && arming.Conditional(sc.policies, sc.snapshot.Look.App) {
		// Again, and against the tip: what came since may have moved an object.
		content := a.git.Content(ctx, s.Watch.Commit, tip, sc.facts.SourcesOf(a.isOurs))
		r.Content = &content
	}
	switch {
	case sc.recorded:
		r.Vouched = arming.VouchNotAssessed
	case s.Watch.By != "":
		r.Vouched = arming.Vouched
	}
	r.Named = append(r.Named, s.Watch.App)
	for _, o := range sc.siblings {
		r.Named = append(r.Named, o.Watch.App)
	}
	for _, f := range arming.Check(r, arming.AskRevert) {
		rules = append(rules, verdict.Rule{
			Name: f.Rule, Why: f.Message,
			Holds: f.Outcome == arming.Refuse, NotAssessed: f.Outcome == arming.NotAssessed,
		})
	}
	return rules
}

// isOurs tells whether an address is this repository.
func (a *asker) isOurs(url string) bool {
	for _, n := range a.names {
		if verdict.SameRepo(n, url) {
			return true
		}
	}
	return a.ours[url]
}

// appPaths lists the other Applications' source paths for the arming rules.
func (sc scene) appPaths() []arming.AppPaths {
	var out []arming.AppPaths
	for _, o := range sc.apps {
		if o.Look.App == sc.snapshot.Look.App {
			continue
		}
		p := arming.AppPaths{App: o.Look.App}
		for _, src := range sc.answers.Ours(o.Look) {
			if src.Path == "" && src.Ref != "" {
				p.AnyFile = true
				continue
			}
			p.Paths = append(p.Paths, src.Path)
		}
		if p.AnyFile || len(p.Paths) > 0 {
			out = append(out, p)
		}
	}
	return out
}
