package config

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// reader walks the nodes of one file and collects what is wrong.
type reader struct {
	file string
	errs Errors
}

func (r *reader) fail(n *yaml.Node, hint, format string, args ...any) {
	switch len(r.errs) {
	case maxErrors:
		r.errs = append(r.errs, &Error{File: r.file, Line: n.Line, Col: n.Column, Text: "there are more errors; these are the first"})
	case maxErrors + 1:
	default:
		r.errs = append(r.errs, &Error{File: r.file, Line: n.Line, Col: n.Column, Text: fmt.Sprintf(format, args...), Hint: hint})
	}
}

// field reads the value of one key; the name is the key's full one, for messages.
type field func(name string, n *yaml.Node)

// mapping reads a mapping: every key must be one of the fields, once. It
// returns the node of each key that is there.
func (r *reader) mapping(name string, n *yaml.Node, fields map[string]field) map[string]*yaml.Node {
	seen := map[string]*yaml.Node{}
	n = r.of(yaml.MappingNode, name, n)
	if n == nil {
		return seen
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		read, known := fields[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode || key.Tag == "!!merge":
			r.fail(key, "write the keys out", "a key must be plain text; merging (<<) is not supported")
		case !known:
			r.fail(key, didYouMean(key.Value, fields), "unknown key %q%s", clip(key.Value), in(name))
		case seen[key.Value] != nil:
			r.fail(key, "keep one of them", "the key %q is there twice, first in line %d", key.Value, seen[key.Value].Line)
		default:
			seen[key.Value] = key
			read(join(name, key.Value), n.Content[i+1])
		}
	}
	return seen
}

// list reads a list, an item at a time.
func (r *reader) list(name string, n *yaml.Node, item func(name string, n *yaml.Node)) {
	n = r.of(yaml.SequenceNode, name, n)
	if n == nil {
		return
	}
	for i, c := range n.Content {
		item(fmt.Sprintf("%s[%d]", name, i), c)
	}
}

// texts reads a list of texts, each of which must pass check; twice the same
// is an error.
func (r *reader) texts(name string, n *yaml.Node, check func(string) error) []string {
	var out []string
	r.list(name, n, func(name string, n *yaml.Node) {
		s, ok := r.text(name, n)
		if !ok {
			return
		}
		if err := check(s); err != nil {
			r.fail(n, "", "%s: %q: %v", name, clip(withoutPassword(s)), err)
			return
		}
		if slices.Contains(out, s) {
			r.fail(n, "keep one of them", "%s: %q is there twice", name, clip(s))
			return
		}
		out = append(out, s)
	})
	return out
}

var kindNames = map[yaml.Kind]string{
	yaml.MappingNode: "a mapping (key: value)", yaml.SequenceNode: "a list", yaml.ScalarNode: "a single value",
}

// of follows aliases and demands a kind of node; nil if it is another.
func (r *reader) of(kind yaml.Kind, name string, n *yaml.Node) *yaml.Node {
	n = aliased(n)
	what := name
	if what == "" {
		what = "the file"
	}
	switch {
	case n.Style&yaml.TaggedStyle != 0:
		r.fail(n, "leave the tag out", "%s: the tag %q is not supported", what, clip(n.Tag))
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		r.fail(n, "give it one, or leave the key out", "%s has no value", what)
	case n.Kind != kind:
		hint := ""
		if kind == yaml.SequenceNode && n.Kind == yaml.ScalarNode {
			hint = fmt.Sprintf("write [%s]", clip(n.Value))
		}
		r.fail(n, hint, "%s must be %s, not %s", what, kindNames[kind], kindNames[n.Kind])
	default:
		return n
	}
	return nil
}

// aliased follows an alias; measure has refused a ring of them.
func aliased(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

func join(name, key string) string {
	if name == "" {
		return key
	}
	return name + "." + key
}

func in(name string) string {
	if name == "" {
		return ""
	}
	return " in " + name
}

func clip(s string) string {
	const limit = 80
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "..."
}

// didYouMean is a hint that names the field which is nearest to a wrong key,
// or all of them.
func didYouMean(key string, fields map[string]field) string {
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	best, distance := "", 3
	for _, name := range names {
		if d := editDistance(strings.ToLower(clip(key)), name); d < distance {
			best, distance = name, d
		}
	}
	if best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return "the keys here are " + strings.Join(names, ", ")
}

// editDistance is Levenshtein's.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
