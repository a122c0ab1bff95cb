package manifest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
)

const argoApp = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: web}\nspec: {source: {repoURL: https://h/r, path: apps/web}}\n"

// ends fails if something does not end: what is guarded against here takes
// minutes or for ever, and what is right takes less than a second.
func ends(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatalf("%s: no end within a minute", what)
	}
}

// filled repeats s up to the largest file that is read.
func filled(s string) string { return strings.Repeat(s, maxFile/len(s)) }

// Nothing that fits into a file keeps a reader busy or takes its memory, and the
// reason names what is wrong. Each of the three readers is asked.
func TestHostileFiles(t *testing.T) {
	var keys, anchors strings.Builder
	for i := 0; keys.Len() < maxFile-32; i++ {
		fmt.Fprintf(&keys, "k%d: 1\n", i)
	}
	for i := 0; anchors.Len() < maxFile-32; i++ {
		fmt.Fprintf(&anchors, "- &a%d 1\n", i)
	}
	bomb := "a: &a [x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n" +
		"e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\n"
	for name, text := range map[string]string{
		"100,000 keys":         keys.String(),
		"keys of an object":    strings.Replace(argoApp, "spec:", "metadata2:\n "+strings.ReplaceAll(keys.String()[:maxFile/2], "\n", "\n ")+"\nspec:", 1),
		"flow keys":            "{" + filled("a,")[:maxFile-1],
		"empty pairs":          "[" + filled("a: ,")[:maxFile-2] + "]",
		"brackets":             filled("["),
		"braces":               filled("{"),
		"dashes":               filled("- "),
		"question marks":       filled("? "),
		"comments":             filled("#\n"),
		"comments of values":   filled("a: 1 #\n"),
		"comments of items":    filled("- a\n#\n"),
		"tags":                 filled("!a "),
		"anchors":              anchors.String(),
		"aliases":              "- &a 1\n" + filled("- *a\n")[:maxFile-7],
		"alias bomb":           bomb,
		"a ring":               "a: &a\n  b: *a\n",
		"a bomb of merges":     "a: &a {x: 1}\n<<: [" + filled("*a,")[:maxFile-30] + "]\n",
		"items that are alias": "apiVersion: v1\nkind: List\nx: &x\n  apiVersion: argoproj.io/v1alpha1\n  kind: Application\n  metadata: {name: web}\nitems: [" + filled("*x,")[:maxFile/2] + "]\n",
		"documents":            filled("---\na\n"),
		"empty documents":      filled("---\n"),
		"a long scalar":        filled("a"),
		"a long number":        "a: " + filled("9")[:maxFile-4],
		"spaces":               filled(" "),
		"a large file":         argoApp + filled("#"),
		"not UTF-8":            argoApp + "# \xff\n",
		"UTF-16":               "\xff\xfe" + strings.ReplaceAll(argoApp, "", "\x00"),
		"UTF-16 without mark":  strings.ReplaceAll(argoApp, "", "\x00"),
		"a NUL":                argoApp + "\x00",
		"a directive":          "%YAML 9.9\n---\n" + argoApp,
		"a tag of the parser":  "!!binary [\xc2\xa0]: !!float x\n",
	} {
		ends(t, name, func() {
			data := []byte(text)
			var p arming.Place
			if err := Find(&p, data); err != nil && (err.Error() == "" || len(err.Error()) > 400) {
				t.Errorf("%s: the reason is %d bytes long: %.200q", name, len(err.Error()), err)
			} else if err != nil && len(p.Apps) > 0 {
				t.Errorf("%s: half of the file counts", name)
			}
			objects, wrong, skipped := Declared(data)
			if len(objects) > 1 || len(wrong) > 1 || len(skipped) > 400 {
				t.Errorf("%s: %d objects, %d findings, skipped %.200q", name, len(objects), len(wrong), skipped)
			}
			if got, err := Objects(data); err == nil && len(got) > 1 {
				t.Errorf("%s: %d objects", name, len(got))
			}
		})
	}
}

// An Application cannot be hidden from the rules by the way in which it says
// what it is: it is found, or the file is refused with the reason.
func TestHidden(t *testing.T) {
	const rest = "metadata: {name: web}\nspec: {source: {repoURL: https://h/r, path: apps/web}}\n"
	for name, c := range map[string]struct{ text, want string }{
		"an alias of a kind":    {"x: &k Application\napiVersion: argoproj.io/v1alpha1\nkind: *k\n" + rest, ""},
		"an alias of a version": {"x: &v argoproj.io/v1alpha1\napiVersion: *v\nkind: Application\n" + rest, ""},
		"a tag":                 {"apiVersion: !!str argoproj.io/v1alpha1\nkind: !!str Application\n" + rest, ""},
		"quotes":                {"\"apiVersion\": 'argoproj.io/v1alpha1'\n\"kind\": \"Applic\\x61tion\"\n" + rest, ""},
		"a complex key":         {"apiVersion: argoproj.io/v1alpha1\n? kind\n: Application\n" + rest, ""},
		"the kind twice":        {"apiVersion: argoproj.io/v1alpha1\nkind: ConfigMap\nkind: Application\n" + rest, "3:1: key \"kind\" stands twice"},
		"the version twice":     {"apiVersion: v1\nkind: Application\napiVersion: argoproj.io/v1alpha1\n" + rest, "3:1: key \"apiVersion\" stands twice"},
		"a merge":               {"x: &x {kind: Application}\napiVersion: argoproj.io/v1alpha1\n<<: *x\n" + rest, "3:1: merge keys (<<) are not supported"},
		"a merge of several":    {"x: &x {kind: Application}\napiVersion: argoproj.io/v1alpha1\n<<: [*x]\n" + rest, "merge keys (<<) are not supported"},
		"a key that is alias":   {"x: &k kind\napiVersion: argoproj.io/v1alpha1\n*k : Application\n" + rest, "3:1: a key must be text"},
		"a list":                {"apiVersion: v1\nkind: List\nitems:\n- {apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: web}, spec: {source: {repoURL: u, path: apps/web}}}\n", ""},
		"an item by alias":      {"kind: List\nx: &x {apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: web}}\nitems: [*x]\n", "3:9: an item of a list must be written out"},
		"items by alias":        {"kind: List\nx: &x [{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: web}, spec: {source: {repoURL: u, path: apps/web}}}]\nitems: *x\n", ""},
		"items twice":           {"kind: List\nitems: []\nitems: [{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: web}, spec: {source: {repoURL: u, path: apps/web}}}]\n", ""},
		"a kind by alias twice": {"x: &k List\nkind: *k\nitems: [{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: web}, spec: {source: {repoURL: u, path: apps/web}}}]\n", ""},
		"JSON":                  {`{"kind":"Application","apiVersion":"argoproj.io/v1alpha1","metadata":{"name":"web"},"spec":{"source":{"repoURL":"u","path":"apps/web"}}}`, ""},
		"a later document":      {"a: 1\n---\n...\n---\n" + argoApp, ""},
		"an anchor of another":  {"x: &k Application\n---\napiVersion: argoproj.io/v1alpha1\nkind: *k\n" + rest, "4:7: unknown anchor \"k\""},
	} {
		var p arming.Place
		err := Find(&p, []byte(c.text))
		switch {
		case c.want == "" && (err != nil || len(p.Apps) != 1 || p.Apps[0].App.Name != "web"):
			t.Errorf("%s: %d Applications, %v", name, len(p.Apps), err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
		objects, wrong, skipped := Declared([]byte(c.text))
		if len(objects) == 0 && len(wrong) == 0 && skipped == "" {
			t.Errorf("%s: navlint manifests says nothing of it", name)
		}
	}
}
