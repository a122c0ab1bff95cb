package gitea

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/nav-watchdog/nav-watchdog/e2e/people"
	"github.com/nav-watchdog/nav-watchdog/e2e/programs"
	"github.com/nav-watchdog/nav-watchdog/e2e/trial"
	"github.com/nav-watchdog/nav-watchdog/e2e/watcher"
)

// host is what all tests share: a Gitea and the programs.
type host struct {
	*Server
	bin      string
	programs programs.Programs
	tokens   map[string]string
	keys     map[string]string // files
}

var shared *host // made by TestMain, only read afterwards

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "nav-e2e-gitea-")
	if err == nil {
		shared, err = newHost(ctx, dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	shared.Stop()
	if code != 0 {
		fmt.Fprintln(os.Stderr, "kept for a look:", dir)
		return code
	}
	_ = os.RemoveAll(dir)
	return 0
}

func newHost(ctx context.Context, dir string) (*host, error) {
	bin, missing := programs.Parts("gitea")
	if len(missing) > 0 {
		return nil, fmt.Errorf("%v not built: e2e/build.sh gitea", missing)
	}
	h := &host{bin: bin, tokens: map[string]string{}, keys: map[string]string{}}
	var err error
	if h.programs, err = programs.Build(ctx, dir); err != nil {
		return nil, err
	}
	if h.Server, err = Start(ctx, bin, filepath.Join(dir, "gitea")); err != nil {
		return nil, err
	}
	for _, name := range []string{trial.Alice, trial.Olga, trial.Nav} {
		h.keys[name] = filepath.Join(dir, "key-"+name)
		public, kerr := people.NewKey(ctx, h.keys[name])
		token, uerr := h.User(ctx, name)
		if err = errors.Join(kerr, uerr); err == nil {
			err = h.Key(ctx, name, public)
		}
		if err != nil {
			h.Stop()
			return nil, err
		}
		h.tokens[name] = token
	}
	return h, nil
}

// repository is one repository of Olga's with the hooks, as each test has one
// of its own.
type repository struct {
	*trial.Repository
	name string
}

func newRepository(t *testing.T, name string, apps ...string) *repository {
	t.Helper()
	if err := shared.Create(t.Context(), trial.Olga, name, trial.Alice, trial.Nav); err != nil {
		t.Fatal(err)
	}
	r := &repository{&trial.Repository{
		Bare: shared.Repository(trial.Olga, name), Dir: t.TempDir(), How: "http", Watchd: shared.programs.Watchd,
		Login: func(who, how string) (string, []string) {
			if how == "ssh" {
				return shared.SSH(trial.Olga, name), people.Key(shared.keys[who])
			}
			return shared.HTTP(trial.Olga, name), people.Password(who, shared.tokens[who])
		},
	}, name}
	r.Begin(t, shared.programs.Hook, []string{"--host", "gitea"}, apps...)
	r.Record("pre-receive.d/10-log", "GITEA_PUSHER_NAME")
	return r
}

// askpass lets git ask a program for the token.
func (r *repository) askpass(token string) []string {
	env, err := watcher.Askpass(filepath.Join(r.Dir, "askpass"), trial.Nav, token)
	r.Check(err)
	return env
}
