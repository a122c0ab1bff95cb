package manifest_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd/manifest"
	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// branch is a line of commits c0, c1, ...: each changes some of the files before
// it ("" deletes one).
func branch(steps ...map[string]string) (*tree, []arming.TreeAsk) {
	repo := &tree{revs: map[string]map[string]string{}}
	asks := make([]arming.TreeAsk, len(steps))
	now := map[string]string{}
	for i, step := range steps {
		now = maps.Clone(now)
		for name, text := range step {
			if now[name] = text; text == "" {
				delete(now, name)
			}
		}
		commit := fmt.Sprintf("c%d", i)
		repo.revs[commit] = now
		asks[i] = arming.TreeAsk{Commit: commit, Changed: slices.Sorted(maps.Keys(step)), Apps: []string{"web", "api"}}
		if i > 0 {
			asks[i].Parent = asks[i-1].Commit
		}
	}
	return repo, asks
}

func line() (*tree, []arming.TreeAsk) {
	return branch(
		map[string]string{"a/web.yaml": application("web"), "values.yaml": "x: 1\n", "a/notes.txt": application("no")},
		map[string]string{"values.yaml": "x: 2\n"},
		map[string]string{"b/api.yml": application("api"), "README": "read me\n"},
		map[string]string{"a/web.yaml": "", "a/moved.yaml": application("web")},
		map[string]string{"b/api.yml": "no: longer\n"},
		nil,
	)
}

// Commit after commit, in whatever order, the same is found as by looking at
// each alone; along a line nothing is searched or compared again.
func TestFollow(t *testing.T) {
	for name, globs := range map[string][]string{"searched": nil, "named": {"*.yaml", "*.yml"}} {
		for _, order := range [][]int{{0, 1, 2, 3, 4, 5}, {5, 4, 3, 2, 1, 0}, {2, 5, 0, 3}} {
			repo, asks := line()
			r := manifest.NewReader(repo)
			for _, i := range order {
				ask := asks[i]
				ask.Globs, ask.Search = globs, globs == nil
				fresh, _, _, err := manifest.NewReader(repo).Place(context.Background(), ask)
				if err != nil {
					t.Fatal(err)
				}
				grepped := repo.grepped
				got, bad, _, err := r.Place(context.Background(), ask)
				if err != nil || len(bad) > 0 {
					t.Fatal(bad, err)
				}
				if diff := cmp.Diff(names(fresh), names(got)); diff != "" {
					t.Errorf("%s, %v, c%d (-alone +after others):\n%s", name, order, i, diff)
				}
				if i != order[0] && repo.grepped > grepped {
					t.Errorf("%s, %v: c%d was searched again", name, order, i)
				}
			}
			if order[0] == 0 && repo.diffed > 0 {
				t.Errorf("%s: %d comparisons along a line", name, repo.diffed)
			}
		}
	}
}

// kept is a memory of the test's.
type kept struct {
	commit string
	files  map[string]string
	kept   int
}

func (k *kept) Recall() (string, map[string]string, bool) {
	return k.commit, maps.Clone(k.files), k.commit != ""
}

func (k *kept) Keep(commit string, files map[string]string) {
	k.commit, k.files = commit, maps.Clone(files)
	k.kept++
}

// What one program searched the next one does not search again, unless the
// commit is gone.
func TestRemember(t *testing.T) {
	repo, asks := line()
	m := &kept{}
	for i, base := range []string{"c0", "c0", "c2", "c4"} {
		r := manifest.NewReader(repo)
		r.Remember(m)
		ask := asks[i+2]
		if i == 3 {
			ask = asks[5]
		}
		ask.Search, ask.Base = true, base
		got, _, _, err := r.Place(context.Background(), ask)
		if err != nil {
			t.Fatal(err)
		}
		ask.Base = ""
		alone, _, _, err := manifest.NewReader(repo).Place(context.Background(), ask)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(names(alone), names(got)); diff != "" {
			t.Errorf("%s from %s (-alone +remembered):\n%s", ask.Commit, base, diff)
		}
	}
	if m.kept != 1 || m.commit != "c0" {
		t.Errorf("kept %d times, last %s", m.kept, m.commit)
	}
	m.commit = "gone"
	r := manifest.NewReader(repo)
	r.Remember(m)
	asks[5].Search, asks[5].Base = true, "c4"
	if p, _, _, err := r.Place(context.Background(), asks[5]); err != nil || len(p.Apps) != 1 || m.commit != "c4" {
		t.Errorf("%q, %v, kept %s", names(p), err, m.commit)
	}
}

// A tree that differs in much is searched, not read file by file.
func TestDrift(t *testing.T) {
	many := map[string]string{}
	for i := range 1500 {
		many[fmt.Sprintf("deploy/%d.yaml", i)] = fmt.Sprintf("n: %d\n", i)
	}
	repo, asks := branch(map[string]string{"web.yaml": application("web")}, many)
	m := &kept{commit: "c0", files: map[string]string{"web.yaml": application("web")}}
	r := manifest.NewReader(repo)
	r.Remember(m)
	asks[1].Search, asks[1].Base, asks[1].Changed, asks[1].Parent = true, "c1", nil, ""
	p, _, _, err := r.Place(context.Background(), asks[1])
	if err != nil || len(p.Apps) != 1 || m.commit != "c1" || len(m.files) != 1 || repo.read != 1 {
		t.Errorf("%q, %v, kept %s with %d, read %d", names(p), err, m.commit, len(m.files), repo.read)
	}
}

// Of commits that are not each other's parents, it is asked ahead what differs
// from one to the next; what is found is what is found of each alone, also where
// they are asked in another order than was said.
func TestRun(t *testing.T) {
	var steps []map[string]string
	for i := range 300 {
		step := map[string]string{"values.yaml": fmt.Sprintf("x: %d\n", i)}
		if i%7 == 0 {
			step[fmt.Sprintf("argo/%d.yaml", i%5)] = application(fmt.Sprint("web", i))
		}
		if i%50 == 49 {
			step["argo/0.yaml"] = ""
		}
		steps = append(steps, step)
	}
	repo, all := branch(steps...)
	var asks []arming.TreeAsk
	for i := 0; i < len(all); i += 3 {
		all[i].Apps = []string{"web"}
		asks = append(asks, all[i])
	}
	backwards := slices.Clone(asks)
	slices.Reverse(backwards)
	for name, c := range map[string]struct {
		globs []string
		order []arming.TreeAsk
		most  int // comparisons
	}{
		"named":     {[]string{"/argo/*.yaml"}, asks, 4},
		"searched":  {nil, asks, 4},
		"backwards": {[]string{"/argo/*.yaml"}, backwards, len(asks)},
	} {
		r := manifest.NewReader(repo)
		repo.diffed = 0
		for i := range asks {
			asks[i].Globs, asks[i].Search = c.globs, c.globs == nil
		}
		if err := r.Ahead(context.Background(), asks); err != nil {
			t.Fatal(err)
		}
		for _, ask := range c.order {
			ask.Globs, ask.Search = c.globs, c.globs == nil
			got, bad, _, err := r.Place(context.Background(), ask)
			if err != nil || len(bad) > 0 {
				t.Fatal(bad, err)
			}
			alone, _, _, err := manifest.NewReader(repo).Place(context.Background(), ask)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(names(alone), names(got)); diff != "" {
				t.Errorf("%s, %s (-alone +after others):\n%s", name, ask.Commit, diff)
			}
		}
		if repo.diffed > c.most {
			t.Errorf("%s: %d comparisons, want at most %d", name, repo.diffed, c.most)
		}
	}
	r := manifest.NewReader(repo)
	if err := r.Ahead(context.Background(), asks); err != nil {
		t.Fatal(err)
	}
	repo.diffed = 0
	for i, ask := range asks[:len(asks)-1] { // contents of the parent, then of the commit
		next := all[i*3+3]
		at := arming.ContentAsk{Sources: []verdict.Source{{Path: "argo", Plain: true}}, At: next.Commit, Back: next.Parent}
		alone := manifest.NewReader(repo).Content(context.Background(), at)
		at.Changed = next.Changed
		if diff := cmp.Diff(alone, r.Content(context.Background(), at)); diff != "" {
			t.Errorf("content after %s (-alone +after others):\n%s", ask.Commit, diff)
		}
	}
	if repo.diffed > 4 {
		t.Errorf("contents: %d comparisons, want at most 4", repo.diffed)
	}
}

// What many commits changed is read at once, and each content once.
func TestAhead(t *testing.T) {
	repo, asks := line()
	r := manifest.NewReader(repo)
	if err := r.Ahead(context.Background(), asks); err != nil {
		t.Fatal(err)
	}
	read := repo.read
	for _, ask := range asks {
		if _, _, _, err := r.Place(context.Background(), ask); err != nil {
			t.Fatal(err)
		}
	}
	if repo.read != read || read != 5 {
		t.Errorf("%d contents were read ahead, %d later; want 5 and none", read, repo.read-read)
	}
}

// Along a line of commits, in whatever order, the content is what it is when each
// is looked at alone; and only what changed is read.
func TestContentFollows(t *testing.T) {
	object := func(kind, name, value string) string {
		return "apiVersion: v1\nkind: " + kind + "\nmetadata: {name: " + name + "}\ndata: {v: " + value + "}\n"
	}
	repo, asks := branch(
		map[string]string{"a/x.yaml": object("ConfigMap", "x", "1"), "a/y.yaml": object("ConfigMap", "y", "1"), "b/z.yaml": object("ConfigMap", "z", "1")},
		map[string]string{"a/x.yaml": object("ConfigMap", "x", "2")},
		map[string]string{"b/z.yaml": object("ConfigMap", "z", "2")},
		map[string]string{"a/new.yaml": object("ConfigMap", "new", "1"), "a/y.yaml": ""},
		map[string]string{"a/kustomization.yaml": "resources: []\n"},
		map[string]string{"a/kustomization.yaml": "", "a/new.yaml": object("ConfigMap", "new", "2") + "---\n" + object("ConfigMap", "other", "1")},
	)
	for _, sources := range [][]verdict.Source{{{Path: "a", Plain: true}}, {{Path: "", Plain: true, Recurse: true}}, {{Path: "b", Plain: true}, {Path: "a", Plain: true}}} {
		for _, order := range [][]int{{1, 2, 3, 4, 5}, {5, 4, 3, 2, 1}, {2, 5, 1}} {
			r := manifest.NewReader(repo)
			for _, i := range order {
				ask := arming.ContentAsk{Sources: sources, At: asks[i].Commit, Back: asks[i-1].Commit}
				alone := manifest.NewReader(repo).Content(context.Background(), ask)
				ask.Changed = asks[i].Changed
				if diff := cmp.Diff(alone, r.Content(context.Background(), ask)); diff != "" {
					t.Errorf("%v, %v, c%d (-alone +after others):\n%s", sources, order, i, diff)
				}
			}
		}
	}
	r := manifest.NewReader(repo)
	for i, want := range []int{3, 0} { // x before and after, y; then nothing of it
		read := repo.read
		r.Content(context.Background(), arming.ContentAsk{Sources: []verdict.Source{{Path: "a", Plain: true}}, At: asks[i+1].Commit, Back: asks[i].Commit, Changed: asks[i+1].Changed})
		if repo.read-read != want {
			t.Errorf("c%d: %d contents were read, want %d", i+1, repo.read-read, want)
		}
	}
}
