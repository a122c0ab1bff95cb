package argosim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// run is an operation under way. It is dropped when somebody takes the
// operation away; what it had scheduled then does nothing.
type run struct {
	op      *operation
	attempt int64
	result  *syncResult
	hooks   []manifest // those of the target, all phases
}

// begin lets the operation loop pick up what was asked for.
func (s *Sim) begin(a *app, op *operation) {
	r := &run{op: op}
	a.op = r
	s.later(a, r, s.o.Delays.Pickup, func(context.Context, time.Time) error {
		a.status().OperationState = &operationState{Operation: *op, Phase: verdict.PhaseRunning, StartedAt: stamp(s.now)}
		s.emit(a)
		if a.orphanNext {
			s.orphan(a)
			return nil
		}
		s.later(a, r, s.o.Delays.Apply, func(ctx context.Context, t time.Time) error { return s.attempt(ctx, a, r, t) })
		return nil
	})
}

// later schedules a step of r, which is void once r is not under way.
func (s *Sim) later(a *app, r *run, d time.Duration, step func(context.Context, time.Time) error) {
	s.schedule(a, s.now.Add(d), "the operation", func(ctx context.Context, t time.Time) error {
		if a.op != r {
			return nil
		}
		return step(ctx, t)
	})
}

// attempt is one try: compare at the operation's revision, then apply.
func (s *Sim) attempt(ctx context.Context, a *app, r *run, t time.Time) error {
	sp, asked := a.object.Spec, []string{r.op.Sync.Revision}
	sp.Source, sp.Sources = r.op.Sync.Source, r.op.Sync.Sources
	if sp.multi() {
		asked = slices.Clone(r.op.Sync.Revisions)
	}
	if r.op.Retry.Refresh && r.attempt > 0 {
		for i, src := range sp.sources() {
			asked[i] = src.TargetRevision
		}
	}
	if a.opError != "" {
		r.result = sp.resultFor(asked)
		s.failed(a, r, verdict.PhaseError, a.opError)
		return nil
	}
	revisions, targets, err := s.render(ctx, sp, asked)
	var broken *renderError
	if errors.As(err, &broken) {
		r.result = sp.resultFor(asked)
		s.failed(a, r, verdict.PhaseError, "ComparisonError: Failed to load target state: "+broken.text)
		return nil
	} else if err != nil {
		return err
	}
	r.result = sp.resultFor(revisions)
	r.hooks = nil
	if len(r.op.Sync.Resources) == 0 { // a selective sync runs no hooks
		r.hooks = slices.DeleteFunc(slices.Clone(targets), func(m manifest) bool { return m.hook == "" })
	}
	targets = slices.DeleteFunc(targets, func(m manifest) bool { return m.hook != "" })
	return s.preSync(a, r, targets, t)
}

// resultFor is a syncResult that applied nothing yet.
func (sp spec) resultFor(revisions []string) *syncResult {
	if sp.multi() {
		return &syncResult{Revisions: revisions, Sources: slices.Clone(sp.Sources)}
	}
	return &syncResult{Revision: revisions[0], Source: *sp.Source}
}

// applyAll applies the targets and prunes, then goes on to what comes after.
func (s *Sim) applyAll(a *app, r *run, targets []manifest, t time.Time) error {
	if problem := s.applyTargets(a, r, targets, t); problem != "" {
		s.failed(a, r, verdict.PhaseFailed, "one or more objects failed to apply, reason: "+problem)
		return nil
	}
	if len(r.hooksOf(hookPostSync)) > 0 {
		return s.waitHealthy(a, r, t)
	}
	s.succeeded(a, r)
	return nil
}

// succeeded writes history, and a moment later the end of the operation.
func (s *Sim) succeeded(a *app, r *run) {
	st := a.status()
	if len(r.op.Sync.Resources) == 0 {
		a.remember(r, s.now)
		s.emit(a)
	}
	s.later(a, r, s.o.Delays.Report, func(context.Context, time.Time) error {
		st.OperationState.SyncResult = r.result
		s.finish(a, verdict.PhaseSucceeded, "successfully synced (all tasks run)")
		return nil
	})
}

// remember adds the entry of history that a full sync that succeeded leaves.
func (a *app) remember(r *run, t time.Time) {
	st, limit := a.status(), defaultHistory
	if a.object.Spec.HistoryLimit != nil {
		limit = *a.object.Spec.HistoryLimit
	}
	id := int64(0)
	if n := len(st.History); n > 0 {
		id = st.History[n-1].ID + 1
	}
	st.History = append(st.History, history{
		DeployStartedAt: st.OperationState.StartedAt, DeployedAt: stamp(t), ID: id, InitiatedBy: r.op.InitiatedBy,
		Revision: r.result.Revision, Revisions: r.result.Revisions, Source: r.result.Source, Sources: r.result.Sources,
	})
	st.History = st.History[max(0, len(st.History)-max(0, limit)):]
}

// finish writes a final phase and takes .operation away in one patch, and
// queues the refresh that follows every operation.
func (s *Sim) finish(a *app, phase, message string) {
	st := a.status().OperationState
	l := levelForce
	if st.Operation.InitiatedBy.Automated {
		l = levelLatest
	}
	st.Phase, st.Message, st.FinishedAt = phase, message, stamp(s.now)
	a.object.Operation, a.op = nil, nil
	s.emit(a)
	s.refreshAfter(a, s.o.Delays.Settle, l)
}

// failed ends an attempt: either the operation waits for the next one, phase
// Running with finishedAt and a retryCount, or it is over.
func (s *Sim) failed(a *app, r *run, phase, message string) {
	st := a.status().OperationState
	st.SyncResult = r.result
	if r.op.Retry.Limit >= 0 && st.RetryCount >= r.op.Retry.Limit {
		if st.RetryCount > 0 {
			message = fmt.Sprintf("%s (retried %d times).", message, st.RetryCount)
		}
		s.finish(a, phase, message)
		return
	}
	st.RetryCount++
	wait, err := r.op.Retry.wait(st.RetryCount)
	if err != nil {
		s.finish(a, verdict.PhaseError, fmt.Sprintf("%s (failed to retry: %v)", message, err))
		return
	}
	st.FinishedAt = stamp(s.now)
	st.Message = fmt.Sprintf("%s. Retrying attempt #%d at %s.", message, st.RetryCount, s.now.Add(wait).UTC().Format(time.Kitchen))
	s.emit(a)
	s.later(a, r, wait, func(context.Context, time.Time) error {
		r.attempt = st.RetryCount
		st.FinishedAt, st.Message = "", fmt.Sprintf("Retrying operation. Attempt #%d", st.RetryCount)
		s.emit(a)
		s.later(a, r, s.o.Delays.Apply, func(ctx context.Context, t time.Time) error { return s.attempt(ctx, a, r, t) })
		return nil
	})
}

// orphan is the lost update: .operation is gone, the phase stays Running (R8).
func (s *Sim) orphan(a *app) {
	a.object.Operation, a.op = nil, nil
	a.orphaned, a.orphanNext = true, false
	s.emit(a)
}
