package verdict

// changedSince tells whether what is out of sync was applied by an operation
// that succeeded, and was another one by the time of a later comparison: it was
// changed in the cluster before anybody saw it synced (R34), as an autoscaler
// does that wants more pods at once. The Application is otherwise as expected;
// one that is not may well suffer from what was applied.
func (o Observation) changedSince(expect string) bool {
	l, op := o.Look, o.Look.Operation
	if l.SyncStatus != OutOfSync || !healthAs(l.Health, expect) || op.Requested || op.Phase != PhaseSucceeded || op.DryRun {
		return false
	}
	if op.FinishedAt.IsZero() || l.ReconciledAt.Before(op.FinishedAt.Add(settleTime)) {
		return false // that may be how it was before
	}
	rel, why, _ := o.Git.relevant(l)
	if !why.IsZero() {
		return false
	}
	for _, s := range rel.sources {
		applied, _ := at(op.Revisions, s)
		if compared, ok := at(l.Compared, s); !ok || compared != applied {
			return false
		}
	}
	applied := map[ObjectID]bool{}
	for _, r := range op.Resources {
		applied[r.ObjectID] = r.Status == Synced
	}
	for _, r := range l.Resources {
		if r.Status == OutOfSync && !r.RequiresPruning && !applied[r.ObjectID] {
			return false
		}
	}
	return true
}
