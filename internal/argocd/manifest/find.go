package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd"
	"github.com/nav-watchdog/nav-watchdog/internal/arming"
)

// MaxFile is the largest file that is read, in bytes.
const MaxFile = maxFile

// ErrLarge says that a file has more than MaxFile bytes.
var ErrLarge = fmt.Errorf("it has more than %d bytes", maxFile)

// marks are what a file that holds an object of Argo CD or Image Updater says
// somewhere. Without one of them it need not be parsed.
var marks = [...]string{"argoproj.io"}

// Mentions reports whether a file may hold an object of Argo CD.
func Mentions(data []byte) bool {
	for _, m := range marks {
		if bytes.Contains(data, []byte(m)) {
			return true
		}
	}
	return false
}

// Find reads the objects of Argo CD and of Image Updater in a file, and adds
// them to what a place knows; objects of other kinds are passed over. With an
// error, which begins with line and column where they are known, nothing of the
// file is added: half of it could say otherwise than the whole.
func Find(p *arming.Place, data []byte) error {
	found := arming.Place{From: p.From, At: p.At}
	err := documents(data, func(n *yaml.Node) error { return add(&found, n, true) })
	if err != nil {
		return err
	}
	p.Apps = append(p.Apps, found.Apps...)
	p.Sets = append(p.Sets, found.Sets...)
	p.Projects = append(p.Projects, found.Projects...)
	p.Updaters = append(p.Updaters, found.Updaters...)
	return nil
}

// add reads one object, or a list of them at the top of a document.
func add(p *arming.Place, n *yaml.Node, top bool) error {
	if n.Kind != yaml.MappingNode {
		return nil // not ours: a values file may be a list
	}
	kind, version := text(n, "kind"), text(n, "apiVersion")
	if items := member(n, "items"); top && argocd.IsList(kind) && items != nil && items.Kind == yaml.SequenceNode {
		for _, item := range items.Content {
			if err := add(p, item, false); err != nil {
				return err
			}
		}
		return nil
	}
	if !argocd.IsOurs(version, kind) {
		return nil
	}
	fields, err := Object(n)
	if err != nil {
		return err
	}
	apps := len(p.Apps)
	if err := argocd.Add(p, fields, false); err != nil {
		return at(n, "%v", err)
	}
	for i := range p.Apps[apps:] {
		p.Apps[apps+i].Line = n.Line
	}
	return nil
}

// documents hands over the root of every document that is not empty.
func documents(data []byte, fn func(*yaml.Node) error) error {
	switch {
	case len(data) > maxFile:
		return ErrLarge
	case !utf8.Valid(data):
		return errors.New("it is not UTF-8")
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	anchored := bytes.IndexByte(data, '&') >= 0
	for n := 0; ; n++ {
		if n == maxDocuments {
			return fmt.Errorf("it has more than %d documents", maxDocuments)
		}
		var doc yaml.Node
		err := d.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading YAML: %w", err)
		}
		if len(doc.Content) == 0 || doc.Content[0].Tag == "!!null" {
			continue // nothing between two ---
		}
		if anchored {
			if err := ownAnchors(&doc, map[*yaml.Node]bool{}); err != nil {
				return err
			}
		}
		if err := fn(doc.Content[0]); err != nil {
			return err
		}
	}
}

// ownAnchors refuses an alias of an anchor in an earlier document: yaml.v3 knows
// it still, and Argo CD does not.
func ownAnchors(n *yaml.Node, known map[*yaml.Node]bool) error {
	if n.Anchor != "" {
		known[n] = true
	}
	if n.Kind == yaml.AliasNode && !known[n.Alias] {
		return at(n, "unknown anchor %q: it is not of this document", n.Value)
	}
	for _, c := range n.Content {
		if err := ownAnchors(c, known); err != nil {
			return err
		}
	}
	return nil
}

func text(n *yaml.Node, key string) string {
	if v := member(n, key); v != nil && v.Kind == yaml.ScalarNode {
		return v.Value
	}
	return ""
}

// member is the value of a key of a mapping, nil if it has none.
func member(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}
