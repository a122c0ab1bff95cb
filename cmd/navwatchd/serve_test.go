package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
)

// process is a navwatchd that runs, from a file of its own.
type process struct {
	t    *testing.T
	dir  string
	srv  *navtest.Repo
	bin  string
	env  []string
	cmd  *exec.Cmd
	log  logBuffer
	done chan struct{}
}

// newProcess makes a repository, a folder of Applications and a copy of this
// program.
func newProcess(t *testing.T) *process {
	t.Helper()
	dir := t.TempDir()
	bare := filepath.Join(dir, "srv.git")
	navtest.Git(t, dir, "init", "-q", "--bare", "--template=", bare)
	p := &process{t: t, dir: dir, srv: navtest.At(t, bare), bin: filepath.Join(dir, "bin", "navwatchd")}
	p.srv.Put("first", navtest.Files{"a": navtest.Text("1")})
	p.env = append(p.srv.Env(), "HOME="+dir, "PATH="+filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, d := range []string{"bin", "apps", "others"} {
		p.must(os.Mkdir(filepath.Join(dir, d), 0o755))
		if d != "bin" {
			p.must(os.WriteFile(filepath.Join(dir, d, "web.yaml"),
				[]byte("apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: web, namespace: argocd}\n"), 0o600))
		}
	}
	p.install(nil)
	return p
}

func (p *process) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// install puts this program and some bytes that nobody reads where it is
// started from, in one step.
func (p *process) install(more []byte) {
	p.t.Helper()
	self, err := os.Executable()
	p.must(err)
	data, err := os.ReadFile(self)
	p.must(err)
	p.put(p.bin, append(data, more...), 0o755)
}

func (p *process) put(path string, data []byte, mode os.FileMode) {
	p.t.Helper()
	p.must(os.WriteFile(path+".new", data, mode))
	p.must(os.Rename(path+".new", path))
}

// start runs it with the arguments.
func (p *process) start(args ...string) {
	p.t.Helper()
	p.cmd = exec.Command(p.bin, append([]string{"run"}, args...)...)
	p.cmd.Dir, p.cmd.Env, p.cmd.Stderr = p.dir, p.env, &p.log
	p.must(p.cmd.Start())
	p.done = make(chan struct{})
	go func() {
		_ = p.cmd.Wait() // the state has it
		close(p.done)
	}()
	p.t.Cleanup(p.stop)
}

// stop ends it as a supervisor does.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	<-p.done
}

// until waits for what must come.
func (p *process) until(what string, done func() bool) {
	p.t.Helper()
	for end := time.Now().Add(time.Minute); !done(); time.Sleep(10 * time.Millisecond) {
		select {
		case <-p.done:
			if done() {
				return
			}
			p.t.Fatalf("it ended (%v) before %s:\n%s", p.cmd.ProcessState, what, p.log.String())
		default:
		}
		if time.Now().After(end) {
			p.t.Fatalf("%s did not come:\n%s\n%s", what, p.log.String(), p.status())
		}
	}
}

// logged waits until a text was logged n times.
func (p *process) logged(text string, n int) {
	p.t.Helper()
	p.until(fmt.Sprintf("%q, %d times", text, n), func() bool { return strings.Count(p.log.String(), text) >= n })
}

// status is the one on the server; empty if there is none.
func (p *process) status() string {
	cmd := exec.Command("git", "show", "refs/notes/nav/status:status.json")
	cmd.Dir, cmd.Env = p.srv.Dir, p.srv.Env()
	out, _ := cmd.Output()
	return string(out)
}

// says waits until the status on the server says a text, or does not.
func (p *process) says(text string, yes bool) {
	p.t.Helper()
	p.until(fmt.Sprintf("a status with %q: %v", text, yes), func() bool {
		s := p.status()
		return s != "" && strings.Contains(s, text) == yes
	})
}

func (p *process) digest() string {
	p.t.Helper()
	d, err := digestOf(p.bin)
	p.must(err)
	return d
}

// TestRunTakesSettings: a mounted ConfigMap changes by a symbolic link. What is
// broken is refused, in log and status, and the old settings stay; what is good
// is taken without a restart, another cluster too.
func TestRunTakesSettings(t *testing.T) {
	p := newProcess(t)
	mount := filepath.Join(p.dir, "config")
	p.must(os.Mkdir(mount, 0o755))
	n := 0
	mounted := func(more string) {
		t.Helper()
		n++
		version := filepath.Join(mount, fmt.Sprintf("..v%d", n))
		p.must(os.Mkdir(version, 0o755))
		p.must(os.WriteFile(filepath.Join(version, "navwatchd.yaml"),
			[]byte("repository: srv.git\nmirror: mirror.git\ninterval: 1s\n"+more), 0o644))
		p.must(os.Symlink(filepath.Base(version), filepath.Join(mount, "..new")))
		p.must(os.Rename(filepath.Join(mount, "..new"), filepath.Join(mount, "..data")))
	}
	mounted("source: {folder: apps}\ndry-run: true\n")
	p.must(os.Symlink("..data/navwatchd.yaml", filepath.Join(mount, "navwatchd.yaml")))
	p.start("--config", filepath.Join(mount, "navwatchd.yaml"))
	p.logged("first pass done", 1)
	first := p.status()

	mounted("source: {folder: apps}\ndry-run: maybe\n")
	p.says("the new settings are refused, the old ones stay", true)
	p.logged("dry-run must be true or false", 1)
	if watcher := keyOf(t, p.status(), "watcher"); watcher != keyOf(t, first, "watcher") {
		t.Errorf("refused, and now it is %s", watcher)
	}

	mounted("source: {folder: nowhere}\ndry-run: true\nstatus-interval: 60\nlisten: \"999.0.0.1:1\"\n")
	p.logged("serving metrics and health: ", 1) // cannot listen there

	mounted("source: {folder: apps}\ndry-run: true\nstatus-interval: 60\n")
	p.logged("settings changed", 1)
	p.says("refused", false)
	if now := keyOf(t, p.status(), "watcher"); now == keyOf(t, first, "watcher") {
		t.Errorf("the status still names the old settings: %s", now)
	}
	if strings.Count(p.log.String(), "first pass done") != 1 {
		t.Errorf("it began anew for a setting that can change in place:\n%s", p.log.String())
	}

	mounted("source: {folder: others}\ndry-run: true\nnotes: hook\n")
	p.logged("first pass done", 2)
}

func keyOf(t *testing.T, status, key string) string {
	t.Helper()
	var s map[string]any
	if err := json.Unmarshal([]byte(status), &s); err != nil {
		t.Fatalf("%v in %q", err, status)
	}
	return fmt.Sprint(s[key])
}

func (p *process) run(more ...string) {
	p.t.Helper()
	p.start(append([]string{"--repository", "srv.git", "--mirror", "mirror.git", "--folder", "apps", "--dry-run", "--interval", "1s"}, more...)...)
	p.logged("first pass done", 1)
}

// TestRunUpdated: the file of the program was replaced; the same process goes on
// with the new one. Neither a touched file nor one that does not start counts.
func TestRunUpdated(t *testing.T) {
	p := newProcess(t)
	p.run()
	old := p.digest()
	p.says(old, true)
	p.must(os.Chtimes(p.bin, time.Time{}, time.Now().Add(time.Hour)))
	p.put(p.bin, []byte("half a program"), 0o755)
	p.says("replaced by one that does not start", true)
	p.says(old, true)
	p.must(os.Remove(p.bin))
	p.says("the file of this program: ", true)
	if n := strings.Count(p.log.String(), "first pass done"); n != 1 {
		t.Errorf("it began %d times:\n%s", n, p.log.String())
	}
	p.install([]byte("new"))
	p.logged("first pass done", 2)
	p.says(p.digest(), true)
	if old == p.digest() || !strings.Contains(p.log.String(), "on_update=exec") {
		t.Errorf("the new one is the old one:\n%s", p.log.String())
	}
	p.install([]byte("newer")) // this time the old one has asked git much
	p.logged("first pass done", 3)
	select {
	case <-p.done:
		t.Errorf("the process ended: %v", p.cmd.ProcessState)
	default:
	}
	p.until("an end of processes for which nobody waits", func() bool { return !p.leaves() })
}

// leaves reports whether a child of the process has ended and was not waited for,
// where the system tells (Linux).
func (p *process) leaves() bool {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	p.must(err)
	for _, stat := range stats {
		data, _ := os.ReadFile(stat) // it may be gone
		var pid, parent int
		var name, state string
		_, _ = fmt.Sscan(string(data), &pid, &name, &state, &parent)
		if state == "Z" && parent == p.cmd.Process.Pid {
			return true
		}
	}
	return false
}

// TestRunLinkUpdated: a link that is set to another program is an update, too.
func TestRunLinkUpdated(t *testing.T) {
	p := newProcess(t)
	v1, v2 := p.bin+"-1", p.bin+"-2"
	p.must(os.Rename(p.bin, v1))
	p.install([]byte("new"))
	p.must(os.Rename(p.bin, v2))
	p.must(os.Symlink(v1, p.bin))
	p.run()
	p.must(os.Symlink(v2, p.bin+".link"))
	p.must(os.Rename(p.bin+".link", p.bin))
	p.logged("first pass done", 2)
	p.says(p.digest(), true)
}

func TestRunUpdatedExits(t *testing.T) {
	p := newProcess(t)
	p.run("--on-update", "exit")
	p.install([]byte("new"))
	p.until("the end", func() bool {
		select {
		case <-p.done:
			return true
		default:
			return false
		}
	})
	if code := p.cmd.ProcessState.ExitCode(); code != exitUpdated {
		t.Errorf("it ended with %d, want %d:\n%s", code, exitUpdated, p.log.String())
	}
}

func TestRunUpdatedIgnores(t *testing.T) {
	p := newProcess(t)
	p.run("--on-update", "ignore")
	p.install([]byte("new"))
	p.says("the old code still runs (on-update: ignore)", true)
	p.install(nil)
	p.says("the old code", false)
	if n := strings.Count(p.log.String(), "first pass done"); n != 1 {
		t.Errorf("it began %d times:\n%s", n, p.log.String())
	}
}

// TestNoSecrets: a token in the address, one in the environment, the webhook's
// key and what stands in its address show up nowhere: not in log, notes, status,
// notices, metrics or probes; neither while all is well nor while it is not.
func TestNoSecrets(t *testing.T) {
	const token, fromEnv, key, path = "tok3n-in-url", "tok3n-in-env", "s3cret-key", "s3cret-path"
	p := newProcess(t)
	var broken atomic.Bool
	git := gitOverHTTP(t, p, token, &broken)
	var mu sync.Mutex
	var sent bytes.Buffer
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = io.Copy(&sent, r.Body)
		if r.URL.Path == "/alive/"+path {
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	defer hook.Close()
	refuse := filepath.Join(p.srv.Dir, "hooks", "update")
	p.must(os.MkdirAll(filepath.Dir(refuse), 0o755))
	p.must(os.WriteFile(refuse, []byte("#!/bin/sh\necho \"no: $0 https://u:"+token+"@h/\" >&2\nexit 1\n"), 0o755))
	p.env = append(p.env, "GIT_TOKEN="+fromEnv, "WEBHOOK_SECRET="+key, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=http.extraHeader", "GIT_CONFIG_VALUE_0=X-Token: "+fromEnv)
	p.start("--repository", strings.Replace(git.URL, "://", "://bot:"+token+"@", 1)+"/srv.git", "--mirror", "mirror.git", "--folder", "apps", "--dry-run",
		"--interval", "1s", "--webhook", hook.URL+"/hook/"+path, "--alive-url", hook.URL+"/alive/"+path, "--listen", "127.0.0.1:0", "--log-level", "debug")
	p.logged("notice sent", 1)
	seen := p.log.String() + p.pages()
	p.must(os.Remove(refuse))
	p.logged("first pass done", 1)
	p.logged("dead man's switch", 1)
	seen += p.pages() + p.status()
	broken.Store(true)
	p.logged("pass failed", 2)
	seen += p.pages()
	p.stop()
	mu.Lock()
	seen += p.log.String() + p.status() + sent.String() + p.srv.Git("for-each-ref", "--format=%(contents)")
	mu.Unlock()
	for _, must := range []string{"notes-refused", "navwatchd_notices_total", "repository", "sha256:"} {
		if !strings.Contains(seen, must) {
			t.Errorf("%q is nowhere, so this test looks at the wrong things", must)
		}
	}
	for _, secret := range []string{token, fromEnv, key, path} {
		if i := strings.Index(seen, secret); i >= 0 {
			t.Errorf("%s shows up: ...%s...", secret, seen[max(0, i-300):min(len(seen), i+100)])
		}
	}
}

// pages are everything that is served.
func (p *process) pages() string {
	p.t.Helper()
	_, after, ok := strings.Cut(p.log.String(), `msg="serving metrics and health" address=`)
	if !ok {
		p.t.Fatalf("it serves nothing:\n%s", p.log.String())
	}
	address, _, _ := strings.Cut(after, "\n")
	all := ""
	for _, page := range []string{"/metrics", "/healthz", "/readyz"} {
		resp, err := http.Get("http://" + strings.Trim(address, `"`) + page)
		p.must(err)
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close() // it was read
		p.must(err)
		all += fmt.Sprintf("%s %d\n%s\n", page, resp.StatusCode, body)
	}
	return all
}

// gitOverHTTP serves the folder with git's own http-backend to who knows the
// token, and echoes what it was sent once it is broken.
func gitOverHTTP(t *testing.T, p *process, token string, broken *atomic.Bool) *httptest.Server {
	t.Helper()
	execPath := strings.TrimSpace(p.srv.Git("--exec-path"))
	p.srv.Git("config", "http.receivepack", "true")
	backend := &cgi.Handler{Path: filepath.Join(execPath, "git-http-backend"), Dir: p.dir, Stderr: io.Discard,
		Env: append(p.srv.Env(), "GIT_PROJECT_ROOT="+p.dir, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=bot")}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if broken.Load() {
			http.Error(w, "broken for "+r.Header.Get("X-Token"), http.StatusInternalServerError)
			return
		}
		if _, password, _ := r.BasicAuth(); password != token {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		backend.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	return srv
}
