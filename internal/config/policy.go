package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
)

// ParsePolicy reads a policy (docs/policy.md). The file's name is for messages
// only. With an error, which is Errors, the policy is arming.Default: a broken
// policy counts as none, so that the repair can get in.
func ParsePolicy(data []byte, file string) (arming.Policy, error) {
	root, errs := load(data, file)
	if errs == nil && root == nil {
		errs = Errors{{File: file, Line: 1, Col: 1, Text: "the file is empty", Hint: "a policy says at least version: 1"}}
	}
	if errs != nil {
		return arming.Default(), errs.err()
	}
	r := &policyReader{reader: reader{file: file}, p: arming.Default(), at: map[string]*yaml.Node{}}
	r.read(root)
	if err := r.errs.err(); err != nil {
		return arming.Default(), err
	}
	r.p.Exists = true
	return r.p, nil
}

type policyReader struct {
	reader
	p     arming.Policy
	at    map[string]*yaml.Node // where limits and defaults stand, by full key
	users []userRef             // what may name a group, looked up at the end
}

// userRef is an entry of a list of users.
type userRef struct {
	name, text string
	node       *yaml.Node
}

func (r *policyReader) read(root *yaml.Node) {
	seen := r.mapping("", root, map[string]field{
		"version":      r.version,
		"branches":     func(name string, n *yaml.Node) { r.p.Branches = r.texts(name, n, branchPattern) },
		"repositories": func(name string, n *yaml.Node) { r.p.Repositories = r.texts(name, n, repositoryName) },
		"manifests":    func(name string, n *yaml.Node) { r.p.Manifests = r.texts(name, n, arming.CheckPathPattern) },
		"owners":       func(name string, n *yaml.Node) { r.p.Owners = r.userList(name, n) },
		"groups":       r.groups,
		"defaults":     r.defaults,
		"limits":       r.limits,
		"arm":          r.arm,
		"circuit":      r.circuit,
	})
	if seen["version"] == nil && root.Kind == yaml.MappingNode {
		r.fail(root, "write version: 1 on top", "version is missing")
	}
	for _, u := range r.users {
		group, isGroup := strings.CutPrefix(u.text, "@")
		if _, known := r.p.Groups[group]; isGroup && !known {
			r.fail(u.node, "define it under groups, or leave out the @ if it is a user", "%s: no group %q is defined", u.name, clip(group))
		}
	}
	r.checkLimits()
}

func (r *policyReader) groups(name string, n *yaml.Node) {
	fields := map[string]field{}
	r.p.Groups = map[string][]string{}
	if m := r.of(yaml.MappingNode, name, n); m != nil {
		for i := 0; i < len(m.Content); i += 2 {
			fields[m.Content[i].Value] = r.group
		}
		r.mapping(name, n, fields)
	}
}

func (r *policyReader) group(name string, n *yaml.Node) {
	group := strings.TrimPrefix(name, "groups.")
	r.p.Groups[group] = r.texts(name, n, func(member string) error {
		if strings.HasPrefix(member, "@") {
			return errors.New("a group holds users, not groups")
		}
		if strings.ContainsAny(member, "*?[") {
			return errors.New("a group holds names, not patterns")
		}
		return oneLine(member)
	})
	if strings.Trim(group, groupLetters) != "" || group == "" {
		r.fail(n, "use letters, digits, dot, dash and underscore", "%q is no name for a group", clip(group))
	}
}

const groupLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

// userList reads users, patterns of users and @groups.
func (r *policyReader) userList(name string, n *yaml.Node) []string {
	list := r.texts(name, n, func(s string) error {
		if strings.HasPrefix(s, "@") {
			return oneLine(strings.TrimPrefix(s, "@"))
		}
		return arming.CheckNamePattern(s)
	})
	n = aliased(n)
	for i, c := range n.Content {
		if c = aliased(c); n.Kind == yaml.SequenceNode && c.Kind == yaml.ScalarNode && slices.Contains(list, c.Value) {
			r.users = append(r.users, userRef{fmt.Sprintf("%s[%d]", name, i), c.Value, c})
		}
	}
	return list
}

func branchPattern(s string) error {
	if strings.HasPrefix(s, "refs/heads/") {
		return fmt.Errorf("write it without refs/heads/: %q", strings.TrimPrefix(s, "refs/heads/"))
	}
	return arming.CheckNamePattern(s)
}

// repositoryName refuses what is no address by which Argo CD could know the
// repository, and passwords: everybody who may read reads them here.
func repositoryName(s string) error {
	if err := oneLine(s); err != nil {
		return err
	}
	if hasPassword(s) {
		return errors.New("the address holds a password; write it without")
	}
	if strings.ContainsAny(s, " \t") {
		return errors.New("an address holds no spaces")
	}
	return nil
}
