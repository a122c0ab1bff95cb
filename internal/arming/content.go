package arming

import (
	"time"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// ContentAsk says which manifests are compared.
type ContentAsk struct {
	Sources []verdict.Source // of the Application, in this repository
	At      string           // the revision: a commit, or a tip
	// Back is the revision before it, At's first parent; Changed are all paths in
	// which they differ, nil: that is not said.
	Back    string
	Changed []string
	// Over stands in the place of Back where the question is what a revert on the
	// tip takes away: contents by path, "": none.
	Over map[string]string
}

// Content is what the plain manifests of an Application hold, at the commit that
// is checked. Just before a revert it is of the branch's tip, and Removed is
// what the revert, put on that tip, takes away.
type Content struct {
	Unknown string // why the manifests cannot be read; empty: they were
	Objects []Object
	// Removed are the objects that a revert deletes, compared by group, kind,
	// namespace and name.
	Removed []verdict.ObjectID
}

// Object is what the rules ask of one manifest.
type Object struct {
	ID      verdict.ObjectID
	Changed bool     // by the commit
	Images  []string // of its containers
	// Replicas: spec.replicas is written.
	Replicas bool
	// Scales is what a HorizontalPodAutoscaler scales.
	Scales *verdict.ObjectID
	// ProgressDeadline of a Deployment, Kubernetes' default where none is
	// written; zero of any other kind.
	ProgressDeadline time.Duration
	SyncOptions      []string // of the annotation argocd.argoproj.io/sync-options
}

// deletes reports whether a revert removes objects: Unknown where the manifests
// are not known.
func (c *Content) deletes() verdict.Tri {
	if c == nil || c.Unknown != "" {
		return verdict.Unknown
	}
	return verdict.TriOf(len(c.Removed) > 0)
}

// changed reports whether any object that a test fits is changed by the commit.
func (c *Content) find(fits func(Object) bool) (out []Object) {
	if c == nil || c.Unknown != "" {
		return nil
	}
	for _, o := range c.Objects {
		if fits(o) {
			out = append(out, o)
		}
	}
	return out
}
