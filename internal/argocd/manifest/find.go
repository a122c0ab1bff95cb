package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
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
	if items, is := listed(n); top && is {
		for _, item := range items {
			if err := checkItem(item); err != nil {
				return err
			}
			if err := add(p, item, false); err != nil {
				return err
			}
		}
		return nil
	}
	if !argocd.IsOurs(named(n)) {
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

// listed are the items of a list, if n is one.
func listed(n *yaml.Node) (items []*yaml.Node, is bool) {
	if !slices.ContainsFunc(said(n, "kind"), argocd.IsList) {
		return nil, false
	}
	for _, list := range members(n, "items", 0) {
		if list.Kind == yaml.SequenceNode {
			items, is = append(items, list.Content...), true
		}
	}
	return items, is
}

// checkItem refuses an item that is an alias: each of very many could stand for
// all the rest of a file.
func checkItem(item *yaml.Node) error {
	if item.Kind == yaml.AliasNode {
		return notRead(item, "an item of a list must be written out, not be an alias")
	}
	return nil
}

// named is what an object says that it is. If it says several things, it is the
// one that is ours: another reader may take that one, and Object says what is
// wrong with it.
func named(n *yaml.Node) (version, kind string) {
	versions, kinds := said(n, "apiVersion"), said(n, "kind")
	for _, v := range versions {
		for _, k := range kinds {
			if argocd.IsOurs(v, k) || version == "" && kind == "" {
				version, kind = v, k
			}
		}
	}
	return version, kind
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
		doc, err := next(d)
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
			if err := ownAnchors(doc, map[*yaml.Node]bool{}); err != nil {
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

// next decodes a document into nodes. The parser is not ours and reads what
// anybody pushed: should it panic, that is an error of the file.
func next(d *yaml.Decoder) (doc *yaml.Node, err error) {
	defer func() {
		if p := recover(); p != nil {
			doc, err = nil, fmt.Errorf("the parser gave up: %v", p)
		}
	}()
	doc = new(yaml.Node)
	return doc, d.Decode(doc)
}

// said lists the texts that a key of a mapping has, in whatever way.
func said(n *yaml.Node, key string) (texts []string) {
	for _, v := range members(n, key, 0) {
		if v.Kind == yaml.ScalarNode {
			texts = append(texts, v.Value)
		}
	}
	return texts
}

// maxMerges bounds how deep merged mappings are followed.
const maxMerges = 3

// members are the values of a key of a mapping: several, if it stands there
// twice or comes by a merge as well. Aliases are followed, so that nothing is
// hidden behind one.
func members(n *yaml.Node, key string, depth int) (values []*yaml.Node) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := followed(n.Content[i]), followed(n.Content[i+1])
		switch {
		case k.Value == key:
			values = append(values, v)
		case k.Tag != "!!merge" || depth == maxMerges:
		case v.Kind == yaml.MappingNode:
			values = append(values, members(v, key, depth+1)...)
		case v.Kind == yaml.SequenceNode:
			for _, m := range v.Content[:min(len(v.Content), maxMerged)] {
				if m = followed(m); m.Kind == yaml.MappingNode {
					values = append(values, members(m, key, depth+1)...)
				}
			}
		}
	}
	return values
}

// maxMerged bounds how many mappings one merge may name before the rest is
// not looked at.
const maxMerged = 16

func followed(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

// member is the first value of a key of a mapping, nil if it has none.
func member(n *yaml.Node, key string) *yaml.Node {
	if all := members(n, key, 0); len(all) > 0 {
		return all[0]
	}
	return nil
}
