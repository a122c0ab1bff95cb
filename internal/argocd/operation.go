package argocd

import (
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// operation joins .operation (requested or running) and status.operationState
// (the current one or the last). Argo CD deletes the state when it writes a
// request; only then what is said of the operation comes from the request.
func (t translator) operation(request, state *object, spec snapshot) verdict.Operation {
	op := verdict.Operation{Requested: request.there(), Present: state.there()}
	result := state.object("syncResult")
	if op.Present {
		request = state.object("operation")
		op.Phase = state.text("phase")
		op.StartedAt = state.when("startedAt")
		op.FinishedAt = state.when("finishedAt")
		op.RetryCount = state.number("retryCount")
		op.Message = state.text("message")
		op.Resources = results(result)
	}
	sync, by := request.object("sync"), request.object("initiatedBy")
	op.RetryLimit = request.object("retry").number("limit")
	op.DryRun = sync.truth("dryRun")
	op.Local = len(sync.list("manifests")) > 0
	op.Selective = len(sync.list("resources")) > 0
	op.AutoHeal = sync.number("autoHealAttemptsCount") > 0
	op.Automated = by.truth("automated")
	op.Username = by.text("username")
	op.Revisions, op.HasResult = t.applies(result, sync, spec)
	return op
}

// applies is what the operation applies: syncResult's revisions, which are
// resolved, or, where it has none (it has not compared yet, or failed early),
// those that were asked for.
func (t translator) applies(result, sync *object, spec snapshot) (revs []verdict.Revision, fromResult bool) {
	got := revisionsOf(result)
	fromResult = !got.empty()
	asked := t.snapshot(sync)
	sources := asked
	if fromResult {
		sources = t.snapshot(result)
	} else {
		got = revisionsOf(sync)
	}
	if len(sources.sources) == 0 {
		sources = asked
	}
	if len(sources.sources) == 0 {
		sources = spec
	}
	if sources.sources == nil || got.empty() && !sync.there() {
		return nil, false
	}
	return align(sources, got), fromResult
}

func results(result *object) []verdict.OperationResource {
	list := result.objects("resources")
	if len(list) == 0 {
		return nil
	}
	all := make([]verdict.OperationResource, len(list))
	for i := range list {
		o := &list[i]
		all[i] = verdict.OperationResource{
			ObjectID:  objectID(o),
			Status:    o.text("status"),
			HookType:  o.text("hookType"),
			HookPhase: o.text("hookPhase"),
			SyncPhase: o.text("syncPhase"),
			Message:   o.text("message"),
		}
	}
	return all
}
