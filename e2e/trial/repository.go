// Package trial is one repository on a server under test: people push to it, a
// simulated Argo CD deploys from it, and navwatchd watches it.
package trial

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/e2e/people"
	"github.com/nav-watchdog/nav-watchdog/e2e/simulator"
	"github.com/nav-watchdog/nav-watchdog/e2e/watcher"
)

// The three users: one who changes things, the owner of repository and policy,
// and the watcher.
const (
	Alice = "alice"
	Olga  = "olga"
	Nav   = "nav-watchdog"
)

// Repository is a repository on a server.
type Repository struct {
	Bare string // on the server's disk
	Dir  string // of what the test needs beside it
	// Login is the address for a person, and the environment that logs in.
	Login  func(who, how string) (address string, env []string)
	How    string // the watcher's way: http, ssh
	Watchd string // the program
	T      *testing.T
}

// Policy lets alice arm everything; times are those of a test, and the circuit
// is wide.
const Policy = `version: 1
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

// Good is a message that asks for a watch.
const Good = "web 2\n\nNav-Watchdog: app=web deadline=60"

// Begin puts a policy and apps that run, with the manifests of their
// Applications, into an empty repository, whose hooks navhook then installs with
// the flags of its host.
func (r *Repository) Begin(t *testing.T, navhook string, flags []string, apps ...string) {
	t.Helper()
	r.T = t
	c := r.Clone(Olga, r.How)
	address, _ := r.Login(Nav, r.How)
	files := map[string]string{".nav-watchdog.yaml": fmt.Sprintf("%srepositories: [%q]\n", Policy, address)}
	for _, app := range apps {
		files["applications/"+app+".yaml"] = Application(app, address, "https://kubernetes.default.svc")
		files["apps/"+app+"/deployment.yaml"] = simulator.Deployment(app, app+":1")
	}
	_, err := c.Commit(t.Context(), "first", files)
	r.Check(err)
	r.Push(c, "main")
	args := append(append([]string{"install"}, flags...), "--watcher", Nav, r.Bare)
	if out, err := exec.CommandContext(t.Context(), navhook, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// Application is the manifest of an Application that deploys apps/NAME.
func Application(app, address, cluster string) string {
	return fmt.Sprintf(`apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: %[1]s, namespace: argocd}
spec:
  project: default
  source: {repoURL: %[2]q, path: apps/%[1]s, targetRevision: main}
  destination: {server: %[3]q, namespace: demo}
  syncPolicy: {automated: {selfHeal: true}}
`, app, address, cluster)
}

// Check ends the test on an error.
func (r *Repository) Check(errs ...error) {
	r.T.Helper()
	for _, err := range errs {
		if err != nil {
			r.T.Fatal(err)
		}
	}
}

// Clone is a person's clone.
func (r *Repository) Clone(who, how string) *people.Clone {
	r.T.Helper()
	address, login := r.Login(who, how)
	dir, err := os.MkdirTemp(r.Dir, who+"-")
	r.Check(err)
	c, err := people.New(r.T.Context(), dir, who, address, login...)
	r.Check(err)
	return c
}

// Push pushes, and returns what the pusher reads.
func (r *Repository) Push(c *people.Clone, refs ...string) string {
	r.T.Helper()
	out, err := c.Git(r.T.Context(), append([]string{"push", "origin"}, refs...)...)
	if err != nil {
		r.T.Fatalf("%v\n%s", err, out)
	}
	return out
}

// Refused pushes what must be refused, and returns what the pusher reads.
func (r *Repository) Refused(c *people.Clone, refs ...string) string {
	r.T.Helper()
	before := r.Server("for-each-ref")
	out, err := c.Git(r.T.Context(), append([]string{"push", "origin"}, refs...)...)
	if err == nil {
		r.T.Fatalf("the push of %v is not refused:\n%s", refs, out)
	}
	if after := r.Server("for-each-ref"); after != before {
		r.T.Fatalf("refs moved:\n%s\nwere:\n%s", after, before)
	}
	return out
}

// AddNote adds lines to a note in a clone, as the server has it, and returns
// the ref to push.
func (r *Repository) AddNote(c *people.Clone, ref, commit, text string) string {
	r.T.Helper()
	_, err := c.Git(r.T.Context(), "fetch", "--quiet", "origin", "+refs/notes/nav/*:refs/notes/nav/*")
	r.Check(err)
	_, err = c.Git(r.T.Context(), "notes", "--ref="+ref, "append", "-m", text, commit)
	r.Check(err)
	return "refs/notes/" + ref
}

// Server runs git on the server.
func (r *Repository) Server(args ...string) string {
	r.T.Helper()
	cmd := exec.CommandContext(r.T.Context(), "git", append([]string{"-c", "safe.directory=*"}, args...)...)
	cmd.Dir = r.Bare
	cmd.Env = append(os.Environ(), "GIT_DIR="+r.Bare)
	out, err := cmd.Output()
	if err != nil {
		r.T.Fatalf("running git %v on the server: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

// Note is a note on the server; empty if there is none.
func (r *Repository) Note(ref, commit string) string {
	cmd := exec.CommandContext(r.T.Context(), "git", "notes", "--ref="+ref, "show", commit)
	cmd.Dir = r.Bare
	cmd.Env = append(os.Environ(), "GIT_DIR="+r.Bare)
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return string(out)
}

// Verdict waits until the note of a commit holds all texts.
func (r *Repository) Verdict(w *watcher.Watcher, commit string, texts ...string) string {
	r.T.Helper()
	note := ""
	holds := func() bool {
		note = r.Note("nav/verdicts", commit)
		for _, text := range texts {
			if !strings.Contains(note, text) {
				return false
			}
		}
		return true
	}
	for end := time.Now().Add(4 * time.Minute); !holds(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			r.T.Fatalf("waited too long for %q in\n%s\n%s", texts, note, w.Text())
		}
		if err := w.Running(); err != nil {
			r.T.Fatalf("%v\n%s", err, w.Text())
		}
	}
	return note
}

// Deploy starts a simulated Argo CD for apps of the repository.
func (r *Repository) Deploy(apps ...string) *simulator.Simulator {
	r.T.Helper()
	address, _ := r.Login(Nav, r.How)
	s, err := simulator.Start(context.Background(), filepath.Join(r.Dir, "simulator"), r.Bare, address, apps...)
	r.Check(err)
	r.T.Cleanup(func() {
		if err := s.Stop(); err != nil {
			r.T.Errorf("the simulator: %v", err)
		}
	})
	for _, app := range apps {
		r.Check(s.Await(r.T.Context(), app, "Synced", "Healthy"))
	}
	return s
}

// Reverting are the settings of a watcher that reads a folder and may revert.
func Reverting(s *simulator.Simulator) string {
	return fmt.Sprintf("dry-run: false\nsource: {folder: %s}\n", s.Folder)
}

// Watch starts navwatchd, which logs in by login or else as a person does.
func (r *Repository) Watch(settings string, login []string) *watcher.Watcher {
	r.T.Helper()
	w := r.NewWatcher(settings, login)
	r.Check(w.Start())
	r.T.Cleanup(w.Stop)
	r.Check(w.Await(r.T.Context()))
	return w
}

// NewWatcher is Watch without a start.
func (r *Repository) NewWatcher(settings string, login []string) *watcher.Watcher {
	r.T.Helper()
	address, own := r.Login(Nav, r.How)
	if login == nil {
		login = own
	}
	w, err := watcher.New(watcher.Options{
		Bin: r.Watchd, Dir: filepath.Join(r.Dir, "watcher"), Name: Nav,
		Repository: address, Settings: settings, Env: login,
	})
	r.Check(err)
	return w
}

// Reverts lists the commits on main that revert a commit.
func (r *Repository) Reverts(commit string) []string {
	return strings.Fields(r.Server("log", "--format=%H", "--fixed-strings", "--grep=This reverts commit "+commit, "main"))
}

// Bad commits an image that is never pulled, with an armed watch, and pushes
// it.
func (r *Repository) Bad(c *people.Clone, app string) string {
	r.T.Helper()
	r.Check(c.Pull(r.T.Context(), "main"))
	commit, err := c.Commit(r.T.Context(), "break "+app+"\n\nNav-Watchdog: app="+app+" deadline=5 reach=120 stable=2 mode=arm",
		map[string]string{"apps/" + app + "/deployment.yaml": simulator.Deployment(app, app+":does-not-exist")})
	r.Check(err)
	r.Push(c, "main")
	return commit
}

// Wants fails if a text lacks something.
func Wants(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%s lacks %q:\n%s", what, p, text)
		}
	}
}
