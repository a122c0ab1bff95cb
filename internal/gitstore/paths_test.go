package gitstore_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
)

func TestPaths(t *testing.T) {
	ctx := context.Background()
	r := navtest.Bare(t)
	weird := "q\"uo\nte\\\xff"
	root := r.Put("root", navtest.Files{"a": navtest.Text("1"), "dir/x": navtest.Text("x"), weird: navtest.Text("w")})
	// A path that looks like a commit must not be taken for one.
	forged := r.Put("forged", navtest.Files{root: navtest.Text("1"), "\n" + root: navtest.Text("1"), ":100644 x": navtest.Text("1")})
	empty := r.Put("empty", nil)
	renamed := r.Put("rename", navtest.Files{"dir/x": navtest.Gone(), "dir/y": navtest.Text("x"), weird: navtest.Exec("w")})
	side := r.Commit(navtest.Commit{Branch: "side", Parents: []string{empty}, Files: navtest.Files{"side": navtest.Link("a")}})
	merge := r.Merge("main", "merge\n", navtest.Files{"side": navtest.Link("a"), "evil": navtest.Text("!")}, side)
	g := open(t, r)
	all := []string{merge, renamed, empty, root, forged, side, root}
	got := must[map[string][]string](t)(g.Paths(ctx, all))
	want := map[string][]string{
		root: {"a", "dir/x", weird}, forged: {"\n" + root, root, ":100644 x"}, empty: {},
		renamed: {"dir/x", "dir/y", weird}, side: {"side"}, merge: {"evil", "side"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// Between two commits git says the same, without the paths in which they agree.
	between := []string{}
	for _, ch := range must[[]gitstore.PathChange](t)(g.Between(ctx, root, merge)) {
		between = append(between, ch.Path+" "+ch.After.Mode)
	}
	listed := strings.FieldsFunc(r.Git("diff-tree", "-r", "-z", "--name-only", root, merge), func(c rune) bool { return c == 0 })
	if len(between) != len(listed) || !slices.Contains(between, "side 120000") || !slices.Contains(between, "dir/x ") {
		t.Errorf("between %q, git says %q", between, listed)
	}
	for _, bad := range []string{strings.Repeat("ab", 20), "main", r.Git("rev-parse", root+":a")} {
		if _, err := g.Between(ctx, root, bad); err == nil {
			t.Errorf("compared with %q", bad)
		}
		if _, err := g.Paths(ctx, []string{root, bad}); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// What a merge itself did is what git's own merge of its parents does not do.
func TestOwnPaths(t *testing.T) {
	ctx := context.Background()
	r := navtest.New(t)
	base := r.Put("base", navtest.Files{"a": navtest.Text("1\n2\n3\n4\n5\n"), "b": navtest.Text("b\n"), "c": navtest.Text("c\n")})
	r.Git("reset", "-q", "--hard")
	r.Git("checkout", "-q", "-b", "side")
	side := r.Commit(navtest.Commit{Branch: "side", Files: navtest.Files{"a": navtest.Text("1\n2\n3\n4\nfive\n"), "b": navtest.Text("side\n")}})
	ours := r.Commit(navtest.Commit{Files: navtest.Files{"a": navtest.Text("one\n2\n3\n4\n5\n"), "b": navtest.Text("main\n")}})
	clean := r.Commit(navtest.Commit{Branch: "clean", Parents: []string{base}, Files: navtest.Files{"c": navtest.Text("C\n"), "new": navtest.Text("n\n")}})
	r.Git("checkout", "-q", "-f", "main")
	r.Git("merge", "-q", "-m", "clean", clean)
	cleanMerge := r.Tip("main")
	conflict := r.Merge("main", "by hand\n", navtest.Files{"a": navtest.Text("one\n2\n3\n4\nfive\n"), "b": navtest.Text("both\n")}, side)
	evil := r.Merge("main", "evil\n", navtest.Files{"c": navtest.Text("evil\n")}, clean)
	plain := r.Put("plain", navtest.Files{"b": navtest.Gone()})
	other := r.Commit(navtest.Commit{Branch: "other", Parents: []string{}, Files: navtest.Files{"unrelated": navtest.Text("u")}})
	unrelated := r.Merge("main", "unrelated\n", navtest.Files{"unrelated": navtest.Text("u")}, other)
	octopus := r.Merge("main", "octopus\n", navtest.Files{"oct": navtest.Text("o")}, side, other)
	g := open(t, r)
	got := map[string]gitstore.Change{}
	order := []string{}
	for _, ch := range must[[]gitstore.Change](t)(g.OwnPaths(ctx, []string{octopus}, []string{base})) {
		got[ch.Commit] = ch
		order = append(order, ch.Commit)
	}
	for id, want := range map[string][]string{
		side: {"a", "b"}, ours: {"a", "b"}, clean: {"c", "new"}, cleanMerge: {}, conflict: {"b"},
		evil: {"c"}, plain: {"b"}, other: {"unrelated"}, unrelated: {}, octopus: {"oct"},
	} {
		if diff := cmp.Diff(want, got[id].Paths); diff != "" {
			t.Errorf("%s (-want +got):\n%s", r.Git("log", "-1", "--format=%s", id), diff)
		}
		if parents := strings.Fields(r.Git("log", "-1", "--format=%P", id)); got[id].Merge != (len(parents) > 1) {
			t.Errorf("%s: merge = %v", id, got[id].Merge)
		}
		if out := r.Git("log", "-1", "--diff-merges=remerge", "--name-only", "--format=", "--no-renames", id); id != octopus && strings.Join(want, "\n") != out {
			t.Errorf("git says %q of %s, the test %q", out, id, want)
		}
	}
	if diff := cmp.Diff(strings.Fields(r.Git("log", "--reverse", "--topo-order", "--format=%H", octopus, "^"+base)), order); diff != "" {
		t.Errorf("order (-git +ours):\n%s", diff)
	}
	if got := must[[]gitstore.Change](t)(g.OwnPaths(ctx, nil, []string{base})); len(got) != 0 {
		t.Errorf("no tips: %v", got)
	}
}

func TestBlob(t *testing.T) {
	ctx := context.Background()
	r := navtest.Bare(t)
	weird := "q\"uo\nte\\\xff*"
	id := r.Put("one", navtest.Files{
		"a": navtest.Text("content\n"), "x": navtest.Exec("run"), "dir/f": navtest.Text("deep"), weird: navtest.Text("weird"),
		"link": navtest.Link("a"), "dirlink": navtest.Link("dir"), "-dash": navtest.Text("dash"), ":(top)a": navtest.Text("magic"),
		"big": navtest.Text(strings.Repeat("x", gitstore.MaxBlob+1)), "full": navtest.Text(strings.Repeat("x", gitstore.MaxBlob)), "empty": navtest.Text(""),
	})
	sub := r.Put("sub", navtest.Files{"module": navtest.Submodule(id)})
	g := open(t, r)
	for path, want := range map[string]string{
		"a": "content\n", "x": "run", "dir/f": "deep", weird: "weird", "-dash": "dash", ":(top)a": "magic",
		"full": strings.Repeat("x", gitstore.MaxBlob), "empty": "",
	} {
		if got, ok, err := g.Blob(ctx, sub, path); err != nil || !ok || string(got) != want {
			t.Errorf("%q: %.40q, %v, %v", path, got, ok, err)
		}
	}
	for _, path := range []string{"nope", "dir/nope", "a/below", "dirlink/f", "*", "d*"} {
		if _, ok, err := g.Blob(ctx, "main", path); ok || err != nil {
			t.Errorf("%q: %v, %v", path, ok, err)
		}
	}
	for _, path := range []string{"link", "dir", "module", "big", "", "/a", "../a", "dir/", "./a"} {
		if _, ok, err := g.Blob(ctx, sub, path); ok || err == nil {
			t.Errorf("%q: %v, %v", path, ok, err)
		}
	}
	for _, rev := range []string{"", "nope", "--help", strings.Repeat("ab", 20)} {
		if _, ok, err := g.Blob(ctx, rev, "a"); ok || err == nil {
			t.Errorf("rev %q: %v, %v", rev, ok, err)
		}
	}
}

func TestFiles(t *testing.T) {
	ctx := context.Background()
	r := navtest.Bare(t)
	id := r.Put("one", navtest.Files{"a": navtest.Text("1"), "dir/x": navtest.Exec("2"), "dir/sub/l": navtest.Link("../x"), "dirx": navtest.Text("3")})
	g := open(t, r)
	paths := func(dir string) []string {
		out := []string{}
		for _, f := range must[[]gitstore.File](t)(g.Files(ctx, id, dir)) {
			out = append(out, f.Mode+" "+f.Path)
		}
		return out
	}
	for dir, want := range map[string][]string{
		"":    {"100644 a", "120000 dir/sub/l", "100755 dir/x", "100644 dirx"},
		"dir": {"120000 dir/sub/l", "100755 dir/x"}, "dir/sub/": {"120000 dir/sub/l"}, "nope": {}, "a": {},
	} {
		if diff := cmp.Diff(want, paths(dir)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", dir, diff)
		}
	}
	files := must[[]gitstore.File](t)(g.Files(ctx, id, "dir"))
	var got []string
	check(t, g.BlobsByID(ctx, []string{files[1].ID, files[0].ID}, func(_ string, data []byte) error {
		got = append(got, string(data))
		return nil
	}))
	if diff := cmp.Diff([]string{"2", "../x"}, got); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{id, strings.Repeat("ab", 20), "main"} {
		err := g.BlobsByID(ctx, []string{files[0].ID, bad}, func(string, []byte) error { return nil })
		if err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// What is left of commits is what git show says of their paths at the tip.
func TestRemain(t *testing.T) {
	ctx := context.Background()
	r := navtest.Bare(t)
	root := r.Put("root", navtest.Files{"a": navtest.Text("1"), "dir/x": navtest.Text("x"), "link": navtest.Link("a")})
	both := r.Put("two paths, one overwritten later", navtest.Files{"a": navtest.Text("2"), "new": navtest.Text("n")})
	back := r.Put("put back later", navtest.Files{"dir/x": navtest.Text("y"), "link": navtest.Gone()})
	empty := r.Put("empty", nil)
	mode := r.Put("a mode, gone later", navtest.Files{"dir/z": navtest.Exec("z")})
	tip := r.Put("later", navtest.Files{
		"a": navtest.Text("3"), "dir/x": navtest.Text("x"), "link": navtest.Link("a"), "dir/z": navtest.Text("z"),
	})
	got := must[map[string]gitstore.Remains](t)(open(t, r).Remain(ctx, []string{root, both, back, empty, mode, tip}, tip))
	want := map[string]gitstore.Remains{root: {}, both: {}, back: {Gone: true, Restored: true}, empty: {}, mode: {Gone: true}, tip: {}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, c := range []string{both, back, mode} {
		gone, restored := true, true
		for path := range strings.FieldsSeq(r.Git("diff-tree", "-r", "--no-commit-id", "--name-only", c)) {
			at := func(rev string) string { return r.Git("ls-tree", rev, "--", path) }
			gone, restored = gone && at(tip) != at(c), restored && at(tip) == at(c+"^")
		}
		if got[c] != (gitstore.Remains{Gone: gone, Restored: restored}) {
			t.Errorf("%s: git says gone %v, restored %v", c, gone, restored)
		}
	}
	if _, err := open(t, r).Remain(ctx, []string{root}, "main"); err == nil {
		t.Error("a name was taken for an id")
	}
}

// Each commit is asked of its own revisions, and of no others.
func TestContainsEach(t *testing.T) {
	r := navtest.Bare(t)
	one, two, three := r.Put("one", nil), r.Put("two", nil), r.Put("three", nil)
	got := must[map[string]map[string]bool](t)(open(t, r).ContainsEach(context.Background(), map[string][]string{one: {three, two}, three: {two}, two: nil}))
	want := map[string]map[string]bool{one: {two: true, three: true}, three: {two: false}, two: {}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
