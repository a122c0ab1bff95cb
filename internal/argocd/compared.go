package argocd

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// specChanged is R4: how what was compared (sync.comparedTo) differs from the
// spec, "" if it does not. Then the status describes another Application, and
// everything in it waits for the next comparison.
//
// Argo CD leaves out of its copy what is empty, false or zero and completes a
// destination that has only a name with its server, so neither is a
// difference.
func specChanged(spec, compared *object) string {
	want, got := spec.fields["sources"], compared.fields["sources"]
	field := "sources"
	switch hydrator := spec.object("sourceHydrator"); {
	case hydrator.there():
		want, got, field = syncSource(hydrator), compared.fields["source"], "source"
	case len(spec.list("sources")) == 0:
		want, got, field = spec.fields["source"], compared.fields["source"], "source"
		if len(compared.list("sources")) > 0 {
			return "compared were several sources, the spec has one"
		}
	case len(compared.list("sources")) == 0:
		return "compared was one source, the spec has several"
	}
	was := significant(got)
	if was == nil {
		return "nothing was compared yet"
	}
	if d := differ(field, significant(want), was); d != "" {
		return d
	}
	return destinationChanged(spec.object("destination"), compared.object("destination"))
}

// syncSource is what Argo CD compares for a hydrated Application
// (SourceHydrator.GetSyncSource).
func syncSource(hydrator *object) map[string]any {
	sync := hydrator.object("syncSource")
	repoURL := sync.text("repoURL")
	if repoURL == "" {
		repoURL = hydrator.object("drySource").text("repoURL")
	}
	return map[string]any{
		"repoURL":        repoURL,
		"path":           sync.text("path"),
		"targetRevision": sync.text("targetBranch"),
	}
}

func destinationChanged(spec, compared *object) string {
	for _, key := range []string{"namespace", "server", "name"} {
		want, got := spec.text(key), compared.text(key)
		if want == got || key != "namespace" && (want == "" || got == "") {
			continue
		}
		return changed("destination."+key, want, got)
	}
	return ""
}

// significant drops what a Go struct with omitempty would not write, at every
// depth, and makes all numbers of one type.
func significant(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for key, value := range v {
			if s := significant(value); s != nil {
				m[key] = s
			}
		}
		if len(m) == 0 {
			return nil
		}
		return m
	case []any:
		if len(v) == 0 {
			return nil
		}
		l := make([]any, len(v)) // its places count, so nothing is dropped
		for i, value := range v {
			l[i] = significant(value)
		}
		return l
	case nil:
		return nil
	}
	if n, ok := whole(v); ok {
		v = float64(n)
	}
	if reflect.ValueOf(v).IsZero() {
		return nil
	}
	return v
}

// differ names the first field that is not the same, in the order of the
// keys.
func differ(field string, want, got any) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok && got != nil {
			break
		}
		keys := maps.Clone(w)
		maps.Copy(keys, g)
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			if d := differ(field+"."+key, w[key], g[key]); d != "" {
				return d
			}
		}
		return ""
	case []any:
		g, _ := got.([]any)
		if len(w) != len(g) {
			return fmt.Sprintf("%s: %d compared, the spec has %d", field, len(g), len(w))
		}
		for i := range w {
			if d := differ(fmt.Sprintf("%s[%d]", field, i), w[i], g[i]); d != "" {
				return d
			}
		}
		return ""
	}
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return changed(field, want, got)
}

// changed says what differs; values only of fields that cannot hold a secret
// and say something to a reader.
func changed(field string, want, got any) string {
	switch field[strings.LastIndexByte(field, '.')+1:] {
	case "path", "targetRevision", "chart", "ref", "namespace", "server", "name":
		w, _ := want.(string)
		g, _ := got.(string)
		return fmt.Sprintf("%s: compared was %.100q, the spec has %.100q", field, g, w)
	case "repoURL":
		w, _ := want.(string)
		g, _ := got.(string)
		return fmt.Sprintf("%s: compared was %.200q, the spec has %.200q", field, withoutCredentials(g), withoutCredentials(w))
	default:
		return field + " changed since the comparison"
	}
}
