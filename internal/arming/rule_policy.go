package arming

import (
	"fmt"
	"slices"
	"strings"
)

// checkPolicies asks every policy; what several say in the same words is one
// finding.
func checkPolicies(r Request) []Finding {
	if len(r.Policies) == 0 {
		return []Finding{found(RuleNoPolicy, Refuse, "no policy was read, so nobody may arm")}
	}
	var fs []Finding
	var whens [][]string // of the same index, the policies that say so
	for _, p := range r.Policies {
		for _, f := range checkPolicy(r, p.Policy) {
			i := slices.Index(fs, f)
			if i < 0 {
				i = len(fs)
				fs, whens = append(fs, f), append(whens, nil)
			}
			whens[i] = append(whens[i], p.When)
		}
	}
	if len(r.Policies) > 1 {
		for i := range fs {
			fs[i].Message += " (policy " + strings.Join(whens[i], ", and ") + ")"
		}
	}
	order := []string{RuleNoPolicy, RuleNotAllowed, RuleNeverPaths}
	slices.SortStableFunc(fs, func(a, b Finding) int { return slices.Index(order, a.Rule) - slices.Index(order, b.Rule) })
	return fs
}

func checkPolicy(r Request, p Policy) []Finding {
	if !p.Exists {
		return []Finding{found(RuleNoPolicy, Refuse, "there is no policy, so nobody may arm")}
	}
	var fs []Finding
	if f, ok := checkWho(r, p); !ok {
		fs = append(fs, f)
	}
	if f, ok := checkNeverPaths(r, p); !ok {
		fs = append(fs, f)
	}
	return fs
}

func checkWho(r Request, p Policy) (Finding, bool) {
	by := r.By
	if r.Vouched != Vouched {
		by = ""
	}
	ok, why := p.Allows(r.app(), by)
	switch {
	case ok:
		return Finding{}, true
	case r.Vouched == VouchNotAssessed && p.armsAtAll(r.app()):
		return found(RuleNotAllowed, NotAssessed, "who pushes is not known here, and only some may arm %s", r.app()), false
	default:
		return found(RuleNotAllowed, Refuse, "%s", why), false
	}
}

func checkNeverPaths(r Request, p Policy) (Finding, bool) {
	patterns := make([]pathPattern, len(p.Arm.NeverPaths))
	for i, text := range p.Arm.NeverPaths {
		patterns[i] = parsePath(text)
	}
	var hits []string
	by := ""
	for _, path := range r.Paths {
		segments := strings.Split(path, "/")
		for _, pattern := range patterns {
			if pattern.match(segments) {
				if hits == nil {
					by = pattern.text
				}
				hits = append(hits, path)
				break
			}
		}
	}
	switch {
	case hits == nil && r.PathsUnknown && len(patterns) > 0:
		return found(RuleNeverPaths, NotAssessed, "what the commit changes is not known yet"), false
	case hits == nil:
		return Finding{}, true
	}
	what := fmt.Sprintf("%q is", clip(hits[0]))
	if len(hits) > 1 {
		what = fmt.Sprintf("%q and %d more are", clip(hits[0]), len(hits)-1)
	}
	return found(RuleNeverPaths, Refuse, "%s among the paths that may never be armed (%q)", what, clip(by)), false
}
