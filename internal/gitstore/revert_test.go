package gitstore_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
)

// gitRevert is what `git revert` makes of it in a work tree; "" when it fails.
func gitRevert(t testing.TB, r *navtest.Repo, commit, tip string) (tree string) {
	t.Helper()
	clone := r.Clone("--no-checkout", "--shared")
	clone.Git("checkout", "-q", "--detach", tip)
	args := []string{"revert", "--no-edit", commit}
	if strings.Contains(r.Git("log", "-1", "--format=%P", commit), " ") {
		args = []string{"revert", "--no-edit", "-m", "1", commit}
	}
	if _, err := navtest.TryGit(t, clone.Dir, args...); err != nil {
		return ""
	}
	return clone.Git("rev-parse", "HEAD^{tree}")
}

func buildRevert(g *gitstore.Repo, commit, tip string) (string, error) {
	author := who()
	author.Name = "author"
	return g.BuildRevert(context.Background(), commit, tip, []byte("Revert \"x\"\n\nThis reverts commit "+commit+".\n"), author, who(), "")
}

type revertCase struct {
	name                string
	base, change, later navtest.Files
}

func revertCases() []revertCase {
	type f = navtest.Files
	text, gone := navtest.Text, navtest.Gone()
	long := "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n"
	sub := func(c string) navtest.File { return navtest.Submodule(strings.Repeat(c, 40)) }
	return []revertCase{
		{"add", f{"a": text("1")}, f{"b": text("2"), "d/e/f": text("3")}, f{"c": text("3")}},
		{"delete", f{"a": text("1"), "d/e/f": text("2")}, f{"d/e/f": gone}, f{"c": text("3")}},
		{"change", f{"a": text("1")}, f{"a": text("2")}, nil},
		{"rename", f{"a": text(long), "x": text("x")}, f{"a": gone, "b": text(long)}, f{"x": text("y")}},
		{"rename with a change", f{"a": text(long), "x": text("x")}, f{"a": gone, "d/b": text(long + "nine\n")}, f{"x": text("y")}},
		{"rename over", f{"a": text(long), "b": text("b")}, f{"a": gone, "b": text(long)}, f{"x": text("y")}},
		{"swap", f{"a": text(long), "b": text("b\n")}, f{"a": text("b\n"), "b": text(long)}, f{"x": text("y")}},
		{"copy", f{"a": text(long)}, f{"b": text(long)}, f{"x": text("y")}},
		{"mode on", f{"a": text("1")}, f{"a": navtest.Exec("1")}, f{"x": text("y")}},
		{"mode off, and a change", f{"a": navtest.Exec("1")}, f{"a": text("2")}, f{"x": text("y")}},
		{"new link", f{"a": text("1")}, f{"l": navtest.Link("a")}, f{"x": text("y")}},
		{"link moves", f{"l": navtest.Link("a")}, f{"l": navtest.Link("nowhere/b")}, f{"x": text("y")}},
		{"file to link", f{"a": text("1")}, f{"a": navtest.Link("b")}, f{"x": text("y")}},
		{"link to file", f{"a": navtest.Link("b")}, f{"a": text("b")}, f{"x": text("y")}},
		{"new submodule", f{"a": text("1")}, f{"m": sub("1"), ".gitmodules": text("[submodule \"m\"]\n\tpath = m\n\turl = ./m\n\tignore = all\n")}, f{"x": text("y")}},
		{"submodule moves", f{"m": sub("1"), ".gitmodules": text("[submodule \"m\"]\n\tpath = m\n\turl = ./m\n\tignore = all\n")}, f{"m": sub("2")}, f{"x": text("y")}},
		{"submodule goes", f{"m": sub("1"), "a": text("1")}, f{"m": gone}, f{"x": text("y")}},
		{"binary", f{"a": text("\x00\x01\xff\r\n")}, f{"a": text("\x00\x02\xff\r\n"), "b": text("\x00")}, f{"x": text("y")}},
		{"empty file", f{"a": text("")}, f{"a": gone, "b": text("")}, f{"x": text("y")}},
		{"file to folder", f{"a": text("1"), "z": text("z")}, f{"a": gone, "a/b": text("2"), "a/c/d": text("3")}, f{"x": text("y")}},
		{"folder to file", f{"a/b": text("2"), "a/c/d": text("3"), "z": text("z")}, f{"a/b": gone, "a/c/d": gone, "a": text("1")}, f{"x": text("y")}},
		{"file to folder with the same content", f{"a": text(long)}, f{"a": gone, "a/a": text(long)}, f{"x": text("y")}},
		{"folder to submodule", f{"m/x": text("1")}, f{"m/x": gone, "m": sub("1")}, f{"x": text("y")}},
		{"everything", f{"a": text("1"), "d/b": text("2")}, f{"a": gone, "d/b": gone, "n": text("n")}, nil},
		{"odd names", f{"a": text("1")}, f{"\"q\n\xff": text("2"), "ü/:(top)x": text("3"), "-x": text("4"), "a.b": text("5"), "a0": text("6"), "a/b"[:1] + "b": text("7")}, f{"x": text("y")}},
		{"names around a folder", f{"a.x": text("1"), "a/b": text("2"), "a0": text("3"), "a": gone}, f{"a.x": gone, "a/b": text("4"), "a0": text("5"), "a-": text("6")}, f{"x": text("y")}},
		{"sibling of what it added", f{"d/a": text("1")}, f{"d/b": text("2")}, f{"d/c": text("3"), "d/a": text("4")}},
		{"the folder stays for others", f{"a": text("1")}, f{"d/b": text("2")}, f{"d/c": text("3")}},
		{"the folder is gone since", f{"d/a": text("1"), "z": text("z")}, f{"d/a": gone, "n": text("n")}, f{"z": text("zz")}},
		{"no final folder left", f{"d/e/f/g": text("1"), "z": text("z")}, f{"d/e/f/h": text("2")}, f{"d/e/f/g": gone}},
	}
}

// The tree of a revert is the tree that git revert makes.
func TestBuildRevertAsGit(t *testing.T) {
	for _, c := range revertCases() {
		t.Run(c.name, func(t *testing.T) {
			r := navtest.Bare(t)
			c.base["untouched/file"] = navtest.Text("u")
			r.Put("base", c.base)
			commit := r.Put("change", c.change)
			tip := commit
			if c.later != nil {
				tip = r.Put("later", c.later)
			}
			g := open(t, r)
			if got := must[[]string](t)(g.ChangedSince(context.Background(), commit, tip)); got != nil {
				t.Errorf("changed since: %q", got)
			}
			id, err := buildRevert(g, commit, tip)
			check(t, err)
			want := gitRevert(t, r, commit, tip)
			if got := r.Git("rev-parse", id+"^{tree}"); got != want {
				t.Errorf("tree differs from git's %q:\n%s", want, r.Git("diff-tree", "-r", want, got))
			}
			if got := r.Git("log", "-1", "--format=%P|%an|%cn|%B", id); got != tip+"|author|watcher|Revert \"x\"\n\nThis reverts commit "+commit+".\n" {
				t.Errorf("commit = %q", got)
			}
			if got := r.Tip("main"); got != tip {
				t.Error("a ref moved")
			}
		})
	}
}

func TestBuildRevertOfMerges(t *testing.T) {
	r := navtest.Bare(t)
	base := r.Put("base", navtest.Files{"a": navtest.Text("1"), "b": navtest.Text("2"), "both": navtest.Text("x")})
	side := r.Commit(navtest.Commit{Branch: "side", Parents: []string{base}, Files: navtest.Files{"s": navtest.Text("s"), "b": navtest.Gone(), "both": navtest.Text("side")}})
	third := r.Commit(navtest.Commit{Branch: "third", Parents: []string{base}, Files: navtest.Files{"t": navtest.Exec("t")}})
	r.Put("ours", navtest.Files{"a": navtest.Text("11"), "both": navtest.Text("main")})
	content := navtest.Files{"s": navtest.Text("s"), "b": navtest.Gone(), "both": navtest.Text("resolved")}
	merge := r.Merge("main", "merge\n", content, side)
	tip := r.Put("later", navtest.Files{"z": navtest.Text("z")})
	octopus := r.Merge("main", "octopus\n", navtest.Files{"t": navtest.Exec("t")}, third, side)
	last := r.Put("last", navtest.Files{"z": navtest.Text("zz")})
	nothing := r.Merge("main", "ours\n", nil, third)
	g := open(t, r)
	for _, c := range []struct{ commit, tip string }{{merge, merge}, {merge, tip}, {octopus, octopus}, {octopus, last}, {merge, last}} {
		id, err := buildRevert(g, c.commit, c.tip)
		check(t, err)
		if got, want := r.Git("rev-parse", id+"^{tree}"), gitRevert(t, r, c.commit, c.tip); got != want {
			t.Errorf("%s on %s: tree %s, git makes %q", c.commit, c.tip, got, want)
		}
	}
	if _, err := buildRevert(g, nothing, nothing); !errors.Is(err, gitstore.ErrEmpty) {
		t.Errorf("a merge that changed nothing: %v", err)
	}
}

func TestBuildRevertRefuses(t *testing.T) {
	ctx := context.Background()
	r := navtest.Bare(t)
	text, gone := navtest.Text, navtest.Gone()
	root := r.Put("root", navtest.Files{"a": text("1"), "b": text("2"), "keep": text("k"), "x": text("x")})
	empty := r.Put("empty", nil)
	change := r.Put("change", navtest.Files{"a": text("11"), "b": gone, "n": text("n"), "x": navtest.Exec("x")})
	fold := r.Put("fold", navtest.Files{"keep": gone, "keep/in": text("1")})
	g := open(t, r)
	on := func(files navtest.Files, parents ...string) string {
		return r.Commit(navtest.Commit{Branch: "on", Parents: parents, Files: files})
	}
	for _, c := range []struct {
		name, commit, tip string
		paths             []string // of the ExactError
		err               error
	}{
		{"root", root, fold, nil, gitstore.ErrRoot},
		{"empty", empty, fold, nil, gitstore.ErrEmpty},
		{"changed again", change, on(navtest.Files{"a": text("111"), "n": navtest.Exec("n")}, change), []string{"a", "n"}, nil},
		{"mode changed again", change, on(navtest.Files{"x": text("x")}, change), []string{"x"}, nil},
		{"came back", change, on(navtest.Files{"b": text("22")}, change), []string{"b"}, nil},
		{"half of it undone", change, on(navtest.Files{"b": text("2")}, change), []string{"b"}, nil},
		{"all of it undone", change, on(navtest.Files{"a": text("1"), "b": text("2"), "n": gone, "x": text("x")}, change), nil, gitstore.ErrEmpty},
		{"a folder stands there", change, on(navtest.Files{"b/new": text("!")}, change), []string{"b"}, nil},
		{"the folder has got more", fold, on(navtest.Files{"keep/more": text("!")}, fold), []string{"keep"}, nil},
		{"never had it", change, root, []string{"a", "b", "n", "x"}, gitstore.ErrEmpty},
	} {
		_, err := buildRevert(g, c.commit, c.tip)
		var exact *gitstore.ExactError
		switch {
		case c.err != nil && !errors.Is(err, c.err):
			t.Errorf("%s: %v", c.name, err)
		case c.err == nil && !errors.As(err, &exact):
			t.Errorf("%s: %v", c.name, err)
		case c.err == nil:
			if diff := cmp.Diff(c.paths, exact.Paths); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.name, diff)
			}
		}
		if c.commit == root {
			continue
		}
		since, err := g.ChangedSince(ctx, c.commit, c.tip)
		check(t, err)
		if c.err == nil && !cmp.Equal(c.paths, since) {
			t.Errorf("%s: changed since %q", c.name, since)
		}
	}
	var rootErr *gitstore.RootError
	if _, err := g.Changes(ctx, root); !errors.As(err, &rootErr) || rootErr.Commit != root {
		t.Errorf("changes of a root: %v", err)
	}
	for _, bad := range [][2]string{{"main", fold}, {fold, "main"}, {"", ""}, {strings.Repeat("ab", 20), fold}, {fold, strings.Repeat("ab", 20)}, {r.Git("rev-parse", root+":a"), fold}} {
		if _, err := buildRevert(g, bad[0], bad[1]); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
	if _, err := g.BuildRevert(ctx, change, change, []byte("nul\x00"), who(), who(), ""); err == nil {
		t.Error("a NUL in the message was taken")
	}
	if _, err := g.BuildRevert(ctx, change, change, []byte("x"), gitstore.Identity{}, who(), ""); err == nil {
		t.Error("nobody was taken as an author")
	}
}

// On random changes: wherever both make a revert, the trees are the same, and
// where ours refuses, a path really changed since.
func TestBuildRevertRandom(t *testing.T) {
	same, refused := 0, 0
	for seed := range uint64(25) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		r := navtest.Bare(t)
		state := map[string]navtest.File{}
		r.Put("base", randomFiles(rnd, state, 12))
		commit := r.Put("change", randomFiles(rnd, state, 4))
		tip := r.Put("later", randomFiles(rnd, state, 1))
		id, err := buildRevert(open(t, r), commit, tip)
		var exact *gitstore.ExactError
		switch {
		case errors.As(err, &exact):
			refused++
			continue
		case errors.Is(err, gitstore.ErrEmpty):
			continue
		}
		check(t, err)
		want := gitRevert(t, r, commit, tip)
		if want == "" { // git sees a rename of a folder and would not put files where we do
			continue
		}
		same++
		if got := r.Git("rev-parse", id+"^{tree}"); got != want {
			t.Errorf("seed %d: tree differs from git's:\n%s", seed, r.Git("diff-tree", "-r", want, got))
		}
	}
	if same < 10 || refused == 0 {
		t.Errorf("%d the same, %d refused: the test proves little", same, refused)
	}
}

// randomFiles makes n changes to state and gives them.
func randomFiles(rnd *rand.Rand, state map[string]navtest.File, n int) navtest.Files {
	files := navtest.Files{}
	for range n {
		path := []string{"a", "b", "c", "d/x", "d/y", "d/e/z", "a/x", "f", "f/g", "h", "i", "j"}[rnd.IntN(12)]
		data := fmt.Sprintf("%d\n%s", rnd.IntN(3), strings.Repeat("line\n", 1+rnd.IntN(3)))
		file := []navtest.File{navtest.Text(data), navtest.Text(data), navtest.Exec(data), navtest.Link("to"), navtest.Gone(), navtest.Submodule(strings.Repeat("1", 40))}[rnd.IntN(6)]
		for other := range state { // a file has no folder of its name beside it
			if file.Mode != "" && (strings.HasPrefix(other, path+"/") || strings.HasPrefix(path, other+"/")) {
				files[other] = navtest.Gone()
				delete(state, other)
			}
		}
		if _, there := state[path]; !there && file.Mode == "" {
			continue
		}
		files[path], state[path] = file, file
		if file.Mode == "" {
			delete(state, path)
		}
	}
	return files
}

// Signed with the user's own settings, which are in force for this alone.
func TestBuildRevertSigned(t *testing.T) {
	ctx := context.Background()
	r := navtest.Bare(t)
	r.Put("base", nil)
	commit := r.Put("change", navtest.Files{"a": navtest.Text("1")})
	dir := t.TempDir()
	program := filepath.Join(dir, "gpg")
	script := "#!/bin/sh\necho \"$@\" >'" + dir + "/args'\ncat >/dev/null\necho '[GNUPG:] SIG_CREATED ' >&2\nprintf -- '-----BEGIN PGP SIGNATURE-----\\nx\\n-----END PGP SIGNATURE-----\\n'\n"
	check(t, os.WriteFile(program, []byte(script), 0o755))
	check(t, os.WriteFile(filepath.Join(dir, ".gitconfig"), []byte("[gpg]\n\tprogram = "+program+"\n"), 0o600))
	g := must[*gitstore.Repo](t)(gitstore.Open(ctx, r.Dir, gitstore.Options{Env: navtest.Env(dir)}))
	id := must[string](t)(g.BuildRevert(ctx, commit, commit, []byte("Revert\n"), who(), who(), "KEY ID; rm -rf"))
	if got := r.Git("cat-file", "commit", id); !strings.Contains(got, "gpgsig -----BEGIN PGP SIGNATURE-----") {
		t.Errorf("not signed:\n%s", got)
	}
	if got := string(must[[]byte](t)(os.ReadFile(filepath.Join(dir, "args")))); !strings.Contains(got, "KEY ID; rm -rf") {
		t.Errorf("gpg was called with %q", got)
	}
	plain := must[string](t)(g.BuildRevert(ctx, commit, commit, []byte("Revert\n"), who(), who(), ""))
	if got := r.Git("cat-file", "commit", plain); strings.Contains(got, "gpgsig") {
		t.Error("signed without a key")
	}
}
