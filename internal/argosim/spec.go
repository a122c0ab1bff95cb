package argosim

import (
	"fmt"
	"strings"
	"time"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// AppSpec says what an Application is, in the words of a scenario. Fields that
// are left out get what a first Application usually has.
type AppSpec struct {
	Name      string
	Namespace string // default "argocd"
	Project   string // default "default"
	// DestNamespace is where the objects live; default "demo-NAME".
	DestNamespace string
	Annotations   map[string]string
	// Sources with one entry make a single-source Application, more make a
	// multi-source one. A source without RepoURL (and without Chart) is one of
	// the repository that New was given.
	Sources []Source
	// Automated nil is auto-sync off.
	Automated *Automated
	// Retry nil lets an automated operation retry five times, as Argo CD does.
	Retry        *Retry
	HistoryLimit *int // default 10
}

// Source is spec.source, or an entry of spec.sources.
type Source struct {
	Chart          string     `json:"chart,omitempty"`
	Directory      *Directory `json:"directory,omitempty"`
	Path           string     `json:"path,omitempty"`
	Ref            string     `json:"ref,omitempty"`
	RepoURL        string     `json:"repoURL"`
	TargetRevision string     `json:"targetRevision,omitempty"`
}

// Directory is spec.source.directory. Without Recurse only the files directly
// below the path are manifests.
type Directory struct {
	Recurse bool `json:"recurse,omitempty"`
}

// Automated is spec.syncPolicy.automated.
type Automated struct {
	AllowEmpty bool  `json:"allowEmpty,omitempty"`
	Enabled    *bool `json:"enabled,omitempty"` // nil is true (3.1 and later)
	Prune      bool  `json:"prune,omitempty"`
	SelfHeal   bool  `json:"selfHeal,omitempty"`
}

// Retry is spec.syncPolicy.retry and operation.retry.
type Retry struct {
	Backoff *Backoff `json:"backoff,omitempty"`
	Limit   int64    `json:"limit,omitempty"` // negative is without limit
	// Refresh lets a retry take the newest revision (3.2 and later).
	Refresh bool `json:"refresh,omitempty"`
}

// Backoff is the waiting between retries; durations are Go's ("5s").
type Backoff struct {
	Duration    string `json:"duration,omitempty"`    // default 5s
	Factor      int64  `json:"factor,omitempty"`      // default 2
	MaxDuration string `json:"maxDuration,omitempty"` // default 3m
}

// wait is how long the retry of that number waits after the failure before it:
// duration x factor^n, at most maxDuration. (Recorded: 10 s, then 20 s, with a
// duration of 5 s.)
func (r Retry) wait(n int64) (time.Duration, error) {
	b := Backoff{Duration: "5s", Factor: 2, MaxDuration: "3m"}
	if r.Backoff != nil {
		if r.Backoff.Duration != "" {
			b.Duration = r.Backoff.Duration
		}
		if r.Backoff.Factor > 0 {
			b.Factor = r.Backoff.Factor
		}
		if r.Backoff.MaxDuration != "" {
			b.MaxDuration = r.Backoff.MaxDuration
		}
	}
	d, err := time.ParseDuration(b.Duration)
	if err != nil {
		return 0, fmt.Errorf("reading retry.backoff.duration: %w", err)
	}
	limit, err := time.ParseDuration(b.MaxDuration)
	if err != nil {
		return 0, fmt.Errorf("reading retry.backoff.maxDuration: %w", err)
	}
	for ; n > 0 && d < limit; n-- {
		if int64(d) > int64(limit)/b.Factor {
			return max(limit, 0), nil // and no overflow
		}
		d *= time.Duration(b.Factor)
	}
	return max(min(d, limit), 0), nil
}

const (
	inCluster      = "https://kubernetes.default.svc"
	controllerHome = "argocd"
	defaultHistory = 10
	maxSources     = 32
)

// shape turns the words into the fields of the object.
func (w AppSpec) shape(repoURL string) (verdict.App, spec, error) {
	id := verdict.App{Namespace: orElse(w.Namespace, controllerHome), Name: w.Name}
	if w.Name == "" || strings.Contains(w.Name, "/") {
		return id, spec{}, fmt.Errorf("adding an application: bad name %q", w.Name)
	}
	if len(w.Sources) == 0 || len(w.Sources) > maxSources {
		return id, spec{}, fmt.Errorf("adding application %s: %d sources, want 1 to %d", id, len(w.Sources), maxSources)
	}
	sp := spec{
		Destination:  destination{Namespace: orElse(w.DestNamespace, "demo-"+w.Name), Server: inCluster},
		Project:      orElse(w.Project, "default"),
		HistoryLimit: w.HistoryLimit,
	}
	sources := make([]Source, len(w.Sources))
	for i, src := range w.Sources {
		if src.RepoURL == "" && src.Chart == "" {
			src.RepoURL = repoURL
		}
		sources[i] = src
	}
	if len(sources) == 1 {
		sp.Source = &sources[0]
	} else {
		sp.Sources = sources
	}
	if w.Automated != nil || w.Retry != nil {
		sp.SyncPolicy = &syncPolicy{Retry: w.Retry}
		if w.Automated != nil {
			auto := *w.Automated
			sp.SyncPolicy.Automated = &auto
		}
	}
	return id, sp, nil
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
