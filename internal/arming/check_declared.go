package arming

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// FileAsk is what is known when a file is checked.
type FileAsk struct {
	// Request has the policy, the names of this repository and of its default
	// branch; the rest is filled in.
	Request
	Around  Place    // what else was read
	Parts   []string // paths of the files that declare Applications and ApplicationSets
	Version Version  // of the Argo CD that is going to read it
}

// CheckDeclared asks of an object in a file everything that the file can tell
// without a commit: the rules about manifests, and of each Application that it
// declares or makes what arming it would mean. What only a commit or a cluster
// could tell is not asked.
func CheckDeclared(d Declared, ask FileAsk) []FileFinding {
	ask.NoCommit, ask.PathsUnknown, ask.Mode = true, true, armMode
	version := ask.Version
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
	fs = append(fs, checkNames(d)...)
	fs = append(fs, armed(d, ask)...)
	slices.SortStableFunc(fs, func(a, b FileFinding) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Col - b.Col
	})
	return fs
}

// checkNames holds manifest-twice for what a list makes: the controller then
// makes nothing at all.
func checkNames(d Declared) []FileFinding {
	seen := map[verdict.App]bool{}
	for _, app := range d.Apps {
		if seen[app.App] && !openText(app.App.Name) {
			return []FileFinding{d.wrong(RuleTwice, d.within("metadata", "name"), "%s makes the Application %q more than once", d.App, clip(app.App.Name))}
		}
		seen[app.App] = true
	}
	return nil
}

// armed asks the arming rules of each Application. What several of one
// ApplicationSet have in common is said once.
func armed(d Declared, ask FileAsk) []FileFinding {
	var all []FileFinding
	var whose [][]string // of the same index
	for _, app := range d.Apps {
		for _, f := range checkPlanned(d, app, ask) {
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
			all[i].Some = true
			all[i].Message += "; of its Applications that is " + list(names)
		}
	}
	return all
}

func checkPlanned(d Declared, app Planned, ask FileAsk) []FileFinding {
	f, r := app.Facts, ask.Request
	if ask.Version.Before(3, 1) {
		f.AutoSync = app.Automated // enabled is dropped
	}
	if d.Set != nil {
		f.OwnedBySet, f.Set, f.Template = true, d.Set.Name, d.Set
	}
	f = ask.Around.Around(f)
	f.From, f.UpdaterCRD = "", verdict.Yes
	if len(ask.Around.Updaters) == 0 {
		f.UpdaterCRD = verdict.No // annotations count as they stand
	}
	found := checkImageUpdater(r, f) // which goes by the Application's own name
	if d.Set != nil {
		f.App = verdict.App{Name: "an Application of " + d.App.String()} // in messages
	}
	for _, rule := range []func(Request, Facts) []Finding{checkSource, checkSync, checkProject, checkTiming} {
		found = append(found, rule(r, f)...)
	}
	found = append(append(found, checkParts(ask, f)...), checkNeverSynced(d, app, f)...)
	found = slices.DeleteFunc(found, func(f Finding) bool {
		return f.Outcome == NotAssessed && slices.Contains(clusterKnows(), f.Rule) // no file can tell
	})
	r.App = app.App // by its own name the policy accepts
	unknown := unassessable(app, f)
	if openText(app.App.Name) && len(f.Updaters) > 0 && !slices.ContainsFunc(found, func(f Finding) bool { return f.Rule == RuleImageUpdaterCR }) {
		unknown[RuleImageUpdaterCR] = fmt.Sprintf("whether an ImageUpdater takes %s: its name has a placeholder", f.App)
	}
	var fs []FileFinding
	for _, finding := range found {
		if _, is := unknown[finding.Rule]; is {
			continue
		}
		if finding.Rule == RuleAutoSyncOff && app.SwitchedOff && !ask.Version.Known() {
			finding.Message += " (enabled: false counts from Argo CD 3.1 on; before, automated sync is on)"
		}
		fs = append(fs, FileFinding{Finding: waive(finding, r), Pos: d.pos(d.placeOf(finding.Rule, app, r)...)})
	}
	for _, rule := range Rules() {
		if why := unknown[rule.ID]; why != "" {
			fs = append(fs, FileFinding{Finding: notAssessed(rule.ID, why), Pos: d.pos(d.placeOf(rule.ID, app, r)...), Open: true})
		}
	}
	return onePrune(fs)
}

// checkNeverSynced holds auto-sync-off of what a RollingSync leaves out: it takes
// automated sync off all, and syncs only what a step matches.
func checkNeverSynced(d Declared, app Planned, f Facts) []Finding {
	if d.Set == nil || !d.Set.RollingSync || d.Rollout == nil {
		return nil
	}
	for _, s := range d.Rollout.Steps {
		held := s.Max.Given && s.Max.Broken == "" && s.Max.Number <= 0
		is := s.selects(app.Labels, app.unsure())
		if is == verdict.Yes && held { // the first step that matches counts
			break
		}
		if is != verdict.No && !held {
			return nil
		}
	}
	return []Finding{found(RuleAutoSyncOff, Refuse, "no step of the RollingSync syncs %s by itself", f.App)}
}

// notAssessed is found in a place where found is a list.
func notAssessed(rule, why string) Finding { return found(rule, NotAssessed, "%s", why) }

// checkParts holds app-of-apps: files that declare Applications lie in what the
// Application deploys.
func checkParts(ask FileAsk, f Facts) []Finding {
	for _, s := range ourSources(ask.Request, f) {
		dir := cleanDir(s.Path)
		for _, part := range ask.Parts {
			if s.Path != "" && inside(part, dir) && (s.Recurse || !s.Plain || path.Dir(part) == dir) {
				return []Finding{found(RuleAppOfApps, Warned, "%s deploys other Applications (%s), and is healthy whatever becomes of them", f.App, list([]string{part}))}
			}
		}
	}
	return nil
}

// onePrune leaves prune out where appset-prune says as much of the same field.
func onePrune(fs []FileFinding) []FileFinding {
	return slices.DeleteFunc(fs, func(f FileFinding) bool {
		return f.Rule == RulePrune && slices.ContainsFunc(fs, func(g FileFinding) bool { return g.Rule == RuleAppSetPrune && g.Outcome == f.Outcome })
	})
}

// unassessable says of rules why a file does not tell what they ask: because of
// placeholders, or of what is written over a template. An empty reason is the
// same as another rule's.
func unassessable(app Planned, f Facts) map[string]string {
	unknown := map[string]string{}
	because := func(rule, format string, args ...any) {
		unknown[rule] = fmt.Sprintf(asksWhat()[rule], f.App) + ": " + fmt.Sprintf(format, args...)
	}
	for rule, words := range writtenOver() {
		if app.Over.says(words...) {
			because(rule, "a templatePatch or a generator's template writes over it, which is not evaluated")
		}
	}
	for _, s := range f.Sources {
		if s.Kind == verdict.SourceGit && openText(s.RepoURL) {
			because(RuleRepository, "a repoURL is %q", clip(s.RepoURL))
			unknown[RuleSourceType] = ""
		}
		if openText(s.TargetRevision) {
			because(RuleTargetRevision, "a targetRevision is %q", clip(s.TargetRevision))
		}
		if openText(s.Chart) {
			because(RuleSourceType, "a chart is %q", clip(s.Chart))
		}
	}
	for _, key := range app.Open {
		switch {
		case strings.HasSuffix(key, "/skip-reconcile"):
			because(RuleSkipReconcile, "the annotation is a placeholder")
		case strings.HasPrefix(key, "argocd-image-updater."):
			because(RuleImageUpdater, "an annotation is a placeholder")
		}
	}
	return unknown
}

// asksWhat says what a rule asks, for where there is no answer.
func asksWhat() map[string]string {
	return map[string]string{
		RuleSourceType: "whether %s has a plain git source", RuleRepository: "whether %s uses this repository", RuleTargetRevision: "which branch %s follows",
		RuleHydrator: "whether %s is hydrated", RuleAutoSyncOff: "whether %s syncs by itself", RuleSkipReconcile: "whether %s is reconciled",
		RuleImageUpdater: "what Image Updater does with %s", RuleRetryStale: "how %s retries", RuleReplace: "with which options %s is synced",
	}
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
