package arming

import (
	"fmt"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // a sync window names a time zone, and a container may have none

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// Window is an entry of AppProject.spec.syncWindows.
type Window struct {
	Kind         string   `json:"kind"` // allow or deny
	Schedule     string   `json:"schedule"`
	Duration     string   `json:"duration"`
	Applications []string `json:"applications,omitempty"`
	Namespaces   []string `json:"namespaces,omitempty"`
	Clusters     []string `json:"clusters,omitempty"`
	TimeZone     string   `json:"timeZone,omitempty"`
	And          bool     `json:"and,omitempty"` // andOperator
	Project      string   `json:"project,omitempty"`
}

func (w Window) String() string {
	s := fmt.Sprintf("%s %q for %s", w.Kind, clip(w.Schedule), clip(w.Duration))
	if w.TimeZone != "" {
		s += " " + clip(w.TimeZone)
	}
	return s
}

// matches is Argo CD's SyncWindows.Matches: applications are matched with the
// name alone, clusters with the destination as the spec says it. A window
// without any list matches nothing.
func (w Window) matches(f Facts) bool {
	var hits []bool
	for _, list := range []struct{ patterns, values []string }{
		{w.Applications, []string{f.App.Name}},
		{w.Clusters, []string{f.Destination.Name, f.Destination.Server}},
		{w.Namespaces, []string{f.Destination.Namespace}},
	} {
		if len(list.patterns) == 0 {
			continue
		}
		hits = append(hits, slices.ContainsFunc(list.patterns, func(p string) bool {
			return slices.ContainsFunc(list.values, func(v string) bool { return v != "" && matchGlob(p, v) })
		}))
	}
	if w.And {
		return len(hits) > 0 && !slices.Contains(hits, false)
	}
	return slices.Contains(hits, true)
}

// timing is a window that could be read.
type timing struct {
	schedule cron
	length   time.Duration
	zone     *time.Location
}

func (w Window) timing() (timing, error) {
	schedule, err := parseCron(w.Schedule)
	if err != nil {
		return timing{}, err
	}
	length, err := time.ParseDuration(w.Duration)
	if err != nil || length <= 0 {
		return timing{}, fmt.Errorf("the duration %q cannot be read", clip(w.Duration))
	}
	zone := time.UTC
	if w.TimeZone != "" {
		if zone, err = time.LoadLocation(w.TimeZone); err != nil {
			return timing{}, fmt.Errorf("the time zone %q is not known", clip(w.TimeZone))
		}
	}
	return timing{schedule, length, zone}, nil
}

// active is Argo CD's own test: it shifts the clock by the zone's offset of the
// moment and reads the schedule in UTC, so that on the day of a change of the
// clocks it may be an hour off, as Argo CD is.
func (t timing) active(now time.Time) bool {
	local := t.shift(now)
	start, ok := t.schedule.next(local.Add(-t.length))
	return ok && start.Before(local)
}

func (t timing) shift(now time.Time) time.Time {
	_, offset := now.In(t.zone).Zone()
	return now.UTC().Add(time.Duration(offset) * time.Second)
}

// Sync says whether Argo CD may sync an Application by itself now
// (CanSync(false) of the windows that match): Unknown where its project was not
// looked at. Why names the windows that decide.
func (f Facts) Sync(now time.Time) (may verdict.Tri, why string) {
	if f.Rules == nil || now.IsZero() {
		return verdict.Unknown, "its AppProject was not looked at"
	}
	may, why = canSync(f.windows(), now)
	if may == verdict.Yes && f.Rules.GlobalUnknown {
		return verdict.Unknown, "whether a global project has windows for it was not looked at"
	}
	return may, why
}

func (f Facts) windows() []Window {
	if f.Rules == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(f.Rules.Windows), func(w Window) bool { return !w.matches(f) })
}

func canSync(windows []Window, now time.Time) (verdict.Tri, string) {
	var denied, allowed, closed []string
	for _, w := range windows {
		t, err := w.timing()
		if err != nil { // Argo CD blocks then, whatever kind it is
			return verdict.No, fmt.Sprintf("the window %s cannot be read: %v", w, err)
		}
		switch active := t.active(now); {
		case w.Kind == "deny" && active:
			denied = append(denied, w.String())
		case w.Kind == "allow" && active:
			allowed = append(allowed, w.String())
		case w.Kind == "allow":
			closed = append(closed, w.String())
		}
	}
	switch {
	case len(denied) > 0:
		return verdict.No, "closed by " + strings.Join(denied[:min(3, len(denied))], "; ")
	case len(allowed) > 0 || len(closed) == 0:
		return verdict.Yes, ""
	}
	return verdict.No, "outside of " + strings.Join(closed[:min(3, len(closed))], "; ")
}

// maxEdges bounds how many openings and endings of windows are looked at.
const maxEdges = 64

// turn finds the next moment after now, and before limit, at which a sync may
// run (or, with want No, may not).
func turn(windows []Window, now, limit time.Time, want verdict.Tri) (time.Time, bool) {
	var edges []time.Time
	for _, w := range windows {
		t, err := w.timing()
		if err != nil {
			return time.Time{}, false
		}
		local := t.shift(now)
		back := local.Sub(now.UTC())
		at := local.Add(-t.length)
		for range maxEdges {
			start, ok := t.schedule.next(at)
			if !ok || start.Add(-back).After(limit) {
				break
			}
			edges = append(edges, start.Add(-back).Add(time.Second), start.Add(-back).Add(t.length))
			at = start
		}
	}
	slices.SortFunc(edges, time.Time.Compare)
	for _, e := range edges {
		if may, _ := canSync(windows, e); e.After(now) && !e.After(limit) && may == want {
			return e.Truncate(time.Minute), true
		}
	}
	return time.Time{}, false
}

// maxBraces bounds what {a,b} of a glob is expanded to.
const maxBraces = 64

// matchGlob matches as the globs of an AppProject do: * takes slashes, too, and
// {a,b} is a or b. What cannot be read matches nothing, as in Argo CD.
func matchGlob(pattern, s string) bool {
	if len(pattern) > maxPattern || len(s) > 1024 {
		return false
	}
	for _, p := range braces(pattern) {
		if matchSegment(p, s) {
			return true
		}
	}
	return false
}

// braces expands the first {a,b} of a pattern, and so on.
func braces(pattern string) []string {
	todo, out := []string{pattern}, []string(nil)
	for len(todo) > 0 && len(out)+len(todo) <= maxBraces {
		p := todo[0]
		todo = todo[1:]
		open := strings.IndexByte(p, '{')
		end := strings.IndexByte(p, '}')
		if open < 0 || end < open {
			out = append(out, p)
			continue
		}
		for choice := range strings.SplitSeq(p[open+1:end], ",") {
			todo = append(todo, p[:open]+choice+p[end+1:])
		}
	}
	return out
}

// SyncUntil is Sync for a whole time: No as well where a window closes within
// it, so that what is pushed now would not be deployed any more.
func (f Facts) SyncUntil(now, until time.Time) (may verdict.Tri, why string) {
	may, why = f.Sync(now)
	if may == verdict.No || f.Rules == nil {
		return may, why
	}
	if at, ok := turn(f.windows(), now, until, verdict.No); ok {
		return verdict.No, "it closes at " + at.UTC().Format(time.RFC3339)
	}
	return may, why
}
