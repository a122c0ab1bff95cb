package arming

import (
	"time"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// Facts is what one place (the live Application, a manifest, the inventory)
// says of an Application.
type Facts struct {
	App  verdict.App
	From string    // which place, for people: "live", "manifest apps/web.yaml"
	At   time.Time // how old it is; zero when the place has no age

	Project       string
	Sources       []verdict.Source
	Hydrator      bool
	SkipReconcile bool
	AutoSync      bool // automated is there, and not enabled: false
	Prune         bool // automated.prune, also with enabled: false
	OwnedBySet    bool // an ApplicationSet owns it: auto-sync may be off because of RollingSync
	RetryLimit    int64
	RetryRefresh  bool
	ImageUpdater  ImageUpdater
}

// ImageUpdater is what the annotations say of Argo CD Image Updater (v0.x).
type ImageUpdater struct {
	Managed bool   // image-list is set
	Method  string // "argocd" or "git"; whatever else was written is kept as it is
	Said    bool   // the method was written, not taken by default
	Target  string // write-back-target as written; empty: not said, or not read
}
