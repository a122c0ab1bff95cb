package gitstore_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
)

// What git status lists as ignored is what Ignored gives; a file that is
// tracked is not.
func TestIgnored(t *testing.T) {
	r := navtest.New(t)
	root := filepath.Dir(open(t, r).Dir())
	for name, text := range map[string]string{".gitignore": "*.out\n", "a.out": "", "b.yaml": "", "ü/c.out": "", "kept.out": ""} {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	r.Git("add", "-f", "kept.out")
	g := open(t, r)
	got, err := g.Ignored(context.Background(), root, []string{"a.out", "b.yaml", "kept.out", "ü/c.out", "nosuch.out"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a.out", "nosuch.out", "ü/c.out"}, slices.Sorted(maps.Keys(got))); diff != "" {
		t.Error(diff)
	}
	delete(got, "nosuch.out") // git status lists only what is there
	var listed []string
	for entry := range strings.SplitSeq(r.Git("status", "--porcelain", "-z", "--ignored", "-uall"), "\x00") {
		if name, ok := strings.CutPrefix(entry, "!! "); ok {
			listed = append(listed, name)
		}
	}
	if diff := cmp.Diff(listed, slices.Sorted(maps.Keys(got))); diff != "" {
		t.Errorf("git says otherwise (-git +got):\n%s", diff)
	}
	if none, err := g.Ignored(context.Background(), root, []string{"b.yaml"}); err != nil || len(none) > 0 {
		t.Errorf("%v, %v; want none", none, err)
	}
}
