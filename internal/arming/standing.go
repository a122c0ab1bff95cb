package arming

import (
	"fmt"
	"slices"

	"github.com/nav-watchdog/nav-watchdog/pkg/trailer"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

const armMode = trailer.Arm

// checkStandingRevision is target-revision where no commit is asked about:
// does a source follow a branch that is watched at all?
func checkStandingRevision(r Request, f Facts, ours []verdict.Source) (fs []Finding) {
	for _, s := range ours {
		if openText(s.TargetRevision) {
			continue
		}
		switch what := unwatched(s.TargetRevision, r); what {
		case "":
		case unknownDefault:
			open := found(RuleTargetRevision, NotAssessed, "which branch is the default one is not known here, so whether the one that %s follows (%q) is watched was not looked at", f.App, clip(s.TargetRevision))
			open.Hint = "git remote set-head origin --auto, or say which: --branch BRANCH"
			return []Finding{open}
		default:
			return []Finding{found(RuleTargetRevision, Refuse, "a source of %s follows %s", f.App, what)}
		}
	}
	return fs
}

// unknownDefault is what unwatched says where it cannot know.
const unknownDefault = "a branch that may be the default one"

// unwatched says what a target revision follows if no push to it is watched; ""
// if it is. A branch that was said is the one that counts.
func unwatched(target string, r Request) string {
	if r.Branch != "" {
		return notFollowing(target, short(r.Branch), short(r.DefaultBranch))
	}
	isVersion, wild := version(target)
	switch {
	case (target == "" || target == "HEAD") && r.DefaultBranch == "":
		if len(watching(r)) == 0 {
			return "" // without a policy the default branch is the one that is watched
		}
		return unknownDefault
	case target == "" || target == "HEAD":
		target = r.DefaultBranch
	case len(target) == 40 && isHex(target):
		return fmt.Sprintf("the commit %s, not a branch", target)
	case isVersion && wild || len(target) > 10 && target[:10] == "refs/tags/":
		return revisionKind(target) + ", not a branch"
	}
	for _, p := range r.Policies {
		if p.WatchesBranch(target, r.DefaultBranch) {
			continue
		}
		if len(p.Branches) == 0 && r.DefaultBranch == "" {
			return unknownDefault
		}
		return fmt.Sprintf("%s, which is no branch that the policy watches", revisionKind(target))
	}
	return ""
}

func watching(r Request) (branches []string) {
	for _, p := range r.Policies {
		branches = append(branches, p.Branches...)
	}
	return branches
}

// MayArm reports whether the policy lets anybody arm an Application.
func (p Policy) MayArm(app verdict.App) bool { return p.armsAtAll(app) }

// ArmedBy lists who may arm an Application, as arm.allow names them.
func (p Policy) ArmedBy(app verdict.App) (people []string) {
	for _, a := range p.Arm.Allow {
		if p.Exists && anyApp(a.Apps, app) {
			people = append(people, a.By...)
		}
	}
	slices.Sort(people)
	return slices.Compact(people)
}

// AsksCommit reports whether a rule asks what a commit changes, so that nothing
// can be said where there is none.
func AsksCommit(rule string) bool {
	return rule == RuleNeverPaths || rule == RuleForeignPath || rule == RuleNothingDeployed
}
