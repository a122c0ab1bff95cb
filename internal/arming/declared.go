package arming

import (
	"strings"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// Pos is a place in a file. All count from 1; Col counts bytes, Char
// characters. Zero is not known.
type Pos struct{ Line, Col, Char int }

// Declared is one object of Argo CD or Image Updater as a file declares it,
// without a commit and without a cluster.
type Declared struct {
	Kind string
	App  verdict.App // its name and namespace, of whatever kind it is
	// At finds a field by the keys, and numbers of list items, that lead to it.
	// Of one that is not there it gives the deepest that is on the way, and false.
	At func(path ...string) (Pos, bool)

	// Apps of an Application is itself; of an ApplicationSet what its template
	// makes: every Application where the generators' own text says which, else
	// one in which placeholders stand for what they fill in.
	Apps []Planned
	// Unknown says why Apps are not all that an ApplicationSet makes, or not as
	// they will be; empty: they are.
	Unknown string
	// Partial: there is no source in it, or no template: a patch, perhaps.
	Partial bool

	Set     *AppSet
	Rollout *Rollout
	Project *AppProject
	Updater *Updater
}

// Planned is an Application that a file declares or makes.
type Planned struct {
	Facts
	Multi       bool // it has a list of sources
	Automated   bool // automated is there, whatever it says
	SwitchedOff bool // automated.enabled: false is written
	SelfHeal    bool
	Over        Over
	// Open are the annotations whose value a placeholder stands for.
	Open []string
}

// Over is what is written over a template: a templatePatch, and templates of
// generators. It is searched for words, not evaluated.
type Over struct {
	Text   string
	Opaque bool // a placeholder in it may stand for any fields
}

// says reports whether one of the words may be among what is written over.
func (o Over) says(words ...string) bool {
	for _, w := range words {
		if o.Opaque || strings.Contains(o.Text, w) {
			return true
		}
	}
	return false
}

// open reports whether a placeholder stands in a text: {{name}} or {{ .name }}.
func openText(s string) bool { return strings.Contains(s, "{{") }

// FileFinding is what a rule says of an object in a file.
type FileFinding struct {
	Finding
	Pos
	Own   bool // a rule about files, not about arming
	Wrong bool // whatever anybody wants; only of Own
	Some  bool // only of some of the Applications that an ApplicationSet makes
	Open  bool // not assessed because of a placeholder, or of what is written over a template
}

// FileRule describes a rule about manifests.
type FileRule struct {
	ID, Severity, Summary, Hint string
}

// Ids of the rules about manifests. They are stable; docs/rules.md explains each.
const (
	RuleSyntax        = "manifest-syntax"
	RuleSkipped       = "manifest-skipped"
	RuleTwice         = "manifest-twice"
	RulePartial       = "manifest-partial"
	RuleSyncWindow    = "sync-window-broken"
	RuleVersion       = "argocd-version"
	RuleRolloutSteps  = "rolling-sync-steps"
	RuleRolloutTerm   = "rolling-sync-operator"
	RuleRolloutNone   = "rolling-sync-no-match"
	RuleRolloutLeft   = "rolling-sync-unmatched"
	RuleRolloutAll    = "rolling-sync-at-once"
	RuleRolloutHeld   = "rolling-sync-held"
	RuleRolloutMax    = "rolling-sync-max-update"
	RuleRolloutByHand = "rolling-sync-auto-sync"
)

// FileRules lists the rules about manifests in the order of docs/rules.md.
func FileRules() []FileRule {
	const failing, warns, tells = "error", "warning", "note"
	return []FileRule{
		{RuleSyntax, failing, "an object of Argo CD that cannot be read", "mend the file; kubectl apply --dry-run=server shows what the cluster says of it"},
		{RuleSkipped, tells, "a file that was not looked at", "render it first, and check what comes out: helm template CHART | navlint manifests -"},
		{RuleTwice, failing, "the same object twice in a file", "remove one of them: only the last is applied"},
		{RulePartial, tells, "an object that is only a part of one", "check what the whole is rendered to: kustomize build DIR | navlint manifests -"},
		{RuleSyncWindow, failing, "a sync window that cannot be read", "five fields of cron, and a duration such as 8h; Argo CD syncs nothing that a broken window matches"},
		{RuleVersion, failing, "a field that the Argo CD version does not know", "leave the field out, or let Argo CD be updated first: a version that does not know a field drops it without a word"},
		{RuleRolloutSteps, failing, "a RollingSync without steps, or steps without RollingSync", "have spec.strategy.type: RollingSync and at least one entry in spec.strategy.rollingSync.steps"},
		{RuleRolloutTerm, failing, "an operator that RollingSync does not know", "use In or NotIn: a step knows no other operator"},
		{RuleRolloutNone, failing, "a step that matches no Application", "steps see the labels of the Applications, not those of clusters: set them in spec.template.metadata.labels"},
		{RuleRolloutLeft, warns, "Applications that no step matches", "add a step for them: the ApplicationSet never syncs what no step matches"},
		{RuleRolloutAll, warns, "a step that syncs all its Applications at once", "set maxUpdate, such as 1 or 25%; maxUpdate: 100% says that it is meant"},
		{RuleRolloutHeld, warns, "a step that syncs nothing by itself", "with maxUpdate: 0 somebody must sync them by hand, and the later steps wait until then"},
		{RuleRolloutMax, failing, "a maxUpdate that is neither a number nor a percentage", "write maxUpdate: 2, or maxUpdate: 25%; what is neither holds nothing back"},
		{RuleRolloutByHand, warns, "Applications of a RollingSync that do not sync by themselves", "a RollingSync works only where the ApplicationSet controller has progressive syncs enabled"},
	}
}

func fileRule(id string) FileRule {
	for _, r := range FileRules() {
		if r.ID == id {
			return r
		}
	}
	return FileRule{ID: id}
}
