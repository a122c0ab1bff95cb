package gitstore_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
)

// Wherever it is started, OpenHook finds what git finds, and asks git only where
// the answer is not plain.
func TestOpenHookNearby(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	server := navtest.Bare(t)
	id := server.Put("one", navtest.Files{"a/b/c": navtest.Text("x")})
	clone := server.Clone()
	clone.Git("checkout", "-q", "-B", "main", id)
	tree := filepath.Join(t.TempDir(), "tree")
	clone.Git("worktree", "add", "-q", "-b", "other", tree, id)
	link := filepath.Join(t.TempDir(), "link")
	shallow := filepath.Join(t.TempDir(), "shallow")
	clone.Git("clone", "-q", "--depth", "1", "file://"+server.Dir, shallow)
	sha256 := filepath.Join(t.TempDir(), "sha256")
	clone.Git("init", "-q", "--object-format=sha256", sha256)
	nested := filepath.Join(clone.Dir, "a", "nested")
	clone.Git("init", "-q", nested)
	check(t, os.Symlink(filepath.Join(clone.Dir, "a"), link))
	empty := filepath.Join(clone.Dir, "a", "empty", ".git")
	check(t, os.MkdirAll(empty, 0o777))

	type place struct {
		dir  string
		env  string
		asks bool
	}
	places := map[string]place{
		"root":                     {clone.Dir, "", false},
		"below":                    {filepath.Join(clone.Dir, "a", "b"), "", false},
		"by a symbolic link":       {filepath.Join(link, "b"), "", false},
		"a repository within":      {nested, "", false},
		"a .git that is none":      {filepath.Dir(empty), "", true},
		"within .git":              {filepath.Join(clone.Dir, ".git", "refs"), "", true},
		"bare":                     {server.Dir, "", true},
		"linked worktree":          {tree, "", true},
		"shallow":                  {shallow, "", true},
		"another format":           {sha256, "", true},
		"a ceiling":                {filepath.Join(clone.Dir, "a", "b"), "GIT_CEILING_DIRECTORIES=/nowhere", true},
		"the environment says it":  {t.TempDir(), "GIT_DIR=" + filepath.Join(clone.Dir, ".git"), false},
		"not in a repository":      {t.TempDir(), "", true},
		"a folder that isn't here": {filepath.Join(clone.Dir, "nosuch"), "", true},
	}
	if os.Geteuid() == 0 { // only root can give a folder away
		foreign := filepath.Join(t.TempDir(), "foreign")
		clone.Git("init", "-q", foreign)
		check(t, os.Chown(filepath.Join(foreign, ".git"), 1, 1))
		places["somebody else's"] = place{foreign, "", true}
	}
	for name, c := range places {
		t.Run(name, func(t *testing.T) {
			trace := filepath.Join(t.TempDir(), "trace")
			env := append(clone.Env(), "GIT_TRACE="+trace)
			if c.env != "" {
				env = append(env, c.env)
			}
			want, wantErr := gitstore.Open(ctx, c.dir, gitstore.Options{Env: append(clone.Env(), c.env), Hook: true})
			got, err := gitstore.OpenHook(ctx, c.dir, gitstore.Options{Env: env, Hook: true})
			if (err != nil) != (wantErr != nil) {
				t.Fatalf("%v, git says %v", err, wantErr)
			}
			if err == nil && got.Dir() != want.Dir() {
				t.Errorf("found %s, git %s", got.Dir(), want.Dir())
			}
			log, _ := os.ReadFile(trace) // none: git was not started
			if asked := strings.Contains(string(log), "rev-parse") || err != nil; asked != c.asks {
				t.Errorf("asked git: %v\n%s", asked, log)
			}
		})
	}
}
