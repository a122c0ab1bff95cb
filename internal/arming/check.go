// Package arming answers whether a commit may be armed for an Application:
// whether a failed watch may be answered with a revert that nobody looks at.
// It is asked twice: when the commit is pushed, and again, live, just before a
// revert (gate eligible).
//
// It is pure: facts and policies come in, findings go out. A finding either
// refuses, or says what could not be assessed and by whom it could be, or
// names the rule that a policy waived. Whatever is missing and would have to
// be known refuses.
package arming

import (
	"fmt"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/pkg/trailer"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// Vouch says whether the host vouches for the person in Request.By.
type Vouch uint8

// The zero value is the strict one: a caller who says nothing has nobody.
const (
	NotVouched       Vouch = iota // asked, and nobody is vouched for (a hook, the daemon)
	Vouched                       // the host vouches for By
	VouchNotAssessed              // this place cannot know (a lint in a clone or in CI)
)

// NamedPolicy is a policy with the moment it is of: "when the commit landed",
// "now". All that are given must allow.
type NamedPolicy struct {
	When string
	Policy
}

// AppPaths are the source paths of an Application in this repository: slash
// paths from the root, "" or "." for all of it.
type AppPaths struct {
	App   verdict.App
	Paths []string
	// AnyFile: one of its sources has no path (`ref`), so that it may read any
	// file of the repository.
	AnyFile bool
}

// Request is what is known of a commit that asks to be armed for one
// Application.
type Request struct {
	Commit string // for messages only
	By     string // the pusher; counts only with Vouched
	// Vouched says whether By counts.
	Vouched Vouch

	App  verdict.App  // as the trailer names it
	Mode trailer.Mode // shadow asks for nothing, so nothing is found

	Branch, DefaultBranch string   // short names or refs/heads/...
	Paths                 []string // that the commit changed, both sides of a rename

	Facts  *Facts        // nil: nobody knows the Application
	Others []AppPaths    // of other known Applications; App itself is skipped
	Named  []verdict.App // that the commit's trailers name

	Policies []NamedPolicy // none: refused
	// IsOurRepo reports whether an address is this repository; nil knows none.
	IsOurRepo func(url string) bool
}

// app is the Application as exactly as it is known.
func (r Request) app() verdict.App {
	if r.Facts != nil && r.App.Matches(r.Facts.App) {
		return r.Facts.App
	}
	return r.App
}

// Ask says how much is asked.
type Ask uint8

// The zero value asks everything.
const (
	AskAll    Ask = iota // the policy, and the Application's facts
	AskPolicy            // what the policy alone answers: who, which app, never-paths
)

// Outcome is what a finding means. Only Refuse holds anything.
type Outcome uint8

// The zero value refuses.
const (
	Refuse      Outcome = iota
	NotAssessed         // could not be found out here; Message says what is missing
	Accepted            // would refuse, but the policy waives it; Reason is the policy's
	Noted               // known, worth saying, refuses nothing
)

func (o Outcome) String() string {
	switch o {
	case Refuse:
		return "refused"
	case NotAssessed:
		return "not assessed"
	case Accepted:
		return "accepted"
	default:
		return "noted"
	}
}

// Finding is what one rule says.
type Finding struct {
	Rule    string
	Outcome Outcome
	Message string // one line, untrusted parts quoted and bounded; with Accepted it ends with the reason
	Hint    string // empty with Accepted and Noted
	Reason  string // the policy's, with Accepted
}

func (f Finding) String() string {
	return fmt.Sprintf("%s: %s: %s", f.Rule, f.Outcome, f.Message)
}

// Check asks every rule and returns what they found, in the order of Rules.
// An armed commit may stand if none of it refuses. A commit in shadow mode
// asks for nothing: there are no findings.
func Check(r Request, ask Ask) []Finding {
	if r.Mode == trailer.Shadow {
		return nil
	}
	fs := checkPolicies(r)
	if ask == AskAll {
		fs = append(fs, checkFacts(r)...)
	}
	for i := range fs {
		fs[i] = waive(fs[i], r)
	}
	return fs
}

func checkFacts(r Request) []Finding {
	switch {
	case r.Facts == nil:
		return []Finding{found(RuleUnknownApp, Refuse, "no Application %s is known", r.App)}
	case !r.App.Matches(r.Facts.App):
		return []Finding{found(RuleUnknownApp, Refuse, "what is known is of %s, not of %s", r.Facts.App, r.App)}
	}
	var fs []Finding
	for _, rule := range []func(Request) []Finding{
		checkSource, checkSync, checkImageUpdater, checkForeignPath, checkProject,
	} {
		fs = append(fs, rule(r)...)
	}
	return fs
}

// waive turns a finding into Accepted where every policy accepts it.
func waive(f Finding, r Request) Finding {
	if f.Outcome == Noted {
		return f
	}
	if reason, ok := Waived(r.Policies, f.Rule, r.app()); ok {
		f.Outcome, f.Hint, f.Reason = Accepted, "", reason
		f.Message += "; accepted by the policy: " + reason
		return f
	}
	for _, p := range r.Policies {
		if entry, ok := p.Accepts(f.Rule, r.app()); entry != nil && !ok {
			f.Message += fmt.Sprintf("; the policy accepts it when it %s, which is not assessed yet, so it counts as refused",
				strings.ReplaceAll(entry.When, "-", " "))
			break
		}
	}
	return f
}

// checkProject lists what only the AppProject could tell.
func checkProject(r Request) []Finding {
	project := r.Facts.Project
	if project == "" {
		project = "default" // what Argo CD takes for an empty one
	}
	return []Finding{
		found(RuleProjectSignatures, NotAssessed, "whether AppProject %q demands signed commits was not looked at", clip(project)),
		found(RuleProjectWindows, NotAssessed, "whether a sync window of AppProject %q would hold a revert was not looked at", clip(project)),
	}
}

func found(rule string, o Outcome, format string, args ...any) Finding {
	f := Finding{Rule: rule, Outcome: o, Message: fmt.Sprintf(format, args...)}
	if o == Refuse || o == NotAssessed {
		f.Hint = ruleByID(rule).Hint
	}
	return f
}
