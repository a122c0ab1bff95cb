package argosim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
	"gopkg.in/yaml.v3"
)

// Bounds of what one source may hold.
const (
	maxFiles   = 2000
	maxBytes   = 8 << 20
	maxObjects = 5000
)

// manifest is an object that Git asks for.
type manifest struct {
	id      verdict.ObjectID
	version string
	hook    string // PreSync, PostSync; empty for an ordinary object
	fields  map[string]any
}

// renderError is what the repo-server answers when it cannot make manifests.
// The text is Argo CD's, so that a note shows what a person would see there.
type renderError struct{ text string }

func (e *renderError) Error() string { return e.text }

func renderErrorf(format string, args ...any) *renderError {
	return &renderError{text: fmt.Sprintf(format, args...)}
}

// renderDirectory makes manifests of a plain directory source.
func renderDirectory(dir string, files map[string][]byte, recurse bool, namespace string) ([]manifest, error) {
	if len(files) == 0 {
		return nil, renderErrorf("rpc error: code = Unknown desc = %s: app path does not exist", orElse(dir, "."))
	}
	names, size := []string{}, 0
	for name, data := range files {
		if !recurse && strings.Contains(name, "/") {
			continue
		}
		switch base := path.Base(name); base {
		case "Chart.yaml", "kustomization.yaml", "kustomization.yml", "Kustomization":
			return nil, renderErrorf("rpc error: code = Unimplemented desc = the simulator renders plain directories only, found %s", path.Join(dir, name))
		}
		switch path.Ext(name) {
		case ".yaml", ".yml", ".json":
			names, size = append(names, name), size+len(data)
		}
	}
	if len(names) > maxFiles || size > maxBytes {
		return nil, renderErrorf("rpc error: code = ResourceExhausted desc = %s: %d files with %d bytes are too much", dir, len(names), size)
	}
	slices.Sort(names)
	var out []manifest
	for _, name := range names {
		ms, err := readManifests(name, files[name], namespace)
		if err != nil {
			return nil, err
		}
		if out = append(out, ms...); len(out) > maxObjects {
			return nil, renderErrorf("rpc error: code = ResourceExhausted desc = %s: more than %d objects", dir, maxObjects)
		}
	}
	return out, nil
}

// readManifests reads the YAML documents of one file.
func readManifests(name string, data []byte, namespace string) ([]manifest, error) {
	var out []manifest
	docs := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var doc any
		err := decode(docs, &doc)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err == nil && doc == nil {
			continue // an empty document
		}
		var fields map[string]any
		if err == nil {
			fields, err = jsonFields(doc)
		}
		if err != nil {
			return nil, renderErrorf("rpc error: code = FailedPrecondition desc = Failed to unmarshal %q: failed to unmarshal manifest: error converting YAML to JSON: %v", name, err)
		}
		m, err := newManifest(fields, namespace)
		if err != nil {
			return nil, renderErrorf("rpc error: code = FailedPrecondition desc = Failed to unmarshal %q: %v", name, err)
		}
		out = append(out, m)
	}
}

// maxKeys bounds one mapping: yaml.v3 compares each of its keys with all others.
const maxKeys = 2000

// decode is Decode for what anybody may have committed.
func decode(docs *yaml.Decoder, doc *any) error {
	var n yaml.Node
	if err := docs.Decode(&n); err != nil {
		return err
	}
	if err := checkKeys(&n); err != nil {
		return err
	}
	return n.Decode(doc)
}

func checkKeys(n *yaml.Node) error {
	if n.Kind == yaml.MappingNode && len(n.Content) > 2*maxKeys {
		return fmt.Errorf("line %d: a mapping has more than %d keys", n.Line, maxKeys)
	}
	for _, c := range n.Content {
		if err := checkKeys(c); err != nil {
			return err
		}
	}
	return nil
}

// jsonFields brings a YAML value into the types that JSON knows.
func jsonFields(doc any) (map[string]any, error) {
	data, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	return fields, json.Unmarshal(data, &fields)
}

func newManifest(fields map[string]any, namespace string) (manifest, error) {
	apiVersion, kind := text(fields, "apiVersion"), text(fields, "kind")
	name := text(fields, "metadata", "name")
	if apiVersion == "" || kind == "" || name == "" {
		return manifest{}, renderErrorf("Object 'apiVersion', 'Kind' or 'metadata.name' is missing")
	}
	m := manifest{id: verdict.ObjectID{Kind: kind, Name: name}, version: apiVersion, fields: fields}
	if group, version, grouped := strings.Cut(apiVersion, "/"); grouped {
		m.id.Group, m.version = group, version
	}
	if !clusterScoped(kind) {
		m.id.Namespace = orElse(text(fields, "metadata", "namespace"), namespace)
	}
	m.hook = text(fields, "metadata", "annotations", annotationHook)
	return m, nil
}

// text is the string at a path of fields, or "".
func text(fields map[string]any, at ...string) string {
	s, _ := value(fields, at...).(string)
	return s
}

// value is whatever is at a path of fields, or nil.
func value(fields map[string]any, at ...string) any {
	var v any = fields
	for _, key := range at {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[key]
	}
	return v
}

// renderChart stands for the content of a chart, which no Git repository of
// ours holds: one Deployment of the chart's name.
func renderChart(src Source, namespace string) []manifest {
	name := orElse(src.Chart, path.Base(src.RepoURL))
	labels := map[string]any{"app": name}
	m, err := newManifest(map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": name},
		"spec": map[string]any{
			"selector": map[string]any{"matchLabels": labels},
			"template": map[string]any{
				"metadata": map[string]any{"labels": labels},
				"spec":     map[string]any{"containers": []any{map[string]any{"name": "c", "image": "registry.example/" + name + ":1"}}},
			},
		},
	}, namespace)
	if err != nil {
		return nil // a chart without a name has no objects
	}
	return []manifest{m}
}
