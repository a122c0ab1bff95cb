package argosim

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// Words of syncResult.resources.
const (
	resultSynced      = "Synced"
	resultSyncFailed  = "SyncFailed"
	resultPruned      = "Pruned"
	resultPruneSkiped = "PruneSkipped"
	phaseSync         = "Sync"
)

// applyTargets applies and prunes at t. All objects of the one wave are tried,
// and what the first that failed says is returned.
func (s *Sim) applyTargets(a *app, r *run, targets []manifest, t time.Time) (problem string) {
	want := map[verdict.ObjectID]manifest{}
	var ids []verdict.ObjectID
	for _, m := range targets {
		if _, twice := want[m.id]; !twice {
			ids = append(ids, m.id)
		}
		want[m.id] = m
	}
	for _, id := range a.objects() {
		v, exists := a.live[id].now()
		if _, wanted := want[id]; exists && !wanted && v.hook == "" {
			ids = append(ids, id)
		}
	}
	slices.SortStableFunc(ids, compareApply)
	for _, id := range ids {
		if !r.op.Sync.selects(id) {
			continue
		}
		res := resourceResult{Group: id.Group, Kind: id.Kind, Namespace: id.Namespace, Name: id.Name, SyncPhase: phaseSync}
		if m, wanted := want[id]; wanted {
			s.applyOne(a, r, m, t, &res)
		} else {
			s.prune(a, r, id, t, &res)
		}
		if res.Status == resultSyncFailed && problem == "" {
			problem = res.Message
		}
		r.result.Resources = append(r.result.Resources, res)
	}
	return problem
}

func (so syncOperation) selects(id verdict.ObjectID) bool {
	return len(so.Resources) == 0 || slices.Contains(so.Resources, resourceID{Group: id.Group, Kind: id.Kind, Name: id.Name})
}

// applyOne is kubectl apply of one object. A success has hookPhase Running:
// only its health could end that, and nobody waits for it.
func (s *Sim) applyOne(a *app, r *run, m manifest, t time.Time, res *resourceResult) {
	res.Version, res.Images = m.version, images(m.fields)
	res.Status, res.HookPhase = resultSynced, verdict.PhaseRunning
	v, exists := version{}, false
	if o := a.live[m.id]; o != nil {
		v, exists = o.now()
	}
	if exists {
		if refusal := immutable(m, v.live, scratchFile(a, r, m.id)); refusal != "" {
			res.Status, res.HookPhase, res.Message = resultSyncFailed, verdict.PhaseFailed, refusal
			return
		}
	} else {
		v = version{}
	}
	n, changed := s.applied(m, v, exists, t)
	res.Message = kubectlName(m.id) + " unchanged"
	if changed {
		res.Message = kubectlName(m.id) + " configured"
		s.change(a, m.id, n)
		if isChild(m.id) {
			s.applyChild(m)
		}
	}
	if !exists {
		res.Message = kubectlName(m.id) + " created"
	}
}

func (s *Sim) prune(a *app, r *run, id verdict.ObjectID, t time.Time, res *resourceResult) {
	v, _ := a.live[id].now()
	res.Version, res.HookPhase = v.group, verdict.PhaseSucceeded
	if !r.op.Sync.Prune {
		res.Status, res.Message = resultPruneSkiped, "ignored (requires pruning)"
		return
	}
	res.Status, res.Message = resultPruned, "pruned"
	s.change(a, id, version{at: t, gone: true})
	if isChild(id) {
		s.dropChild(id)
	}
}

// scratchFile is the temporary file whose name is in kubectl's errors; another
// one in each attempt.
func scratchFile(a *app, r *run, id verdict.ObjectID) string {
	h := sha256.Sum256(fmt.Appendf(nil, "%s/%d/%s/%s/%d", a.id, a.incarnation, id, r.result.Revision, r.attempt))
	return fmt.Sprintf("/dev/shm/%d", binary.BigEndian.Uint32(h[:]))
}
