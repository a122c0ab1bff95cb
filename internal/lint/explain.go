package lint

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/pkg/trailer"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// ExplainAsk is what is to be explained.
type ExplainAsk struct {
	App    string // as a trailer names it; empty: all are surveyed
	Branch string // the one on which commits land; empty: any that is watched
	Server string // the Argo CD that is asked; empty: none
	Format string
}

// explanation is what is known of one Application, and what that means.
type explanation struct {
	App    string       `json:"app"`
	Places []knownPlace `json:"places"`
	Facts  []knownFact  `json:"facts"`
	Modes  []meaning    `json:"modes"`
}

// knownPlace is where facts come from.
type knownPlace struct {
	Name string `json:"name"` // inventory, manifest, live, policy
	Text string `json:"text"`
	Used bool   `json:"used"` // it says something of the Application
}

// knownFact is a fact as the places tell it.
type knownFact struct {
	Name     string       `json:"name"`
	Values   []knownValue `json:"values"`
	Disagree bool         `json:"disagree,omitempty"`
}

type knownValue struct {
	Value string   `json:"value"`
	From  []string `json:"from"`
}

// meaning is what the facts mean for a mode.
type meaning struct {
	Mode     string          `json:"mode"`
	May      string          `json:"may"` // yes, no, not-known
	Findings []armingFinding `json:"findings"`
	// OfCommit are the rules that ask what a commit changes.
	OfCommit []string `json:"askedOfEachCommit,omitempty"`
}

type armingFinding struct {
	Rule    string `json:"rule"`
	Outcome string `json:"outcome"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Reason  string `json:"reason,omitempty"` // the policy's, for accepted
}

// Answers of may.
const (
	mayYes = "yes"
	mayNo  = "no"
	mayTry = "not-known"
)

// asking is what an explanation is made of.
type asking struct {
	ExplainAsk
	policy  Policy
	status  bool // the watcher's status is here, whatever it holds
	facts   *CommitFacts
	request arming.Request
}

// Explain prints what is known of an Application and what that means for
// watching it, for proposing a revert, and for arming; without a name, all known
// Applications in short.
func (c Config) Explain(ctx context.Context, r Repo, w io.Writer, ask ExplainAsk) error {
	a := asking{ExplainAsk: ask}
	var app verdict.App
	var err error
	if ask.App != "" {
		if app, err = verdict.ParseApp(ask.App); err != nil {
			return exit.Misused(err)
		}
	}
	if err := a.gather(ctx, c, r); err != nil {
		return err
	}
	if ask.App == "" {
		return c.survey(ctx, w, a)
	}
	one, err := a.explain(ctx, app)
	if err != nil {
		return err
	}
	if ask.Format == FormatJSON {
		return encode(w, struct {
			Version int    `json:"version"`
			Command string `json:"command"`
			explanation
		}{JSONVersion, "explain", one})
	}
	return one.print(w)
}

func (a *asking) gather(ctx context.Context, c Config, r Repo) (err error) {
	if a.policy, err = ClonePolicy(ctx, r); err != nil {
		return err
	}
	c.warnPolicy(a.policy)
	ids, err := r.IDs(ctx, []string{localHead + "^{commit}", StatusRef + "^{commit}"})
	if err != nil {
		return err
	}
	a.status = ids[StatusRef+"^{commit}"] != ""
	if a.facts, err = c.Known.Everything(ctx, ids[localHead+"^{commit}"], a.policy.Policy); err != nil {
		return err
	}
	def, err := r.Landing(ctx)
	if err != nil {
		return err
	}
	if def == "" {
		def = a.Branch
	}
	a.request = arming.Request{
		NoCommit: true, PathsUnknown: true, Vouched: arming.VouchNotAssessed, Branch: a.Branch, DefaultBranch: def,
		Policies: []arming.NamedPolicy{{When: "of this clone", Policy: a.policy.Policy}},
	}
	return nil
}

// of is a request about one Application.
func (a *asking) of(ctx context.Context, app verdict.App, mode trailer.Mode, content bool) arming.Request {
	r := a.request
	r.App, r.Mode = app, mode
	a.facts.fill(ctx, &r, trailer.Watch{App: app.String(), Mode: trailer.Shadow, Deadline: a.policy.Trailer.Deadline, Reach: a.policy.Trailer.Reach})
	if content && len(r.Places) > 0 && a.facts.commit != "" && a.facts.known.Manifests != nil {
		a.facts.back = a.facts.commit // nothing is compared: what stands is read
		r.Content = a.facts.content(ctx, r.Places)
	}
	return r
}

func (a *asking) explain(ctx context.Context, app verdict.App) (explanation, error) {
	shadow := a.of(ctx, app, trailer.Shadow, true)
	if err := a.known(app, shadow.Places); err != nil {
		return explanation{}, err
	}
	app = shadow.Places[0].App
	arm, propose := shadow, shadow
	arm.Mode, propose.Mode = trailer.Arm, trailer.Propose
	e := explanation{App: app.String(), Places: a.places(shadow.Places), Facts: a.merged(shadow)}
	e.Modes = []meaning{watching(arm), means(propose), means(arm)}
	return e, nil
}

// known says why nothing can be said of an Application.
func (a *asking) known(app verdict.App, places []arming.Facts) error {
	if len(places) == 0 {
		err := exit.Unclear(fmt.Errorf("no Application %s is known", app))
		for _, p := range a.facts.places {
			if slices.ContainsFunc(p.Sets, func(s arming.AppSet) bool { return s.Name == app.Name }) {
				return exit.Hint(err, "%s is an ApplicationSet; name one of the Applications that it makes, which the inventory or a running Argo CD knows (--argocd-server URL)", app.Name)
			}
		}
		return exit.Hint(err, "navlint explain lists those that are known; fetch refs/notes/nav/status, or ask Argo CD (--argocd-server URL), for more")
	}
	for _, f := range places[1:] {
		if !f.App.Matches(places[0].App) {
			return exit.Hint(exit.Unclear(fmt.Errorf("the name %s fits several Applications: %s and %s", app, places[0].App, f.App)), "write NAMESPACE/NAME")
		}
	}
	return nil
}

// watching is what the facts mean for a commit that is only judged.
func watching(arm arming.Request) meaning {
	m := meaning{Mode: string(trailer.Shadow), May: mayYes, Findings: []armingFinding{}}
	for _, f := range arming.Check(arm, arming.AskAll) {
		switch f.Rule {
		case arming.RuleSourceType, arming.RuleRepository, arming.RuleHydrator, arming.RuleSkipReconcile:
			m.add(f)
		}
	}
	return m
}

// means is what the facts mean for a commit that asks for a revert.
func means(r arming.Request) meaning {
	m := meaning{Mode: string(r.Mode), May: mayYes, Findings: []armingFinding{}}
	for _, f := range arming.Check(r, arming.AskAll) {
		if !arming.AsksCommit(f.Rule) {
			m.add(f)
		}
	}
	m.OfCommit = []string{arming.RuleNothingDeployed, arming.RuleForeignPath}
	if slices.ContainsFunc(r.Policies, func(p arming.NamedPolicy) bool { return len(p.Arm.NeverPaths) > 0 }) {
		m.OfCommit = append([]string{arming.RuleNeverPaths}, m.OfCommit...)
	}
	return m
}

func (m *meaning) add(f arming.Finding) {
	switch {
	case f.Outcome == arming.Refuse:
		m.May = mayNo
	case f.Outcome == arming.NotAssessed && m.May == mayYes:
		m.May = mayTry
	}
	message := f.Message
	if f.Outcome == arming.Accepted {
		message = strings.TrimSuffix(message, "; accepted by the policy: "+f.Reason)
	}
	hint := strings.Replace(f.Hint, "navlint commits --argocd-server", "navlint explain --argocd-server", 1)
	m.Findings = append(m.Findings, armingFinding{f.Rule, f.Outcome.String(), message, hint, f.Reason})
}
