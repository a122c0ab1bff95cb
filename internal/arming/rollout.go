package arming

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// Rollout is spec.strategy of an ApplicationSet.
type Rollout struct {
	Type  string
	Steps []Step
}

// Step is an entry of rollingSync.steps.
type Step struct {
	Terms []Term
	Max   MaxUpdate
}

// MaxUpdate is how many Applications of a step are synced at a time.
type MaxUpdate struct {
	Given  bool
	Number int64 // a number, or a percentage
	Broken string
}

const rollingSync = "RollingSync"

// selects reports whether a step takes an Application, as the ApplicationSet
// controller asks it: all terms must hold; a label that is not there fits
// everything but In. Unknown where a placeholder stands for what it asks.
func (s Step) selects(labels map[string]string, unsure bool) verdict.Tri {
	out := verdict.Yes
	for _, t := range s.Terms {
		switch t.selects(labels, unsure) {
		case verdict.No:
			return verdict.No
		case verdict.Unknown:
			out = verdict.Unknown
		}
	}
	return out
}

func (t Term) selects(labels map[string]string, unsure bool) verdict.Tri {
	value, there := labels[t.Key]
	if !there {
		for key := range labels {
			unsure = unsure || fits(key, t.Key)
		}
	}
	switch {
	case unsure || t.Operator != "In" && t.Operator != "NotIn":
		return verdict.Unknown
	case !there:
		return verdict.TriOf(t.Operator != "In")
	case !openText(value):
		return verdict.TriOf(slices.Contains(t.Values, value) == (t.Operator == "In"))
	case slices.ContainsFunc(t.Values, func(v string) bool { return fits(value, v) }):
		return verdict.Unknown
	}
	return verdict.TriOf(t.Operator != "In")
}

// fits reports whether a text with placeholders may become another one, by what
// stands before the first and after the last.
func fits(text, s string) bool {
	first, last := strings.Index(text, "{{"), strings.LastIndex(text, "}}")
	if first < 0 {
		return false
	}
	if last < first {
		return true
	}
	before, after := text[:first], text[last+2:]
	return len(s) >= len(before)+len(after) && strings.HasPrefix(s, before) && strings.HasSuffix(s, after)
}

// checkRollout holds the rules rolling-sync-*.
func checkRollout(d Declared, version Version) []FileFinding {
	r := d.Rollout
	switch {
	case r == nil:
		return nil
	case r.Type == rollingSync && len(r.Steps) == 0:
		return []FileFinding{d.wrong(RuleRolloutSteps, fields("spec.strategy"), "the RollingSync of %s has no steps: by the version of Argo CD it does not count, or nothing is synced", d.App)}
	case r.Type != rollingSync && len(r.Steps) > 0:
		return []FileFinding{d.wrong(RuleRolloutSteps, fields("spec.strategy"), "the type of the strategy of %s is %q, so its %d steps do not count", d.App, clip(r.Type), len(r.Steps))}
	case r.Type != rollingSync:
		return nil
	}
	var fs []FileFinding
	for i, s := range r.Steps {
		fs = append(fs, checkStep(d, i, s)...)
	}
	fs = append(fs, checkMatches(d)...)
	return append(fs, checkByHand(d, version)...)
}

// checkStep is what one step says by itself.
func checkStep(d Declared, i int, s Step) (fs []FileFinding) {
	for n, t := range s.Terms {
		if t.Operator != "In" && t.Operator != "NotIn" {
			fs = append(fs, d.wrong(RuleRolloutTerm, stepPath(i, "matchExpressions", fmt.Sprint(n), "operator"),
				"step %d of %s has the operator %q, which a step does not know", i+1, d.App, clip(t.Operator)))
		}
	}
	at := stepPath(i, "maxUpdate")
	matched := 0
	for _, app := range d.Apps {
		if s.selects(app.Labels, app.unsure()) != verdict.No {
			matched++
		}
	}
	switch {
	case s.Max.Broken != "":
		fs = append(fs, d.wrong(RuleRolloutMax, at, "maxUpdate of step %d of %s is %s, neither a number nor a percentage", i+1, d.App, s.Max.Broken))
	case s.Max.Given && s.Max.Number <= 0:
		fs = append(fs, d.own(RuleRolloutHeld, Warned, at, "step %d of %s syncs nothing by itself (maxUpdate %d), and what comes after it waits", i+1, d.App, s.Max.Number))
	case !s.Max.Given && (matched > 1 || d.Unknown != "" && matched > 0):
		fs = append(fs, d.own(RuleRolloutAll, Warned, stepPath(i), "step %d of %s has no maxUpdate: all its Applications are synced at once", i+1, d.App))
	}
	return fs
}

// broken reports whether a step has an operator that Argo CD does not know.
func (s Step) broken() bool {
	return slices.ContainsFunc(s.Terms, func(t Term) bool { return t.Operator != "In" && t.Operator != "NotIn" })
}

// unsure: what is written over the template may set labels.
func (p Planned) unsure() bool { return p.Over.says("labels") }

// checkMatches holds the labels of the Applications against the steps.
func checkMatches(d Declared) (fs []FileFinding) {
	matched := make([]verdict.Tri, len(d.Rollout.Steps))
	for i := range matched {
		matched[i] = verdict.No
	}
	var left []string
	unsure, broken := false, false
	for _, app := range d.Apps {
		best := verdict.No
		for i, s := range d.Rollout.Steps {
			is := s.selects(app.Labels, app.unsure())
			if s.broken() {
				matched[i], broken = verdict.Yes, true // said already
			}
			matched[i], best = likelier(matched[i], is), likelier(best, is)
		}
		unsure = unsure || best == verdict.Unknown && !broken
		if best == verdict.No {
			left = append(left, app.App.Name)
		}
	}
	var open []string
	for i, is := range matched {
		switch is {
		case verdict.No:
			fs = append(fs, d.wrong(RuleRolloutNone, stepPath(i, "matchExpressions"), "step %d of %s matches no Application: %s", i+1, d.App, whyNone(d, d.Rollout.Steps[i])))
		case verdict.Unknown:
			open = append(open, fmt.Sprintf("step %d", i+1))
		}
	}
	switch {
	case len(left) > 0 && d.Unknown != "":
		fs = append(fs, d.own(RuleRolloutLeft, Warned, fields("spec.template.metadata.labels"), "no step of %s matches the Applications that it makes", d.App))
	case len(left) > 0:
		fs = append(fs, d.own(RuleRolloutLeft, Warned, fields("spec.template.metadata.labels"), "no step of %s matches %s", d.App, list(left)))
	}
	if len(open) > 0 || unsure {
		which := ""
		if len(open) > 0 {
			which = " (" + strings.Join(open, ", ") + ")"
		}
		fs = append(fs, d.own(RuleRolloutNone, NotAssessed, fields("spec.template.metadata.labels"),
			"which Applications the steps of %s match%s, and whether one matches none, is not told by the file: %s", d.App, which, d.why()))
	}
	return fs
}

func (d Declared) why() string {
	for _, app := range d.Apps {
		if app.unsure() {
			return "what is written over the template may set labels"
		}
	}
	if d.Unknown != "" {
		return d.Unknown
	}
	return "a placeholder in its labels is not one of the list's own values"
}

// likelier is the better of two answers.
func likelier(a, b verdict.Tri) verdict.Tri {
	switch {
	case a == verdict.Yes || b == verdict.Yes:
		return verdict.Yes
	case a == verdict.Unknown || b == verdict.Unknown:
		return verdict.Unknown
	}
	return verdict.No
}

// whyNone names the first label that a step asks for and no Application has.
func whyNone(d Declared, s Step) string {
	for _, t := range s.Terms {
		var values []string
		for _, app := range d.Apps {
			if v, there := app.Labels[t.Key]; there && !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
		switch {
		case len(values) == 0 && t.Operator == "In":
			return fmt.Sprintf("the template sets no label %q", clip(t.Key))
		case t.Operator == "In" && !slices.ContainsFunc(values, func(v string) bool {
			return slices.ContainsFunc(t.Values, func(w string) bool { return v == w || fits(v, w) })
		}):
			return fmt.Sprintf("the label %q is %s, never %s", clip(t.Key), list(values), list(t.Values))
		}
	}
	return "no Application has all the labels that it asks for"
}

// checkByHand: a RollingSync takes automated sync off what it makes.
func checkByHand(d Declared, version Version) []FileFinding {
	if len(d.Apps) == 0 || d.Apps[0].Over.says("automated") {
		return nil
	}
	app, how := d.Apps[0], "removed up to Argo CD 3.2, switched off (enabled: false) from 3.3 on"
	switch {
	case version.Before(3, 3):
		how = "Argo CD " + version.String() + " removes it"
	case version.Known():
		how = "Argo CD " + version.String() + " sets enabled: false"
	}
	at := fields("spec.template.spec.syncPolicy.automated")
	if app.Automated && (!app.SwitchedOff || version.Before(3, 1)) {
		if !app.SelfHeal {
			return nil
		}
		return []FileFinding{d.own(RuleRolloutByHand, Noted, at,
			"the RollingSync takes automated sync off the Applications of %s (%s): they sync in their step only, and selfHeal does nothing", d.App, how)}
	}
	return []FileFinding{d.own(RuleRolloutByHand, Warned, at,
		"automated sync is off in the template of %s: its Applications sync by the RollingSync only, and not at all where the controller has no progressive syncs", d.App)}
}

func stepPath(i int, more ...string) []string {
	return append([]string{"spec", "strategy", "rollingSync", "steps", fmt.Sprint(i)}, more...)
}

// fields splits a path of plain keys.
func fields(s string) []string { return strings.Split(s, ".") }
