// Package manifest compares the plain manifests of two revisions object by
// object: for the gate `related`, where an operation's own message does not
// tell what it changed (server-side apply).
package manifest

import (
	"fmt"
	"reflect"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// Limits on what is read: manifests come from a repository that others push to.
const (
	maxFile      = 1 << 20
	maxDocuments = 1000
)

// IsManifest reports whether Argo CD's directory source reads a file.
func IsManifest(path string) bool {
	return strings.HasSuffix(path, ".yaml") || strings.HasSuffix(path, ".yml") || strings.HasSuffix(path, ".json")
}

// Objects reads the objects of one file. An object without a namespace has
// none in its id. Like all that is read here, it goes by way of Object:
// yaml.v3's own decoding of a mapping takes time with the square of its keys,
// minutes for a file of a megabyte.
func Objects(data []byte) (map[verdict.ObjectID]any, error) {
	out := map[verdict.ObjectID]any{}
	err := documents(data, func(n *yaml.Node) error {
		doc, err := Object(n)
		if err != nil {
			return err
		}
		id, ok := identify(doc)
		if !ok {
			return at(n, "it is no object with kind and name")
		}
		if _, twice := out[id]; twice {
			return at(n, "%s stands twice", id)
		}
		out[id] = doc
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading a manifest: %w", err)
	}
	return out, nil
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
