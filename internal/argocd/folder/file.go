package folder

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"

	"gopkg.in/yaml.v3"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd"
	"github.com/nav-watchdog/nav-watchdog/internal/argocd/manifest"
	"github.com/nav-watchdog/nav-watchdog/internal/arming"
)

// readFile reads the Applications of one file and counts the other objects.
// JSON is read as the YAML that it is. Objects before the first broken
// document are returned with the error.
func readFile(name string) (found []placed, ignored int, err error) {
	f, err := readAll(name)
	return f.found, f.ignored, err
}

func readAll(name string) (file, error) {
	f := file{name: name}
	raw, err := readBounded(name)
	if err != nil {
		return f, err
	}
	d := yaml.NewDecoder(bytes.NewReader(raw))
	documents := 0
	for {
		var doc yaml.Node
		err := d.Decode(&doc)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			f.errs = append(f.errs, syntaxError(name, err))
			break
		}
		if len(doc.Content) == 0 || doc.Content[0].Tag == "!!null" {
			continue // nothing between two ---
		}
		documents++
		f.object(doc.Content[0], true)
	}
	if documents == 0 && len(f.errs) == 0 {
		f.errs = append(f.errs, fmt.Errorf("%s:1: no object in this file\nhint: is it being written? Write to another name and rename", name))
	}
	return f, errors.Join(f.errs...)
}

func readBounded(name string) ([]byte, error) {
	info, err := os.Stat(name) // before it is opened: a pipe would block there
	if err != nil {
		return nil, fmt.Errorf("reading Applications: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("reading Applications: %s is not a regular file", name)
	}
	r, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("reading Applications: %w", err)
	}
	defer r.Close() //nolint:errcheck // opened for reading
	raw, err := io.ReadAll(io.LimitReader(r, MaxFile+1))
	if err != nil {
		return nil, fmt.Errorf("reading Applications: %w", err)
	}
	if len(raw) > MaxFile {
		return nil, fmt.Errorf("reading Applications: %s has more than %d bytes", name, MaxFile)
	}
	return raw, nil
}

// file gathers what is found in one.
type file struct {
	name    string
	found   []placed
	ignored int
	errs    []error
	around  arming.Place
	blind   []error // of what stands around
}

func (f *file) fail(n *yaml.Node, err error) {
	f.errs = append(f.errs, fmt.Errorf("%s:%d:%d: %w", f.name, n.Line, n.Column, err))
}

// object reads one object; a list only at the top.
func (f *file) object(n *yaml.Node, top bool) {
	if n.Kind != yaml.MappingNode {
		f.fail(n, errors.New("not an object"))
		return
	}
	kind := member(n, "kind")
	switch {
	case kind == nil || kind.Value == "":
		// A dump that was cut off looks so: the kind of a list comes last.
		f.fail(n, errors.New("the object has no kind"))
	case top && argocd.IsList(kind.Value):
		f.list(n)
	case kind.Value != "Application" && argocd.IsOurs(textOf(n, "apiVersion"), kind.Value):
		f.standing(n)
	case kind.Value != "Application":
		f.ignored++
	default:
		f.application(n)
	}
}

// standing reads an object that stands around Applications. It is counted among
// the others as well: one that cannot be read makes no Application unknown.
func (f *file) standing(n *yaml.Node) {
	f.ignored++
	fields, err := manifest.Object(n)
	if err == nil {
		err = argocd.Add(&f.around, fields, true)
	}
	if err != nil {
		f.blind = append(f.blind, fmt.Errorf("%s:%d: %w", f.name, n.Line, err))
	}
}

func textOf(n *yaml.Node, key string) string {
	if v := member(n, key); v != nil {
		return v.Value
	}
	return ""
}

func (f *file) list(n *yaml.Node) {
	items := member(n, "items")
	if items == nil || items.Kind != yaml.SequenceNode {
		f.fail(n, errors.New("the list has no items"))
		return
	}
	for _, item := range items.Content {
		f.object(item, false)
	}
}

func (f *file) application(n *yaml.Node) {
	fields, err := manifest.Object(n)
	if err != nil {
		f.errs = append(f.errs, fmt.Errorf("%s:%w", f.name, err))
		return
	}
	app, err := argocd.FromObject(fields)
	if errors.Is(err, argocd.ErrOtherKind) { // an Application of another group
		f.ignored++
		return
	}
	if err != nil {
		f.fail(n, err)
		return
	}
	f.found = append(f.found, placed{app, fmt.Sprintf("%s:%d", f.name, n.Line)})
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

var yamlLine = regexp.MustCompile(`^yaml: line (\d+): (.*)`)

// syntaxError moves the line that yaml.v3 puts into its text to where editors
// look for it.
func syntaxError(name string, err error) error {
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		if line, convErr := strconv.Atoi(m[1]); convErr == nil {
			return fmt.Errorf("%s:%d: %s", name, line, m[2])
		}
	}
	return fmt.Errorf("%s:1: %w", name, err)
}
