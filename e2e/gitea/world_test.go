package gitea

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/e2e/people"
	"github.com/nav-watchdog/nav-watchdog/e2e/programs"
	"github.com/nav-watchdog/nav-watchdog/e2e/simulator"
	"github.com/nav-watchdog/nav-watchdog/e2e/watcher"
)

// The three users: one who changes things, the owner of repository and policy,
// and the watcher.
const (
	alice = "alice"
	olga  = "olga"
	nav   = "nav-watchdog"
)

// host is what all tests share: a Gitea and the programs.
type host struct {
	*Server
	bin      string
	programs programs.Programs
	tokens   map[string]string
	keys     map[string]string // files
}

var shared *host //nolint:gochecknoglobals // made by TestMain, only read afterwards

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
	for _, name := range []string{alice, olga, nav} {
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
	t    *testing.T
	name string
	bare string
	dir  string
	logs string // what reached the server, by hooks that only write it down
}

// policy lets alice arm everything; times are those of a test, and the circuit
// is wide.
const policy = `version: 1
branches: [main]
owners: [olga]
limits:
  deadline: {min: 3s, max: 24h}
  reach: {min: 3s, max: 24h}
  stable: {min: 1s, max: 1h}
arm:
  allow: [{apps: ["*"], by: [alice]}]
circuit:
  consecutive: 1000
  per-day: 1000
  repository: {reverts: 1000, within: 24h}
  storm: {apps: 1000, within: 5m}
`

// newRepository makes a repository with a policy and apps that run, whose hooks
// navhook installs.
func newRepository(t *testing.T, name string, apps ...string) *repository {
	t.Helper()
	r := &repository{t: t, name: name, bare: shared.Repository(olga, name), dir: t.TempDir()}
	r.check(shared.Create(t.Context(), olga, name, alice, nav))
	c := r.clone(olga, "http")
	files := map[string]string{".nav-watchdog.yaml": policy}
	for _, app := range apps {
		files["apps/"+app+"/deployment.yaml"] = simulator.Deployment(app, app+":1")
	}
	_, err := c.Commit(t.Context(), "first", files)
	r.check(err)
	r.push(c, "main")
	r.install()
	return r
}

// install installs the product's hooks with its own command, and beside them
// hooks that write down what reaches the server.
func (r *repository) install() {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), shared.programs.Hook, "install", "--host", "gitea", "--watcher", nav, r.bare)
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("%v\n%s", err, out)
	}
	r.logs = filepath.Join(r.dir, "received")
	r.check(os.MkdirAll(r.logs, 0o755))
	for hook, script := range map[string]string{
		"pre-receive.d/10-log":  "sed \"s/^/$GITEA_PUSHER_NAME $$ /\" >> %s/pushes\n",
		"reference-transaction": "test \"$1\" = committed || exit 0\nsed \"s/^/$$ /\" >> %s/transactions\n",
	} {
		text := "#!/bin/sh\n" + fmt.Sprintf(script, r.logs)
		r.check(os.WriteFile(filepath.Join(r.bare, "hooks", hook), []byte(text), 0o755))
	}
}

func (r *repository) check(errs ...error) {
	r.t.Helper()
	for _, err := range errs {
		if err != nil {
			r.t.Fatal(err)
		}
	}
}

// clone is a person's clone over http or ssh.
func (r *repository) clone(who, how string) *people.Clone {
	r.t.Helper()
	address, login := shared.HTTP(olga, r.name), people.Password(who, shared.tokens[who])
	if how == "ssh" {
		address, login = shared.SSH(olga, r.name), people.Key(shared.keys[who])
	}
	dir, err := os.MkdirTemp(r.dir, who+"-")
	r.check(err)
	c, err := people.New(r.t.Context(), dir, who, address, login...)
	r.check(err)
	return c
}

func (r *repository) push(c *people.Clone, refs ...string) string {
	r.t.Helper()
	out, err := c.Git(r.t.Context(), append([]string{"push", "origin"}, refs...)...)
	if err != nil {
		r.t.Fatalf("%v\n%s", err, out)
	}
	return out
}

// refused pushes what must be refused, and returns what the pusher reads.
func (r *repository) refused(c *people.Clone, refs ...string) string {
	r.t.Helper()
	before := r.server("for-each-ref")
	out, err := c.Git(r.t.Context(), append([]string{"push", "origin"}, refs...)...)
	if err == nil {
		r.t.Fatalf("the push of %v is not refused:\n%s", refs, out)
	}
	if after := r.server("for-each-ref"); after != before {
		r.t.Fatalf("refs moved:\n%s\nwere:\n%s", after, before)
	}
	return out
}

// server runs git on the server.
func (r *repository) server(args ...string) string {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "git", args...)
	cmd.Dir = r.bare
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("running git %v on the server: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

// note is a note on the server; empty if there is none.
func (r *repository) note(ref, commit string) string {
	cmd := exec.CommandContext(r.t.Context(), "git", "notes", "--ref="+ref, "show", commit)
	cmd.Dir = r.bare
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return string(out)
}

// verdict waits until the note of a commit holds all texts.
func (r *repository) verdict(w *watcher.Watcher, commit string, texts ...string) string {
	r.t.Helper()
	note := ""
	holds := func() bool {
		note = r.note("nav/verdicts", commit)
		for _, text := range texts {
			if !strings.Contains(note, text) {
				return false
			}
		}
		return true
	}
	for end := time.Now().Add(4 * time.Minute); !holds(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("waited too long for %q in\n%s\n%s", texts, note, w.Text())
		}
		if err := w.Running(); err != nil {
			r.t.Fatalf("%v\n%s", err, w.Text())
		}
	}
	return note
}

// received are the lines that a hook wrote down.
func (r *repository) received(file string) []string {
	data, err := os.ReadFile(filepath.Join(r.logs, file))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

// deploy starts a simulated Argo CD for apps of the repository.
func (r *repository) deploy(apps ...string) *simulator.Simulator {
	r.t.Helper()
	s, err := simulator.Start(context.Background(), filepath.Join(r.dir, "simulator"), r.bare, shared.HTTP(olga, r.name), apps...)
	r.check(err)
	r.t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			r.t.Errorf("the simulator: %v", err)
		}
	})
	return s
}

// watch starts navwatchd over HTTP with a token.
func (r *repository) watch(settings string, login []string) *watcher.Watcher {
	r.t.Helper()
	w := r.newWatcher(settings, login)
	r.check(w.Start())
	r.t.Cleanup(w.Stop)
	r.check(w.Await(r.t.Context()))
	return w
}

func (r *repository) newWatcher(settings string, login []string) *watcher.Watcher {
	r.t.Helper()
	w, err := watcher.New(watcher.Options{
		Bin: shared.programs.Watchd, Dir: filepath.Join(r.dir, "watcher"), Name: nav,
		Repository: shared.HTTP(olga, r.name), Settings: settings, Env: login,
	})
	r.check(err)
	return w
}

// askpass lets git ask a program for the token.
func (r *repository) askpass() []string {
	r.t.Helper()
	env, err := watcher.Askpass(filepath.Join(r.dir, "askpass"), nav, shared.tokens[nav])
	r.check(err)
	return env
}

// reverting are the settings of a watcher that reads a folder and may revert.
func reverting(s *simulator.Simulator) string {
	return fmt.Sprintf("dry-run: false\nsource: {folder: %s}\n", s.Folder)
}

// reverts lists the commits on main that revert a commit.
func (r *repository) reverts(commit string) []string {
	return strings.Fields(r.server("log", "--format=%H", "--fixed-strings", "--grep=This reverts commit "+commit, "main"))
}

// bad commits an image that is never pulled, with an armed watch, and pushes
// it.
func (r *repository) bad(c *people.Clone, app string) string {
	r.t.Helper()
	r.check(c.Pull(r.t.Context(), "main"))
	commit, err := c.Commit(r.t.Context(), "break "+app+"\n\nNav-Watchdog: app="+app+" deadline=5 reach=120 stable=2 mode=arm",
		map[string]string{"apps/" + app + "/deployment.yaml": simulator.Deployment(app, app+":does-not-exist")})
	r.check(err)
	r.push(c, "main")
	return commit
}
