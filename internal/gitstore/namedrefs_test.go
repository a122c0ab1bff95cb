package gitstore

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
)

// Refs that are named are what git says that they are, wherever they stand.
func TestNamedRefs(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	r := navtest.Bare(t)
	one := r.Put("one", navtest.Files{"a": navtest.Text("a")})
	for _, name := range []string{"packed", "moved", "gone", "below/x", "packed.longer"} {
		r.Branch(name, one)
	}
	r.Git("tag", "-m", "v1", "v1", one)
	r.Git("pack-refs", "--all")
	two := r.Put("two", navtest.Files{"a": navtest.Text("b")})
	r.Branch("moved", two)
	r.Branch("loose", two)
	r.Branch("folder/x", two)
	r.Git("update-ref", "-d", "refs/heads/gone")
	r.Git("symbolic-ref", "refs/heads/symbolic", "refs/heads/loose")
	if err := os.Symlink("refs/heads/loose", filepath.Join(r.Dir, "refs/heads/link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("refs/heads/nowhere", filepath.Join(r.Dir, "refs/heads/dangling")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.Dir, "refs/heads/broken"), []byte("x\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	hook, asking := openKeeping(t, r)
	for name, read := range map[string]bool{
		"heads/packed": true, "heads/moved": true, "heads/loose": true, "heads/gone": true, "heads/main": true,
		"heads/nosuch": true, "tags/v1": true, "notes/nav/watches": true, "heads/folder/x": true, "heads/below/x": true,
		"heads/folder": false, "heads/below": false, "heads/symbolic": false, "heads/link": false,
		"heads/dangling": false, "heads/broken": false, "heads/": false, "heads/pack*": false,
	} {
		names := []string{"refs/" + name, "refs/heads/main"}
		want, wantErr := asking.Refs(ctx, names...)
		got, err := Served{hook}.Refs(ctx, names...)
		if diff := cmp.Diff(want, got); diff != "" || (err == nil) != (wantErr == nil) {
			t.Errorf("%s: %v, %v (-git +read):\n%s", name, wantErr, err, diff)
		}
		if _, ok := hook.namedRefs(names); ok != read {
			t.Errorf("%s: read without git: %v", name, ok)
		}
	}
}
