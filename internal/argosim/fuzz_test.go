package argosim_test

import (
	"context"
	"maps"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/argosim"
)

// Whatever a commit holds, every state that it leads to can be read, and the
// Application ends up either in line with it or saying why it can't.
func FuzzManifests(f *testing.F) {
	for _, seed := range []string{
		docs(deployment("web:2"), settings), settings, "kind: [", "", "---\n---\n", "a: &a [*a]", "- 1\n- 2\n",
		workload("Job", "web", "r/x:fails"), workload("StatefulSet", "web", "r/x:1"),
		"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: 7\n",
		"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, annotations: 3}\nspec: {template: {spec: {containers: {a: b}}}}\n",
		"apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: leaf}\nspec: {source: {path: app, repoURL: x}}\n",
		"{apiVersion: v1, kind: Job, metadata: {name: 2020-01-01}, 1: 2}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, manifest string) {
		tree := newMemory()
		tree.push("main", map[string]string{"app/web.yaml": docs(deployment("web:1"), settings)})
		var shown [][]byte
		sim := argosim.New(tree, argosim.Options{Poll: 20 * time.Second, RepoErrorGrace: time.Second, OnChange: func(_ time.Time, o []byte) {
			shown = append(shown, o)
		}})
		if err := sim.AddApp(auto("web")); err != nil {
			t.Fatal(err)
		}
		start := time.Date(2026, 11, 29, 15, 0, 0, 0, time.UTC)
		for i, files := range []map[string]string{nil, {"app/fuzz.yaml": manifest}, {"app/web.yaml": manifest}} {
			next := maps.Clone(files)
			if next != nil {
				tree.push("main", next)
			}
			if err := sim.Tick(context.Background(), start.Add(time.Duration(i)*30*time.Minute)); err != nil {
				t.Fatal(err)
			}
		}
		if err := sim.Tick(context.Background(), start.Add(2*time.Hour)); err != nil {
			t.Fatal(err)
		}
		for _, object := range shown {
			if _, err := argosim.ReadState(object); err != nil {
				t.Fatal(err)
			}
		}
		switch st, err := sim.State("web"); {
		case err != nil:
			t.Fatal(err)
		case st.Sync == "Synced" && st.Phase == "Succeeded", len(st.Leftovers) > 0, len(st.Conditions) > 0, st.Requested:
		default:
			t.Fatalf("neither in line nor saying why: %s", st)
		}
	})
}
