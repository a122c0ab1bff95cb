package gitstore_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
)

// What Paths saw of a commit and what its tree says are the same: a folder and
// what is gone are no files, a link is marked.
func TestFileTrees(t *testing.T) {
	ctx := context.Background()
	r := navtest.Bare(t)
	first := r.Put("first", navtest.Files{"a": navtest.Text("1"), "b": navtest.Text("b"), "dir/x": navtest.Text("x"), "file": navtest.Text("f")})
	second := r.Put("second", navtest.Files{
		"a": navtest.Exec("2"), "b": navtest.Link("a"), "dir/x": navtest.Gone(), "file": navtest.Gone(), "file/now": navtest.Text("n"),
	})
	asked := []string{"a", "b", "dir/x", "file", "file/now", "dir", "untouched"}
	want := map[string]string{"a": r.Git("rev-parse", second+":a"), "b": gitstore.LinkMark + r.Git("rev-parse", second+":b"), "file/now": r.Git("rev-parse", second+":file/now")}
	g := open(t, r)
	for _, seen := range []bool{false, true} {
		files := gitstore.NewFileTrees(g)
		if seen {
			paths := must[map[string][]string](t)(files.Paths(ctx, []string{first, second}))
			if diff := cmp.Diff([]string{"a", "b", "dir/x", "file", "file/now"}, paths[second]); diff != "" {
				t.Error(diff)
			}
		}
		if diff := cmp.Diff(want, must[map[string]string](t)(files.At(ctx, second, asked))); diff != "" {
			t.Errorf("seen %v (-want +got):\n%s", seen, diff)
		}
	}
	files := gitstore.NewFileTrees(g)
	if diff := cmp.Diff(want, must[map[string]string](t)(files.Below(ctx, second, ""))); diff != "" {
		t.Error(diff)
	}
	between := map[string]string{"dir/x": "", "file": ""}
	for path, id := range want {
		between[path] = id
	}
	if diff := cmp.Diff(between, must[map[string]string](t)(files.Between(ctx, first, second))); diff != "" {
		t.Error(diff)
	}
}
