package gitstore

import (
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
)

// What a hook finds that commits changed is what git diff-tree says, in its order.
func TestFewChanges(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	r := navtest.Bare(t)
	root := r.Put("root", navtest.Files{
		"a": navtest.Text("a"), "a.b": navtest.Text("x"), "dir/x": navtest.Text("x"), "dir/deep/er/y": navtest.Text("y"), "dir/z": navtest.Text("z"), "run": navtest.Text("run"),
	})
	steps := []navtest.Files{
		{"dir/x": navtest.Text("2")},
		{"dir/deep/er/y": navtest.Gone(), "new/er/one": navtest.Text("1"), "new/two": navtest.Link("x")},
		{"a": navtest.Gone(), "a/now": navtest.Text("n"), "a-b": navtest.Text("-"), "a.b": navtest.Exec("x")},
		{"a/now": navtest.Gone(), "a": navtest.Text("again"), "run": navtest.Exec("run"), "dir/z": navtest.Link("x")},
		{"sub": navtest.Submodule(root)},
		{"sub": navtest.Gone(), "sub/file": navtest.Text("f")},
	}
	line := []string{root}
	for i, files := range steps {
		line = append(line, r.Put(fmt.Sprint("step ", i), files))
	}
	same := r.Git("commit-tree", "-m", "same", "-p", root, root+"^{tree}")
	merge := r.Git("commit-tree", "-m", "merge", "-p", line[2], "-p", line[1], line[3]+"^{tree}")
	wide := navtest.Files{}
	for i := range maxFolders {
		wide[fmt.Sprintf("wide/%d/x", i)] = navtest.Text("x")
	}
	many := r.Put("many folders", wide)
	blob := r.Git("rev-parse", root+":a")
	odd := func(mode, name, next string) string {
		id, err := hex.DecodeString(blob)
		if err != nil {
			t.Fatal(err)
		}
		data := append([]byte(mode+" "+name+"\x00"), id...)
		data = append(append(data, mode+" "+next+"\x00"...), id...)
		tree := r.GitIn(data, "hash-object", "-t", "tree", "-w", "--stdin", "--literally")
		return r.Git("commit-tree", "-m", "odd", "-p", root, tree)
	}
	for i, from := range line {
		hook, asking := openKeeping(t, r)
		for j, to := range append(line, same, many, blob) {
			want, wantErr := asking.Between(ctx, from, to)
			got, few := hook.fewBetween(ctx, from, to)
			if few != (to != many && to != blob) {
				t.Errorf("between %d and %d: read without git diff-tree: %v", i, j, few)
			}
			if diff := cmp.Diff(want, got); few && diff != "" {
				t.Errorf("between %d and %d (-git diff-tree +hook):\n%s", i, j, diff)
			}
			if _, err := NewFileTrees(hook).Between(ctx, from, to); (err == nil) != (wantErr == nil) {
				t.Errorf("between %d and %d: %v, %v", i, j, wantErr, err)
			}
		}
	}
	for name, c := range map[string]struct {
		ids []string
		few bool
	}{
		"a line":       {line, true},
		"nothing":      {[]string{same}, true},
		"a merge":      {[]string{merge, same}, true},
		"many folders": {[]string{many}, false},
		"many commits": {[]string{root, line[1], line[2], line[3], line[4], line[5], line[6], same, merge}, false},
		"an old mode":  {[]string{odd("100664", "x", "y")}, false},
		"twice":        {[]string{odd("100644", "x", "x")}, false},
		"out of order": {[]string{odd("100644", "y", "x")}, false},
		"no commit":    {[]string{blob}, false},
	} {
		hook, asking := openKeeping(t, r)
		type changes = map[string][]PathChange
		want := changes{}
		wantErr := asking.ChangesOf(ctx, c.ids, func(id string) { want[id] = nil }, func(id string, ch PathChange) { want[id] = append(want[id], ch) })
		got, few := hook.fewChanges(ctx, c.ids)
		if few != c.few {
			t.Errorf("%s: read without git diff-tree: %v", name, few)
		}
		if diff := cmp.Diff(want, changes(got)); few && diff != "" {
			t.Errorf("%s (-git diff-tree +hook):\n%s", name, diff)
		}
		wantPaths, _ := NewFileTrees(asking).Paths(ctx, c.ids)
		paths, err := NewFileTrees(hook).Paths(ctx, c.ids)
		if diff := cmp.Diff(wantPaths, paths); diff != "" || (err == nil) != (wantErr == nil) {
			t.Errorf("%s: %v, %v (-git diff-tree +hook):\n%s", name, wantErr, err, diff)
		}
		if _, err := hook.Resolve(ctx, []string{root}); err != nil { // by the process that was kept
			t.Errorf("%s: %v", name, err)
		}
	}
}
