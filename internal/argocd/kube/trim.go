package kube

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd"
)

// trim drops from an Application what internal/argocd does not read, before it
// is cached. What a trimmed object says is what the whole one says, so nothing
// is dropped by which the two could differ: helm values give way to their
// digest, since spec and sync.comparedTo are compared with each other (R4).
// Trimming twice changes nothing, as the informer may do.
func trim(o any) (any, error) {
	u, ok := o.(*unstructured.Unstructured)
	if !ok {
		return o, nil // a tombstone
	}
	top := u.Object
	if meta := member(top, "metadata"); meta != nil {
		delete(meta, "managedFields")
		delete(member(meta, "annotations"), "kubectl.kubernetes.io/last-applied-configuration")
	}
	spec, status := member(top, "spec"), member(top, "status")
	trimSources(spec)
	delete(spec, "info")
	trimRequest(member(top, "operation"))
	trimStatus(status)
	return u, nil
}

func trimStatus(status map[string]any) {
	compared := member(status, "sync", "comparedTo")
	trimSources(compared)
	delete(compared, "ignoreDifferences")
	if summary := member(status, "summary"); summary != nil {
		keep(summary, "isAppOfApps")
	}
	for _, r := range members(status, "resources") {
		keep(r, "group", "kind", "namespace", "name", "status", "health", "hook", "requiresPruning")
	}
	if history, ok := status["history"].([]any); ok && len(history) > 1 {
		status["history"] = history[len(history)-1:]
	}
	for _, h := range members(status, "history") {
		trimSources(h)
	}
	for _, op := range []string{"currentOperation", "lastSuccessfulOperation"} {
		delete(member(status, "sourceHydrator", op), "sourceHydrator")
	}
	trimRequest(member(status, "operationState", "operation"))
	result := member(status, "operationState", "syncResult")
	trimSources(result)
	delete(result, "managedNamespaceMetadata")
	for _, r := range members(result, "resources") {
		keep(r, "group", "kind", "namespace", "name", "status", "hookType", "hookPhase", "syncPhase", "message")
	}
}

// trimRequest keeps of the manifests of a local sync only that there are some.
func trimRequest(operation map[string]any) {
	sync := member(operation, "sync")
	trimSources(sync)
	if manifests, ok := sync["manifests"].([]any); ok && len(manifests) > 0 {
		sync["manifests"] = []any{"dropped"}
	}
}

// trimSources shortens the sources of a place.
func trimSources(place map[string]any) {
	sources := append(members(place, "sources"), member(place, "source"))
	for _, source := range sources {
		argocd.ShortenHelm(member(source, "helm"))
	}
}

// member follows keys into objects; nil where there is none, from which
// delete and reading are harmless.
func member(o map[string]any, keys ...string) map[string]any {
	for _, key := range keys {
		o, _ = o[key].(map[string]any)
	}
	return o
}

func members(o map[string]any, key string) []map[string]any {
	list, _ := o[key].([]any)
	var all []map[string]any
	for _, item := range list {
		if m, ok := item.(map[string]any); ok {
			all = append(all, m)
		}
	}
	return all
}

func keep(o map[string]any, keys ...string) {
	kept := make(map[string]any, len(keys))
	for _, key := range keys {
		if v, ok := o[key]; ok {
			kept[key] = v
		}
	}
	clear(o)
	for key, v := range kept {
		o[key] = v
	}
}
