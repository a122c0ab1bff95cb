package arming

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// CheckDeclared asks of an object in a file everything that the file can tell
// without a commit: the rules about manifests, and of each Application that it
// declares or makes what arming it would mean. ask has the policy, the names of
// this repository and of its default branch; around is what else was read. What
// only a commit or a cluster could tell is not asked.
func CheckDeclared(d Declared, ask Request, around Place, version Version) []FileFinding {
	ask.NoCommit, ask.PathsUnknown, ask.Mode = true, true, armMode
	if d.Partial {
		return []FileFinding{d.own(RulePartial, Noted, fields("spec"), "%s %s is only a part of one: what it will be is not known from here", d.Kind, d.App)}
	}
	fs := append(checkRollout(d, version), checkVersion(d, version)...)
	if d.Project != nil {
		for i, w := range d.Project.Windows {
			if _, err := w.timing(); err != nil {
				fs = append(fs, d.wrong(RuleSyncWindow, append(fields("spec.syncWindows"), fmt.Sprint(i)), "sync window %d of AppProject %s cannot be read: %v", i+1, d.App, err))
			}
		}
	}
	fs = append(fs, armed(d, ask, around, version)...)
	slices.SortStableFunc(fs, func(a, b FileFinding) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Col - b.Col
	})
	return fs
}

// armed asks the arming rules of each Application. What several of one
// ApplicationSet have in common is said once.
func armed(d Declared, ask Request, around Place, version Version) []FileFinding {
	var all []FileFinding
	var whose [][]string // of the same index
	for _, app := range d.Apps {
		for _, f := range checkPlanned(d, app, ask, around, version) {
			i := slices.Index(all, f)
			if i < 0 {
				i = len(all)
				all, whose = append(all, f), append(whose, nil)
			}
			whose[i] = append(whose[i], app.App.Name)
		}
	}
	for i, names := range whose {
		if len(names) < len(d.Apps) {
			all[i].Message += "; of its Applications that is " + list(names)
		}
	}
	return all
}

func checkPlanned(d Declared, app Planned, ask Request, around Place, version Version) []FileFinding {
	f := app.Facts
	f.From = ""
	if version.Before(3, 1) {
		f.AutoSync = app.Automated // enabled is dropped
	}
	if d.Set != nil {
		f.OwnedBySet, f.Set, f.Template = true, d.Set.Name, d.Set
	}
	f = around.Around(f)
	ask.App = f.App
	accepting := f.App // by whose name the policy accepts
	if d.Set != nil {
		f.App = verdict.App{Name: "an Application of " + d.Set.Name} // in messages
		ask.App = f.App
	}
	f.From, f.UpdaterCRD = "", verdict.Yes
	if len(around.Updaters) == 0 {
		f.UpdaterCRD = verdict.No // annotations count as they stand
	}
	found := append(checkSource(ask, f), checkSync(ask, f)...)
	found = append(append(found, checkImageUpdater(ask, f)...), checkProject(ask, f)...)
	found = append(found, checkTiming(ask, f)...)
	found = slices.DeleteFunc(found, func(f Finding) bool {
		return f.Outcome == NotAssessed && slices.Contains(clusterKnows(), f.Rule) // no file can tell
	})
	found = assessable(found, app, f)
	ask.App = accepting
	var fs []FileFinding
	for _, finding := range found {
		if finding.Rule == RuleAutoSyncOff && app.SwitchedOff && !version.Known() {
			finding.Message += " (enabled: false counts from Argo CD 3.1 on; before, automated sync is on)"
		}
		fs = append(fs, FileFinding{Finding: waive(finding, ask), Pos: d.pos(d.placeOf(finding.Rule, app, ask)...)})
	}
	return onePrune(fs)
}

// onePrune leaves prune out where appset-prune says as much of the same field.
func onePrune(fs []FileFinding) []FileFinding {
	return slices.DeleteFunc(fs, func(f FileFinding) bool {
		return f.Rule == RulePrune && slices.ContainsFunc(fs, func(g FileFinding) bool { return g.Rule == RuleAppSetPrune && g.Outcome == f.Outcome })
	})
}

// assessable turns into "not assessed" what placeholders, or what is written
// over a template, may make otherwise.
func assessable(fs []Finding, app Planned, f Facts) []Finding {
	var out []Finding
	unknown := map[string]string{}
	for rule, words := range writtenOver() {
		if app.Over.says(words...) {
			unknown[rule] = "a templatePatch or a generator's template says something of it, which is not evaluated"
		}
	}
	for _, s := range f.Sources {
		if s.Kind == verdict.SourceGit && openText(s.RepoURL) {
			unknown[RuleRepository], unknown[RuleSourceType] = "a repoURL is "+fmt.Sprintf("%q", clip(s.RepoURL)), ""
		}
		if openText(s.TargetRevision) {
			unknown[RuleTargetRevision] = "a targetRevision is " + fmt.Sprintf("%q", clip(s.TargetRevision))
		}
		if openText(s.Chart) {
			unknown[RuleSourceType] = "a chart is " + fmt.Sprintf("%q", clip(s.Chart))
		}
	}
	for _, key := range app.Open {
		switch {
		case strings.HasSuffix(key, "/skip-reconcile"):
			unknown[RuleSkipReconcile] = "the annotation is a placeholder"
		case strings.HasPrefix(key, "argocd-image-updater."):
			unknown[RuleImageUpdater] = "the annotation is a placeholder"
		}
	}
	for _, finding := range fs {
		if _, is := unknown[finding.Rule]; !is {
			out = append(out, finding)
		}
	}
	for _, r := range Rules() {
		if why := unknown[r.ID]; why != "" {
			out = append(out, found(r.ID, NotAssessed, "%s: %s", r.ID, why))
		}
	}
	return out
}

// writtenOver lists the words by which a text would change what a rule asks.
func writtenOver() map[string][]string {
	return map[string][]string{
		RuleSourceType: {"source", "chart"}, RuleRepository: {"repoURL"}, RuleTargetRevision: {"targetRevision"}, RuleHydrator: {"sourceHydrator"},
		RuleAutoSyncOff: {"automated"}, RuleSkipReconcile: {"skip-reconcile"}, RuleImageUpdater: {"argocd-image-updater"},
		RuleRetryStale: {"retry"}, RuleReplace: {"syncOptions"},
	}
}

// placeOf gives the field that a rule is about.
func (d Declared) placeOf(rule string, app Planned, ask Request) []string {
	if rule == RuleAppSetPrune && d.Set != nil && !d.Set.Prune {
		return fields("spec.templatePatch")
	}
	at := map[string]string{
		RulePrune: "spec.syncPolicy.automated.prune", RuleAppSetPrune: "spec.syncPolicy.automated.prune", RuleAutoSyncOff: "spec.syncPolicy.automated.enabled",
		RuleHydrator: "spec.sourceHydrator", RuleRetryStale: "spec.syncPolicy.retry", RuleReplace: "spec.syncPolicy.syncOptions",
		RuleProjectSignatures: "spec.project", RuleProjectWindows: "spec.project",
	}[rule]
	switch rule {
	case RuleSkipReconcile:
		return d.within("metadata", "annotations", "argocd.argoproj.io/skip-reconcile")
	case RuleImageUpdater:
		key := "argocd-image-updater.argoproj.io/image-list"
		if app.ImageUpdater.Said {
			key = "argocd-image-updater.argoproj.io/write-back-method"
		}
		return d.within("metadata", "annotations", key)
	case RuleSourceType, RuleRepository, RuleTargetRevision:
		return d.blamed(rule, app, ask)
	}
	if at == "" {
		return d.within("metadata", "name")
	}
	return d.within(fields(at)...)
}

// blamed is the source that a rule is about: the first that it refuses.
func (d Declared) blamed(rule string, app Planned, ask Request) []string {
	for i, s := range app.Sources {
		switch {
		case rule == RuleSourceType && s.Kind == verdict.SourceChart:
			return d.sourcePath(i, "chart")
		case rule != RuleTargetRevision && (s.Kind != verdict.SourceGit || rule == RuleRepository):
			return d.sourcePath(i, "repoURL")
		case rule == RuleTargetRevision && s.Kind == verdict.SourceGit && (openText(s.TargetRevision) || unwatched(s.TargetRevision, ask) != ""):
			return d.sourcePath(i, "targetRevision")
		}
	}
	return d.sourcePath(0)
}

// within leads to a field of the Application: of an ApplicationSet, in its
// template.
func (d Declared) within(keys ...string) []string {
	if d.Set != nil {
		return append(fields("spec.template"), keys...)
	}
	return keys
}

func (d Declared) sourcePath(i int, keys ...string) []string {
	at := d.within("spec", "source")
	if len(d.Apps) > 0 && d.Apps[0].Multi {
		at = d.within("spec", "sources", fmt.Sprint(i))
	}
	return append(at, keys...)
}

func firstSources(d Declared) []verdict.Source {
	if len(d.Apps) == 0 {
		return nil
	}
	return d.Apps[0].Sources
}

func (d Declared) pos(at ...string) Pos {
	if d.At == nil {
		return Pos{}
	}
	p, _ := d.At(at...)
	return p
}

func (d Declared) own(rule string, o Outcome, at []string, format string, args ...any) FileFinding {
	hint := ""
	if o != Noted {
		hint = fileRule(rule).Hint
	}
	return FileFinding{Finding: Finding{Rule: rule, Outcome: o, Message: fmt.Sprintf(format, args...), Hint: hint}, Pos: d.pos(at...), Own: true}
}

func (d Declared) wrong(rule string, at []string, format string, args ...any) FileFinding {
	f := d.own(rule, Refuse, at, format, args...)
	f.Wrong = true
	return f
}
