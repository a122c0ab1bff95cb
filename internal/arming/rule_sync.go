package arming

import "strings"

// checkSync holds auto-sync-off, prune, appset-prune and replace-or-force: would
// Argo CD apply a revert by itself, and delete nothing with it?
func checkSync(_ Request, f Facts) []Finding {
	var fs []Finding
	switch {
	case f.AutoSync || f.Template != nil && f.Template.RollingSync:
	case f.OwnedBySet && f.Template == nil:
		// A RollingSync turns it off and syncs by itself; only the
		// ApplicationSet tells.
		fs = append(fs, found(RuleAutoSyncOff, NotAssessed,
			"auto-sync of %s is off, which may be a RollingSync of its ApplicationSet; that was not looked at", f.App))
	default:
		fs = append(fs, found(RuleAutoSyncOff, Refuse, "auto-sync of %s is off", f.App))
	}
	if f.Prune {
		message := "%s prunes automatically, so that a revert would delete what the commit added"
		if !f.AutoSync {
			message += " (also while automated.enabled is false: an ApplicationSet's sync, or enabling it again, prunes)"
		}
		fs = append(fs, found(RulePrune, Refuse, message, f.App))
	}
	fs = append(fs, checkTemplate(f)...)
	for _, o := range f.SyncOptions {
		if replaces(o) {
			fs = append(fs, found(RuleReplace, Warned, "%s is synced with %q", f.App, clip(o)))
			break
		}
	}
	return fs
}

func checkTemplate(f Facts) []Finding {
	switch {
	case !f.OwnedBySet:
	case f.Template == nil:
		return []Finding{found(RuleAppSetPrune, NotAssessed, "whether the ApplicationSet of %s prunes was not looked at", f.App)}
	case f.Template.Prune:
		return []Finding{found(RuleAppSetPrune, Refuse, "the template of ApplicationSet %q, which makes %s, prunes automatically", clip(f.Template.Name), f.App)}
	case f.Template.Patched:
		return []Finding{found(RuleAppSetPrune, Refuse,
			"ApplicationSet %q, which makes %s, writes over its template and says something of prune there, which is not evaluated", clip(f.Template.Name), f.App)}
	}
	return nil
}

// replaces reports whether a sync option deletes an object and makes it anew.
func replaces(option string) bool {
	option = strings.TrimSpace(option)
	return strings.EqualFold(option, "Replace=true") || strings.EqualFold(option, "Force=true")
}
