package arming

import (
	"slices"
	"strings"
	"testing"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// Every refusal of a waivable rule becomes Accepted where all policies accept
// it, and with it nothing else; every other refusal stays.
func TestAccept(t *testing.T) {
	for _, c := range refusals {
		r := clean()
		c.change(&r)
		waivable := slices.Contains(Waivable(), c.rule)
		everyPolicy(func(p *Policy) {
			p.Arm.Accept = []Accept{{Rule: c.rule, Apps: []string{"w*"}, Reason: "we know"}}
		})(&r)
		fs := Check(r, AskAll)
		if refused(fs) == waivable {
			t.Errorf("%s: refused %v although waivable is %v: %v", c.name, refused(fs), waivable, fs)
		}
		if !waivable {
			continue
		}
		i := slices.IndexFunc(fs, func(f Finding) bool { return f.Outcome == Accepted })
		if i < 0 || fs[i].Rule != c.rule || fs[i].Reason != "we know" || fs[i].Hint != "" ||
			!strings.HasSuffix(fs[i].Message, "; accepted by the policy: we know") {
			t.Errorf("%s: not accepted: %v", c.name, fs)
		}

		// Both policies must accept, and for this app.
		r.Policies[0].Arm.Accept = nil
		if !refused(Check(r, AskAll)) {
			t.Errorf("%s: accepted by one of two policies", c.name)
		}
		everyPolicy(func(p *Policy) {
			p.Arm.Accept = []Accept{{Rule: c.rule, Apps: []string{"api"}, Reason: "we know"}}
		})(&r)
		if !refused(Check(r, AskAll)) {
			t.Errorf("%s: accepted for another app", c.name)
		}
	}
}

func TestAcceptDeletesNothing(t *testing.T) {
	r := clean()
	r.Places[0].Prune = true
	conditional := Accept{Rule: RulePrune, Apps: []string{"*"}, Reason: "only images", When: WhenDeletesNothing}
	everyPolicy(func(p *Policy) { p.Arm.Accept = []Accept{conditional} })(&r)
	fs := Check(r, AskAll)
	if !refused(fs) || !strings.Contains(fs[0].Message, "when it deletes nothing, which was not looked at") {
		t.Errorf("prune accepted conditionally: %v", fs)
	}
	// It counts where a revert removes no object, and only there.
	for _, c := range []struct {
		content *Content
		refused bool
		message string
	}{
		{&Content{}, false, "accepted by the policy: only images"},
		{&Content{Removed: []verdict.ObjectID{{Kind: "ConfigMap", Name: "web-2"}}}, true, `and a revert deletes "ConfigMap web-2"`},
		{&Content{Unknown: "Kustomize renders it"}, true, "which is not known: Kustomize renders it"},
	} {
		r.Content = c.content
		if fs := Check(r, AskAll); refused(fs) != c.refused || !strings.Contains(fs[0].Message, c.message) {
			t.Errorf("%+v: %v", c.content, fs)
		}
	}
	r.Content = nil
	// An unconditional accept beside it counts.
	everyPolicy(func(p *Policy) {
		p.Arm.Accept = []Accept{conditional, {Rule: RulePrune, Apps: []string{"web"}, Reason: "stateless"}}
	})(&r)
	if fs := Check(r, AskAll); refused(fs) || fs[0].Reason != "stateless" {
		t.Errorf("prune accepted without a condition: %v", fs)
	}
}

func TestWaivedGate(t *testing.T) {
	p := allowing()
	p.Arm.Accept = []Accept{{Rule: GateRelated, Apps: []string{"argocd/web"}, Reason: "monolith"}}
	web := verdict.App{Namespace: "argocd", Name: "web"}
	both := []NamedPolicy{{"when the commit landed", p}, {"now", p}}
	if reason, ok := Waived(both, GateRelated, web); !ok || reason != "monolith" {
		t.Errorf("Waived = %q, %v", reason, ok)
	}
	for name, ps := range map[string][]NamedPolicy{
		"none":         nil,
		"one of two":   {{"when the commit landed", allowing()}, {"now", p}},
		"no such file": {{"now", Policy{Arm: p.Arm}}},
	} {
		if _, ok := Waived(ps, GateRelated, web); ok {
			t.Errorf("%s: waived", name)
		}
	}
	if _, ok := Waived(both, GateRelated, verdict.App{Name: "web"}); ok {
		t.Error("waived for an app whose namespace is not known")
	}
	if _, ok := Waived(both, "baseline", web); ok {
		t.Error("a gate that cannot be waived was")
	}
}
