package arming

// checkSync holds auto-sync-off, prune and appset-prune: would Argo CD apply a
// revert by itself, and delete nothing with it?
func checkSync(r Request) []Finding {
	var fs []Finding
	switch {
	case r.Facts.AutoSync:
	case r.Facts.OwnedBySet:
		// A RollingSync turns it off and syncs by itself; only the
		// ApplicationSet tells.
		fs = append(fs, found(RuleAutoSyncOff, NotAssessed,
			"auto-sync of %s is off, which may be a RollingSync of its ApplicationSet; that was not looked at", r.app()))
	default:
		fs = append(fs, found(RuleAutoSyncOff, Refuse, "auto-sync of %s is off", r.app()))
	}
	if r.Facts.Prune {
		message := "%s prunes automatically, so that a revert would delete what the commit added"
		if !r.Facts.AutoSync {
			message += " (also while automated.enabled is false: an ApplicationSet's sync, or enabling it again, prunes)"
		}
		fs = append(fs, found(RulePrune, Refuse, message, r.app()))
	}
	if r.Facts.OwnedBySet {
		fs = append(fs, found(RuleAppSetPrune, NotAssessed, "whether the ApplicationSet of %s prunes was not looked at", r.app()))
	}
	return fs
}
