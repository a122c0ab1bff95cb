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

// A repository of another user says how it is let in, and is let in so.
func TestDubiousOwner(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	server := navtest.Bare(t)
	server.Put("one", nil)
	home := t.TempDir()
	config, dir := filepath.Join(home, "config"), filepath.Join(home, "mirror.git")
	trust := func(dirs ...string) {
		text := "[safe]\n\tdirectory = " + strings.Join(dirs, "\n\tdirectory = ") + "\n"
		check(t, os.WriteFile(config, []byte(text), 0o600))
	}
	trust(dir)
	m := must[*gitstore.Repo](t)(gitstore.Init(ctx, dir, gitstore.Options{
		Env: append(navtest.Env(home), "GIT_TEST_ASSUME_DIFFERENT_OWNER=1", "GIT_CONFIG_GLOBAL="+config),
	}))
	const hint = "\nhint: it belongs to another user: where it is, say `git config --system --add safe.directory PATH`"
	up := gitstore.RefUpdate{Ref: "refs/heads/x", New: server.Tip("main")}
	_, fetchErr := m.Remote(server.Dir).Fetch(ctx)
	if fetchErr == nil || strings.Count(fetchErr.Error(), hint) != 1 {
		t.Errorf("fetch: %v", fetchErr)
	}
	trust(dir, server.Dir)
	must[gitstore.RemoteRefs](t)(m.Remote(server.Dir).Fetch(ctx))
	check(t, m.Remote(server.Dir).Push(ctx, []gitstore.RefUpdate{up}))
	trust(dir)
	up.Ref = "refs/heads/y"
	for what, push := range map[string]func(context.Context, []gitstore.RefUpdate) error{"push": m.Remote(server.Dir).Push, "dry push": m.Remote(server.Dir).DryPush} {
		if err := push(ctx, []gitstore.RefUpdate{up}); err == nil || strings.Count(err.Error(), hint) != 1 {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A server whose files the pusher may not write says so, whoever runs this test:
// its hook says what git says then. A refusal of another kind gets no such hint.
func TestNoRights(t *testing.T) {
	t.Parallel()
	server := navtest.Bare(t)
	one := server.Put("one", nil)
	for said, want := range map[string]bool{
		"unable to create temporary object directory":                                                true,
		"error: insufficient permission for adding an object to repository database ./objects":       true,
		"error: cannot lock ref: Unable to create '/srv/x.git/refs/heads/x.lock': Permission denied": true,
		"git@h: Permission denied (publickey).":                                                      false,
		"only the watcher may push it":                                                               false,
	} {
		hook(t, server, "pre-receive", "cat >&2 <<'END'\n"+said+"\nEND\nexit 1\n")
		err := open(t, server).Remote(server.Dir).Push(context.Background(), []gitstore.RefUpdate{{Ref: "refs/heads/x", New: one}})
		if err == nil || strings.Contains(err.Error(), "\nhint: who pushes may not write the files there: a shared group") != want {
			t.Errorf("%s: %v", said, err)
		}
	}
}
