package argosim_test

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/argosim"
)

// memory is a repository of one branch that is only ever written to.
type memory struct {
	branches map[string]string
	commits  map[string]map[string]string
	order    []string // as they were pushed
	broken   error    // what both methods answer
}

func newMemory() *memory {
	return &memory{branches: map[string]string{}, commits: map[string]map[string]string{}}
}

// push commits files on top of a branch; an empty content deletes one.
func (m *memory) push(branch string, files map[string]string) string {
	next := maps.Clone(m.commits[m.branches[branch]])
	if next == nil {
		next = map[string]string{}
	}
	for name, content := range files {
		if next[name] = content; content == "" {
			delete(next, name)
		}
	}
	id := fmt.Sprintf("%x", sha1.Sum(fmt.Append(nil, branch, len(m.commits), next)))
	m.commits[id], m.branches[branch], m.order = next, id, append(m.order, id)
	return id
}

func (m *memory) Resolve(_ context.Context, rev string) (string, error) {
	if m.broken != nil {
		return "", m.broken
	}
	if rev == "HEAD" {
		rev = "main"
	}
	if id, ok := m.branches[rev]; ok {
		return id, nil
	}
	if _, ok := m.commits[rev]; ok {
		return rev, nil
	}
	return "", fmt.Errorf("resolving %q: %w", rev, argosim.ErrUnknownRevision)
}

func (m *memory) Files(_ context.Context, commit, dir string) (map[string][]byte, error) {
	if m.broken != nil {
		return nil, m.broken
	}
	out := map[string][]byte{}
	for name, content := range m.commits[commit] {
		if dir == "" {
			out[name] = []byte(content)
		} else if rest, ok := strings.CutPrefix(name, dir+"/"); ok {
			out[rest] = []byte(content)
		}
	}
	return out, nil
}

// load reads the commits of a recorded repository, oldest first, through git.
func (m *memory) load(t *testing.T, name string) []string {
	t.Helper()
	dir := t.TempDir()
	bundle, err := filepath.Abs(filepath.Join("..", "..", "testdata", "timelines", name+".bundle"))
	if err != nil {
		t.Fatal(err)
	}
	git := func(args ...string) []byte {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C"}
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %s: %v", args, err)
		}
		return out
	}
	git("clone", "-q", "--bare", bundle, ".")
	ids := strings.Fields(string(git("log", "--reverse", "--format=%H", "main")))
	for _, id := range ids {
		m.commits[id] = map[string]string{}
		files := tar.NewReader(bytes.NewReader(git("archive", "--format=tar", id)))
		for {
			header, err := files.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if header.Typeflag != tar.TypeReg {
				continue
			}
			content, err := io.ReadAll(files)
			if err != nil {
				t.Fatal(err)
			}
			m.commits[id][header.Name] = string(content)
		}
	}
	return ids
}

// deploy pushes and lets the webhook of the Git server tell Argo CD.
func (sc *scene) deploy(files map[string]string) string {
	sc.t.Helper()
	id := sc.tree.push("main", files)
	for _, data := range sc.Applications() {
		st, err := argosim.ReadState(data)
		sc.must(err)
		sc.must(sc.Refresh(st.App.String()))
	}
	sc.run(10 * time.Second)
	return id
}

// scene is a simulator with all that it ever showed.
type scene struct {
	*argosim.Sim
	t     *testing.T
	tree  *memory
	start time.Time
	at    time.Duration
	seen  [][]byte
	times []time.Time
	gone  [][]byte
}

func newScene(t *testing.T, o argosim.Options) *scene {
	t.Helper()
	sc := &scene{t: t, tree: newMemory(), start: time.Date(2026, 11, 29, 15, 0, 0, 0, time.UTC)}
	o.OnChange = func(at time.Time, object []byte) {
		sc.seen, sc.times = append(sc.seen, object), append(sc.times, at)
	}
	o.OnDelete = func(_ time.Time, object []byte) { sc.gone = append(sc.gone, object) }
	sc.Sim = argosim.New(sc.tree, o)
	return sc
}

// run lets the time pass, a second a Tick.
func (sc *scene) run(d time.Duration) {
	sc.t.Helper()
	for end := sc.at + d; ; sc.at += min(time.Second, end-sc.at) {
		if err := sc.Tick(context.Background(), sc.start.Add(sc.at)); err != nil {
			sc.t.Fatal(err)
		}
		if sc.at == end {
			return
		}
	}
}

func (sc *scene) must(err error) {
	sc.t.Helper()
	if err != nil {
		sc.t.Fatal(err)
	}
}

// state is what an Application shows now; log everything it showed since mark.
func (sc *scene) state(app string) argosim.State {
	sc.t.Helper()
	st, err := sc.State(app)
	sc.must(err)
	return st
}

func (sc *scene) mark() int { return len(sc.seen) }

// story is the collapsed sequence of states since mark.
func (sc *scene) story(mark int) []string {
	sc.t.Helper()
	return story(sc.t, sc.seen[mark:])
}

// object is the full object, as a reader would decode it.
func (sc *scene) object(app string) map[string]any {
	sc.t.Helper()
	want := sc.state(app).App
	for _, data := range sc.Applications() {
		var o map[string]any
		sc.must(json.Unmarshal(data, &o))
		if meta := o["metadata"].(map[string]any); meta["name"] == want.Name && meta["namespace"] == want.Namespace {
			return o
		}
	}
	sc.t.Fatalf("no object %s", want)
	return nil
}

// at walks into a decoded object; numbers index lists.
func at(o any, path ...any) any {
	for _, p := range path {
		switch key := p.(type) {
		case string:
			m, _ := o.(map[string]any)
			o = m[key]
		case int:
			l, _ := o.([]any)
			if key >= len(l) {
				return nil
			}
			o = l[key]
		}
	}
	return o
}

// deployment and its relatives are manifests in the recordings' form.
func deployment(image string) string {
	return `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 1
  progressDeadlineSeconds: 20
  selector:
    matchLabels: &id001
      app: web
  template:
    metadata:
      labels: *id001
    spec:
      nodeName: kwok-node-0
      containers:
      - name: c
        image: registry.example/` + image + "\n"
}

const settings = `apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
data:
  a: '1'
`

func docs(parts ...string) string { return strings.Join(parts, "---\n") }

// expect compares what an Application shows now with a line in words; c1, c2
// are the commits in the order in which they were pushed.
func (sc *scene) expect(app, want string) {
	sc.t.Helper()
	got := sc.state(app).String()
	_, got, _ = strings.Cut(got, ": ")
	for i, id := range sc.tree.order {
		got = strings.ReplaceAll(got, id[:12], fmt.Sprintf("c%d", i+1))
	}
	if got != want {
		sc.t.Errorf("%s at %s:\n got %s\nwant %s", app, sc.at, got, want)
	}
}

// auto is an Application with auto-sync and self-heal on path app/NAME.
func auto(name string) argosim.AppSpec {
	return argosim.AppSpec{
		Name: name, Automated: &argosim.Automated{SelfHeal: true},
		Sources: []argosim.Source{{Path: "app", TargetRevision: "main"}},
	}
}

// healthyWeb is a scene in which the Application web runs web:1 and settings.
func healthyWeb(t *testing.T, o argosim.Options, change func(*argosim.AppSpec)) *scene {
	t.Helper()
	sc := newScene(t, o)
	sc.tree.push("main", map[string]string{"app/web.yaml": docs(deployment("web:1"), settings)})
	spec := auto("web")
	if change != nil {
		change(&spec)
	}
	sc.must(sc.AddApp(spec))
	sc.run(10 * time.Second)
	sc.expect("web", "Succeeded result finished | Synced c1 Healthy history=1")
	return sc
}
