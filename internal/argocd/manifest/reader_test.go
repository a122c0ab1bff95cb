package manifest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd/manifest"
	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// tree is a repository of one or more revisions; the id of a content is the
// content. It counts what is read.
type tree struct {
	revs                  map[string]map[string]string
	read, grepped, diffed int
}

func (t *tree) Below(_ context.Context, rev, dir string) (map[string]string, error) {
	out := map[string]string{}
	for p, c := range t.revs[rev] {
		if dir == "" || strings.HasPrefix(p, dir+"/") {
			out[p] = c
		}
	}
	return out, nil
}

func (t *tree) At(_ context.Context, rev string, paths []string) (map[string]string, error) {
	out := map[string]string{}
	for _, p := range paths {
		if c, ok := t.revs[rev][p]; ok {
			out[p] = c
		}
	}
	return out, nil
}

func (t *tree) Between(_ context.Context, from, to string) (map[string]string, error) {
	t.diffed++
	return t.between(from, to)
}

func (t *tree) between(from, to string) (map[string]string, error) {
	if t.revs[from] == nil {
		return nil, errors.New("there is no " + from)
	}
	out := map[string]string{}
	for p := range t.revs[from] {
		if t.revs[to][p] != t.revs[from][p] {
			out[p] = t.revs[to][p]
		}
	}
	for p, c := range t.revs[to] {
		if t.revs[from][p] == "" {
			out[p] = c
		}
	}
	return out, nil
}

func (t *tree) Compare(ctx context.Context, pairs [][2]string, dir string, fn func(i int, path, id string)) error {
	t.diffed++
	for i, p := range pairs {
		differs, err := t.between(p[0], p[1])
		if err != nil {
			return err
		}
		for path, id := range differs {
			if dir == "" || strings.HasPrefix(path, dir+"/") {
				fn(i, path, id)
			}
		}
	}
	return nil
}

func (t *tree) Grep(_ context.Context, rev, text string, endings []string) (out []string, err error) {
	t.grepped++
	for p, c := range t.revs[rev] {
		if strings.Contains(c, text) && slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(p, e) }) {
			out = append(out, p)
		}
	}
	return out, nil
}

func (t *tree) Small(_ context.Context, ids []string, limit int64, fn func(string, []byte) error) error {
	for _, id := range ids {
		t.read++
		data := []byte(id)
		if int64(len(data)) > limit {
			data = nil
		}
		if err := fn(id, data); err != nil {
			return err
		}
	}
	return nil
}

func application(name string) string {
	return "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: " + name + "}\nspec: {source: {repoURL: https://h/r, path: apps/" + name + "}}\n"
}

func names(p arming.Place) (out []string) {
	for _, f := range p.Apps {
		out = append(out, f.App.String()+" "+f.From)
	}
	return out
}

// Which files are read, and that each content is read once.
func TestPlace(t *testing.T) {
	repo := &tree{revs: map[string]map[string]string{"c": {
		"argo/web.yaml": application("web"), "argo/copy.yaml": application("web"), "argo/values.yaml": "image: x\n",
		"elsewhere/api.yml": application("api"), "chart/app.yaml": "{{- if .Values.x }}\nkind: Application # argoproj.io\n{{- end }}\n", "notes.txt": application("no"),
	}}}
	r := manifest.NewReader(repo)
	for _, c := range []struct {
		name           string
		globs, changed []string
		search         bool
		want, bad      []string
		skipped        int
	}{
		{"a glob", []string{"/argo/**/*.yaml"}, nil, false, []string{"web manifest argo/copy.yaml", "web manifest argo/web.yaml"}, nil, 0},
		{"what changed", nil, []string{"elsewhere/api.yml", "gone.yaml", "notes.txt"}, false, []string{"api manifest elsewhere/api.yml"}, nil, 0},
		{"nothing changed", nil, nil, false, nil, nil, 0},
		{"the whole tree", nil, nil, true, []string{"web manifest argo/copy.yaml", "web manifest argo/web.yaml", "api manifest elsewhere/api.yml"}, nil, 1},
		{"a glob names a template", []string{"*.yaml"}, nil, false, []string{"web manifest argo/copy.yaml", "web manifest argo/web.yaml"}, []string{"chart/app.yaml"}, 0},
	} {
		p, bad, skipped, err := r.Place(context.Background(), arming.TreeAsk{Commit: "c", Globs: c.globs, Changed: c.changed, Search: c.search, Apps: []string{"web", "api"}})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, names(p)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
		if len(bad) != len(c.bad) || len(bad) > 0 && !strings.HasPrefix(bad[0], c.bad[0]+": ") || len(skipped) != c.skipped {
			t.Errorf("%s: bad %q, skipped %q", c.name, bad, skipped)
		}
	}
	if repo.read != 4 {
		t.Errorf("%d contents were read, want each of 4 once", repo.read)
	}
}

// Manifests of somebody who means harm: bounded, and a clear reason.
func TestHostile(t *testing.T) {
	bomb := "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: web}\nspec:\n  a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		bomb += fmt.Sprintf("  a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 10), ", "))
	}
	for name, c := range map[string]struct{ text, want string }{
		"alias bomb":              {bomb, "aliases unfold to more than 10000 values"},
		"100 MB":                  {strings.Repeat("#argoproj.io\n", 8<<20), "it has more than 1048576 bytes"},
		"deep nesting":            {application("web") + "  deep: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "\n", ""},
		"deep nesting in ours":    {"apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: web}\nspec: " + strings.Repeat("{a: ", 300) + "1" + strings.Repeat("}", 300) + "\n", "nested deeper than 200"},
		"brackets without end":    {"# argoproj.io\n" + strings.Repeat("[", 100_000), "reading YAML"},
		"10,000 documents":        {strings.Repeat("a: argoproj.io\n---\n", 10_000), "it has more than 1000 documents"},
		"a Helm template":         {"apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: {{ .Release.Name }}\n", "a key must be text"},
		"a template that is YAML": {strings.Replace(application("web"), "name: web", "name: '{{ x }}'", 1), "metadata has no usable name"},
		"a name twice in a key":   {application("web") + "spec: {}\n", "mapping key \"spec\" already defined|stands twice"},
		"anchors across":          {"a: &x argoproj.io\n---\nb: *x\n", "unknown anchor"},
		"not UTF-8":               {application("web") + "# \xff\n", "it is not UTF-8"},
		"UTF-16":                  {"\xff\xfea\x00", "it is not UTF-8"},
		"a merge key":             {"x: &x {a: 1}\n" + application("web") + "  <<: *x\n", ""},
		"a wrong type":            {strings.Replace(application("web"), "repoURL: https://h/r", "repoURL: [1]", 1), "want text"},
		"NUL":                     {application("web") + "\x00", "reading YAML"},
	} {
		repo := &tree{revs: map[string]map[string]string{"c": {"x.yaml": c.text}}}
		p, bad, _, err := manifest.NewReader(repo).Place(context.Background(), arming.TreeAsk{Commit: "c", Globs: []string{"x.yaml"}, Apps: []string{"web"}})
		if err != nil {
			t.Fatal(err)
		}
		first, second, _ := strings.Cut(c.want, "|")
		if len(bad) != 1 || len(p.Apps) != 0 || !strings.Contains(bad[0], first) && (second == "" || !strings.Contains(bad[0], second)) {
			t.Errorf("%s: %.300q, %d Applications, want %q", name, bad, len(p.Apps), c.want)
		}
		// Found by themselves they are skipped, with the reason.
		_, bad, skipped, err := manifest.NewReader(repo).Place(context.Background(), arming.TreeAsk{Commit: "c", Changed: []string{"x.yaml"}, Apps: []string{"web"}})
		if err != nil || len(bad) != 0 || len(skipped) > 1 {
			t.Errorf("%s: bad %q, skipped %q, %v", name, bad, skipped, err)
		}
	}
}

const deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 2, progressDeadlineSeconds: 1200, template: {spec: {containers: [{image: \"web:1\"}]}}}\n"

func configMap(name string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\n"
}

func TestContent(t *testing.T) {
	plain := []verdict.Source{{Path: "a", Plain: true}}
	for name, c := range map[string]struct {
		sources       []verdict.Source
		before, after map[string]string
		removed       []string
		unknown       string
	}{
		"an image":         {plain, map[string]string{"a/x.yaml": strings.Replace(deployment, "web:1", "web:0", 1)}, map[string]string{"a/x.yaml": deployment}, nil, ""},
		"moved":            {plain, map[string]string{"a/x.yaml": deployment}, map[string]string{"a/y.yml": deployment}, nil, ""},
		"an object":        {plain, map[string]string{"a/x.yaml": deployment}, map[string]string{"a/x.yaml": deployment, "a/c.json": `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}`}, []string{"ConfigMap c"}, ""},
		"a rename":         {plain, map[string]string{"a/x.yaml": configMap("one")}, map[string]string{"a/x.yaml": configMap("two")}, []string{"ConfigMap two"}, ""},
		"in a list":        {plain, nil, map[string]string{"a/x.yaml": "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}]\n"}, []string{"ConfigMap c"}, ""},
		"only taken away":  {plain, map[string]string{"a/x.yaml": deployment, "a/c.yaml": configMap("c")}, map[string]string{"a/x.yaml": deployment}, nil, ""},
		"not deployed":     {plain, nil, map[string]string{"a/sub/c.yaml": configMap("c"), "b/c.yaml": configMap("c"), "a/README": "x"}, nil, ""},
		"recursive":        {[]verdict.Source{{Path: "a", Plain: true, Recurse: true}}, nil, map[string]string{"a/sub/c.yaml": configMap("c")}, []string{"ConfigMap c"}, ""},
		"generated name":   {plain, nil, map[string]string{"a/x.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {generateName: x-}\n"}, nil, "its name is generated"},
		"Kustomize":        {plain, nil, map[string]string{"a/kustomization.yaml": "resources: []\n"}, nil, "makes a tool render"},
		"Kustomize before": {plain, map[string]string{"a/Kustomization": "resources: []\n"}, nil, nil, "makes a tool render"},
		"Helm":             {plain, nil, map[string]string{"a/Chart.yaml": "name: x\n"}, nil, "makes a tool render"},
		"a plugin":         {[]verdict.Source{{Path: "a"}}, nil, nil, nil, "are rendered by a tool"},
		"overrides":        {plain, nil, map[string]string{"a/.argocd-source-web.yaml": "x: 1\n"}, nil, "makes a tool render"},
		"Jsonnet":          {plain, nil, map[string]string{"a/x.jsonnet": "{}"}, nil, "makes Jsonnet render"},
		"twice":            {plain, nil, map[string]string{"a/x.yaml": configMap("c"), "a/y.yaml": configMap("c")}, nil, "stands twice"},
		"a template":       {plain, nil, map[string]string{"a/x.yaml": "kind: {{ x }}\n"}, nil, "a key must be text"},
		"no object":        {plain, nil, map[string]string{"a/x.yaml": "image: x\n"}, nil, "no object with kind and name"},
		"too large":        {plain, nil, map[string]string{"a/x.yaml": strings.Repeat("#", 2<<20)}, nil, "more than 1048576 bytes"},
		"values of ours":   {[]verdict.Source{{Ref: "values"}}, nil, nil, nil, "lends its files"},
		"no source":        {nil, nil, nil, nil, "no source is in this repository"},
	} {
		repo := &tree{revs: map[string]map[string]string{"before": c.before, "after": c.after}}
		got := manifest.NewReader(repo).Content(context.Background(), arming.ContentAsk{Sources: c.sources, At: "after", Back: "before"})
		var removed []string
		for _, id := range got.Removed {
			removed = append(removed, id.String())
		}
		if (c.unknown == "") != (got.Unknown == "") || !strings.Contains(got.Unknown, c.unknown) {
			t.Errorf("%s: unknown %q, want %q", name, got.Unknown, c.unknown)
		}
		if d := cmp.Diff(c.removed, removed); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// Before a revert the tip counts: an object that something else has brought
// meanwhile is not removed, and one that was moved into the commit's file is.
func TestContentAtTheTip(t *testing.T) {
	repo := &tree{revs: map[string]map[string]string{"tip": {"a/x.yaml": configMap("one") + "---\n" + configMap("two"), "a/y.yaml": deployment}}}
	over := map[string]string{"a/x.yaml": configMap("one"), "b/z.yaml": configMap("three"), "a/gone.yaml": ""}
	got := manifest.NewReader(repo).Content(context.Background(), arming.ContentAsk{Sources: []verdict.Source{{Path: "a", Plain: true}}, At: "tip", Over: over})
	if got.Unknown != "" || len(got.Removed) != 1 || got.Removed[0].Name != "two" {
		t.Errorf("%+v", got)
	}
	var web arming.Object
	for _, o := range got.Objects {
		if o.ID.Kind == "Deployment" {
			web = o
		}
	}
	if web.ProgressDeadline.Seconds() != 1200 || !web.Replicas || !slices.Equal(web.Images, []string{"web:1"}) || web.Changed {
		t.Errorf("%+v", web)
	}
}

// A file that is plainly about something else is not parsed; one that could be
// about the app, or about a folder that changed, is found all the same, however
// it is written.
func TestBrief(t *testing.T) {
	plain := func(name, path string) string {
		return "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: " + name + "\nspec:\n  source:\n    repoURL: https://h/r\n    path: " + path + "\n"
	}
	for _, c := range []struct {
		text  string
		found bool
	}{
		{plain("other", "apps/other"), false},
		{plain("web", "apps/other"), true},
		{plain("other", "apps/web"), true},
		{plain("other", "apps"), true},
		{plain("other", "./apps/web/"), true},
		{plain("other", "."), true},
		{plain("other", "'apps/web'"), true},
		{plain("other", "\"apps/w\\x65b\""), true},
		{plain("other", "apps/web # comment"), true},
		{plain("other", ">-\n      apps/web"), true},
		{plain("other", "&x apps/web"), true},
		{strings.Replace(plain("other", "apps/other"), "    path: apps/other\n", "    ref: values\n", 1), true},
		{strings.Replace(plain("other", "apps/other"), "    path: apps/other\n", "", 1), true},
		{strings.Replace(plain("other", "x"), "  source:\n    repoURL: https://h/r\n    path: x\n", "  source: {repoURL: https://h/r, path: apps/web}\n", 1), true},
		{strings.Replace(plain("other", "x"), "    path: x\n", "    ? path\n    : apps/web\n", 1), true},
	} {
		repo := &tree{revs: map[string]map[string]string{"c": {"x.yaml": c.text}}}
		p, bad, _, err := manifest.NewReader(repo).Place(context.Background(), arming.TreeAsk{
			Commit: "c", Globs: []string{"x.yaml"}, Changed: []string{"apps/web/x.yaml"}, Apps: []string{"web"},
		})
		if err != nil || len(bad) > 0 || (len(p.Apps) == 1) != c.found {
			t.Errorf("%d Applications, %q, %v of\n%s", len(p.Apps), bad, err, c.text)
		}
	}
}
