package arming

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// Everybody, in a list of users, is everybody, also somebody whom nobody
// vouches for.
const Everybody = "*"

// Allows reports whether `by` may arm a commit for an Application, and why or
// why not, for people. `by` is the person whom the host vouches for; "" is
// nobody, whom only "*" allows (design, section 7).
//
// A pattern of `apps` without a slash matches the Application's name in any
// namespace; one with a slash matches NAMESPACE/NAME, and an Application whose
// namespace is not known only if the pattern takes every namespace.
func (p Policy) Allows(app verdict.App, by string) (ok bool, why string) {
	if !p.Exists {
		return false, "there is no policy, so nobody may arm"
	}
	var people []string
	for i, a := range p.Arm.Allow {
		if !anyApp(a.Apps, app) {
			continue
		}
		if entry, in := p.holds(a.By, by); in {
			return true, fmt.Sprintf("arm.allow[%d] lets %s arm %s", i, entry, app)
		}
		people = append(people, a.By...)
	}
	if people == nil {
		why = fmt.Sprintf("no entry of arm.allow names %s", app)
		if app.Namespace == "" && p.namesQualified(app) {
			why += "; one names it with a namespace, which the trailer leaves out"
		}
		return false, why
	}
	slices.Sort(people)
	who := fmt.Sprintf("%+q", clip(by))
	if by == "" {
		who = "nobody is vouched for as the one who pushes, and so"
	}
	return false, fmt.Sprintf("%s may not arm %s, only %s", who, app, listPeople(slices.Compact(people)))
}

// armsAtAll reports whether anybody may arm the Application.
func (p Policy) armsAtAll(app verdict.App) bool {
	return p.Exists && slices.ContainsFunc(p.Arm.Allow, func(a Allow) bool { return len(a.By) > 0 && anyApp(a.Apps, app) })
}

func (p Policy) namesQualified(app verdict.App) bool {
	return slices.ContainsFunc(p.Arm.Allow, func(a Allow) bool {
		return slices.ContainsFunc(a.Apps, func(pattern string) bool {
			_, name, qualified := strings.Cut(pattern, "/")
			return qualified && matchName(name, app.Name)
		})
	})
}

// IsOwner reports whether `by` is one of the policy's owners. Without owners
// nobody is; whether somebody may change the policy is MayChange.
func (p Policy) IsOwner(by string) bool {
	_, in := p.holds(p.Owners, by)
	return in
}

// MayChange reports whether `by` may push a change of the policy file: its
// owners, and anybody as long as there are none.
func (p Policy) MayChange(by string) bool {
	return len(p.Owners) == 0 || p.IsOwner(by)
}

// holds looks for a person in a list of users, patterns, @groups and "*", and
// gives the entry that holds them.
func (p Policy) holds(list []string, by string) (entry string, ok bool) {
	for _, e := range list {
		group, isGroup := strings.CutPrefix(e, "@")
		switch {
		case e == Everybody:
			return "everybody", true
		case by == "":
		case isGroup:
			if slices.Contains(p.Groups[group], by) {
				return by + ", of @" + group + ",", true
			}
		case e == by || matchName(e, by):
			return by, true
		}
	}
	return "", false
}

// Accepts reports whether the policy waives a rule (or the gate related) for
// an Application without any condition, and gives the entry; with ok false the
// entry, if it is there, is the one whose condition stands in the way.
func (p Policy) Accepts(rule string, app verdict.App) (entry *Accept, ok bool) {
	return p.accepts(rule, app, verdict.Unknown)
}

// accepts is Accepts where it is known whether a revert deletes objects.
func (p Policy) accepts(rule string, app verdict.App, deletes verdict.Tri) (entry *Accept, ok bool) {
	if !p.Exists || !slices.Contains(Waivable(), rule) {
		return nil, false
	}
	for i, a := range p.Arm.Accept {
		if a.Rule != rule || !anyApp(a.Apps, app) {
			continue
		}
		entry = &p.Arm.Accept[i]
		if a.When == "" || a.When == WhenDeletesNothing && deletes == verdict.No {
			return entry, true
		}
	}
	return entry, false
}

// Waived is Accepts for all policies that must agree: the reason is the last
// one's, which by convention is the policy that stands now.
func Waived(policies []NamedPolicy, rule string, app verdict.App) (reason string, ok bool) {
	return waived(policies, rule, app, verdict.Unknown)
}

func waived(policies []NamedPolicy, rule string, app verdict.App, deletes verdict.Tri) (reason string, ok bool) {
	for _, p := range policies {
		entry, ok := p.accepts(rule, app, deletes)
		if !ok {
			return "", false
		}
		reason = entry.Reason
	}
	return reason, len(policies) > 0
}

// Conditional reports whether a policy accepts a rule for an Application only
// under a condition, so that somebody must look at its manifests.
func Conditional(policies []NamedPolicy, app verdict.App) bool {
	return slices.ContainsFunc(policies, func(p NamedPolicy) bool {
		return slices.ContainsFunc(p.Arm.Accept, func(a Accept) bool { return a.When != "" && anyApp(a.Apps, app) })
	})
}

func anyApp(patterns []string, app verdict.App) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return matchApp(pattern, app) })
}

func matchApp(pattern string, app verdict.App) bool {
	namespace, name, qualified := strings.Cut(pattern, "/")
	switch {
	case pattern == "**":
		return true
	case !qualified:
		return matchName(pattern, app.Name)
	case app.Namespace == "":
		return (namespace == "*" || namespace == "**") && matchName(name, app.Name)
	default:
		return matchName(namespace, app.Namespace) && matchName(name, app.Name)
	}
}

// WatchesBranch reports whether pushes to a branch are watched. Both names may
// carry refs/heads/. Without branches in the policy it is the default branch;
// "**" is every branch, "*" every branch without a slash in its name.
func (p Policy) WatchesBranch(branch, defaultBranch string) bool {
	branch, defaultBranch = short(branch), short(defaultBranch)
	if branch == "" {
		return false
	}
	if len(p.Branches) == 0 {
		return branch == defaultBranch
	}
	return slices.ContainsFunc(p.Branches, func(pattern string) bool { return matchName(pattern, branch) })
}

func short(branch string) string { return strings.TrimPrefix(branch, "refs/heads/") }
