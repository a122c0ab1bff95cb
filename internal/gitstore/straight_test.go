package gitstore

import (
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
)

func openKeeping(t *testing.T, r *navtest.Repo) (hook, asking *Repo) {
	t.Helper()
	hook, err := OpenHook(t.Context(), r.Dir, Options{Env: append(r.Env(), "GIT_DIR=.")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(hook.Close)
	if asking, err = Open(t.Context(), r.Dir, Options{Env: r.Env()}); err != nil {
		t.Fatal(err)
	}
	return hook, asking
}

// What a hook reads of a short line of commits is what git log says of it; where
// there is anything else, git log is asked.
func TestStraight(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	r := navtest.Bare(t)
	root := r.Put("root", navtest.Files{"a": navtest.Text("a")})
	tree := r.Git("rev-parse", root+"^{tree}")
	const people = "author A <a@example.com> 1700000000 +0000\ncommitter A <a@example.com> 1700000000 +0000\n"
	raw := func(text string) string {
		return r.GitIn([]byte(text), "hash-object", "-t", "commit", "-w", "--stdin", "--literally")
	}
	on := func(parent, rest string) string { return raw("tree " + tree + "\nparent " + parent + "\n" + rest) }
	var line []string
	last := root
	for i := range maxStraight + 1 {
		last = on(last, people+fmt.Sprintf("\n\n  Commit %d\n\nbody\n\n\n", i))
		line = append(line, last)
	}
	merge := raw("tree " + tree + "\nparent " + line[0] + "\nparent " + root + "\n" + people + "\nmerge\n")
	for name, c := range map[string]struct {
		tip, base string
		straight  bool
	}{
		"one":                     {line[0], root, true},
		"as many as are read":     {line[maxStraight-1], root, true},
		"more":                    {line[maxStraight], root, false},
		"a merge":                 {merge, root, false},
		"after a merge":           {on(merge, people+"\nnext\n"), merge, true},
		"forced back":             {root, line[0], false},
		"beside":                  {on(root, people+"\nbeside\n"), line[0], false},
		"the same":                {root, root, false},
		"a message with a NUL":    {on(root, people+"\nseen\x00not seen\n"), root, true},
		"no message":              {on(root, people+"\n"), root, true},
		"no end of the headers":   {on(root, people), root, false},
		"bytes that are no UTF-8": {on(root, people+"\nna\xefve\n"), root, true},
		"another encoding":        {on(root, people+"encoding ISO-8859-1\n\nna\xefve\n"), root, false},
		"a signature":             {on(root, people+"gpgsig -----BEGIN\n \n abc\n -----END\n\nsigned\n"), root, true},
		"no author":               {on(root, "committer A <a@example.com> 1700000000 +0000\n\nx\n"), root, false},
	} {
		hook, asking := openKeeping(t, r)
		list := func(g *Repo) (out []Commit) {
			err := g.Log(ctx, []string{c.tip}, []string{c.base}, func(c Commit) error { out = append(out, c); return nil })
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			return out
		}
		if diff := cmp.Diff(list(asking), list(hook)); diff != "" {
			t.Errorf("%s (-git log +hook):\n%s", name, diff)
		}
		if _, ok := hook.straight(ctx, []string{c.tip}, []string{c.base}); ok != c.straight {
			t.Errorf("%s: read without git log: %v", name, ok)
		}
		if _, err := hook.Resolve(ctx, []string{root}); err != nil { // by the process that was kept
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What a hook lists below a folder is what git ls-tree lists, also where no git
// writes such a tree.
func TestFewFiles(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	r := navtest.Bare(t)
	many := navtest.Files{}
	for i := range maxFolders + 1 {
		many[fmt.Sprintf("many/%d/x", i)] = navtest.Text("x")
	}
	many["a/b/c"], many["a/b.x"], many["a/link"], many["a/run"], many["file"] = navtest.Text("c"), navtest.Text("x"), navtest.Link("b"), navtest.Exec("run"), navtest.Text("f")
	commit := r.Put("files", many)
	blob, folder := r.Git("rev-parse", commit+":file"), r.Git("rev-parse", commit+":a/b")
	odd := func(entries ...string) string { // mode, name, id
		var data []byte
		for i := 0; i < len(entries); i += 3 {
			id, err := hex.DecodeString(entries[i+2])
			if err != nil {
				t.Fatal(err)
			}
			data = append(data, entries[i]+" "+entries[i+1]+"\x00"...)
			data = append(data, id...)
		}
		dir := r.GitIn(data, "hash-object", "-t", "tree", "-w", "--stdin", "--literally")
		return r.Git("commit-tree", "-m", "odd", r.GitIn([]byte("040000 tree "+dir+"\ta\n"), "mktree"))
	}
	for name, c := range map[string]struct {
		commit, dir string
		few         bool
	}{
		"a few":             {commit, "a", true},
		"deeper":            {commit, "a/b", true},
		"many folders":      {commit, "many", false},
		"the root":          {commit, "", false},
		"a file":            {commit, "file", false},
		"nothing":           {commit, "nosuch", false},
		"an old mode":       {odd("100664", "x", blob, "100644", "y", blob), "a", false},
		"a folder's rights": {odd("40755", "x", folder), "a", false},
		"twice":             {odd("100644", "x", blob, "100644", "x", blob), "a", false},
		"out of order":      {odd("100644", "y", blob, "100644", "x", blob), "a", false},
		"two folders":       {odd("40000", "x", folder, "40000", "x", folder), "a", false},
	} {
		hook, asking := openKeeping(t, r)
		want, wantErr := NewFileTrees(asking).Below(ctx, c.commit, c.dir)
		got, err := NewFileTrees(hook).Below(ctx, c.commit, c.dir)
		if diff := cmp.Diff(want, got); diff != "" || (err == nil) != (wantErr == nil) {
			t.Errorf("%s: %v, %v (-git ls-tree +hook):\n%s", name, wantErr, err, diff)
		}
		if _, few := hook.fewFiles(ctx, c.commit, c.dir); few != c.few {
			t.Errorf("%s: read without git ls-tree: %v", name, few)
		}
		if _, err := hook.Resolve(ctx, []string{commit}); err != nil { // by the process that was kept
			t.Errorf("%s: %v", name, err)
		}
	}
}
