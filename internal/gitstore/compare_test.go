package gitstore_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
)

// Many pairs in one process say what each says alone, whatever the parents of
// their commits are, and also where one is asked twice.
func TestCompare(t *testing.T) {
	ctx := context.Background()
	r := navtest.Bare(t)
	first := r.Put("first", navtest.Files{"a/x": navtest.Text("1"), "b/y": navtest.Text("1")})
	second := r.Put("second", navtest.Files{"a/x": navtest.Text("2")})
	third := r.Put("third", navtest.Files{"a/x": navtest.Text("1"), "b/y": navtest.Gone(), "a/link": navtest.Link("x")})
	g := open(t, r)
	pairs := [][2]string{{first, third}, {third, second}, {second, first}, {first, third}, {second, third}, {third, first}, {first, first}}
	for _, dir := range []string{"", "a", "a/x", "nosuch"} {
		got := make([][]gitstore.PathChange, len(pairs))
		if err := g.Compare(ctx, pairs, dir, func(i int, ch gitstore.PathChange) { got[i] = append(got[i], ch) }); err != nil {
			t.Fatal(err)
		}
		for i, p := range pairs {
			var want []gitstore.PathChange
			for _, ch := range must[[]gitstore.PathChange](t)(g.Between(ctx, p[0], p[1])) {
				if dir == "" || ch.Path == dir || strings.HasPrefix(ch.Path, dir+"/") {
					want = append(want, ch)
				}
			}
			if diff := cmp.Diff(want, got[i]); diff != "" {
				t.Errorf("pair %d below %q (-alone +together):\n%s", i, dir, diff)
			}
		}
	}
	gone := strings.Repeat("1", 40)
	for _, bad := range [][][2]string{{{first, gone}}, {{gone, first}}, {{first, second}, {first, gone}}, {{first, gone}, {first, second}}, {{first, "x"}}, {{first, r.Git("rev-parse", first+"^{tree}")}}} {
		if err := g.Compare(ctx, bad, "", func(int, gitstore.PathChange) {}); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
	if err := g.Compare(ctx, pairs, "../a", func(int, gitstore.PathChange) {}); err == nil {
		t.Error("a folder outside: no error")
	}
}
