package manifest

import (
	"strings"
	"testing"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
)

// What is read plainly says what the parsed file says: every Application's name
// stands in the text, and its paths are those that were seen, none more.
func FuzzBrief(f *testing.F) {
	const app = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: web\nspec:\n  source:\n    repoURL: https://h/r\n    path: apps/web\n"
	for _, seed := range []string{
		app, app + "---\n" + app, "- a\n- b: c\n", strings.Replace(app, "path: apps/web", "path:\n      apps/web", 1),
		strings.Replace(app, "  source:\n    repoURL: https://h/r\n    path: apps/web\n", "  sources:\n  - repoURL: https://h/r\n    path: a\n  - repoURL: https://h/r\n    path: b/../c\n", 1),
		strings.Replace(app, "path: apps/web", "path: {a: b}", 1), strings.Replace(app, "path: apps/web", "path: 1", 1), strings.Replace(app, "path: apps/web", "path: ~", 1),
		strings.Replace(app, "    path: apps/web\n", "  other:\n    path: apps/web\n", 1),
		app + "  syncPolicy: {automated: {}}\n", app + "x: [a, b]\n", app + "  x:\n    repoURL: y\n    path: z\n", strings.Replace(app, "name: web", "name: web\n    more", 1),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		b, plain := plainly(data)
		if !plain {
			return
		}
		var p arming.Place
		if err := Find(&p, data); err != nil {
			return
		}
		if len(p.Sets)+len(p.Projects)+len(p.Updaters) > 0 {
			t.Fatalf("another kind was read plainly:\n%s", data)
		}
		seen := map[string]bool{}
		for _, path := range b.paths {
			seen[path] = true
		}
		for _, a := range p.Apps {
			if !strings.Contains(b.text, a.App.Name) {
				t.Fatalf("%q is not in the text:\n%s", a.App.Name, data)
			}
			for _, s := range a.Sources {
				if !seen[s.Path] {
					t.Fatalf("the path %q was not seen, only %q:\n%s", s.Path, b.paths, data)
				}
				if s.Ref != "" {
					t.Fatalf("a ref was read plainly:\n%s", data)
				}
			}
		}
	})
}
