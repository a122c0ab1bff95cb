package argosim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// Self-heal waits longer before each attempt at the same revision, and forgets
// after a while (the controller's --self-heal-backoff-* defaults).
const (
	healBackoff  = 2 * time.Second
	healFactor   = 3
	healCap      = 300 * time.Second
	healCooldown = 330 * time.Second
	autoRetries  = 5
)

// autoSync asks for an operation where Argo CD would (appcontroller.go,
// autoSync), in the same order of reasons not to. The condition is SyncError.
func (s *Sim) autoSync(a *app, c *comparison, t time.Time) (cond *condition, asked bool, err error) {
	auto := a.object.Spec.automated()
	if auto == nil || a.object.Operation != nil || a.orphaned || c.sync.Status != verdict.OutOfSync {
		return nil, false, nil
	}
	if !auto.Prune && c.pruneOnly() {
		return nil, false, nil
	}
	op := operation{InitiatedBy: initiator{Automated: true}, Retry: Retry{Limit: autoRetries}}
	if p := a.object.Spec.SyncPolicy; p.Retry != nil {
		op.Retry = *p.Retry
	}
	op.Sync = a.object.Spec.operationFor(c.revisions)
	op.Sync.Prune = auto.Prune
	if a.attempted(c.revisions) {
		st := a.object.Status.OperationState
		switch {
		case st.Phase != verdict.PhaseSucceeded:
			return &condition{Type: "SyncError", Message: fmt.Sprintf("Failed last sync attempt to [%s]: %s", strings.Join(c.revisions, " "), st.Message)}, false, nil
		case !auto.SelfHeal:
			return nil, false, nil
		}
		wait, attempts, err := a.healWait(t)
		if err != nil {
			return nil, false, err
		}
		if wait > 0 {
			s.refreshAfter(a, wait, levelLatest)
			return nil, false, nil
		}
		op.Sync.AutoHealAttempts = attempts + 1
		op.Sync.Resources = c.notSynced()
	}
	if auto.Prune && !auto.AllowEmpty && c.wipesOut() {
		return &condition{Type: "SyncError", Message: fmt.Sprintf("Skipping sync attempt to [%s]: auto-sync will wipe out all resources", strings.Join(c.revisions, " "))}, false, nil
	}
	s.ask(a, op)
	return nil, true, nil
}

// pruneOnly: nothing is OutOfSync but what would have to be deleted.
func (c *comparison) pruneOnly() bool {
	return !slices.ContainsFunc(c.resources, func(r resource) bool {
		return r.Status != verdict.Synced && !r.RequiresPruning
	})
}

func (c *comparison) wipesOut() bool {
	return !slices.ContainsFunc(c.resources, func(r resource) bool { return !r.RequiresPruning })
}

func (c *comparison) notSynced() []resourceID {
	var out []resourceID
	for _, r := range c.resources {
		if r.Status != verdict.Synced {
			out = append(out, resourceID{Group: r.Group, Kind: r.Kind, Name: r.Name})
		}
	}
	return out
}

// attempted says whether the last operation was at these revisions of these
// sources already (alreadyAttemptedSync).
func (a *app) attempted(revisions []string) bool {
	st := a.object.Status
	if st == nil || st.OperationState == nil || st.OperationState.SyncResult == nil {
		return false
	}
	res := st.OperationState.SyncResult
	if a.object.Spec.multi() {
		return slices.Equal(res.Revisions, revisions) && slices.EqualFunc(res.Sources, a.object.Spec.Sources, sameSource)
	}
	return len(revisions) == 1 && res.Revision == revisions[0] && sameSource(res.Source, *a.object.Spec.Source)
}

func sameSource(a, b Source) bool {
	recurse := func(s Source) bool { return s.Directory != nil && s.Directory.Recurse }
	same := recurse(a) == recurse(b)
	a.Directory, b.Directory = nil, nil
	return same && a == b
}

// healWait is how long self-heal has to wait yet, and how many attempts at
// this revision there were (shouldSelfHeal).
func (a *app) healWait(t time.Time) (time.Duration, int64, error) {
	st := a.object.Status.OperationState
	finished, err := time.Parse(time.RFC3339, st.FinishedAt)
	if err != nil {
		return 0, 0, fmt.Errorf("reading finishedAt: %w", err)
	}
	since, attempts := t.Sub(finished), st.Operation.Sync.AutoHealAttempts
	if since >= healCooldown && a.object.Status.Sync.Status == verdict.Synced {
		attempts = 0
	}
	if attempts == 0 {
		return 0, 0, nil
	}
	wait := healBackoff
	for n := attempts; n > 1 && wait < healCap; n-- {
		wait *= healFactor
	}
	return min(wait, healCap) - since, attempts, nil
}

// operationFor is the sync of an operation at revisions, one for each source.
func (sp spec) operationFor(revisions []string) syncOperation {
	if sp.multi() {
		return syncOperation{Revisions: slices.Clone(revisions), Sources: slices.Clone(sp.Sources)}
	}
	src := *sp.Source
	return syncOperation{Revision: revisions[0], Source: &src}
}

// ask writes .operation, and in the same update takes operationState away
// (SetAppOperation).
func (s *Sim) ask(a *app, op operation) {
	a.object.Operation = &op
	a.status().OperationState = nil
	s.emit(a)
	s.begin(a, &op)
}
