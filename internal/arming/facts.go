package arming

import (
	"fmt"
	"time"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// Facts is what one place (the live Application, a manifest, the inventory)
// says of an Application and of the objects around it.
type Facts struct {
	App  verdict.App
	From string    // which place, for people: "live", "manifest apps/web.yaml"
	At   time.Time // how old it is; zero when the place has no age
	Line int       // in the file that From names; 0: no file, or not known

	Project       string
	Controller    string // namespace of the Argo CD that controls it; empty: not said
	Labels        map[string]string
	Destination   Destination
	Sources       []verdict.Source
	Ours          []string // addresses that the place knows to be this repository
	Hydrator      bool
	SkipReconcile bool
	AutoSync      bool   // automated is there, and not enabled: false
	Prune         bool   // automated.prune, also with enabled: false
	OwnedBySet    bool   // an ApplicationSet owns it: auto-sync may be off because of RollingSync
	Set           string // the name of that ApplicationSet
	RetryLimit    int64
	RetryRefresh  bool
	SyncOptions   []string // spec.syncPolicy.syncOptions
	Ignored       []Ignored
	ImageUpdater  ImageUpdater

	State *State // what the cluster says of it at the moment; nil: the place does not know

	Template *AppSet     // the ApplicationSet that owns it; nil: not looked at
	Rules    *AppProject // its AppProject, global ones merged; nil: not looked at
	// UpdaterCRD says whether the cluster knows ImageUpdater resources (v1.x);
	// Updaters are those that were found, Unknown: there may be more.
	UpdaterCRD verdict.Tri
	Updaters   []Updater
}

// Destination is spec.destination as it is written.
type Destination struct {
	Name      string `json:"name,omitempty"`
	Server    string `json:"server,omitempty"`
	Namespace string `json:"namespace,omitempty"`
}

// Ignored is an entry of spec.ignoreDifferences. Fields are its JSON pointers,
// jq expressions and managers as they are written.
type Ignored struct {
	Group     string   `json:"group,omitempty"`
	Kind      string   `json:"kind"`
	Namespace string   `json:"namespace,omitempty"`
	Name      string   `json:"name,omitempty"`
	Fields    []string `json:"fields,omitempty"`
}

// State is how an Application stands.
type State struct {
	Sync      string `json:"sync"`
	Health    string `json:"health"`
	Settled   bool   `json:"settled"` // effectively synced (R9) and healthy or suspended, nothing in progress
	AppOfApps bool   `json:"appOfApps,omitempty"`
}

// ImageUpdater is what the annotations say of Argo CD Image Updater (v0.x).
type ImageUpdater struct {
	Managed bool   `json:"managed,omitempty"` // image-list is set
	Method  string `json:"method,omitempty"`  // "argocd" or "git"; whatever else was written is kept as it is
	Said    bool   `json:"said,omitempty"`    // the method was written, not taken by default
	Target  string `json:"target,omitempty"`  // write-back-target as written; empty: not said, or not read
}

// AppSet is an ApplicationSet.
type AppSet struct {
	Namespace   string `json:"namespace,omitempty"`
	Name        string `json:"name"`
	RollingSync bool   `json:"rollingSync,omitempty"`
	Prune       bool   `json:"prune,omitempty"` // the template's automated.prune
	// Patched: what a generator or a templatePatch writes over the template says
	// something of prune, which is not evaluated here.
	Patched bool `json:"patched,omitempty"`
}

// AppProject is an AppProject.
type AppProject struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Signatures says what demands signed commits (spec.signatureKeys or
	// spec.sourceIntegrity); empty: nothing.
	Signatures string   `json:"signatures,omitempty"`
	Windows    []Window `json:"windows,omitempty"`
	// Labels and Global are for global projects: argocd-cm's globalProjects
	// select projects by label. GlobalUnknown: that was not read.
	Labels        map[string]string `json:"labels,omitempty"`
	GlobalUnknown bool              `json:"globalUnknown,omitempty"`
}

// GlobalProject is an entry of argocd-cm's globalProjects: the windows of the
// project count for every project that the selector takes.
type GlobalProject struct {
	Project  string
	Selector Selector
}

// source names the place and how old what it says is.
func (f Facts) source(now time.Time) string {
	if f.At.IsZero() || now.IsZero() {
		return f.From
	}
	age := max(now.Sub(f.At), 0)
	switch {
	case age < time.Second:
		return f.From
	case age < 2*time.Minute:
		return fmt.Sprintf("%s, %ds old", f.From, int(age.Seconds()))
	case age < 2*time.Hour:
		return fmt.Sprintf("%s, %dm old", f.From, int(age.Minutes()))
	}
	return fmt.Sprintf("%s, %dh old", f.From, int(age.Hours()))
}
