package arming

// Ids of the arming rules. They are stable: policies name them in `accept`,
// notes and findings carry them, docs/arming.md explains each.
const (
	RuleNoPolicy          = "no-policy"
	RuleNotAllowed        = "not-allowed"
	RuleNeverPaths        = "never-paths"
	RuleUnknownApp        = "unknown-app"
	RuleManifests         = "manifests-unreadable"
	RuleSourceType        = "source-type"
	RuleRepository        = "repository"
	RuleTargetRevision    = "target-revision"
	RuleHydrator          = "hydrator"
	RuleSkipReconcile     = "skip-reconcile"
	RuleAutoSyncOff       = "auto-sync-off"
	RulePrune             = "prune"
	RuleAppSetPrune       = "appset-prune"
	RuleImageUpdater      = "image-updater"
	RuleImageUpdaterCR    = "image-updater-resource"
	RuleForeignPath       = "foreign-path"
	RuleNothingDeployed   = "nothing-deployed"
	RuleProjectSignatures = "project-signatures"
	RuleProjectWindows    = "project-sync-windows"
	RuleNotHealthy        = "not-healthy"
	RuleCircuitOpen       = "circuit-open"
	RuleWatcherStale      = "watcher-stale"
	RuleDeadlineShort     = "deadline-short"
	RuleRetryStale        = "retry-stale"
	RuleAppOfApps         = "app-of-apps"
	RuleMovingImage       = "moving-image"
	RuleReplicas          = "replicas-fought-over"
	RuleIgnored           = "ignored-differences"
	RuleReplace           = "replace-or-force"

	// GateRelated is no arming rule but a gate (design, section 6), which a
	// policy may waive for an Application like a rule.
	GateRelated = "related"
)

// WhenDeletesNothing is the condition that an accept of the rules prune and
// appset-prune may carry.
const WhenDeletesNothing = "deletes-nothing"

// Rule describes an arming rule.
type Rule struct {
	ID string
	// Waivable: a policy's accept may waive the rule. Rules that say who may
	// arm, or that a revert in this repository could not reach the Application
	// or not be judged there, cannot be waived: that would not make it so.
	Waivable bool
	Hint     string // what to do about a refusal
}

// Rules lists the arming rules in the order in which they are checked.
func Rules() []Rule {
	return []Rule{
		{RuleNoPolicy, false, "have a .nav-watchdog.yaml with an arm.allow entry on the default branch, or use mode=shadow"},
		{RuleNotAllowed, false, "let somebody push it whom arm.allow names for this app, ask an owner of the policy, or use mode=shadow"},
		{RuleNeverPaths, true, "put these paths into a commit of their own without mode=arm, or use mode=shadow"},
		{RuleUnknownApp, false, "check the name (NAME or NAMESPACE/NAME); an Application that does not exist yet can only be watched with mode=shadow"},
		{RuleManifests, false, "mend the file, or take it out of the policy's manifests"},
		{RuleSourceType, false, "watch the Application that deploys from Git; what a chart or OCI artifact deploys is taken back where its version is set"},
		{RuleRepository, false, "if one of these addresses is this repository, list it under repositories in the policy; otherwise watch from the repository that the app uses"},
		{RuleTargetRevision, false, "let the source follow the branch (targetRevision: BRANCH), or watch on the branch that it follows"},
		{RuleHydrator, false, "use mode=shadow: the cluster follows hydrated commits, of which this one is no ancestor"},
		{RuleSkipReconcile, false, "remove the annotation argocd.argoproj.io/skip-reconcile: while it is there nothing is deployed, a revert neither"},
		{RuleAutoSyncOff, true, "enable spec.syncPolicy.automated: without it Argo CD would not deploy the revert"},
		{RulePrune, true, "turn spec.syncPolicy.automated.prune off (with enabled: false too): with it, a revert deletes what the commit added"},
		{RuleAppSetPrune, true, "turn automated.prune off in the ApplicationSet's template; a RollingSync prunes by that"},
		{RuleImageUpdater, true, "use write-back-method: git, and leave the file that it writes out of the commit"},
		{RuleImageUpdaterCR, true, "write method: git into the ImageUpdater resource, and leave the file that it writes out of the commit"},
		{RuleForeignPath, true, "name the other apps in trailers of their own, or split the commit"},
		{RuleNothingDeployed, true, "name the app that deploys what the commit changes, or leave the trailer out"},
		{RuleProjectSignatures, true, "let the watcher sign with a key that the AppProject names; an unsigned revert would not be synced"},
		{RuleProjectWindows, true, "look at the AppProject's syncWindows; a revert pushed into a closed one waits until it opens"},
		{RuleNotHealthy, false, "mend the app first, without mode=arm: a revert is only made where the app was healthy and synced before"},
		{RuleCircuitOpen, false, "find out why its last commits failed, then close it: navwatchd circuit reset APP --reason REASON"},
		{RuleWatcherStale, false, "look whether navwatchd runs: nobody would take the commit back"},
		{RuleDeadlineShort, true, "give the trailer a longer deadline, or the workload a shorter progressDeadlineSeconds"},
		{RuleRetryStale, true, "set spec.syncPolicy.retry.refresh: true (Argo CD 3.2), or a small retry.limit: a retry applies the bad revision again"},
		{RuleAppOfApps, true, "name the app that deploys the workload: its parent is healthy whatever becomes of it"},
		{RuleMovingImage, true, "write the version of the image in full, or its digest"},
		{RuleReplicas, true, "leave spec.replicas out of the manifest, or add it to the app's ignoreDifferences"},
		{RuleIgnored, true, "take what the commit changes out of spec.ignoreDifferences, or do not arm it"},
		{RuleReplace, true, "leave Replace=true and Force=true out: with them a revert deletes objects and makes them anew"},
	}
}

// Waivable lists what a policy's accept may name: the waivable rules, and the
// gate related.
func Waivable() []string {
	ids := make([]string, 0, len(Rules())+1)
	for _, r := range Rules() {
		if r.Waivable {
			ids = append(ids, r.ID)
		}
	}
	return append(ids, GateRelated)
}

func ruleByID(id string) Rule {
	for _, r := range Rules() {
		if r.ID == id {
			return r
		}
	}
	return Rule{ID: id}
}

func ruleOrder() map[string]int {
	order := map[string]int{}
	for i, r := range Rules() {
		order[r.ID] = i
	}
	return order
}
