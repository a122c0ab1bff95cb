package manifest

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd"
	"github.com/nav-watchdog/nav-watchdog/internal/arming"
)

// declarations are seeds of every kind that is read.
func declarations() []string {
	return []string{
		argoApp, "# a comment\n---\n" + argoApp + "---\n" + argoApp,
		`{"apiVersion":"argoproj.io/v1alpha1","kind":"Application","metadata":{"name":"web"},"spec":{"sources":[{"repoURL":"u","path":"a"},{"repoURL":"u","ref":"v"}]}}`,
		"apiVersion: argoproj.io/v1alpha1\nkind: AppProject\nmetadata: {name: p}\nspec: {sourceRepos: ['*'], signatureKeys: [{keyID: AA}], syncWindows: [{kind: deny, schedule: '* * * * *', duration: 1h, applications: ['*']}]}\n",
		"apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: s}\nspec: {generators: [{list: {elements: [{a: b}]}}], strategy: {type: RollingSync, rollingSync: {steps: [{matchExpressions: [{key: k, operator: In, values: [v]}]}]}}, template: {metadata: {name: '{{a}}'}, spec: {source: {repoURL: u, path: p}, syncPolicy: {automated: {prune: true}}}}}\n",
		"apiVersion: argocd-image-updater.argoproj.io/v1alpha1\nkind: ImageUpdater\nmetadata: {name: u}\nspec: {writeBackConfig: {method: git}, applicationRefs: [{namePattern: 'w*', images: [{alias: a, imageName: b}]}]}\n",
		"apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(strings.TrimSuffix(argoApp, "\n"), "\n", "\n  ") + "\n",
		"x: &k Application\napiVersion: argoproj.io/v1alpha1\nkind: *k\nmetadata: {name: web}\n",
		"x: &x {kind: Application}\napiVersion: argoproj.io/v1alpha1\n<<: *x\nmetadata: {name: web}\n",
		"apiVersion: argoproj.io/v1alpha1\nkind: ConfigMap\nkind: Application\nmetadata: {name: web}\n",
		"? kind\n: Application\n? apiVersion\n: 'argoproj.io/v1alpha1'\n", "{{- if .Values.x }}\nkind: Application # argoproj.io\n{{- end }}\n",
		"a: &a [*a]\n", "%YAML 1.1\n---\n" + argoApp, "\ufeff" + argoApp, "a: !!binary aGk=\nb: 0x1F\nc: 2020-01-01\nd: ~\ne: .inf\n",
	}
}

// FuzzFind: what Argo CD's own way of reading YAML takes for an object that the
// rules ask is found, or the file is refused; nothing of a refused file counts.
func FuzzFind(f *testing.F) {
	for _, seed := range declarations() {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var p arming.Place
		if err := Find(&p, data); err != nil {
			if d := cmp.Diff(arming.Place{}, p); d != "" {
				t.Fatalf("half of a refused file counts: %s", d)
			}
			return
		}
		found := map[string]bool{}
		for _, a := range p.Apps {
			if a.App.Name == "" || strings.ContainsFunc(a.App.String(), func(r rune) bool { return r <= ' ' || r == 0x7f }) {
				t.Fatalf("a name that cannot be printed: %q", a.App)
			}
			found["Application "+a.App.Name] = true
		}
		for _, s := range p.Sets {
			found["ApplicationSet "+s.Name] = true
		}
		for _, s := range p.Projects {
			found["AppProject "+s.Name] = true
		}
		for _, s := range p.Updaters {
			found["ImageUpdater "+s.Name] = true
		}
		for _, object := range asArgo(data) {
			if !found[object] {
				t.Fatalf("Argo CD sees %q in it, only %v was found:\n%s", object, found, data)
			}
		}
	})
}

// asArgo lists the objects of ours that Argo CD's repo-server would see
// (gitops-engine's SplitYAML), up to the first error.
func asArgo(data []byte) (objects []string) {
	d := yaml.NewYAMLToJSONDecoder(bytes.NewReader(data))
	for range maxDocuments {
		var o map[string]any // as unstructured.Unstructured has it
		if err := d.Decode(&o); err != nil {
			return objects
		}
		version, _ := o["apiVersion"].(string)
		kind, _ := o["kind"].(string)
		meta, _ := o["metadata"].(map[string]any)
		if name, _ := meta["name"].(string); name != "" && argocd.IsOurs(version, kind) {
			objects = append(objects, kind+" "+name)
		}
	}
	return objects
}

// FuzzPlaces: every object and finding has its place in the file, and texts
// are bounded.
func FuzzPlaces(f *testing.F) {
	for _, seed := range declarations() {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		objects, wrong, skipped := Declared(data)
		lines := bytes.Count(data, []byte("\n")) + 1
		inside := func(p arming.Pos) bool { return p.Line >= 0 && p.Line <= lines && p.Col >= 0 }
		for _, w := range wrong {
			if !inside(w.Pos) || w.Message == "" || len(w.Message) > 2000 {
				t.Fatalf("%+v in %d lines of\n%s", w, lines, data)
			}
		}
		for _, d := range objects {
			if p, _ := d.At("metadata", "name"); !inside(p) || p.Line == 0 {
				t.Fatalf("%s is at %+v in\n%s", d.App, p, data)
			}
			for _, finding := range arming.CheckDeclared(d, arming.FileAsk{}) {
				if !inside(finding.Pos) || finding.Message == "" {
					t.Fatalf("%+v in\n%s", finding, data)
				}
			}
		}
		if skipped != "" && len(objects) > 0 {
			t.Fatalf("skipped (%s), and read", skipped)
		}
	})
}

// FuzzObjects: what is read has names, and is the same whenever it is read.
func FuzzObjects(f *testing.F) {
	for _, seed := range append(declarations(), web, web+"---\n"+web) {
		f.Add([]byte(seed), []byte(web))
	}
	f.Fuzz(func(t *testing.T, before, after []byte) {
		a, errA := Objects(before)
		b, errB := Objects(after)
		if errA != nil && a != nil {
			t.Fatal("objects come back with an error")
		}
		if errA != nil || errB != nil {
			return
		}
		again, err := Objects(before)
		for id, differs := range Changed(a, again) {
			if err != nil || differs != 2 && differs.String() != "no" || id.Kind == "" || id.Name == "" {
				t.Fatalf("%s differs from itself: %s, %v", id, differs, err)
			}
		}
		if n := len(Changed(a, b)); n < max(len(a), len(b)) {
			t.Fatalf("%d objects compared, of %d and %d", n, len(a), len(b))
		}
	})
}
