// Package manifest compares the plain manifests of two revisions object by
// object: for the gate `related`, where an operation's own message does not
// tell what it changed (server-side apply).
package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// Limits on what is read: manifests come from a repository that others push to.
const (
	maxFile      = 1 << 20
	maxDocuments = 1000
	maxAliases   = 100
)

// IsManifest reports whether Argo CD's directory source reads a file.
func IsManifest(path string) bool {
	return strings.HasSuffix(path, ".yaml") || strings.HasSuffix(path, ".yml") || strings.HasSuffix(path, ".json")
}

// Objects reads the objects of one file. An object without a namespace has
// none in its id.
func Objects(data []byte) (map[verdict.ObjectID]any, error) {
	if len(data) > maxFile {
		return nil, fmt.Errorf("manifest has %d bytes, more than %d", len(data), maxFile)
	}
	if n := bytes.Count(data, []byte("*")); n > maxAliases && bytes.Contains(data, []byte("&")) {
		return nil, errors.New("manifest has too many aliases")
	}
	out := map[verdict.ObjectID]any{}
	d := yaml.NewDecoder(bytes.NewReader(data))
	for range maxDocuments {
		var doc map[string]any
		err := d.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading a manifest: %w", err)
		}
		if doc == nil {
			continue
		}
		id, ok := identify(doc)
		if !ok {
			return nil, errors.New("a document is no object with kind and name")
		}
		if _, twice := out[id]; twice {
			return nil, fmt.Errorf("%s stands twice", id)
		}
		out[id] = doc
	}
	return nil, fmt.Errorf("more than %d documents", maxDocuments)
}

func identify(doc map[string]any) (verdict.ObjectID, bool) {
	var id verdict.ObjectID
	version, _ := doc["apiVersion"].(string)
	if group, _, found := strings.Cut(version, "/"); found {
		id.Group = group
	}
	id.Kind, _ = doc["kind"].(string)
	meta, _ := doc["metadata"].(map[string]any)
	id.Name, _ = meta["name"].(string)
	id.Namespace, _ = meta["namespace"].(string)
	return id, id.Kind != "" && id.Name != ""
}

// Changed tells for every object of either side whether it differs.
func Changed(before, after map[verdict.ObjectID]any) map[verdict.ObjectID]verdict.Tri {
	out := make(map[verdict.ObjectID]verdict.Tri, len(after))
	for id, doc := range after {
		out[id] = verdict.TriOf(!reflect.DeepEqual(before[id], doc))
	}
	for id := range before {
		if _, kept := after[id]; !kept {
			out[id] = verdict.Yes
		}
	}
	return out
}
