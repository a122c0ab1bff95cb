package verdict

import (
	"fmt"
	"strings"
	"time"
)

// Tri is an answer that may be missing. The zero value is Unknown: whoever
// forgets to ask gets "not known", never "no".
type Tri uint8

// The three answers.
const (
	Unknown Tri = iota
	No
	Yes
)

func (t Tri) String() string {
	switch t {
	case No:
		return "no"
	case Yes:
		return "yes"
	default:
		return "unknown"
	}
}

// TriOf turns a known answer into a Tri.
func TriOf(b bool) Tri {
	if b {
		return Yes
	}
	return No
}

// App names an Application. An empty Namespace matches an Application of that
// name in any namespace, as a trailer that says only `app=web` does.
type App struct{ Namespace, Name string }

// ParseApp reads `name` or `namespace/name` (Argo CD's qualified name).
func ParseApp(s string) (App, error) {
	ns, name, qualified := strings.Cut(s, "/")
	if !qualified {
		ns, name = "", s
	}
	if name == "" || (qualified && ns == "") || strings.Contains(name, "/") {
		return App{}, fmt.Errorf("application name %q is neither NAME nor NAMESPACE/NAME", s)
	}
	return App{Namespace: ns, Name: name}, nil
}

func (a App) String() string {
	if a.Namespace == "" {
		return a.Name
	}
	return a.Namespace + "/" + a.Name
}

// Matches reports whether a, as a person wrote it, names the Application b.
func (a App) Matches(b App) bool {
	return a.Name == b.Name && (a.Namespace == "" || b.Namespace == "" || a.Namespace == b.Namespace)
}

// SourceKind tells what a source of an Application is (argocd-facts 3.2).
type SourceKind uint8

// The kinds. The zero value is a plain git source.
const (
	SourceGit   SourceKind = iota
	SourceChart            // spec.source.chart is set (Helm repository or Helm in OCI)
	SourceOCI              // repoURL starts with oci://
)

func (k SourceKind) String() string {
	switch k {
	case SourceChart:
		return "chart"
	case SourceOCI:
		return "oci"
	default:
		return "git"
	}
}

// Source is one source of an Application as its spec, or a snapshot of its
// spec, says it.
type Source struct {
	Kind           SourceKind
	RepoURL        string
	Path           string // relative to the root, "" when the source has none
	TargetRevision string
	Chart          string
	Ref            string // the name of a `ref` ("$values") source
	// Plain says that the manifests are the YAML files below Path themselves:
	// no Helm, Kustomize, Jsonnet, plugin, include or exclude is named.
	Plain bool
	// Recurse is directory.recurse: without it only the files directly in Path
	// are manifests of a Plain source, not those in folders below it.
	Recurse bool
	// GeneratePaths are the manifest-generate-paths of the Application that
	// apply to this source, made absolute ("/apps/web"), R17.
	GeneratePaths []string
}

// Revision is a source together with the revision that something (a
// comparison, an operation, an entry of the history) resolved it to. Rev is as
// Argo CD wrote it: it may be empty, a raw ref, a chart version or a digest.
type Revision struct {
	Source Source
	Rev    string
}

// Phases of an operation, Argo CD's own words.
const (
	PhaseRunning     = "Running"
	PhaseTerminating = "Terminating"
	PhaseSucceeded   = "Succeeded"
	PhaseFailed      = "Failed"
	PhaseError       = "Error"
)

// Words of status.sync.status and status.health.status.
const (
	Synced      = "Synced"
	OutOfSync   = "OutOfSync"
	SyncUnknown = "Unknown"

	Healthy           = "Healthy"
	Suspended         = "Suspended"
	HealthProgressing = "Progressing"
	HealthMissing     = "Missing"
	HealthDegraded    = "Degraded"
	HealthUnknown     = "Unknown"
)

// Operation is status.operationState together with .operation.
type Operation struct {
	Requested bool // .operation is there: requested or running
	Present   bool // .status.operationState is there

	Phase      string
	StartedAt  time.Time // zero when absent
	FinishedAt time.Time // zero when absent; a retry that runs again has none
	RetryCount int64
	RetryLimit int64 // of the operation itself; negative is without limit
	Message    string

	DryRun    bool // operation.sync.dryRun
	Local     bool // operation.sync.manifests: `argocd app sync --local`
	Selective bool // operation.sync.resources: selective sync or self-heal
	AutoHeal  bool // operation.sync.autoHealAttemptsCount > 0
	Automated bool // operation.initiatedBy.automated
	Username  string

	// Revisions is syncResult's (aligned with syncResult.sources); where that
	// is absent or empty, operation.sync's. HasResult tells which.
	Revisions []Revision
	HasResult bool
	Resources []OperationResource
}

// Full reports whether the operation applies whole manifests of a revision
// from Git: not a dry run, not local manifests, not selective (R10).
func (o Operation) Full() bool { return o.Present && !o.DryRun && !o.Local && !o.Selective }

// blocked reports whether a sync window keeps the operation from going on; one
// without a result has tried nothing yet (row 12 of table 2.2).
func (o Operation) blocked() bool {
	return o.Present && !o.Completed() && strings.Contains(o.Message, "blocked by sync window")
}

// Completed reports whether the phase is a final one.
func (o Operation) Completed() bool {
	return o.Phase == PhaseSucceeded || o.Phase == PhaseFailed || o.Phase == PhaseError
}

// Retrying reports whether the operation has failed at least once and is
// retried: either it waits (phase Running with finishedAt) or it runs again.
func (o Operation) Retrying() bool {
	return o.Present && o.Phase == PhaseRunning && o.RetryCount > 0
}

// ObjectID names an object of the cluster.
type ObjectID struct{ Group, Kind, Namespace, Name string }

func (o ObjectID) String() string {
	k := o.Kind
	if o.Group != "" {
		k = o.Group + "/" + k
	}
	if o.Namespace == "" {
		return k + " " + o.Name
	}
	return k + " " + o.Namespace + "/" + o.Name
}

// OperationResource is an entry of syncResult.resources.
type OperationResource struct {
	ObjectID
	Status    string // Synced, SyncFailed, Pruned, PruneSkipped
	HookType  string
	HookPhase string
	SyncPhase string
	Message   string
}

// Resource is an entry of status.resources.
type Resource struct {
	ObjectID
	Status          string // empty for hooks
	Health          string // empty: not stored, or the kind has no check
	HealthMessage   string
	Hook            bool
	RequiresPruning bool
}

// Condition is an entry of status.conditions. Presence means active.
type Condition struct {
	Type, Message string
	Since         time.Time // lastTransitionTime, zero when absent
}

// Failure reports whether the condition is an error rather than a warning
// (R19, R22: the suffix of its type tells).
func (c Condition) Failure() bool { return strings.HasSuffix(c.Type, "Error") }

// Hydration is what Argo CD's source hydrator says of itself (R18): HydratedSHA,
// on the branch that is synced, was made of DrySHA, on the branch where commits
// are made. Both are of the last successful hydration and may be empty.
type Hydration struct {
	DrySHA, HydratedSHA string
	Phase               string // of the current one: Hydrating, Hydrated, Failed
	Message             string
}

// HistoryEntry is the newest entry of status.history.
type HistoryEntry struct {
	ID         int64
	DeployedAt time.Time
	Revisions  []Revision
}

// Look is one look at one Application: what its fields say, translated, not
// judged. Times in it but At are the cluster's; At is the daemon's.
type Look struct {
	App    App
	UID    string
	At     time.Time
	Direct bool // read from the API server itself, not from a cache

	Absent        bool // the source of Applications can be read and has none of this name
	Deleting      bool // metadata.deletionTimestamp
	SkipReconcile bool // annotation argocd.argoproj.io/skip-reconcile: "true"
	// RefreshPending: annotation argocd.argoproj.io/refresh, a full comparison
	// is asked for and not done yet.
	RefreshPending bool

	Project  string
	Spec     []Source // spec.source(s); the dry source where there is a hydrator
	Hydrator bool     // spec.sourceHydrator is set
	// Hydration is nil without a hydrator. With one, Compared and the operation
	// speak of the hydrated branch, which never contains a dry commit.
	Hydration *Hydration
	AutoSync  bool // syncPolicy.automated is there and not enabled: false
	// RollingSync: an ApplicationSet owns the Application, so that auto-sync
	// that is off may be a progressive sync's doing.
	OwnedBySet bool

	HasStatus   bool
	SyncStatus  string
	Compared    []Revision // sync.comparedTo's sources with sync.revision(s)
	SpecChanged string     // R4: how sync.comparedTo differs from the spec; empty if not
	SpecDigest  string     // of the sources and the destination, as the spec has them

	Health        string
	HealthMessage string    // 3.6: the resources that cause it
	HealthSince   time.Time // health.lastTransitionTime, zero when absent
	HealthInline  bool      // status.resourceHealthSource is empty

	Resources    []Resource
	Children     []App // child Applications among the resources
	AppOfApps    bool  // status.summary.isAppOfApps
	ReconciledAt time.Time
	Operation    Operation
	History      *HistoryEntry
	Conditions   []Condition
	SourceTypes  []string // status.sourceType(s): Directory, Helm, Kustomize, Plugin
}
