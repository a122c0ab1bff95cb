package argosim

import (
	"context"
	"slices"
	"time"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// The phases of hooks that the simulator runs; others are left out.
const (
	hookPreSync  = "PreSync"
	hookPostSync = "PostSync"
)

func (r *run) hooksOf(phase string) []manifest {
	return slices.DeleteFunc(slices.Clone(r.hooks), func(m manifest) bool { return m.hook != phase })
}

// preSync runs the hooks before the apply, if there are any.
func (s *Sim) preSync(a *app, r *run, targets []manifest, t time.Time) error {
	next := func(t time.Time) error { return s.applyAll(a, r, targets, t) }
	if len(r.hooksOf(hookPreSync)) == 0 {
		return next(t)
	}
	return s.runHooks(a, r, hookPreSync, t, next)
}

// waitHealthy holds the operation until all that it applied is healthy: hooks
// come after it. What is Degraded fails it; what stays Progressing holds it
// for ever, as there is no time-out by default.
func (s *Sim) waitHealthy(a *app, r *run, t time.Time) error {
	for _, res := range r.result.Resources {
		id := verdict.ObjectID{Group: res.Group, Kind: res.Kind, Namespace: res.Namespace, Name: res.Name}
		v, exists := a.live[id].now()
		if !exists || res.Status != resultSynced {
			continue
		}
		switch status, message := healthOf(id, v, t); status {
		case verdict.HealthDegraded:
			s.failed(a, r, verdict.PhaseFailed, "one or more synchronization tasks completed unsuccessfully, reason: "+message)
			return nil
		case verdict.HealthProgressing:
			s.waiting(a, r, "waiting for healthy state of "+taskName(id))
			s.later(a, r, pollHooks, func(_ context.Context, t time.Time) error { return s.waitHealthy(a, r, t) })
			return nil
		}
	}
	return s.runHooks(a, r, hookPostSync, t, func(time.Time) error { s.succeeded(a, r); return nil })
}

// pollHooks is how often an operation that waits looks again.
const pollHooks = time.Second

// runHooks creates the hooks of a phase anew (BeforeHookCreation is the default
// deletion policy) and waits for them.
func (s *Sim) runHooks(a *app, r *run, phase string, t time.Time, next func(time.Time) error) error {
	for _, m := range r.hooksOf(phase) {
		v, _ := s.applied(m, version{}, false, t)
		s.change(a, m.id, v)
		r.result.Resources = append(r.result.Resources, resourceResult{
			Group: m.id.Group, Kind: m.id.Kind, Namespace: m.id.Namespace, Name: m.id.Name, Version: m.version,
			HookType: phase, SyncPhase: phase, HookPhase: verdict.PhaseRunning, Status: resultSynced,
			Images: images(m.fields), Message: kubectlName(m.id) + " created",
		})
	}
	return s.waitHooks(a, r, phase, t, next)
}

// waitHooks goes on with next once all hooks of the phase have succeeded.
func (s *Sim) waitHooks(a *app, r *run, phase string, t time.Time, next func(time.Time) error) error {
	pending, problem := "", ""
	for i, res := range r.result.Resources {
		if res.HookType != phase || res.HookPhase != verdict.PhaseRunning {
			continue
		}
		id := verdict.ObjectID{Group: res.Group, Kind: res.Kind, Namespace: res.Namespace, Name: res.Name}
		v, _ := a.live[id].now()
		status, message := healthOf(id, v, t)
		switch status {
		case verdict.HealthProgressing:
			pending = orElse(pending, taskName(id))
		case verdict.HealthDegraded:
			r.result.Resources[i].HookPhase, r.result.Resources[i].Message = verdict.PhaseFailed, message
			problem = orElse(problem, message)
		default: // a kind without health is done once it is created
			r.result.Resources[i].HookPhase, r.result.Resources[i].Message = verdict.PhaseSucceeded, orElse(message, res.Message)
		}
	}
	switch {
	case problem != "":
		s.failed(a, r, verdict.PhaseFailed, "one or more synchronization tasks completed unsuccessfully, reason: "+problem)
		return nil
	case pending == "":
		return next(t)
	}
	s.waiting(a, r, "waiting for completion of hook "+pending)
	s.later(a, r, pollHooks, func(_ context.Context, t time.Time) error { return s.waitHooks(a, r, phase, t, next) })
	return nil
}

// waiting shows an operation that goes on: what it did so far, and the reason.
func (s *Sim) waiting(a *app, r *run, message string) {
	st := a.status().OperationState
	shown := *r.result
	shown.Resources = slices.Clone(r.result.Resources)
	st.SyncResult, st.Message = &shown, message
	s.emit(a)
}

// taskName is how an operation names an object: batch/Job/smoke.
func taskName(id verdict.ObjectID) string { return id.Group + "/" + id.Kind + "/" + id.Name }
