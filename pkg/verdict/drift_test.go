package verdict

import (
	"testing"
	"time"
)

// The cluster was changed after the operation, not by it: only where all of
// this is known is it no failure.
func TestChangedSince(t *testing.T) {
	src := Source{RepoURL: "https://h/r", Path: "app", TargetRevision: "main"}
	web := ObjectID{Group: "apps", Kind: "Deployment", Namespace: "web", Name: "web"}
	done := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		what   string
		change func(*Look)
		want   bool
	}{
		{"applied, and out of sync since", func(*Look) {}, true},
		{"leftovers do not count", func(l *Look) {
			l.Resources = append(l.Resources, Resource{ObjectID: ObjectID{Kind: "Secret", Name: "old"}, Status: OutOfSync, RequiresPruning: true})
		}, true},
		{"compared within seconds of the operation", func(l *Look) { l.ReconciledAt = done.Add(settleTime - time.Second) }, false},
		{"not healthy either", func(l *Look) { l.Health = HealthDegraded }, false},
		{"another operation is requested", func(l *Look) { l.Operation.Requested = true }, false},
		{"the operation failed", func(l *Look) { l.Operation.Phase = PhaseFailed }, false},
		{"of another revision", func(l *Look) { l.Operation.Revisions = []Revision{{src, "older"}} }, false},
		{"it was not applied", func(l *Look) { l.Operation.Resources[0].Status = "SyncFailed" }, false},
		{"nothing is said of another resource", func(l *Look) {
			l.Resources = append(l.Resources, Resource{ObjectID: ObjectID{Kind: "Secret", Name: "other"}, Status: OutOfSync})
		}, false},
	} {
		t.Run(tt.what, func(t *testing.T) {
			l := Look{
				Spec: []Source{src}, SyncStatus: OutOfSync, Compared: []Revision{{src, "new"}}, Health: Healthy,
				ReconciledAt: done.Add(time.Minute), Resources: []Resource{{ObjectID: web, Status: OutOfSync}},
				Operation: Operation{
					Present: true, Phase: PhaseSucceeded, FinishedAt: done, Revisions: []Revision{{src, "new"}},
					Resources: []OperationResource{{ObjectID: web, Status: Synced, Message: "deployment.apps/web configured"}},
				},
			}
			tt.change(&l)
			a := Answers{OursURLs: map[string]bool{src.RepoURL: true}, Branches: map[string]Tri{"main": Yes}, Paths: []string{"app/web.yaml"}}
			if got := (Observation{Look: l, Git: a}).changedSince(Healthy); got != tt.want {
				t.Errorf("changedSince = %v, want %v", got, tt.want)
			}
		})
	}
}
