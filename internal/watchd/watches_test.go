package watchd

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// What is found by commit and by name is what a look at all watches finds.
func TestWatches(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	w := newWatches()
	commits, names := []string{"a", "b", "c"}, []string{"web", "api"}
	for i := range 5000 {
		k := key{commits[r.IntN(3)], verdict.App{Namespace: fmt.Sprint("n", r.IntN(2)), Name: names[r.IntN(2)]}}
		switch r.IntN(7) {
		case 0, 1, 2:
			w.put(k, verdict.State{Branch: fmt.Sprint(i)})
			if s, there := w.get(k); !there || s.Branch != fmt.Sprint(i) {
				t.Fatalf("%d: %v is %+v, %v", i, k, s, there)
			}
		case 3, 4:
			w.drop(k)
			if _, there := w.get(k); there {
				t.Fatalf("%d: %v is there", i, k)
			}
		case 5:
			w.note(k.commit, r.IntN(2) == 0)
		default:
			if r.IntN(50) == 0 {
				w.forget()
			}
		}
		fresh := map[string]bool{}
		for _, c := range commits {
			same(t, w, w.of(c), func(k key) bool { return k.commit == c })
			if len(w.of(c)) > 0 && !w.noted[c] {
				fresh[c] = true
			}
		}
		for _, n := range names {
			same(t, w, w.named(n), func(k key) bool { return k.app.Name == n })
		}
		if !maps.Equal(fresh, w.fresh) {
			t.Fatalf("%d: fresh are %v, want %v", i, w.fresh, fresh)
		}
	}
}

func same(t *testing.T, w *watches, got []key, is func(key) bool) {
	t.Helper()
	var want []key
	for k := range w.states {
		if is(k) {
			want = append(want, k)
		}
	}
	sorted := slices.SortedFunc(slices.Values(got), byKey)
	if slices.SortFunc(want, byKey); !slices.Equal(sorted, want) {
		t.Fatalf("found %v, want %v", sorted, want)
	}
}
