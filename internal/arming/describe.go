package arming

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// Fact is one fact about an Application in words.
type Fact struct{ Name, Value string }

// Where names the place that a fact is from: with the line in a file, or with
// the age where the place has one.
func (f Facts) Where(now time.Time) string {
	if f.Line > 0 {
		return fmt.Sprintf("%s:%d", f.From, f.Line)
	}
	return f.source(now)
}

// Describe gives what a place says of an Application, in the order in which the
// rules ask; what the place does not know is left out.
func (f Facts) Describe(now time.Time) []Fact {
	var fs []Fact
	say := func(name, format string, args ...any) { fs = append(fs, Fact{name, fmt.Sprintf(format, args...)}) }
	for i, s := range f.Sources {
		name := "source"
		if len(f.Sources) > 1 {
			name = fmt.Sprintf("source %d", i+1)
		}
		say(name, "%s", describeSource(s))
	}
	if len(f.Sources) == 0 {
		say("source", "none")
	}
	if f.Hydrator {
		say("source hydrator", "yes")
	}
	say("automated sync", "%s", onOff(f.AutoSync))
	say("prune", "%s", onOff(f.Prune))
	say("retry", "%s", f.retries())
	if len(f.SyncOptions) > 0 {
		say("sync options", "%s", list(f.SyncOptions))
	}
	if len(f.Ignored) > 0 {
		kinds := make([]string, len(f.Ignored))
		for i, ig := range f.Ignored {
			kinds[i] = ig.Kind
		}
		say("ignored differences", "of %s", list(slices.Compact(kinds)))
	}
	if f.SkipReconcile {
		say("skip-reconcile", "yes: its status is frozen")
	}
	if f.OwnedBySet {
		say("ApplicationSet", "%s", f.set())
	}
	return append(fs, f.around(now)...)
}

func onOff(b bool) string {
	if b {
		return "on"
	}
	return "off"
}

func describeSource(s verdict.Source) string {
	text := bare(clip(s.RepoURL))
	switch {
	case s.Kind == verdict.SourceChart:
		return fmt.Sprintf("chart %q of %s, version %q", clip(s.Chart), text, clip(s.TargetRevision))
	case s.Kind == verdict.SourceOCI:
		return fmt.Sprintf("OCI artifact %s, version %q", text, clip(s.TargetRevision))
	case s.Path == "" && s.Ref != "":
		text += fmt.Sprintf(", lent as $%s", clip(s.Ref))
	case s.Path == "":
		text += ", all of it"
	default:
		text += fmt.Sprintf(", folder %q", clip(s.Path))
	}
	if s.TargetRevision == "" || s.TargetRevision == "HEAD" {
		return text + ", at the default branch"
	}
	return text + fmt.Sprintf(", at %q", clip(s.TargetRevision))
}

func (f Facts) retries() string {
	switch {
	case f.RetryLimit == 0:
		return "none"
	case f.RetryLimit < 0:
		return "without end" + map[bool]string{true: ", with the newest revision", false: ", with the same revision"}[f.RetryRefresh]
	}
	return fmt.Sprintf("%d times", f.RetryLimit) + map[bool]string{true: ", with the newest revision", false: ", with the same revision"}[f.RetryRefresh]
}

func (f Facts) set() string {
	text := fmt.Sprintf("%q makes it", clip(f.Set))
	switch t := f.Template; {
	case t == nil:
		return text + "; it was not looked at"
	case t.RollingSync:
		text += ", by RollingSync"
		fallthrough
	default:
		text += ", prune " + onOff(t.Prune)
		if t.Patched {
			text += ", and a patch says something of prune"
		}
	}
	return text
}

// around describes what stands around the Application, and how it stands.
func (f Facts) around(now time.Time) (fs []Fact) {
	say := func(name, format string, args ...any) { fs = append(fs, Fact{name, fmt.Sprintf(format, args...)}) }
	if u := f.ImageUpdater; u.Managed {
		said := ""
		if !u.Said {
			said = ", by default"
		}
		say("Image Updater", "annotations, write-back method %q%s", clip(u.Method), said)
	}
	for _, u := range f.Updaters {
		if ref := u.picks(f); ref != nil {
			method, _, pullRequest, _ := u.writeBack(*ref, f)
			if method == "" {
				method = "argocd"
			}
			text := fmt.Sprintf("resource %q, write-back method %q", clip(u.Name), clip(method))
			if pullRequest {
				text += ", as a pull request"
			}
			say("Image Updater", "%s", text)
		}
	}
	project := f.Project
	if project == "" {
		project = "default"
	}
	if r := f.Rules; r == nil {
		say("AppProject", "%q; it was not looked at", clip(project))
	} else {
		text := fmt.Sprintf("%q", clip(project))
		if r.Signatures != "" {
			text += ", demands signed commits"
		}
		if len(r.Windows) > 0 {
			may, why := f.Sync(now)
			text += fmt.Sprintf(", %d sync windows, now %s", len(r.Windows), map[verdict.Tri]string{verdict.Yes: "open", verdict.No: "closed: " + why, verdict.Unknown: "not known: " + why}[may])
		}
		say("AppProject", "%s", text)
	}
	if s := f.State; s != nil {
		settled := ""
		if !s.Settled {
			settled = ", not settled"
		}
		say("state", "health %s, sync %s%s", orElse(clip(s.Health), "not known"), orElse(clip(s.Sync), "not known"), settled)
		if s.AppOfApps {
			say("app of apps", "yes")
		}
	}
	return fs
}

// Describe gives what the watcher says of itself and of an Application.
func (w Watcher) Describe(app verdict.App, now time.Time) []Fact {
	age := max(now.Sub(w.At), 0).Round(time.Second)
	fs := []Fact{{"watcher", fmt.Sprintf("last heard of %s ago, at %s", age, w.At.UTC().Format(time.RFC3339))}}
	for _, name := range []string{app.String(), "*"} {
		if why := w.Circuits[name]; why != "" {
			return append(fs, Fact{"circuit", "open: " + clip(strings.ToValidUTF8(why, "?"))})
		}
	}
	return append(fs, Fact{"circuit", "closed"})
}

// Describe says what the manifests hold.
func (c *Content) Describe() string {
	switch {
	case c.Unknown != "":
		return "not known: " + c.Unknown
	case len(c.Objects) == 0:
		return "none: its folders hold no manifests"
	}
	return fmt.Sprintf("%d, plain manifests", len(c.Objects))
}
