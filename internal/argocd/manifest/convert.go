package manifest

import (
	"fmt"
	"strconv"

	"gopkg.in/yaml.v3"
)

// Limits on one object, against files that are small and unfold to much.
const (
	maxDepth    = 200    // an Application nests about a dozen deep
	maxExpanded = 10_000 // nodes that stand there through aliases; kubectl writes none
)

// converter makes of YAML what encoding/json would make of the same JSON. It
// does not use yaml.v3's own decoding, which would turn a time without quotes
// into a time.Time and unfold aliases without a bound of ours.
type converter struct {
	expanded int // nodes seen inside aliases
	aliases  int // how many we are in
}

// Object makes of a YAML node what encoding/json would make of the same JSON.
func Object(n *yaml.Node) (map[string]any, error) {
	c := &converter{}
	v, err := c.value(n, 0)
	if err != nil {
		return nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, at(n, "not an object")
	}
	return m, nil
}

func (c *converter) value(n *yaml.Node, depth int) (any, error) {
	if depth > maxDepth {
		return nil, at(n, "nested deeper than %d", maxDepth)
	}
	if c.aliases > 0 {
		if c.expanded++; c.expanded > maxExpanded {
			return nil, notRead(n, "aliases unfold to more than %d values", maxExpanded)
		}
	}
	switch n.Kind {
	case yaml.MappingNode:
		return c.mapping(n, depth)
	case yaml.SequenceNode:
		l := make([]any, len(n.Content))
		for i, item := range n.Content {
			v, err := c.value(item, depth+1)
			if err != nil {
				return nil, err
			}
			l[i] = v
		}
		return l, nil
	case yaml.AliasNode:
		c.aliases++
		v, err := c.value(n.Alias, depth+1)
		c.aliases--
		return v, err
	case yaml.ScalarNode:
		return scalar(n)
	default:
		return nil, at(n, "unexpected YAML")
	}
}

func (c *converter) mapping(n *yaml.Node, depth int) (any, error) {
	m := make(map[string]any, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch {
		case key.Kind != yaml.ScalarNode:
			return nil, at(key, keyMustBeText)
		case key.Tag == "!!merge":
			return nil, notRead(key, "merge keys (<<) are not supported")
		}
		if _, twice := m[key.Value]; twice {
			return nil, at(key, "key %q stands twice", key.Value)
		}
		v, err := c.value(n.Content[i+1], depth+1)
		if err != nil {
			return nil, err
		}
		m[key.Value] = v
	}
	return m, nil
}

// scalar follows the tag that yaml.v3 resolved. A time without quotes stays
// the text that it is in JSON.
func scalar(n *yaml.Node) (any, error) {
	switch n.ShortTag() {
	case "!!null":
		return nil, nil
	case "!!bool":
		var b bool
		if err := n.Decode(&b); err != nil {
			return nil, at(n, "%v", err)
		}
		return b, nil
	case "!!int":
		i, err := strconv.ParseInt(n.Value, 0, 64)
		if err != nil {
			f, err := strconv.ParseFloat(n.Value, 64) // a commit of digits, say
			if err != nil {
				return nil, at(n, "%v", err)
			}
			return f, nil
		}
		return i, nil
	case "!!float":
		f, err := strconv.ParseFloat(n.Value, 64)
		if err != nil {
			return nil, at(n, "%v", err)
		}
		return f, nil
	default:
		return n.Value, nil
	}
}

const keyMustBeText = "a key must be text"

// placedError has the position in the file; the file's name is put before it.
type placedError struct {
	line, column int
	text         string
	ours         bool // others read it: only we do not
}

func (e *placedError) Error() string { return fmt.Sprintf("%d:%d: %s", e.line, e.column, e.text) }

func at(n *yaml.Node, format string, args ...any) error {
	return &placedError{line: n.Line, column: n.Column, text: fmt.Sprintf(format, args...)}
}

// notRead is at for what kubectl would read.
func notRead(n *yaml.Node, format string, args ...any) error {
	return &placedError{line: n.Line, column: n.Column, text: fmt.Sprintf(format, args...), ours: true}
}
