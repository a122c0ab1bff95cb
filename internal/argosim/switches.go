package argosim

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// find is the Application that a person means by `name` or `namespace/name`.
func (s *Sim) find(name string) (*app, error) {
	want, err := verdict.ParseApp(name)
	if err != nil {
		return nil, err
	}
	var found *app
	for _, a := range s.sorted() {
		if !want.Matches(a.id) {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("finding %q: both %s and %s have that name", name, found.id, a.id)
		}
		found = a
	}
	if found == nil {
		return nil, fmt.Errorf("finding %q: %w", name, ErrNoApp)
	}
	return found, nil
}

// Refresh is a webhook, or a person, asking for a refresh of one Application:
// its annotation appears at once, and the comparison follows.
func (s *Sim) Refresh(name string) error {
	a, err := s.find(name)
	if err != nil {
		return err
	}
	s.annotate(a)
	return nil
}

func (s *Sim) annotate(a *app) {
	a.object.Metadata.Annotations[annotationRefresh] = "normal"
	s.emitAs(a, false)
	s.refreshAfter(a, s.o.Delays.Compare, levelForce)
}

// Webhook is a push to a branch of the repository of New: it refreshes all
// Applications with a source there that follows the branch. HEAD counts as
// every branch, since the simulator does not ask which one it names.
func (s *Sim) Webhook(branch string) {
	for _, a := range s.sorted() {
		if slices.ContainsFunc(a.object.Spec.sources(), func(src Source) bool {
			follows := src.TargetRevision == branch || src.TargetRevision == "HEAD" || src.TargetRevision == ""
			return src.Chart == "" && src.RepoURL == s.o.RepoURL && follows
		}) {
			s.annotate(a)
		}
	}
}

// AutoSync switches auto-sync. Switched on again, it has self-heal and prune
// as before.
func (s *Sim) AutoSync(name string, on bool) error {
	a, err := s.find(name)
	if err != nil {
		return err
	}
	policy := syncPolicy{}
	if a.object.Spec.SyncPolicy != nil {
		policy = *a.object.Spec.SyncPolicy
	}
	auto := Automated{}
	if policy.Automated != nil {
		auto = *policy.Automated
	}
	auto.Enabled = nil
	if !on {
		auto.Enabled = &on
	}
	policy.Automated = &auto
	sp := a.object.Spec
	sp.SyncPolicy = &policy
	s.respec(a, sp)
	return nil
}

// Window closes or opens a sync window: while it is closed the Application is
// compared and never synced, and no field says why. Open again, the next
// refresh may sync.
func (s *Sim) Window(name string, closed bool) error {
	a, err := s.find(name)
	if err != nil {
		return err
	}
	a.window = closed
	return nil
}

// SetTarget makes all git sources follow another revision.
func (s *Sim) SetTarget(name, revision string) error {
	a, err := s.find(name)
	if err != nil {
		return err
	}
	sp := a.object.Spec
	if sp.multi() {
		sp.Sources = slices.Clone(sp.Sources)
		for i := range sp.Sources {
			if sp.Sources[i].Chart == "" {
				sp.Sources[i].TargetRevision = revision
			}
		}
	} else {
		src := *sp.Source
		src.TargetRevision = revision
		sp.Source = &src
	}
	s.respec(a, sp)
	return nil
}

// DeleteApp removes an Application and leaves its objects running.
func (s *Sim) DeleteApp(name string) error {
	a, err := s.find(name)
	if err != nil {
		return err
	}
	s.remove(a)
	s.orphanChild(a.id)
	return nil
}

// RecreateApp deletes an Application and makes it anew: another UID, no
// status, and the objects of before, which it takes over.
func (s *Sim) RecreateApp(name string) error {
	a, err := s.find(name)
	if err != nil {
		return err
	}
	annotations := maps.Clone(a.object.Metadata.Annotations)
	delete(annotations, annotationRefresh)
	s.remove(a)
	s.add(a.id, a.object.Spec, annotations, a.incarnation+1, a.live)
	return nil
}

// StopController stops both loops: every status goes stale, while the pods
// go on. StartController lets them catch up.
func (s *Sim) StopController() { s.stopped = true }

// StartController ends StopController.
func (s *Sim) StartController() { s.stopped = false }

// RefuseReads lets List fail, as an API server that is away or says no.
func (s *Sim) RefuseReads(refuse bool) { s.refused = refuse }

// OperationError lets every operation end in phase Error with that message
// (Argo CD's own trouble, not the commit's); "" ends it. The last retry comes
// first, as for every failure.
func (s *Sim) OperationError(name, message string) error {
	a, err := s.find(name)
	if err != nil {
		return err
	}
	a.opError = message
	return nil
}

// OrphanOperation makes the operation under way, or else the next one, lose
// .operation while its phase stays Running, for ever (argo-cd#17155). No
// auto-sync follows until Terminate.
func (s *Sim) OrphanOperation(name string) error {
	a, err := s.find(name)
	if err != nil {
		return err
	}
	if st := a.object.Status; a.op != nil && st != nil && st.OperationState != nil {
		s.orphan(a)
		return nil
	}
	a.orphanNext = true
	return nil
}

// Terminate is a person ending the operation, an orphaned one included.
func (s *Sim) Terminate(name string) error {
	a, err := s.find(name)
	if err != nil {
		return err
	}
	st := a.object.Status
	if st == nil || st.OperationState == nil || st.OperationState.Phase != verdict.PhaseRunning {
		return fmt.Errorf("terminating the operation of %s: none is running", a.id)
	}
	st.OperationState.Phase, st.OperationState.Message = verdict.PhaseTerminating, "operation is terminating"
	s.emit(a)
	a.orphaned = false
	s.finish(a, verdict.PhaseFailed, "Operation terminated")
	return nil
}

// Sync is a person syncing to a revision. Argo CD refuses it while auto-sync
// is on.
func (s *Sim) Sync(name, revision, username string) error {
	a, err := s.find(name)
	if err != nil {
		return err
	}
	switch {
	case a.object.Spec.automated() != nil:
		return fmt.Errorf("syncing %s to %s: %w", a.id, revision, ErrAutoSync)
	case a.object.Operation != nil:
		return fmt.Errorf("syncing %s to %s: another operation is already in progress", a.id, revision)
	}
	revisions := slices.Repeat([]string{revision}, len(a.object.Spec.sources()))
	s.ask(a, operation{InitiatedBy: initiator{Username: username}, Sync: a.object.Spec.operationFor(revisions)})
	return nil
}

// Rollback is a person going back to a commit that the history names.
func (s *Sim) Rollback(name, commit string) error {
	a, err := s.find(name)
	if err != nil {
		return err
	}
	st := a.object.Status
	if st == nil || !slices.ContainsFunc(st.History, func(h history) bool {
		return h.Revision == commit || slices.Contains(h.Revisions, commit)
	}) {
		return fmt.Errorf("rolling %s back: its history has no %s", a.id, commit)
	}
	return s.Sync(name, commit, "admin")
}

// objectOf finds a live object by "Kind/name".
func (a *app) objectOf(ref string) (verdict.ObjectID, version, error) {
	kind, name, _ := strings.Cut(ref, "/")
	for _, id := range a.objects() {
		if strings.EqualFold(id.Kind, kind) && id.Name == name {
			if v, exists := a.live[id].now(); exists {
				return id, v, nil
			}
		}
	}
	return verdict.ObjectID{}, version{}, fmt.Errorf("finding %q of %s: %w", ref, a.id, ErrNoObject)
}
