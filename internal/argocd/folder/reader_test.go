package folder_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd"
	"github.com/nav-watchdog/nav-watchdog/internal/argocd/folder"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// at is long before any file of the test was written: the time of files does
// not count.
var at = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// one is an Application as YAML.
func one(namespace, name string) string {
	return "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: " + name + ", namespace: " + namespace + "}\n"
}

// write makes a folder of files and a reader of it.
func write(t *testing.T, files map[string]string) (*folder.Reader, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder.New(dir), dir
}

func names(apps []*argocd.Application) (all []string) {
	for _, a := range apps {
		all = append(all, a.App().String())
	}
	return all
}

// What kubectl prints is read as it is, in a stable order.
func TestRead(t *testing.T) {
	item := func(name string) string {
		return "- apiVersion: argoproj.io/v1alpha1\n  kind: Application\n  metadata:\n    name: " + name + "\n    namespace: argocd\n"
	}
	r, dir := write(t, map[string]string{
		"z-list.yaml":   "apiVersion: v1\nitems:\n" + item("web") + item("api") + "kind: List\nmetadata:\n  resourceVersion: \"\"\n",
		"documents.yml": "---\n" + one("team-b", "web") + "---\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: <<}\n---\n" + one("team-a", "web"),
		"list.json": `{"apiVersion":"argoproj.io/v1alpha1","kind":"ApplicationList","items":[
			{"apiVersion":"argoproj.io/v1alpha1","kind":"Application","metadata":{"name":"json","namespace":"argocd"}},
			{"apiVersion":"app.k8s.io/v1beta1","kind":"Application","metadata":{"name":"other"}},
			{"apiVersion":"argoproj.io/v1alpha1","kind":"AppProject","metadata":{"name":"default"}}]}`,
		"notes.txt":    "not read",
		".hidden.yaml": "{",
	})
	if err := os.Mkdir(filepath.Join(dir, "sub.yaml"), 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := r.Read(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"argocd/api", "argocd/json", "argocd/web", "team-a/web", "team-b/web"}
	if d := cmp.Diff(want, names(s.Applications)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if s.Ignored != 3 || s.Files != 3 {
		t.Errorf("ignored %d objects of %d files, want 3 of 3", s.Ignored, s.Files)
	}
}

// A time or a commit without quotes reads as in JSON: the one is text, and a
// commit that YAML takes for a number is refused rather than guessed.
func TestScalars(t *testing.T) {
	r, _ := write(t, map[string]string{"a.yaml": one("argocd", "web") + "status:\n  reconciledAt: 2026-11-29T12:00:00Z\n  sync: {status: Synced}\n  summary: {isAppOfApps: yes}\n"})
	if _, err := r.List(context.Background(), at); err == nil || !strings.Contains(err.Error(), "field status.summary.isAppOfApps is the text \"yes\"") {
		t.Errorf("yes is no truth value in YAML 1.2: %v", err)
	}
	r, _ = write(t, map[string]string{"a.yaml": one("argocd", "web") + "status:\n  reconciledAt: 2026-11-29T12:00:00Z\n  summary: {isAppOfApps: true}\n  operationState: {retryCount: 0x10}\n"})
	apps, err := r.List(context.Background(), at)
	if err != nil {
		t.Fatal(err)
	}
	l := apps[0].Look(at, true)
	if want := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC); !l.ReconciledAt.Equal(want) || !l.AppOfApps || l.Operation.RetryCount != 16 {
		t.Errorf("reads %v, %v, %d", l.ReconciledAt, l.AppOfApps, l.Operation.RetryCount)
	}
	r, _ = write(t, map[string]string{"a.yaml": one("argocd", "web") + "status:\n  sync: {revision: 1234567890123456789012345678901234567890}\n"})
	if _, err := r.List(context.Background(), at); err == nil || !strings.Contains(err.Error(), "status.sync.revision is the number") {
		t.Errorf("a commit of digits without quotes: %v", err)
	}
}

// A broken file is named with its line and hides nothing but itself.
func TestBroken(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"syntax":       {"apiVersion: v1\nkind: [\n", "broken.yaml:"},
		"wrong type":   {"# x\n" + one("argocd", "bad") + "spec: 7\n", `broken.yaml:2:1: reading Application "argocd/bad": field spec is the number 7, want an object`},
		"no kind":      {"apiVersion: v1\nitems: []\n", "broken.yaml:1:1: the object has no kind"},
		"no items":     {"kind: List\n", "broken.yaml:1:1: the list has no items"},
		"scalar":       {"hello\n", "broken.yaml:1:1: not an object"},
		"empty":        {"", "broken.yaml:1: no object in this file\nhint: "},
		"comment only": {"# later\n---\n", "broken.yaml:1: no object in this file\nhint: "},
		"twice a key":  {one("argocd", "bad") + "kind: Application\n", `broken.yaml:4:1: key "kind" stands twice`},
		"merge key":    {one("argocd", "bad") + "spec: {<<: {project: x}}\n", "broken.yaml:4:8: merge keys (<<) are not supported"},
		"list in list": {"kind: List\nitems:\n- apiVersion: v1\n  items: []\n", "broken.yaml:3:3: the object has no kind"},
		"no name":      {"apiVersion: argoproj.io/v1alpha1\nkind: Application\n", "no usable name"},
		"deep":         {one("argocd", "bad") + "spec: " + strings.Repeat("[", 300) + strings.Repeat("]", 300), "nested deeper than 200"},
	} {
		r, _ := write(t, map[string]string{"broken.yaml": tt.text, "good.yaml": one("argocd", "web")})
		apps, err := r.List(context.Background(), at)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", name, err, tt.want)
		}
		if d := cmp.Diff([]string{"argocd/web"}, names(apps)); d != "" {
			t.Errorf("%s: the others (-want +got):\n%s", name, d)
		}
		// In what is broken may stand what is looked for.
		if _, err := r.Get(context.Background(), verdict.App{Name: "absent"}, at); err == nil || errors.Is(err, argocd.ErrNotFound) {
			t.Errorf("%s: an Application that may stand in a broken file reads as %v", name, err)
		}
		if a, err := r.Get(context.Background(), verdict.App{Namespace: "argocd", Name: "web"}, at); err != nil || a == nil {
			t.Errorf("%s: one that can be read: %v", name, err)
		}
		if _, err := r.Get(context.Background(), verdict.App{Name: "web"}, at); err == nil {
			t.Errorf("%s: a name without namespace may stand in a broken file too", name)
		}
	}
}

// Objects before a broken document of the same file are kept.
func TestBrokenDocument(t *testing.T) {
	r, _ := write(t, map[string]string{"a.yaml": one("argocd", "web") + "---\n" + one("argocd", "bad") + "x: [\n"})
	apps, err := r.List(context.Background(), at)
	if err == nil || len(apps) != 1 {
		t.Errorf("%v, %v", names(apps), err)
	}
}

// Aliases are read; a few lines that unfold to gigabytes are not.
func TestAliases(t *testing.T) {
	r, _ := write(t, map[string]string{"a.yaml": one("argocd", "web") + "spec:\n  source: &s {repoURL: https://h/r, path: a}\nstatus: {sync: {status: Synced, comparedTo: {source: *s}}}\n"})
	apps, err := r.List(context.Background(), at)
	if err != nil {
		t.Fatal(err)
	}
	if l := apps[0].Look(at, true); len(l.Compared) != 1 || l.SpecChanged != "" {
		t.Errorf("an alias reads %+v", l.Compared)
	}

	var bomb strings.Builder
	bomb.WriteString(one("argocd", "bad") + "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := byte(1); i < 10; i++ {
		ref := "*a" + string('0'+i-1)
		bomb.WriteString("a" + string('0'+i) + ": &a" + string('0'+i) + " [" + strings.Repeat(ref+",", 9) + ref + "]\n")
	}
	for name, text := range map[string]string{"bomb": bomb.String(), "loop": one("argocd", "bad") + "x: &x [*x]\n"} {
		r, _ := write(t, map[string]string{"a.yaml": text})
		if apps, err := r.List(context.Background(), at); err == nil || len(apps) != 0 {
			t.Errorf("%s: %v, %v, want an error", name, names(apps), err)
		}
	}
}

func TestGet(t *testing.T) {
	r, dir := write(t, map[string]string{"a.yaml": one("argocd", "web") + "---\n" + one("team", "web") + "---\n" + one("argocd", "api")})
	get := func(app verdict.App) error {
		_, err := r.Get(context.Background(), app, at)
		return err
	}
	if err := get(verdict.App{Name: "api"}); err != nil {
		t.Error(err)
	}
	if err := get(verdict.App{Namespace: "team", Name: "web"}); err != nil {
		t.Error(err)
	}
	if err := get(verdict.App{Name: "web"}); !errors.Is(err, argocd.ErrAmbiguous) {
		t.Errorf("a name that fits two: %v", err)
	}
	if err := get(verdict.App{Namespace: "other", Name: "api"}); !errors.Is(err, argocd.ErrNotFound) {
		t.Errorf("a name that fits none: %v", err)
	}
	// Each Get reads the disk.
	if err := os.WriteFile(filepath.Join(dir, "b.yaml"), []byte(one("other", "api")), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := get(verdict.App{Namespace: "other", Name: "api"}); err != nil {
		t.Errorf("a file written since: %v", err)
	}
}

// Of two states of one Application neither counts.
func TestTwice(t *testing.T) {
	r, _ := write(t, map[string]string{"a.yaml": one("argocd", "web"), "b.yaml": "# old\n" + one("argocd", "web"), "c.yaml": one("argocd", "api")})
	apps, err := r.List(context.Background(), at)
	if err == nil || !strings.Contains(err.Error(), "b.yaml:2: Application argocd/web stands there and in") {
		t.Errorf("error %v", err)
	}
	if d := cmp.Diff([]string{"argocd/api"}, names(apps)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if _, err := r.Get(context.Background(), verdict.App{Namespace: "argocd", Name: "web"}, at); err == nil || errors.Is(err, argocd.ErrNotFound) {
		t.Errorf("one that stands twice: %v", err)
	}
}

// A mounted ConfigMap is a folder of links; what is neither file nor link to
// one is refused.
func TestLinks(t *testing.T) {
	_, data := write(t, map[string]string{"apps.yaml": one("argocd", "web")})
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(data, "apps.yaml"), filepath.Join(dir, "apps.yaml")); err != nil {
		t.Fatal(err)
	}
	apps, err := folder.New(dir).List(context.Background(), at)
	if err != nil || len(apps) != 1 {
		t.Errorf("a link to a file: %v, %v", names(apps), err)
	}
	if err := os.Symlink(data, filepath.Join(dir, "folder.yaml")); err != nil {
		t.Fatal(err)
	}
	if _, err := folder.New(dir).List(context.Background(), at); err == nil || !strings.Contains(err.Error(), "folder.yaml is not a regular file") {
		t.Errorf("a link to a folder: %v", err)
	}
}

// Without any Application it is not known whether one is gone: the only dump may
// have been taken away, or a list of something else be empty.
func TestNone(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"no file":       {},
		"hidden":        {".apps.yaml": one("argocd", "web"), "apps.txt": one("argocd", "web")},
		"other objects": {"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"},
		"an empty list": {"sets.yaml": "apiVersion: v1\nitems: []\nkind: List\n"},
	} {
		r, dir := write(t, files)
		if _, err := r.List(context.Background(), at); !errors.Is(err, folder.ErrNone) || !strings.Contains(err.Error(), "\nhint: ") || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := r.Get(context.Background(), verdict.App{Namespace: "argocd", Name: "web"}, at); !errors.Is(err, folder.ErrNone) || errors.Is(err, argocd.ErrNotFound) {
			t.Errorf("%s: an Application reads as %v", name, err)
		}
	}
	r, dir := write(t, map[string]string{"a.yaml": one("argocd", "web")})
	if _, err := r.List(context.Background(), at); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "a.yaml")); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Get(context.Background(), verdict.App{Name: "web"}, at); !errors.Is(err, folder.ErrNone) {
		t.Errorf("the only file is gone: %v", err)
	}
}

func TestUnreadableFolder(t *testing.T) {
	r := folder.New(filepath.Join(t.TempDir(), "absent"))
	if _, err := r.List(context.Background(), at); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
	if _, err := r.Get(context.Background(), verdict.App{Name: "web"}, at); err == nil || errors.Is(err, argocd.ErrNotFound) {
		t.Errorf("and what may be in it: %v", err)
	}
	r, _ = write(t, map[string]string{"a.yaml": one("argocd", "web")})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.List(ctx, at); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled read: %v", err)
	}
}
