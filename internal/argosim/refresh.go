package argosim

import (
	"context"
	"errors"
	"time"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// level is how much a refresh looks at (Argo CD's CompareWith).
type level uint8

const (
	levelRecent level = iota + 1 // a live object changed: the revision compared last
	levelLatest                  // poll, and after an automated operation
	levelForce                   // refresh annotation, changed source, after an operation by hand
)

// refreshAfter asks for a refresh.
func (s *Sim) refreshAfter(a *app, d time.Duration, l level) {
	s.schedule(a, s.now.Add(d), "the refresh", func(ctx context.Context, t time.Time) error {
		return s.refresh(ctx, a, t, l)
	})
}

// pollAfter sets the poll timer anew.
func (s *Sim) pollAfter(a *app, from time.Time) {
	if s.o.Poll < 0 {
		return
	}
	a.pollSeq++
	seq := a.pollSeq
	s.schedule(a, from.Add(s.o.Poll), "the poll", func(ctx context.Context, t time.Time) error {
		if a.pollSeq != seq {
			return nil // a refresh since then
		}
		return s.refresh(ctx, a, t, levelLatest)
	})
}

// refresh is one run of the refresh loop (processAppRefreshQueueItem).
func (s *Sim) refresh(ctx context.Context, a *app, t time.Time, l level) error {
	if a.object.Metadata.Annotations[annotationSkip] == "true" {
		return nil
	}
	if a.patching { // one refresh of an Application at a time
		s.refreshAfter(a, s.o.Delays.Patch, l)
		return nil
	}
	if a.object.Status == nil && l == levelRecent {
		return nil // nothing was compared yet that could be compared again
	}
	c, err := s.compare(ctx, a, t, l)
	if err != nil {
		return err
	}
	if s.quiet(a, c, t, l) {
		s.pollAfter(a, t)
		return nil
	}
	if l >= levelLatest {
		s.pollAfter(a, t)
	}
	var cond *condition
	asked := false
	if !a.window {
		if cond, asked, err = s.autoSync(a, c, t); err != nil {
			return err
		}
	}
	if !asked {
		s.patch(a, c, cond, t, l)
		return nil
	}
	// The operation is visible before the comparison that asked for it.
	a.patching = true
	s.schedule(a, t.Add(s.o.Delays.Patch), "the status", func(context.Context, time.Time) error {
		a.patching = false
		s.patch(a, c, cond, t, l)
		return nil
	})
	return nil
}

// quiet says whether the comparison is dropped: an error of the repository
// that polling found is not written before the grace period is over
// (ErrCompareStateRepo).
func (s *Sim) quiet(a *app, c *comparison, t time.Time, l level) bool {
	var broken *renderError
	if !errors.As(c.failed, &broken) {
		a.repoError = time.Time{}
		return false
	}
	if !a.repoError.IsZero() {
		return l < levelForce && t.Sub(a.repoError) <= s.o.RepoErrorGrace
	}
	if l < levelForce {
		a.repoError = t
	}
	return l < levelForce
}

// patch writes what a comparison found. The times are those at which it began.
func (s *Sim) patch(a *app, c *comparison, syncError *condition, began time.Time, l level) {
	st := a.status()
	st.ControllerNamespace = controllerHome
	st.ResourceHealthSource = "appTree"
	if s.o.InlineHealth {
		st.ResourceHealthSource = ""
	}
	st.Sync = c.sync
	st.Resources = c.resources
	st.SourceType, st.SourceTypes = c.sourceType, c.sourceTypes
	st.Summary = c.summary
	if st.Health.Status != c.health {
		st.Health = health{Status: c.health, LastTransitionTime: stamp(s.now)}
	}
	if l >= levelLatest {
		st.ReconciledAt = stamp(began) // 3.1 and later: before the comparison
	}
	st.Conditions = s.conditions(a, st.Conditions, c.failed, syncError)
	if l >= levelForce {
		delete(a.object.Metadata.Annotations, annotationRefresh)
	}
	s.emit(a)
}

// conditions replaces those that this refresh evaluated. A closed sync window
// leaves SyncError alone, since auto-sync was not asked.
func (s *Sim) conditions(a *app, before []condition, failed error, syncError *condition) []condition {
	var next []condition
	if failed != nil {
		next = append(next, condition{Type: "ComparisonError", Message: failed.Error()})
	}
	switch {
	case syncError != nil:
		next = append(next, *syncError)
	case a.window:
		for _, c := range before {
			if c.Type == "SyncError" {
				next = append(next, c)
			}
		}
	}
	for i, n := range next {
		next[i].LastTransitionTime = stamp(s.now)
		for _, b := range before {
			if b.Type == n.Type && b.Message == n.Message {
				next[i].LastTransitionTime = b.LastTransitionTime
			}
		}
	}
	return next
}

// unknown says that the status of the last comparison says nothing.
func (a *app) unknown() bool {
	return a.object.Status == nil || a.object.Status.Sync.Status == verdict.SyncUnknown || a.object.Status.Sync.Status == ""
}
