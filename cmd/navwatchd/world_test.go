package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/argosim"
	"github.com/nav-watchdog/nav-watchdog/internal/config"
	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
	"github.com/nav-watchdog/nav-watchdog/internal/watchd"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// deployURL is the address by which the simulated Argo CD knows the repository.
const deployURL = "https://git.example.com/demo/deploy.git"

// openPolicy lets alice arm everything.
const openPolicy = `version: 1
owners: [olga]
arm:
  allow:
    - apps: ["*"]
      by: [alice]
`

// world is a Git server, a cluster and some daemons under one clock that only
// moves when the test says so.
type world struct {
	ctx   context.Context // of the test
	dir   string
	srv   *navtest.Repo
	sim   *simReader
	start time.Time
	now   time.Time
	poll  time.Duration
	log   logBuffer
	set   config.Daemon

	notices box
	env     []string // added to that of daemons

	daemons map[string]*daemonRun
	order   []string
	// between wraps what a daemon, by its name, fetches from and pushes to.
	between func(name string, r remote) remote
	reader  reader // through which daemons look; nil: sim
}

// daemonRun is one daemon of a world.
type daemonRun struct {
	d    *watchd.Daemon
	repo *gitstore.Repo
	errs []error // of its passes
}

// logBuffer is where every daemon of a world logs to.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// newWorld makes the repository srv.git with one commit that holds the policy
// and the Applications named, each a Deployment at apps/NAME with image NAME:1.
func newWorld(t testing.TB, dir, policy string, o argosim.Options, apps ...string) *world {
	t.Helper()
	w := &world{ctx: t.Context(), dir: dir, poll: 10 * time.Second, daemons: map[string]*daemonRun{}}
	bare := filepath.Join(dir, "srv.git")
	navtest.Git(t, dir, "init", "-q", "--bare", "--template=", bare)
	w.srv = navtest.At(t, bare)
	w.start = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	w.now = w.start
	w.srv.Clock = w.start.Add(-time.Hour)
	files := navtest.Files{}
	if policy != "" {
		files[policyFile] = navtest.Text(policy)
	}
	for _, a := range apps {
		files[manifestPath(a)] = navtest.Text(deployment(a, a+":1"))
	}
	w.srv.Put("first", files)
	repo, err := gitstore.Open(context.Background(), bare, gitstore.Options{Env: w.srv.Env()})
	if err != nil {
		t.Fatal(err)
	}
	w.sim = &simReader{}
	o.OnChange = w.sim.delivered
	w.sim.sim = argosim.New(simTree{repo}, o)
	w.set = config.DefaultDaemon()
	w.set.Repository, w.set.Names, w.set.Interval = bare, []string{deployURL}, w.poll
	no := false
	w.set.DryRun, w.set.Notes = &no, config.NotesHook
	return w
}

func manifestPath(app string) string { return "apps/" + app + "/" + app + ".yaml" }

func deployment(name, image string) string {
	return fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata: {name: %s}
spec:
  replicas: 1
  selector: {matchLabels: {app: %s}}
  template:
    metadata: {labels: {app: %s}}
    spec: {containers: [{name: main, image: "%s"}]}
`, name, name, name, image)
}

// app adds an Application that follows main and deploys apps/NAME.
func (w *world) app(spec argosim.AppSpec) error {
	for i, s := range spec.Sources {
		if s.Chart == "" && s.TargetRevision == "" {
			spec.Sources[i].TargetRevision = "main"
		}
	}
	return w.sim.do(func(s *argosim.Sim) error { return s.AddApp(spec) })
}

// simple is an Application as most tests have it.
func simple(name string) argosim.AppSpec {
	return argosim.AppSpec{
		Name: name, Sources: []argosim.Source{{Path: "apps/" + name}},
		Automated: &argosim.Automated{SelfHeal: true}, Annotations: map[string]string{},
	}
}

// queue writes what post-receive would have written for a commit.
func (w *world) queue(commit, branch, by string) {
	w.append("watches", commit, verdict.Arrival{Commit: commit, Branch: branch, By: by, Host: "plain", At: w.now}.Line())
}

// append adds lines to a note, as git does it.
func (w *world) append(ref, object, line string) {
	w.srv.Git("notes", "--ref=nav/"+ref, "append", "-m", line, object)
}

// webhook tells the cluster of a push.
func (w *world) webhook(branch string) {
	w.sim.mu.Lock()
	defer w.sim.mu.Unlock()
	w.sim.sim.Webhook(branch)
}

// launch starts a daemon, as after a restart: only its mirror is kept.
func (w *world) launch(name string) error {
	set := w.setOf(name)
	e := env{environ: append(w.srv.Env(), w.env...), now: func() time.Time { return w.now }, stderr: &w.log}
	repo, rem, err := openMirror(w.ctx, e, set)
	if err != nil {
		return err
	}
	var r remote = &calmRemote{remote: rem, dir: w.srv.Dir}
	if w.between != nil {
		r = w.between(name, r)
	}
	log := slog.New(slog.NewTextHandler(&w.log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.String("at", w.now.Sub(w.start).String())
		}
		return a
	}}))
	look := w.reader
	if look == nil {
		look = w.sim
	}
	conf := daemonConfig(e, set, repo, r, cluster{"live", look}, log)
	conf.Notifier = &w.notices
	d, err := watchd.New(conf)
	if err != nil {
		return err
	}
	if was := w.daemons[name]; was != nil {
		was.repo.Close()
	} else {
		w.order = append(w.order, name)
	}
	w.daemons[name] = &daemonRun{d: d, repo: repo}
	w.sim.Between() // a new watch tells nothing of what was before
	return nil
}

// setOf are the settings of one daemon.
func (w *world) setOf(name string) config.Daemon {
	set := w.set
	set.Mirror = w.mirror(name)
	return set
}

func (w *world) mirror(name string) string { return filepath.Join(w.dir, "mirror-"+name+".git") }

// kill ends a daemon as a crash does.
func (w *world) kill(name string) {
	delete(w.daemons, name)
	for i, n := range w.order {
		if n == name {
			w.order = append(w.order[:i:i], w.order[i+1:]...)
		}
	}
}

// stop ends a daemon as SIGTERM does.
func (w *world) stop(name string) error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := w.daemons[name].d.Run(ctx)
	w.kill(name)
	return err
}

// forget deletes a daemon's mirror.
func (w *world) forget(name string) error { return os.RemoveAll(w.mirror(name)) }

// calmRemote fetches only when a ref of the server's repository has changed:
// most passes of a scenario would start half a dozen processes to learn nothing.
type calmRemote struct {
	remote
	dir  string
	seen string
	got  gitstore.RemoteRefs
}

func (c *calmRemote) Fetch(ctx context.Context) (gitstore.RemoteRefs, error) {
	now, err := refsOf(c.dir)
	if err != nil {
		return gitstore.RemoteRefs{}, err
	}
	if now == c.seen {
		return c.got, nil
	}
	got, err := c.remote.Fetch(ctx)
	if err == nil {
		c.seen, c.got = now, got
	}
	return got, err
}

// refsOf is everything that says which refs a repository has.
func refsOf(dir string) (string, error) {
	var b strings.Builder
	err := filepath.WalkDir(filepath.Join(dir, "refs"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".lock") {
			return err
		}
		data, err := os.ReadFile(path)
		fmt.Fprintf(&b, "%s %s", path, data)
		return err
	})
	for _, file := range []string{"HEAD", "packed-refs"} {
		data, _ := os.ReadFile(filepath.Join(dir, file)) // packed-refs need not be there
		b.Write(data)
	}
	return b.String(), err
}

// advance moves the clock to a time after the start, poll by poll: first the
// cluster goes on, then every daemon passes. The errors of passes come back
// together; the passes after them have been made all the same.
func (w *world) advance(to time.Duration) error {
	var errs []error
	for end := w.start.Add(to); w.now.Before(end); {
		w.now = w.now.Add(w.poll)
		if w.now.After(end) {
			w.now = end
		}
		errs = append(errs, w.pass())
	}
	return errors.Join(errs...)
}

// pass is one moment: the cluster goes on, and every daemon passes once.
func (w *world) pass() error {
	ctx := context.Background()
	if err := w.sim.do(func(s *argosim.Sim) error { return s.Tick(ctx, w.now) }); err != nil {
		return err
	}
	var errs []error
	for _, name := range w.order {
		if err := w.daemons[name].d.Pass(ctx); err != nil {
			w.daemons[name].errs = append(w.daemons[name].errs, err)
			errs = append(errs, fmt.Errorf("%s at %s: %w", name, w.now.Sub(w.start), err))
		}
	}
	return errors.Join(errs...)
}

// stanza reads a verdict as a person would, with git, from the server.
func (w *world) stanza(commit, app string) (verdict.State, error) {
	note, err := w.note(commit)
	if err != nil {
		return verdict.State{}, err
	}
	states, err := verdict.ParseNote(note)
	if err != nil {
		return verdict.State{}, fmt.Errorf("reading the note of %s: %w\n%s", commit, err, note)
	}
	for _, s := range states {
		if s.Watch.App.String() == app {
			return s, nil
		}
	}
	return verdict.State{}, fmt.Errorf("no stanza of %s in\n%s", app, note)
}

var errNoNote = errors.New("no verdict note")

func (w *world) note(commit string) ([]byte, error) {
	list, err := w.git("notes", "--ref=nav/verdicts", "list")
	if err != nil || !strings.Contains(list, " "+commit) {
		return nil, fmt.Errorf("%s: %w", commit, errNoNote)
	}
	out, err := w.git("notes", "--ref=nav/verdicts", "show", commit)
	return []byte(out), err
}

// git runs git in the server's repository.
func (w *world) git(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = w.srv.Dir, w.srv.Env()
	out, err := cmd.Output()
	return string(out), err
}

// reverts lists the commits of a branch that revert another, newest first.
func (w *world) reverts(branch string) ([]string, error) {
	out, err := w.git("log", "--format=%H", "--grep=^This reverts commit ", "refs/heads/"+branch)
	return strings.Fields(out), err
}
