package lint

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/pkg/trailer"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// surveyed is an Application in short.
type surveyed struct {
	App     string `json:"app"`
	Watch   string `json:"watch"` // yes, no, not-known
	Arm     string `json:"arm"`   // the same, of what stands in the cluster and in Git
	Allowed bool   `json:"allowed"`
	// Best counts from 1 those that are best for a first arm; 0: it is none.
	Best   int    `json:"best,omitempty"`
	Rule   string `json:"rule,omitempty"` // of the first refusal
	Reason string `json:"reason,omitempty"`
	// For says what speaks for it, where nothing is refused; the others are rules.
	For      []string `json:"for,omitempty"`
	Refused  []string `json:"refused,omitempty"`
	Open     []string `json:"notAssessed,omitempty"`
	Warned   []string `json:"warned,omitempty"`
	Accepted []string `json:"accepted,omitempty"`

	score int
}

type survey struct {
	Version   int          `json:"version"`
	Command   string       `json:"command"`
	Places    []knownPlace `json:"places"`
	Apps      []surveyed   `json:"apps"`
	Sets      []string     `json:"applicationSets"` // whose Applications only the cluster knows
	Elsewhere int          `json:"elsewhere"`       // of other repositories
}

// maxBest bounds the candidates that are named, and maxLooked those whose
// manifests are read for that.
const (
	maxBest   = 5
	maxLooked = 200
)

// survey prints all known Applications, the best candidates first.
func (c Config) survey(ctx context.Context, w io.Writer, a asking) error {
	apps, elsewhere := a.facts.apps()
	s := survey{Version: JSONVersion, Command: "explain", Places: a.places(nil), Apps: []surveyed{}, Sets: a.sets(), Elsewhere: elsewhere}
	looked := 0
	for _, app := range apps {
		r := a.of(ctx, app, trailer.Arm, false)
		one := a.short(r)
		if one.Arm != mayNo && looked < maxLooked {
			looked++
			one = a.short(a.of(ctx, app, trailer.Arm, true))
		}
		s.Apps = append(s.Apps, one)
	}
	slices.SortStableFunc(s.Apps, func(x, y surveyed) int {
		if x.rank() != y.rank() {
			return x.rank() - y.rank()
		}
		if len(x.Refused) != len(y.Refused) {
			return len(x.Refused) - len(y.Refused)
		}
		if x.score != y.score {
			return y.score - x.score
		}
		return strings.Compare(x.App, y.App)
	})
	for i := range s.Apps[:min(maxBest, len(s.Apps))] {
		if s.Apps[i].Arm != mayNo && !slices.Contains(s.Apps[i].Warned, arming.RuleAppOfApps) {
			s.Apps[i].Best = i + 1
		}
	}
	var err error
	if a.Format == FormatJSON {
		err = encode(w, s)
	} else {
		err = s.print(w, a.policy)
	}
	if err == nil && len(apps) == 0 {
		return exit.Hint(exit.Unclear(errors.New("no Application is known")), "fetch refs/notes/nav/status, or ask Argo CD (--argocd-server URL)")
	}
	return err
}

// rank puts first what could be armed, then what can be watched.
func (s surveyed) rank() int {
	switch {
	case s.Arm != mayNo:
		return 0
	case s.Watch == mayYes:
		return 1
	case s.Watch == mayTry:
		return 2
	}
	return 3
}

// short asks what the facts say. What the policy says of who may arm stands
// beside it: it is what an owner writes last.
func (a *asking) short(r arming.Request) surveyed {
	s := surveyed{App: r.Places[0].App.String(), Watch: watching(r).May, Allowed: a.policy.MayArm(r.Places[0].App), Arm: mayYes}
	for _, f := range means(r).Findings {
		if f.Rule == arming.RuleNoPolicy || f.Rule == arming.RuleNotAllowed {
			continue
		}
		switch f.Outcome {
		case arming.Refuse.String():
			if s.Refused = once(s.Refused, f.Rule); s.Arm != mayNo {
				s.Arm, s.Rule, s.Reason = mayNo, f.Rule, f.Message
			}
		case arming.NotAssessed.String():
			s.Open = once(s.Open, f.Rule)
			if s.Arm == mayYes {
				s.Arm = mayTry
			}
		case arming.Warned.String():
			s.Warned = once(s.Warned, f.Rule)
		case arming.Accepted.String():
			s.Accepted = once(s.Accepted, f.Rule)
		}
	}
	if s.Arm != mayNo {
		s.praise(r)
		s.score -= len(s.Open) + len(s.Warned) + len(s.Accepted)
	}
	return s
}

func once(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// praise says what speaks for an Application as the first to be armed: Git is
// the truth, it prunes nothing, is small, and healthy.
func (s *surveyed) praise(r arming.Request) {
	say := func(points int, text string) { s.score, s.For = s.score+points, append(s.For, text) }
	truth, prunes, healthy := !slices.Contains(s.Warned, arming.RuleMovingImage) && !slices.Contains(s.Warned, arming.RuleAppOfApps), false, false
	for _, f := range r.Places {
		truth = truth && !f.ImageUpdater.Managed && len(f.Ignored) == 0
		prunes = prunes || f.Prune || f.Template != nil && (f.Template.Prune || f.Template.Patched)
		healthy = healthy || f.State != nil && f.State.Settled
		if f.ImageUpdater.Managed {
			s.score -= 4 // it would commit anew what a revert takes away
		}
		for _, src := range f.Sources {
			truth = truth && src.Kind == verdict.SourceGit
		}
	}
	c := r.Content
	plain := c != nil && c.Unknown == "" && len(c.Objects) > 0
	if truth && plain {
		say(4, "Git is the truth")
	}
	if !prunes {
		say(2, "prune off")
	}
	if plain {
		points := 0
		if len(c.Objects) <= 10 {
			points = 2
		} else if len(c.Objects) <= 50 {
			points = 1
		}
		say(points, count(len(c.Objects), "object"))
	}
	if healthy {
		say(4, "healthy")
	}
}

// sets names the ApplicationSets of which no Application is known.
func (a *asking) sets() []string {
	out := []string{}
	for _, p := range a.facts.places {
		for _, set := range p.Sets {
			known := slices.ContainsFunc(a.facts.places, func(q arming.Place) bool {
				return slices.ContainsFunc(q.Apps, func(f arming.Facts) bool { return f.OwnedBySet && f.Set == set.Name })
			})
			name := verdict.App{Namespace: set.Namespace, Name: set.Name}.String()
			if !known && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return out
}

// print writes the survey for people.
func (s survey) print(w io.Writer, policy Policy) error {
	p := page{bufio.NewWriter(w)}
	p.line("Known from")
	p.places(s.Places)
	p.line("")
	watch, arm, allowed := 0, 0, 0
	width := len("APPLICATION")
	for _, one := range s.Apps {
		width = max(width, min(len(one.App), 40))
		if one.Watch != mayNo {
			watch++
		}
		if one.Arm != mayNo {
			arm++
			if one.Allowed {
				allowed++
			}
		}
	}
	whom := "without a policy nobody may arm yet."
	if policy.Exists {
		whom = fmt.Sprintf("the policy lets somebody arm %d of those.", allowed)
	}
	p.line("%s; %d can be watched; nothing that is known refuses to arm %d; %s", count(len(s.Apps), "Application"), watch, arm, whom)
	common := s.common()
	if len(common) > 0 {
		p.line("Not assessed of any of those: %s.", strings.Join(common, ", "))
	}
	if len(s.Apps) > 0 {
		p.line("")
		p.line("BEST  %-*s  WATCH  ARM  %s", width, "APPLICATION", "FIRST REASON, OR WHAT SPEAKS FOR IT")
	}
	for _, one := range s.Apps {
		best := ""
		if one.Best > 0 {
			best = fmt.Sprint(one.Best)
		}
		p.line("%-4s  %-*s  %-5s  %-3s  %s", best, width, one.App, word(one.Watch), word(one.Arm), one.why(policy, common))
	}
	p.foot(s)
	return p.Flush()
}

// common lists what was not assessed of any Application that is not refused.
func (s survey) common() (rules []string) {
	first := true
	for _, one := range s.Apps {
		switch {
		case one.Arm == mayNo:
		case first:
			rules, first = slices.Clone(one.Open), false
		default:
			rules = slices.DeleteFunc(rules, func(id string) bool { return !slices.Contains(one.Open, id) })
		}
	}
	return rules
}

// why is the first reason, or what speaks for it and what is to be looked at.
func (s surveyed) why(policy Policy, common []string) string {
	if s.Arm == mayNo {
		text := s.Rule + ": " + s.Reason
		if more := slices.DeleteFunc(slices.Clone(s.Refused), func(id string) bool { return id == s.Rule }); len(more) > 0 {
			text += "; and " + strings.Join(more, ", ")
		}
		return text
	}
	var parts []string
	own := slices.DeleteFunc(slices.Clone(s.Open), func(id string) bool { return slices.Contains(common, id) })
	for _, part := range []struct {
		title string
		items []string
	}{{"", s.For}, {"accepted: ", s.Accepted}, {"warned: ", s.Warned}, {"not assessed: ", own}} {
		if len(part.items) > 0 {
			parts = append(parts, part.title+strings.Join(part.items, ", "))
		}
	}
	if policy.Exists && !s.Allowed {
		parts = append(parts, "no entry of arm.allow names it")
	}
	return strings.Join(parts, "; ")
}

func (p page) foot(s survey) {
	if len(s.Sets) > 0 {
		p.line("")
		p.line("What these ApplicationSets make only the inventory or a running Argo CD knows: %s", strings.Join(s.Sets, ", "))
	}
	if s.Elsewhere > 0 {
		p.line("")
		p.line("%s of other repositories left out", count(s.Elsewhere, "Application"))
	}
	if len(s.Apps) > 0 {
		p.line("")
		p.line("WATCH and ARM: yes, no, or ? (not refused, as far as it is known). navlint explain APPLICATION says all of one.")
	}
}

func word(may string) string {
	if may == mayTry {
		return "?"
	}
	return may
}
