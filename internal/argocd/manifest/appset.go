package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd"
	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// maxMade bounds the Applications of one ApplicationSet that are looked at.
const maxMade = 1000

// maxFilled bounds the values that are filled in for all of them together.
const maxFilled = 1_000_000

// size counts the values below.
func size(v any) int {
	n := 1
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			n += size(item)
		}
	case map[string]any:
		for _, item := range v {
			n += size(item)
		}
	case string:
		n += len(v) / 64
	}
	return n
}

// maxName bounds the name of an Application, in bytes; longer ones no cluster takes.
const maxName = 253

// stand is the name of an Application whose own has a placeholder.
const stand = "application"

// set reads an ApplicationSet: its strategy, and what its template makes.
func (r *reading) set(d arming.Declared, content, spec map[string]any) (arming.Declared, error) {
	var p arming.Place
	if err := argocd.Add(&p, content, false); err != nil {
		return d, err
	}
	d.Set = &p.Sets[0]
	d.App = verdict.App{Namespace: d.Set.Namespace, Name: d.Set.Name}
	d.Rollout = rollout(spec)
	template, _ := spec["template"].(map[string]any)
	inner, _ := template["spec"].(map[string]any)
	d.Partial = spec["generators"] == nil || len(inner) == 0
	if d.Partial {
		return d, nil
	}
	over := written(spec)
	elements, why := elements(spec)
	if n := len(elements); n > 0 && size(template) > maxFilled/n {
		why = fmt.Sprintf("its template is too large to be filled in %d times", n)
	}
	d.Unknown = why
	if why != "" {
		elements = []map[string]any{nil}
	}
	dotted := spec["goTemplate"] == true
	for _, e := range elements {
		app, err := made(template, e, dotted, d.App.Namespace)
		if err != nil {
			return d, err
		}
		app.Over = over
		d.Apps = append(d.Apps, app)
	}
	return d, nil
}

// made is the Application that a template makes of an element of a list; nil
// leaves placeholders as they are.
func made(template, element map[string]any, dotted bool, namespace string) (arming.Planned, error) {
	filled, _ := fill(template, element, dotted).(map[string]any)
	meta, _ := filled["metadata"].(map[string]any)
	spec, _ := filled["spec"].(map[string]any)
	name, _ := meta["name"].(string)
	name = name[:min(len(name), maxName)]
	if ns, _ := meta["namespace"].(string); ns != "" && !strings.Contains(ns, "{{") {
		namespace = ns
	}
	content := map[string]any{
		"apiVersion": "argoproj.io/v1alpha1", "kind": argocd.KindApplication, "spec": spec,
		"metadata": map[string]any{"name": stand, "labels": meta["labels"], "annotations": meta["annotations"]},
	}
	app, err := argocd.FromObject(content)
	if err != nil {
		return arming.Planned{}, inTemplate(err)
	}
	p := planned(app.Facts("", time.Time{}), content, spec)
	p.App = verdict.App{Namespace: namespace, Name: name}
	return p, nil
}

// inTemplate leads from a field of an Application to that of the template.
func inTemplate(err error) error {
	var field *argocd.FieldError
	if !errors.As(err, &field) {
		return err
	}
	return &argocd.FieldError{Field: "spec.template." + field.Field, Want: field.Want, Got: field.Got}
}

func rollout(spec map[string]any) *arming.Rollout {
	strategy, _ := spec["strategy"].(map[string]any)
	if strategy == nil {
		return nil
	}
	r := &arming.Rollout{}
	r.Type, _ = strategy["type"].(string)
	rolling, _ := strategy["rollingSync"].(map[string]any)
	steps, _ := rolling["steps"].([]any)
	for _, v := range steps {
		step, _ := v.(map[string]any)
		s := arming.Step{Max: maxUpdate(step["maxUpdate"])}
		terms, _ := step["matchExpressions"].([]any)
		for _, v := range terms {
			term, _ := v.(map[string]any)
			t := arming.Term{}
			t.Key, _ = term["key"].(string)
			t.Operator, _ = term["operator"].(string)
			values, _ := term["values"].([]any)
			for _, v := range values {
				t.Values = append(t.Values, fmt.Sprint(v))
			}
			s.Terms = append(s.Terms, t)
		}
		r.Steps = append(r.Steps, s)
	}
	return r
}

var percentage = lazy(`^(\d{1,9})%$`)

// maxUpdate reads a number or a percentage (intstr.GetScaledValueFromIntOrPercent).
func maxUpdate(v any) arming.MaxUpdate {
	switch v := v.(type) {
	case nil:
		return arming.MaxUpdate{}
	case int64:
		return arming.MaxUpdate{Given: true, Number: v}
	case string:
		if m := percentage().FindStringSubmatch(v); m != nil {
			var n int64
			_, _ = fmt.Sscan(m[1], &n)
			return arming.MaxUpdate{Given: true, Number: n}
		}
		return arming.MaxUpdate{Given: true, Broken: fmt.Sprintf("the text %.40q", v)}
	}
	return arming.MaxUpdate{Given: true, Broken: fmt.Sprintf("%.40v", v)}
}

// written is what is written over a template.
func written(spec map[string]any) arming.Over {
	over := arming.Over{}
	over.Text, _ = spec["templatePatch"].(string)
	for line := range strings.SplitSeq(over.Text, "\n") {
		over.Opaque = over.Opaque || opaque(strings.TrimSpace(line))
	}
	generators, err := json.Marshal(spec["generators"])
	if err == nil && strings.Contains(string(generators), `"template"`) {
		over.Text += string(generators)
	}
	return over
}

// opaque reports whether a line is a placeholder that may stand for fields.
func opaque(line string) bool {
	inner, found := strings.CutPrefix(line, "{{")
	if !found {
		return false
	}
	inner = strings.TrimLeft(inner, "- \t")
	for _, word := range []string{"if", "else", "end", "range", "with", "define", "block", "/*", "$"} {
		if strings.HasPrefix(inner, word) {
			return false
		}
	}
	return true
}

// elements are those of list generators. Why says, where another generator has
// a part in it, that only the cluster knows what it makes.
func elements(spec map[string]any) (all []map[string]any, why string) {
	generators, _ := spec["generators"].([]any)
	for _, v := range generators {
		g, _ := v.(map[string]any)
		list, _ := g["list"].(map[string]any)
		items, _ := list["elements"].([]any)
		switch {
		case len(list) == 0:
			return nil, fmt.Sprintf("what the generator %s makes is known to the cluster only", kindOf(g))
		case list["elementsYaml"] != nil || list["template"] != nil || g["selector"] != nil:
			return nil, "the list generator does more than list its elements, which is not evaluated"
		}
		for _, item := range items {
			element, _ := item.(map[string]any)
			all = append(all, element)
		}
	}
	switch {
	case len(all) == 0:
		return nil, "its lists have no elements"
	case len(all) > maxMade:
		return nil, fmt.Sprintf("it makes more than %d Applications", maxMade)
	}
	return all, ""
}

func kindOf(generator map[string]any) string {
	for _, key := range slices.Sorted(maps.Keys(generator)) {
		if key != "selector" {
			return fmt.Sprintf("%.40q", key)
		}
	}
	return "that is empty"
}

// placeholder is one that only names a value: {{ .a.b }} with goTemplate, else
// {{a.b}}.
var placeholder = lazy(`\{\{\s*(\.?[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)\s*\}\}`)

// fill puts an element's values in the place of placeholders. One that it has no
// text for stays.
func fill(v any, element map[string]any, dotted bool) any {
	if element == nil {
		return v
	}
	switch v := v.(type) {
	case string:
		return placeholder().ReplaceAllStringFunc(v, func(s string) string {
			name := placeholder().FindStringSubmatch(s)[1]
			if strings.HasPrefix(name, ".") != dotted {
				return s
			}
			if value, ok := lookUp(element, strings.Split(strings.TrimPrefix(name, "."), ".")); ok {
				return value
			}
			return s
		})
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = fill(item, element, dotted)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[fill(key, element, dotted).(string)] = fill(item, element, dotted)
		}
		return out
	}
	return v
}

func lookUp(element map[string]any, keys []string) (string, bool) {
	var v any = element
	for _, key := range keys {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	switch v := v.(type) {
	case string:
		return v, !strings.Contains(v, "{{")
	case bool, int64:
		return fmt.Sprint(v), true
	}
	return "", false
}
