package manifest_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd/manifest"
	"github.com/nav-watchdog/nav-watchdog/internal/arming"
)

const plainApp = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web, namespace: argocd}
spec:
  source: {repoURL: https://git.example.com/deploy.git, path: web, targetRevision: main}
`

// What is wrong with a file is one finding with its place, or a reason to skip
// it; nothing takes long or much.
func TestDeclaredHostile(t *testing.T) {
	bomb := "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: web}\nspec:\n  a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for i := range 8 {
		bomb += fmt.Sprintf("  %c: &%c [%s]\n", 'b'+i, 'b'+i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", 'a'+i), 10), ","))
	}
	for name, tt := range map[string]struct {
		file            string
		wrong, skipped  string // what it must say
		line, col, char int
	}{
		"aliases":     {file: bomb, skipped: "aliases unfold to more than"},
		"merge key":   {file: plainApp + "  a: &a {b: c}\n  d: {<<: *a}\n", skipped: "line 7: merge keys"},
		"deep":        {file: plainApp + "  a: " + strings.Repeat("[", 300) + strings.Repeat("]", 300) + "\n", wrong: "nested deeper than", line: 6, col: 205, char: 205},
		"documents":   {file: plainApp + strings.Repeat("---\na: b\n", 10_000), wrong: "more than 1000 documents"},
		"large":       {file: plainApp + "# " + strings.Repeat("x", manifest.MaxFile), skipped: "more than"},
		"not UTF-8":   {file: plainApp + "  a: \xff\n", wrong: "it is not UTF-8"},
		"not YAML":    {file: plainApp + "  a: b: c\n", wrong: "it is not YAML: mapping values are not allowed", line: 6, col: 1, char: 1},
		"twice a key": {file: plainApp + "  ü: 1\n  ü: 2\n", wrong: `key "ü" stands twice`, line: 7, col: 3, char: 3},
		"anchor":      {file: "a: &x 1\n---\n" + plainApp + "  a: *x\n", wrong: "unknown anchor", line: 8, col: 6, char: 6},
		"type":        {file: strings.Replace(plainApp, "path: web", "ü: 1, path: [web]", 1), wrong: "field spec.source.path is a list, want text", line: 5, col: 64, char: 63},
		"no name":     {file: strings.Replace(plainApp, "name: web, ", "", 1), wrong: "metadata has no usable name", line: 3, col: 1, char: 1},
		"Helm":        {file: "{{- if .Values.web }}\n" + plainApp + "{{ end }}\n", skipped: "template for Helm"},
		"placeholder": {file: strings.Replace(plainApp, "path: web", "path: '{{web}}'", 1), skipped: "placeholders"},
	} {
		objects, wrong, skipped := manifest.Declared([]byte(tt.file))
		if !strings.Contains(skipped, tt.skipped) || (tt.skipped == "") != (skipped == "") {
			t.Errorf("%s: skipped because of %q, want %q", name, skipped, tt.skipped)
		}
		if tt.wrong == "" {
			if len(wrong) > 0 || len(objects) > 0 {
				t.Errorf("%s: %d objects, %v", name, len(objects), wrong)
			}
			continue
		}
		if len(wrong) != 1 || !wrong[0].Wrong || !strings.Contains(wrong[0].Message, tt.wrong) {
			t.Errorf("%s: %+v, want one that says %q", name, wrong, tt.wrong)
			continue
		}
		if at := (arming.Pos{Line: tt.line, Col: tt.col, Char: tt.char}); wrong[0].Pos != at {
			t.Errorf("%s: at %+v, want %+v", name, wrong[0].Pos, at)
		}
	}
}

// A list's own values are filled in, and nothing else is.
func TestDeclaredList(t *testing.T) {
	set := `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: shops, namespace: argocd}
spec:
  GO
  generators:
    - list: {elements: [{env: dev, n: 2, in: {x: eu}}, {env: 'p{{x}}'}]}
  template:
    metadata: {name: 'TEXT', labels: {'NESTED': 'OTHER'}}
    spec: {source: {repoURL: https://git.example.com/deploy.git, path: web}}
`
	for name, tt := range map[string]struct {
		dialect, text, nested string
		names, labels         []string
	}{
		"plain": {"preserveResourcesOnDeletion: true", "a-{{env}}-{{ n }}-{{.env}}", "{{in.x}}",
			[]string{"a-dev-2-{{.env}}", "a-{{env}}-{{ n }}-{{.env}}"}, []string{"eu", "{{in.x}}"}},
		"go": {"goTemplate: true", "a-{{.env}}-{{ .n }}-{{env}}-{{.env | upper}}", "{{.in.x}}",
			[]string{"a-dev-2-{{env}}-{{.env | upper}}", "a-{{.env}}-{{ .n }}-{{env}}-{{.env | upper}}"}, []string{"eu", "{{.in.x}}"}},
	} {
		file := strings.NewReplacer("GO", tt.dialect, "TEXT", tt.text, "NESTED", tt.nested, "OTHER", "x").Replace(set)
		objects, wrong, skipped := manifest.Declared([]byte(file))
		if len(objects) != 1 || len(wrong) > 0 || skipped != "" {
			t.Fatalf("%s: %v, %v, %q", name, objects, wrong, skipped)
		}
		var names, labels []string
		for _, app := range objects[0].Apps {
			names = append(names, app.App.Name)
			for key := range app.Labels {
				labels = append(labels, key)
			}
		}
		if diff := cmp.Diff([][]string{tt.names, tt.labels}, [][]string{names, labels}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// What a small file would unfold to is bounded.
func TestDeclaredManyTimesMuch(t *testing.T) {
	for name, tt := range map[string]struct {
		elements, fields int
		why              string
	}{
		"much": {900, 10_000, "too large to be filled in 900 times"},
		"many": {1001, 1, "more than 1000 Applications"},
		"both": {900, 10, ""},
	} {
		file := "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: shops}\nspec:\n  generators:\n    - list:\n        elements:\n" +
			strings.Repeat("          - {env: dev}\n", tt.elements) +
			"  template:\n    metadata: {name: 'shop-{{env}}'}\n    spec:\n      source: {repoURL: https://git.example.com/deploy.git, path: web}\n      info:\n" +
			strings.Repeat("        - {name: '{{env}}'}\n", tt.fields)
		objects, wrong, skipped := manifest.Declared([]byte(file))
		if len(objects) != 1 || len(wrong) > 0 || skipped != "" {
			t.Fatalf("%s: %d objects, %v, %q", name, len(objects), wrong, skipped)
		}
		if d := objects[0]; !strings.Contains(d.Unknown, tt.why) || (tt.why == "") != (d.Unknown == "") || tt.why != "" && len(d.Apps) != 1 {
			t.Errorf("%s: %q, %d Applications; want %q", name, d.Unknown, len(d.Apps), tt.why)
		}
	}
}

// FuzzDeclared: whatever a file holds, every place lies in it, and what is
// skipped tells nothing.
func FuzzDeclared(f *testing.F) {
	doc, err := os.ReadFile("../../../docs/rules.md")
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range ruleExample.FindAllSubmatch(doc, -1) {
		f.Add(e[3])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		objects, fs, skipped := manifest.Declared(data)
		if skipped != "" && len(objects)+len(fs) > 0 {
			t.Fatalf("skipped (%s), and %d objects, %d findings", skipped, len(objects), len(fs))
		}
		for _, d := range objects {
			fs = append(fs, arming.CheckDeclared(d, arming.FileAsk{Version: arming.Version{Major: 2, Minor: 8}})...)
		}
		lines := bytes.Split(data, []byte("\n"))
		for _, at := range fs {
			if at.Line == 0 {
				continue
			}
			if bytes.ContainsAny(data, "\r\u0085\u2028\u2029") || bytes.HasPrefix(data, []byte("\ufeff")) {
				continue // yaml.v3 counts these as line ends, too
			}
			if at.Line > len(lines)+1 || at.Line <= len(lines) && utf8.Valid(data) && at.Col > len(lines[at.Line-1])+1 {
				t.Errorf("%s: %+v is not in a file of %d lines", at.Rule, at.Pos, len(lines))
			}
		}
	})
}
