package gitstore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
)

func ids(commits []gitstore.Commit) []string {
	out := []string{}
	for _, c := range commits {
		out = append(out, c.ID)
	}
	return out
}

func logOf(t *testing.T, g *gitstore.Repo, tips, exclude []string) []gitstore.Commit {
	t.Helper()
	var got []gitstore.Commit
	check(t, g.Log(context.Background(), tips, exclude, func(c gitstore.Commit) error {
		got = append(got, c)
		return nil
	}))
	return got
}

// What no git writes but every git takes: it is read, so that one such commit
// keeps nobody from all that come after.
func TestLogMalformed(t *testing.T) {
	r := navtest.Bare(t)
	tree := r.Git("rev-parse", r.Put("one", nil)+"^{tree}")
	for _, people := range []string{
		"author a <a@e> 1 +0000\ncommitter a <a@e>\n", "author a <a@e> 1 +0000\ncommitter a <a@e> 99999999999999999999 +0000\n",
		"author a <a@e> 1 +0000\ncommitter a <a@e> -5 +0000\n", "committer a <a@e> 1 +0000\n",
		"author a\x00b\x00c\x00d <a@e> 1 +0000\ncommitter a <a@e> 1 +0000\n", "author a <a@e> 1 +0000\ncommitter a\x00b <a@e> 1 +0000\n",
	} {
		id := r.GitIn(fmt.Appendf(nil, "tree %s\n%s\nmessage\n", tree, people), "hash-object", "-t", "commit", "-w", "--stdin", "--literally")
		got := logOf(t, open(t, r), []string{id}, nil)
		if len(got) != 1 || got[0].ID != id || !strings.HasSuffix(strings.TrimSpace(string(got[0].Message)), "message") {
			t.Errorf("%q: %+v", people, got)
		}
	}
}

// Grafts do not change what is new.
func TestLogGrafts(t *testing.T) {
	r := navtest.Bare(t)
	one, two := r.Put("one", nil), r.Put("two", nil)
	check(t, os.MkdirAll(filepath.Join(r.Dir, "info"), 0o755))
	check(t, os.WriteFile(filepath.Join(r.Dir, "info", "grafts"), []byte(two+"\n"+one+" "+two+"\n"), 0o644))
	if got := ids(logOf(t, open(t, r), []string{two}, []string{one})); !cmp.Equal(got, []string{two}) {
		t.Errorf("new are %v", got)
	}
}

func TestLog(t *testing.T) {
	r := navtest.Bare(t)
	one := r.Put("one", nil)
	side := r.Commit(navtest.Commit{Branch: "side", Parents: []string{one}, Message: "side\n"})
	two := r.Put("two", nil)
	merge := r.Merge("main", "merge\n", nil, side)
	g := open(t, r)
	if got := logOf(t, g, nil, []string{one}); got != nil {
		t.Errorf("no tips: %v", ids(got))
	}
	if diff := cmp.Diff([]string{one}, ids(logOf(t, g, []string{one}, nil))); diff != "" {
		t.Error(diff)
	}
	got := logOf(t, g, []string{merge}, []string{one})
	want := strings.Fields(r.Git("log", "--format=%H", "--reverse", merge, "^"+one))
	if diff := cmp.Diff(want, ids(got)); diff != "" {
		t.Errorf("range (-git +ours):\n%s", diff)
	}
	if diff := cmp.Diff([]string{two, side}, got[len(got)-1].Parents); diff != "" {
		t.Errorf("parents: %s", diff)
	}
	if len(got[0].Parents) != 1 {
		t.Errorf("commit = %+v", got[0])
	}
	stop := errors.New("stop")
	seen := 0
	if err := g.Log(context.Background(), []string{merge}, nil, func(gitstore.Commit) error { seen++; return stop }); !errors.Is(err, stop) || seen != 1 {
		t.Errorf("stopped with %v after %d", err, seen)
	}
	for _, bad := range []string{"-x", "--output=x", "^" + one, "", "a\nb", strings.Repeat("0", 40), "nope"} {
		if err := g.Log(context.Background(), []string{bad}, nil, func(gitstore.Commit) error { return nil }); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

// Where dates lie, only Ordered has parents before their children.
func TestLogOrder(t *testing.T) {
	r := navtest.Bare(t)
	root := r.Put("root", nil)
	tree := r.Git("rev-parse", root+"^{tree}")
	at := func(when int, parent string) string {
		return r.GitIn(fmt.Appendf(nil, "tree %[1]s\nparent %[2]s\nauthor a <a@e> %[3]d +0000\ncommitter a <a@e> %[3]d +0000\n\nx\n", tree, parent, when), "hash-object", "-t", "commit", "-w", "--stdin")
	}
	future := at(4_000_000_000, root)
	past := at(1_000_000_000, future)
	other := at(2_000_000_000, root)
	g := open(t, r)
	var got []gitstore.Commit
	keep := func(c gitstore.Commit) error {
		got = append(got, c)
		return nil
	}
	for _, c := range []struct {
		list func(context.Context, []string, []string, func(gitstore.Commit) error) error
		args []string
	}{{g.Log, nil}, {g.Ordered, []string{"--topo-order"}}} {
		got = nil
		check(t, c.list(context.Background(), []string{past, other}, []string{root}, keep))
		want := strings.Fields(r.Git(append([]string{"log", "--format=%H", "--reverse", past, other, "^" + root}, c.args...)...))
		if diff := cmp.Diff(want, ids(got)); diff != "" {
			t.Errorf("%v (-git +ours):\n%s", c.args, diff)
		}
	}
	if at := ids(got); slices.Index(at, future) > slices.Index(at, past) {
		t.Errorf("a child stands before its parent: %v", at)
	}
}

// Messages come as `git log` gives them: the same bytes, or re-encoded, or cut
// at a NUL.
func TestLogMessages(t *testing.T) {
	r := navtest.Bare(t)
	g := open(t, r)
	for _, c := range []navtest.Commit{
		{Message: "subject only"},
		{Message: "\n\nleading blank lines\n\nbody\n\n\n"},
		{Message: "bytes \xff\xfe \x01\x1b[31m\r\n\r\nbody\r\n"},
		{Message: "gr\xfc\xdfe\n", Encoding: "ISO-8859-1"},
		{Message: "wrong \xff\n", Encoding: "no-such-encoding"},
		{Message: "before\x00after\n"},
		{Message: "\x01\x00"},
		{Message: "many\n\n" + strings.Repeat("line\n", 50_000)},
	} {
		id := r.Commit(c)
		got := must[[]gitstore.Commit](t)(g.Commits(context.Background(), []string{id}))[0]
		if want := r.Git("log", "-1", "--encoding=UTF-8", "--format=tformat:%B", id); want != string(got.Message) {
			t.Errorf("%.40q: message %.80q, git says %.80q", c.Message, got.Message, want)
		}
	}
}

func TestLogBoundsMessages(t *testing.T) {
	r := navtest.Bare(t)
	id := r.Commit(navtest.Commit{Message: "s\n\n" + strings.Repeat("x", gitstore.MaxMessage) + "\n"})
	next := r.Put("next", nil)
	got := logOf(t, open(t, r), []string{next}, nil)
	if diff := cmp.Diff([]string{id, next}, ids(got)); diff != "" {
		t.Fatal(diff)
	}
	if !got[0].Truncated || len(got[0].Message) != gitstore.MaxMessage || got[1].Truncated {
		t.Errorf("truncated: %v, %d bytes; next: %v", got[0].Truncated, len(got[0].Message), got[1].Truncated)
	}
}

func TestLogThousandsOfTips(t *testing.T) {
	r := navtest.Bare(t)
	base := r.Put("base", nil)
	var in strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&in, "commit refs/heads/x\nmark :%d\ncommitter x <x@example.com> %d +0000\ndata 0\nfrom %s\nget-mark :%d\n", i+1, 1_800_000_000+i, base, i+1)
	}
	tips := strings.Fields(r.GitIn([]byte(in.String()), "fast-import", "--quiet", "--force"))
	if got := logOf(t, open(t, r), tips, []string{base}); len(got) != 5000 {
		t.Errorf("%d commits", len(got))
	}
}

func TestCommits(t *testing.T) {
	ctx := context.Background()
	r := navtest.Bare(t)
	one, two := r.Put("one", navtest.Files{"a": navtest.Text("1")}), r.Put("two", nil)
	g := open(t, r)
	got := must[[]gitstore.Commit](t)(g.Commits(ctx, []string{two, one, two}))
	if diff := cmp.Diff([]string{two, one, two}, ids(got)); diff != "" {
		t.Error(diff)
	}
	r.Git("tag", "-a", "-m", "x", "v1", one)
	gone := strings.Repeat("ab", 20)
	for name, id := range map[string]string{
		"missing": gone, "blob": r.Git("rev-parse", one+":a"), "tree": r.Git("rev-parse", one+"^{tree}"),
		"tag": r.Git("rev-parse", "v1"),
	} {
		_, err := g.Commits(ctx, []string{one, id})
		if err == nil || !strings.Contains(err.Error(), id) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, bad := range []string{"main", one[:10], "--all", strings.ToUpper(two)} {
		if _, err := g.Commits(ctx, []string{bad}); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestResolve(t *testing.T) {
	r := navtest.Bare(t)
	one := r.Put("one", navtest.Files{"a b": navtest.Text("1")})
	r.Git("tag", "-a", "-m", "x", "v1", one)
	r.Branch("-x", one)
	tag, blob := r.Git("rev-parse", "v1"), r.Git("rev-parse", one+":a b")
	gone := strings.Repeat("ab", 20)
	missing := gitstore.Object{Missing: true}
	want := map[string]gitstore.Object{
		"main": {ID: one, Type: "commit"}, "v1": {ID: tag, Type: "tag"}, "v1^{commit}": {ID: one, Type: "commit"},
		one[:12]: {ID: one, Type: "commit"}, one + ":a b": {ID: blob, Type: "blob"}, "refs/heads/-x": {ID: one, Type: "commit"},
		gone: missing, "nope": missing, "": missing, "a\nb": missing, "x missing": missing, "--all": missing,
		one + " commit": missing, blob + "^{commit}": missing,
	}
	var names []string
	for n := range want {
		names = append(names, n, n)
	}
	got := must[map[string]gitstore.Object](t)(open(t, r).Resolve(context.Background(), names))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// In a hook the objects of the push are in quarantine: git-facts of
// receive-pack. What the hook sees of a push of many objects is a pack.
func TestHookSeesQuarantine(t *testing.T) {
	ctx := context.Background()
	server := navtest.Bare(t)
	server.Put("base", nil)
	clone := server.Clone("--bare")
	env := filepath.Join(t.TempDir(), "env")
	hooks := filepath.Join(server.Dir, "hooks")
	check(t, os.MkdirAll(hooks, 0o755))
	// The hook keeps the quarantine as it stands, then declines: what is read
	// below is in no other place.
	script := "#!/bin/sh\ncp -r \"$GIT_QUARANTINE_PATH\" '" + env + ".q'\nenv >'" + env + "'\nexit 1\n"
	check(t, os.WriteFile(filepath.Join(hooks, "pre-receive"), []byte(script), 0o755))
	for _, n := range []int{1, 150} {
		files := navtest.Files{}
		for i := range n {
			files[fmt.Sprint(i)] = navtest.Text(fmt.Sprint(n, i))
		}
		id := clone.Put("pushed", files)
		if out, err := navtest.TryGit(t, clone.Dir, "push", "origin", "main"); err == nil {
			t.Fatalf("the push went through: %s", out)
		}
		var hookEnv []string
		text := string(must[[]byte](t)(os.ReadFile(env)))
		for _, kv := range strings.Split(text, "\n") {
			name, value, _ := strings.Cut(kv, "=")
			switch name {
			case "GIT_OBJECT_DIRECTORY", "GIT_QUARANTINE_PATH":
				kv = name + "=" + env + ".q"
			case "GIT_ALTERNATE_OBJECT_DIRECTORIES":
				if !filepath.IsAbs(value) {
					kv = name + "=" + filepath.Join(server.Dir, value)
				}
			}
			hookEnv = append(hookEnv, kv)
		}
		g := must[*gitstore.Repo](t)(gitstore.Open(ctx, server.Dir, gitstore.Options{Env: hookEnv, Hook: true}))
		if got := logOf(t, g, []string{id}, []string{server.Tip("main")}); got[len(got)-1].ID != id {
			t.Errorf("%d commits: the last is %v", n, got[len(got)-1])
		}
		if err := g.UpdateRefs(ctx, gitstore.RefUpdate{Ref: "refs/heads/x", New: id}); !errors.Is(err, gitstore.ErrRefused) {
			t.Errorf("a ref in quarantine: %v", err)
		}
		check(t, os.RemoveAll(env+".q"))
	}
}
