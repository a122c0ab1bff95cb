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
	"slices"
	"strings"
	"time"

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
	Now     time.Time // zero: no rule about a moment is asked

	App      verdict.App  // as the trailer names it
	Mode     trailer.Mode // shadow is only warned of what could not be watched
	Deadline time.Duration
	Reach    time.Duration
	Refresh  time.Duration // how long Argo CD takes at most to look again; zero: its default

	Branch, DefaultBranch string   // short names or refs/heads/...
	Paths                 []string // that the commit changed, both sides of a rename
	PathsUnknown          bool     // nobody can tell yet what it changes
	// NoCommit: no commit is asked about, but what stands. Branch is then the one
	// that was asked for; empty: any that the policy watches.
	NoCommit bool

	// Places are what each place that knows the Application says of it; none:
	// nobody knows it. Asked names the places that were asked.
	Places []Facts
	Asked  []string
	// Broken are the files that the policy's manifests name and that cannot be
	// read; Unread says what else was passed over, and why.
	Broken, Unread []string
	// Unsearched: nobody knows it, and the tree was looked at only as far as the
	// policy names manifests and the commit changes some.
	Unsearched bool
	Content    *Content      // its plain manifests; nil: not looked at
	Others     []AppPaths    // of other known Applications; App itself is skipped
	Named      []verdict.App // that the commit's trailers name

	Watcher *Watcher    // what the watcher says of itself; nil: nobody heard of it
	Signs   verdict.Tri // the watcher signs its reverts

	Policies []NamedPolicy // none: refused
	// IsOurRepo reports whether an address is this repository; nil: no name of
	// it is known.
	IsOurRepo func(url string) bool
}

// DefaultRefresh is Argo CD's own: it compares anew after 120 s and a jitter of
// at most 60 s.
const DefaultRefresh = 180 * time.Second

// app is the Application as exactly as it is known.
func (r Request) app() verdict.App {
	for _, f := range r.Places {
		if r.App.Matches(f.App) {
			return f.App
		}
	}
	return r.App
}

// Ask says how much is asked.
type Ask uint8

// The zero value asks everything.
const (
	AskAll    Ask = iota // the policy, and the Application's facts
	AskPolicy            // what the policy alone answers: who, which app, never-paths
	AskRevert            // all but what other gates answer: the Application has failed, and the watcher lives
)

// Outcome is what a finding means. Only Refuse holds anything.
type Outcome uint8

// The zero value refuses.
const (
	Refuse      Outcome = iota
	NotAssessed         // could not be found out here; Message says what is missing
	Accepted            // would refuse, but the policy waives it; Reason is the policy's
	Noted               // known, worth saying, refuses nothing
	Warned              // a revert may not help, or not in time; refuses nothing
)

func (o Outcome) String() string {
	switch o {
	case Refuse:
		return "refused"
	case NotAssessed:
		return "not assessed"
	case Accepted:
		return "accepted"
	case Warned:
		return "warned"
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
// An armed commit may stand if none of it refuses. A commit in shadow mode asks
// for nothing: it is only warned where its watch could not be judged.
func Check(r Request, ask Ask) []Finding {
	if r.Mode == trailer.Shadow {
		if ask != AskAll {
			return nil
		}
		return checkShadow(r)
	}
	fs := checkPolicies(r)
	if ask != AskPolicy {
		fs = append(fs, checkFacts(r, ask)...)
	}
	for i := range fs {
		fs[i] = waive(fs[i], r)
	}
	order := ruleOrder()
	slices.SortStableFunc(fs, func(a, b Finding) int { return order[a.Rule] - order[b.Rule] })
	oneHint(fs)
	return fs
}

func checkFacts(r Request, ask Ask) []Finding {
	places, fs := known(r)
	if len(fs) > 0 {
		return append(fs, checkBroken(r)...)
	}
	fs = checkBroken(r)
	rules := []func(Request, Facts) []Finding{
		checkSource, checkSync, checkImageUpdater, checkProject, checkTouched, checkTiming, checkManifests,
	}
	if ask == AskAll {
		rules = append(rules, checkState)
		fs = append(fs, checkWatcher(r)...)
	}
	fs = append(fs, combine(r, places, rules)...)
	return append(fs, checkForeignPath(r)...)
}

// known gives what the places say of the Application, or why it is not known.
func known(r Request) ([]Facts, []Finding) {
	unread := ""
	if len(r.Unread) > 0 {
		unread = " (" + strings.Join(r.Unread[:min(3, len(r.Unread))], "; ") + ")"
	}
	if len(r.Places) == 0 {
		f := found(RuleUnknownApp, Refuse, "no Application %s is known%s%s", r.App, asked(r), unread)
		if len(r.Asked) == 0 {
			f.Hint = hintNowhere
		}
		return nil, []Finding{f}
	}
	first := r.Places[0].App
	for _, f := range r.Places {
		switch {
		case !r.App.Matches(f.App):
			return nil, []Finding{found(RuleUnknownApp, Refuse, "what is known is of %s, not of %s", f.App, r.App)}
		case !first.Matches(f.App):
			return nil, []Finding{found(RuleUnknownApp, Refuse, "the name %s fits several Applications: %s and %s", r.App, first, f.App)}
		}
	}
	return r.Places, nil
}

// checkBroken: what stands in a file that cannot be read is not known.
func checkBroken(r Request) []Finding {
	if len(r.Broken) == 0 {
		return nil
	}
	return []Finding{found(RuleManifests, Refuse, "what the policy's manifests name cannot be read: %s", list(r.Broken))}
}

func asked(r Request) string {
	if len(r.Asked) == 0 {
		return ""
	}
	return "; asked was " + strings.Join(r.Asked, ", ")
}

// checkShadow warns of what could only end in ERROR_UNWATCHABLE, also where
// nobody knows: that is no success.
func checkShadow(r Request) []Finding {
	places, fs := known(r)
	if len(fs) == 0 {
		fs = combine(r, places, []func(Request, Facts) []Finding{checkWatchable})
	}
	for i := range fs {
		if fs[i].Outcome == Refuse {
			fs[i].Outcome = Warned
		}
		if fs[i].Hint == hintNowhere {
			fs[i].Hint = hintNowhereShadow
		}
		if r.Unsearched && r.Watcher == nil && fs[i].Rule == RuleUnknownApp {
			fs[i].Message += "; it was not looked for in manifests that neither the policy names nor the commit changes"
			fs[i].Hint = hintUnsearched
		}
	}
	return fs
}

// waive turns a finding into Accepted where every policy accepts it.
func waive(f Finding, r Request) Finding {
	if f.Outcome == Noted {
		return f
	}
	deletes := r.Content.deletes()
	if r.NoCommit {
		deletes = verdict.Unknown
	}
	if reason, ok := waived(r.Policies, f.Rule, r.app(), deletes); ok {
		f.Outcome, f.Hint, f.Reason = Accepted, "", reason
		f.Message += "; accepted by the policy: " + reason
		return f
	}
	for _, p := range r.Policies {
		entry, ok := p.accepts(f.Rule, r.app(), deletes)
		if entry == nil || ok {
			continue
		}
		switch {
		case r.NoCommit:
			f.Outcome, f.Hint = NotAssessed, ""
			f.Message += "; the policy accepts it for a commit whose revert deletes nothing: " + entry.Reason
		case deletes == verdict.Yes:
			f.Message += "; the policy accepts it when it deletes nothing, and a revert deletes " + removed(r.Content.Removed)
		case r.Content == nil:
			f.Message += "; the policy accepts it when it deletes nothing, which was not looked at, so it counts as refused"
		default:
			f.Message += "; the policy accepts it when it deletes nothing, which is not known: " + r.Content.Unknown
		}
		break
	}
	return f
}

func removed(ids []verdict.ObjectID) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	return list(texts)
}

func found(rule string, o Outcome, format string, args ...any) Finding {
	f := Finding{Rule: rule, Outcome: o, Message: fmt.Sprintf(format, args...)}
	if o == Refuse || o == NotAssessed || o == Warned {
		f.Hint = ruleByID(rule).Hint
	}
	if o == NotAssessed && slices.Contains(clusterKnows(), rule) {
		f.Hint = hintUnseen
	}
	return f
}

// hintNowhere is what to do where nobody knows any Application.
const hintNowhere = "let navwatchd publish what the cluster has (one pass does: navwatchd once), or keep the Applications' manifests in this repository; until then use mode=shadow"

// hintNowhereShadow is that for a watch that is in shadow already.
const hintNowhereShadow = "let navwatchd publish what the cluster has (navwatchd once) and fetch its notes (git fetch origin '+refs/notes/nav/*:refs/notes/nav/*'), or keep the Applications' manifests in this repository"

// hintUnsearched is that for one that was not looked for everywhere.
const hintUnsearched = "list the Applications' manifests under manifests in the policy, or let navwatchd publish what the cluster has (navwatchd once) and fetch its notes (git fetch origin '+refs/notes/nav/*:refs/notes/nav/*')"

// hintUnseen is what to do where only the cluster could tell.
const hintUnseen = "let navwatchd publish its inventory (refs/notes/nav/status), or ask Argo CD itself: navlint commits --argocd-server URL"

func clusterKnows() []string {
	return []string{RuleAppSetPrune, RuleImageUpdaterCR, RuleProjectSignatures, RuleProjectWindows, RuleNotHealthy, RuleWatcherStale}
}

// oneHint leaves out hints that have been given.
func oneHint(fs []Finding) {
	given := false
	for i := range fs {
		if fs[i].Hint == hintUnseen {
			if given {
				fs[i].Hint = ""
			}
			given = true
		}
	}
}
