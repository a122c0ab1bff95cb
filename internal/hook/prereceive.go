package hook

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/internal/config"
	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/internal/lint"
	"github.com/nav-watchdog/nav-watchdog/pkg/trailer"
)

// maxShown bounds the findings that a refused pusher sees.
const maxShown = 40

// Rules that only a push can break. Their findings are about a ref, not a
// message.
const (
	RulePolicyOwner  = "nav-policy-owner"
	RulePolicyBroken = lint.RulePolicyBroken // navlint finds it, too
	RuleNotesRef     = "nav-notes-ref"
	RulePeople       = "nav-people"
)

// PreReceive decides whether a push may pass: nil, or an error with an exit
// code. It asks everything before it refuses, so that one push shows all that
// is wrong; what it cannot decide refuses, too.
//
// It looks at branches and at refs/notes/nav/; tags, refs/pull/ and all other
// refs pass unread. Messages are linted on every branch, the arming rules are
// asked on the watched ones.
func PreReceive(ctx context.Context, c Config) error {
	c.Out = Voice(ctx, c)
	p := &push{Config: c}
	if err := p.open(ctx); err != nil {
		return exit.Unclear(err)
	}
	if err := p.believe(ctx); err != nil {
		return undecided(err)
	}
	tally := &lint.Tally{Handler: &lint.Text{W: c.Out, Limit: maxShown}}
	for _, check := range []func(context.Context, *lint.Tally) error{p.checkNotes, p.checkPolicy, p.checkMessages} {
		if err := check(ctx, tally); err != nil {
			return undecided(err)
		}
	}
	if tally.Errors+tally.Warnings > 0 {
		if err := tally.Handler.Done(tally.Summary); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
	}
	if tally.Errors > 0 {
		return exit.Refused(errors.New("the push is refused"))
	}
	return nil
}

func undecided(err error) error {
	return exit.Hint(fmt.Errorf("the push is refused, because it cannot be decided: %w", err),
		"nothing was changed; try again, or ask whoever runs this server")
}

// maxNamed is how many refs are asked for by name.
const maxNamed = 64

// believe puts the refs as they are in the place of the old values that the
// pusher claims: git compares those only when it moves the refs, after this
// hook. A push of one ref needs no look, because nothing of it gets in if its
// claim is wrong. Of several, the wrong one is dropped and the others pass,
// judged by what it claimed: a policy that never stood, or a commit that no
// branch held.
func (p *push) believe(ctx context.Context) error {
	if len(p.ups) < 2 {
		return nil
	}
	var names []string
	for _, u := range p.ups {
		if u.Branch() != "" || isNotes(u.Ref) {
			names = append(names, u.Ref)
		}
	}
	switch {
	case len(names) == 0:
		return nil
	case len(names) > maxNamed:
		names = []string{heads, "refs/notes/"}
	}
	now, err := p.Repo.Refs(ctx, names...)
	if err != nil {
		return err
	}
	for i, u := range p.ups {
		if u.Branch() != "" || isNotes(u.Ref) {
			p.ups[i].Old = now[u.Ref]
		}
	}
	return nil
}

// checkMessages lints what is new to each branch.
func (p *push) checkMessages(ctx context.Context, tally *lint.Tally) error {
	spans, err := p.news(ctx)
	if err != nil {
		return err
	}
	arrivals, total, err := gather(ctx, p.Repo, spans)
	if err != nil {
		return err
	}
	tally.Checked += total - len(arrivals)
	if len(arrivals) == 0 {
		return nil
	}
	policy, err := p.before(ctx)
	if err != nil {
		return err
	}
	armed, err := p.armed(ctx, arrivals, policy)
	if err != nil {
		return err
	}
	for _, a := range arrivals {
		place := a.Place()
		place.Branches = a.branches()
		fs := a.TooLong()
		if !a.Truncated {
			fs = append(lint.Message(a.Message, policy.Trailer, nil), armed[a.ID]...)
		}
		if err := tally.Add(place, fs); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
	}
	return nil
}

// armed asks the arming rules for the commits that are new to a watched branch.
// One that is only to be judged is warned of what cannot be watched.
func (p *push) armed(ctx context.Context, arrivals []arrival, policy arming.Policy) (map[string][]lint.Finding, error) {
	requests := map[string]arming.Request{}
	branches := map[string][]string{}
	ws := map[string][]trailer.Watch{}
	var ids []string
	var commits []lint.Commit
	asks := false
	for _, a := range arrivals {
		asked := watches(a.Message, policy.Trailer)
		if a.Truncated || len(asked) == 0 {
			continue
		}
		on, err := p.watched(ctx, a.refs)
		if err != nil {
			return nil, err
		}
		if len(on) == 0 {
			continue
		}
		r := arming.Request{Commit: a.ID, DefaultBranch: p.defaultRef,
			Policies: []arming.NamedPolicy{{When: "before the push", Policy: policy}}}
		_, r.Named = lint.Names(asked)
		requests[a.ID], branches[a.ID], ws[a.ID] = r, on, asked
		ids, commits, asks = append(ids, a.ID), append(commits, a.Commit), asks || anyAsks(asked)
	}
	if len(ids) == 0 {
		return nil, nil
	}
	known, err := p.known(ctx)
	if err != nil {
		return nil, err
	}
	var who Identity
	if asks {
		if who, err = p.who(ctx); err != nil {
			return nil, err
		}
	}
	paths, err := p.Repo.Paths(ctx, ids)
	if err != nil {
		return nil, err
	}
	if err := known.Ahead(ctx, policy, commits, paths, ws); err != nil {
		return nil, err
	}
	found := make(map[string][]lint.Finding, len(requests))
	for _, a := range arrivals {
		r, ok := requests[a.ID]
		if !ok {
			continue
		}
		r.Paths, r.By, r.Vouched = paths[a.ID], who.User, arming.NotVouched
		if who.User != "" {
			r.Vouched = arming.Vouched
		}
		facts, err := known.Of(ctx, a.Commit, r.Paths, policy, ws[a.ID])
		if err != nil {
			return nil, err
		}
		found[a.ID] = onAny(branches[a.ID], func(branch string) []lint.Finding {
			r.Branch = branch
			return lint.Arming(ctx, ws[a.ID], r, facts, nil)
		})
	}
	return found, nil
}

// onAny lints a commit for the branch on which most of it may stand: of those to
// which it is new the Application follows one.
func onAny(branches []string, ask func(branch string) []lint.Finding) (best []lint.Finding) {
	least := -1
	for _, branch := range branches[:min(len(branches), maxNamed)] {
		fs := ask(branch)
		errs := 0
		for _, f := range fs {
			if f.Severity == lint.Error {
				errs++
			}
		}
		if least < 0 || errs < least {
			best, least = fs, errs
		}
	}
	return best
}

// known gathers facts from the inventory and from the pushed trees, never from a
// worktree.
func (p *push) known(ctx context.Context) (*lint.Known, error) {
	o, err := p.installed(ctx)
	if err != nil {
		return nil, err
	}
	k := &lint.Known{Files: p.Repo, IsOurs: addressOf(o.Host, p.env), Now: p.Now(), Base: p.base}
	if p.Manifests != nil {
		k.Manifests = p.Manifests
	}
	return k, nil
}

// checkPolicy judges a push that changes the policy: only owners may, and what
// they push must be readable.
func (p *push) checkPolicy(ctx context.Context, tally *lint.Tally) error {
	u, changed, err := p.policyChange(ctx)
	if err != nil || !changed {
		return err
	}
	policy, err := p.before(ctx)
	if err != nil {
		return err
	}
	if len(policy.Owners) > 0 {
		who, err := p.who(ctx)
		if err != nil {
			return err
		}
		if !policy.MayChange(who.User) {
			err := tally.Add(lint.Place{File: u.Ref}, []lint.Finding{{
				Rule: RulePolicyOwner, Severity: lint.Error,
				Message: fmt.Sprintf("%s may be changed by its owners only (%s), and the pusher is %s",
					lint.PolicyFile, exit.Name(strings.Join(policy.Owners, ", "), 200), who),
				Hint: "let an owner push this change, or leave the file as it is on " + short(u.Ref),
			}})
			if err != nil {
				return fmt.Errorf("writing the report: %w", err)
			}
		}
	}
	if u.New == "" {
		return nil
	}
	_, broken, err := p.read(ctx, u.New)
	if err != nil || broken == nil {
		return err
	}
	return tally.Add(lint.Place{File: lint.PolicyFile}, brokenPolicy(u, broken))
}

// brokenPolicy turns the errors of a policy into findings with their places.
func brokenPolicy(u Update, broken error) []lint.Finding {
	var all config.Errors
	if !errors.As(broken, &all) {
		all = config.Errors{{Text: broken.Error()}}
	}
	fs := make([]lint.Finding, len(all))
	for i, e := range all {
		fs[i] = lint.Finding{Rule: RulePolicyBroken, Severity: lint.Error, Line: e.Line, Col: e.Col, Message: e.Text, Hint: e.Hint}
	}
	last := &fs[len(fs)-1]
	last.Hint = strings.TrimPrefix(last.Hint+"\nmend it and push again; until then the policy of before holds on "+short(u.Ref), "\n")
	return fs
}

// policyChange finds the update that gives the default branch another policy
// file. Which branch that is need only be asked if one has another file.
func (p *push) policyChange(ctx context.Context) (Update, bool, error) {
	const now = "HEAD:" + lint.PolicyFile
	names, branches := []string{now}, 0
	for _, u := range p.ups {
		if u.Branch() == "" {
			continue
		}
		branches++
		if u.New != "" {
			names = append(names, u.New+":"+lint.PolicyFile)
		}
	}
	if branches == 0 {
		return Update{}, false, nil
	}
	ids, err := p.Repo.IDs(ctx, names)
	if err != nil {
		return Update{}, false, err
	}
	p.noPolicy = ids[now] == ""
	for _, u := range p.ups {
		id := ""
		if u.New != "" {
			id = ids[u.New+":"+lint.PolicyFile]
		}
		if u.Branch() == "" || id == "" && ids[now] == "" {
			continue
		}
		def, err := p.defaultBranch(ctx)
		if err != nil {
			return Update{}, false, err
		}
		if u.Ref != def {
			continue
		}
		changed := id != ids[now]
		if !changed {
			changed, err = p.unfiled(ctx, u)
		}
		return u, changed, err // no ref is named twice, but by a second name with the same value
	}
	return Update{}, false, nil
}

// unfiled tells whether the policy of an update has the content of before, but
// is no longer a file: a symbolic link, say, which counts as no policy.
func (p *push) unfiled(ctx context.Context, u Update) (bool, error) {
	_, now, err := p.Repo.FileAt(ctx, u.New, lint.PolicyFile)
	if err != nil || now == "" || u.Old == "" {
		return now != "", err
	}
	_, before, err := p.Repo.FileAt(ctx, u.Old, lint.PolicyFile)
	return before == "", err
}

func anyAsks(ws []trailer.Watch) bool {
	for _, w := range ws {
		if lint.Asks(w) {
			return true
		}
	}
	return false
}

func short(ref string) string { return strings.TrimPrefix(ref, heads) }
