package arming

import (
	"fmt"
	"time"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// checkProject holds project-signatures and project-sync-windows: would the
// AppProject let a revert into the cluster?
func checkProject(r Request, f Facts) []Finding {
	if f.Rules == nil {
		project := f.Project
		if project == "" {
			project = "default" // what Argo CD takes for an empty one
		}
		return []Finding{
			found(RuleProjectSignatures, NotAssessed, "whether AppProject %q demands signed commits was not looked at", clip(project)),
			found(RuleProjectWindows, NotAssessed, "whether a sync window of AppProject %q would hold a revert was not looked at", clip(project)),
		}
	}
	var fs []Finding
	if f.Rules.Signatures != "" {
		switch r.Signs {
		case verdict.Yes:
			fs = append(fs, found(RuleProjectSignatures, NotAssessed,
				"AppProject %q demands signed commits (%s), and whether the watcher's key is one of those was not looked at", clip(f.Rules.Name), clip(f.Rules.Signatures)))
		default:
			fs = append(fs, found(RuleProjectSignatures, Refuse,
				"AppProject %q demands signed commits (%s), and the watcher is not known to sign its reverts", clip(f.Rules.Name), clip(f.Rules.Signatures)))
		}
	}
	return append(fs, checkWindows(r, f)...)
}

// farAhead is how far the next opening of a window is looked for.
const farAhead = 31 * 24 * time.Hour

func checkWindows(r Request, f Facts) []Finding {
	if r.Now.IsZero() {
		return nil
	}
	windows := f.windows()
	may, why := f.Sync(r.Now)
	switch may {
	case verdict.Unknown:
		return []Finding{found(RuleProjectWindows, NotAssessed, "%s", why)}
	case verdict.No:
		opens := "does not open within a month"
		if at, ok := turn(windows, r.Now, r.Now.Add(farAhead), verdict.Yes); ok {
			opens = "opens at " + at.UTC().Format(time.RFC3339)
		}
		return []Finding{found(RuleProjectWindows, Warned, "%s cannot be synced now: %s; it %s", f.App, why, opens)}
	}
	until := r.Now.Add(r.Reach + r.Deadline + refresh(r))
	if at, ok := turn(windows, r.Now, until, verdict.No); ok {
		return []Finding{found(RuleProjectWindows, Warned,
			"a sync window of %s closes at %s, before a revert could be pushed and deployed", f.App, at.UTC().Format(time.RFC3339))}
	}
	return nil
}

func refresh(r Request) time.Duration {
	if r.Refresh > 0 {
		return r.Refresh
	}
	return DefaultRefresh
}

// checkState holds not-healthy and app-of-apps: how the Application stands now.
func checkState(_ Request, f Facts) []Finding {
	if f.State == nil {
		return []Finding{
			found(RuleNotHealthy, NotAssessed, "whether %s is healthy and synced now was not looked at", f.App),
		}
	}
	var fs []Finding
	if !f.State.Settled {
		fs = append(fs, found(RuleNotHealthy, Refuse, "%s is not healthy and synced now: health %s, sync %s", f.App, word(f.State.Health), word(f.State.Sync)))
	}
	if f.State.AppOfApps {
		fs = append(fs, found(RuleAppOfApps, Warned, "%s deploys other Applications, and is healthy whatever becomes of them", f.App))
	}
	return fs
}

func word(s string) string {
	if s == "" {
		return "not known"
	}
	return fmt.Sprintf("%q", clip(s))
}

// maxBeats is how many heartbeats a watcher may miss.
const maxBeats = 3

// checkWatcher holds watcher-stale and circuit-open.
func checkWatcher(r Request) []Finding {
	w := r.Watcher
	if w == nil || r.Now.IsZero() {
		return []Finding{found(RuleWatcherStale, NotAssessed, "whether the watcher is alive was not looked at")}
	}
	var fs []Finding
	for _, name := range []string{r.app().String(), "*"} {
		if why := w.Circuits[name]; why != "" {
			fs = append(fs, found(RuleCircuitOpen, Refuse, "the circuit of %s is open: %s", r.app(), clip(why)))
			break
		}
	}
	every := w.Every
	if every <= 0 {
		every = 5 * time.Minute
	}
	if age := r.Now.Sub(w.At); age > maxBeats*every {
		fs = append(fs, found(RuleWatcherStale, Refuse, "the watcher was last heard of at %s, and should be every %s", w.At.UTC().Format(time.RFC3339), every))
	}
	return fs
}
