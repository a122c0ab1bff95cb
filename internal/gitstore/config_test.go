package gitstore

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
)

func TestConfig(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	r := navtest.New(t)
	env := append(r.Env(), "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=nav.watcher", "GIT_CONFIG_VALUE_0=by-environment")
	home := ""
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "HOME="); ok {
			home = v
		}
	}
	global := "[nav]\n\twatcher = by-user\n[core]\n\tcommentChar = \";\"\n"
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(global), 0o666); err != nil {
		t.Fatal(err)
	}
	repo, err := Open(ctx, r.Dir, Options{Env: env})
	if err != nil {
		t.Fatal(err)
	}
	keys := []string{"nav.watcher", "Nav.Host", "remote.A.b.fetch", "core.commentChar"}
	get := func(read func() (map[string][]string, error), want map[string][]string) {
		t.Helper()
		got, err := read()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	own := func() (map[string][]string, error) { return repo.Config(ctx, keys...) }
	user := func() (map[string][]string, error) { return repo.UserConfig(ctx, keys...) }
	get(own, map[string][]string{})
	get(user, map[string][]string{"nav.watcher": {"by-user", "by-environment"}, "core.commentChar": {";"}})

	for _, set := range [][2]string{{"nav.watcher", "old"}, {"nav.watcher", "two\nlines = x"}, {"nav.HOST", "plain"}} {
		if err := repo.SetConfig(ctx, set[0], set[1]); err != nil {
			t.Fatal(err)
		}
	}
	for _, value := range []string{"+refs/a:refs/a", "-option"} {
		if err := repo.AddConfig(ctx, "remote.A.b.fetch", value); err != nil {
			t.Fatal(err)
		}
	}
	get(own, map[string][]string{"nav.watcher": {"two\nlines = x"}, "Nav.Host": {"plain"}, "remote.A.b.fetch": {"+refs/a:refs/a", "-option"}})
	if got := r.Git("config", "--local", "nav.watcher"); got != "two\nlines = x" {
		t.Errorf("git reads %q", got)
	}
	for _, key := range []string{"", "--unset", "nav", "nav.\x00"} {
		if err := repo.SetConfig(ctx, key, "x"); err == nil {
			t.Errorf("set %q", key)
		}
	}
}

func TestHooksDirAndBare(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for bare, r := range map[bool]*navtest.Repo{true: navtest.Bare(t), false: navtest.New(t)} {
		repo, err := Open(ctx, r.Dir, Options{Env: r.Env()})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := repo.Bare(ctx); err != nil || got != bare {
			t.Errorf("Bare = %v, %v, want %v", got, err, bare)
		}
		for _, set := range []string{"", "elsewhere", "~/mine", t.TempDir()} {
			if set != "" {
				r.Git("config", "core.hooksPath", set)
			}
			// Git is asked where the hooks of a commit run; those of a push run
			// in the git directory.
			want := r.Git("rev-parse", "--path-format=absolute", "--git-path", "hooks")
			if got, err := repo.HooksDir(ctx, !bare); err != nil || got != want {
				t.Errorf("bare %v, core.hooksPath %q: HooksDir = %q (%v), git says %q", bare, set, got, err, want)
			}
			if got, err := repo.HooksDir(ctx, false); err != nil || (set == "elsewhere" && got != filepath.Join(repo.Dir(), set)) {
				t.Errorf("bare %v, core.hooksPath %q: HooksDir of a push = %q (%v)", bare, set, got, err)
			}
		}
	}
}
