package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
)

func (r *policyReader) arm(name string, n *yaml.Node) {
	a := &r.p.Arm
	r.mapping(name, n, map[string]field{
		"allow": func(name string, n *yaml.Node) {
			r.list(name, n, func(name string, n *yaml.Node) { a.Allow = append(a.Allow, r.allow(name, n)) })
		},
		"progressing": func(name string, n *yaml.Node) { a.Progressing = r.choice(name, n, "revert", "hold") },
		"never-paths": func(name string, n *yaml.Node) { a.NeverPaths = r.texts(name, n, arming.CheckPathPattern) },
		"accept": func(name string, n *yaml.Node) {
			r.list(name, n, func(name string, n *yaml.Node) { a.Accept = append(a.Accept, r.accept(name, n)) })
		},
	})
}

func (r *policyReader) allow(name string, n *yaml.Node) (a arming.Allow) {
	seen := r.mapping(name, n, map[string]field{
		"apps": func(name string, n *yaml.Node) { a.Apps = r.apps(name, n) },
		"by":   func(name string, n *yaml.Node) { a.By = r.userList(name, n); r.notEmpty(name, n, a.By) },
	})
	r.need(name, n, seen, "apps", "by")
	return a
}

func (r *policyReader) accept(name string, n *yaml.Node) (a arming.Accept) {
	seen := r.mapping(name, n, map[string]field{
		"rule": func(name string, n *yaml.Node) {
			a.Rule = r.line(name, n, waivable)
		},
		"apps":   func(name string, n *yaml.Node) { a.Apps = r.apps(name, n) },
		"reason": func(name string, n *yaml.Node) { a.Reason = r.line(name, n, oneLine) },
		"when":   func(name string, n *yaml.Node) { a.When = r.choice(name, n, arming.WhenDeletesNothing) },
	})
	r.need(name, n, seen, "rule", "apps", "reason")
	if a.When != "" && a.Rule != "" && a.Rule != arming.RulePrune && a.Rule != arming.RuleAppSetPrune {
		r.fail(seen["when"], "leave it out", "%s.when: only the rules %s and %s can be accepted under a condition", name, arming.RulePrune, arming.RuleAppSetPrune)
	}
	return a
}

// waivable says what a rule of `accept` may be.
func waivable(id string) error {
	ids := arming.Waivable()
	if slices.Contains(ids, id) {
		return nil
	}
	for _, rule := range arming.Rules() {
		if rule.ID == id {
			return fmt.Errorf("the rule %q cannot be waived: what it refuses could not be reverted at all, or nobody would be left to allow it", id)
		}
	}
	return fmt.Errorf("there is no rule %q; those that can be waived are %s", clip(id), strings.Join(ids, ", "))
}

func (r *policyReader) apps(name string, n *yaml.Node) []string {
	apps := r.texts(name, n, appPattern)
	r.notEmpty(name, n, apps)
	return apps
}

func appPattern(s string) error {
	if strings.Count(s, "/") > 1 {
		return errors.New("an Application is NAME or NAMESPACE/NAME")
	}
	return arming.CheckNamePattern(s)
}

// notEmpty refuses a list that says nothing, which its author did not mean.
func (r *reader) notEmpty(name string, n *yaml.Node, items []string) {
	if n = aliased(n); len(items) == 0 && n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		r.fail(n, `"*" is all`, "%s is empty, so the entry says nothing", name)
	}
}

// need demands keys of a mapping.
func (r *reader) need(name string, n *yaml.Node, seen map[string]*yaml.Node, keys ...string) {
	if aliased(n).Kind != yaml.MappingNode {
		return // said already
	}
	for _, key := range keys {
		if seen[key] == nil {
			r.fail(n, "", "%s needs %s", name, key)
		}
	}
}

func (r *policyReader) circuit(name string, n *yaml.Node) {
	const limit = 1000
	c := &r.p.Circuit
	r.mapping(name, n, map[string]field{
		"consecutive": r.count(&c.Consecutive, limit),
		"per-day":     r.count(&c.PerDay, limit),
		"repository": func(name string, n *yaml.Node) {
			r.mapping(name, n, map[string]field{
				"reverts": r.count(&c.RepositoryReverts, limit),
				"within":  r.positive(&c.RepositoryWithin),
			})
		},
		"storm": func(name string, n *yaml.Node) {
			r.mapping(name, n, map[string]field{
				"apps":   r.count(&c.StormApps, limit),
				"within": r.positive(&c.StormWithin),
			})
		},
	})
}
