package main

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd/manifest"
	"github.com/nav-watchdog/nav-watchdog/internal/argosim"
	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// buildBoth builds the two programs that people and servers run.
func buildBoth(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", bin, "github.com/nav-watchdog/nav-watchdog/cmd/navlint", "github.com/nav-watchdog/nav-watchdog/cmd/navhook")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	return bin
}

// rulePlay is one commit on its way: its author's clone, the server with the real
// hooks, and the watcher.
type rulePlay struct {
	*world
	t    *testing.T
	c    ruleCase
	bin  string
	work *navtest.Repo
}

const usualPolicy = "arm: {allow: [{apps: ['*'], by: ['*']}]}"

func newRulePlay(t *testing.T, bin string, c ruleCase) *rulePlay {
	t.Helper()
	policy := ""
	if keys := usualPolicy; c.policy != none {
		if c.policy != "" {
			keys = c.policy
		}
		policy = "version: 1\nrepositories: [" + deployURL + "]\n" + keys + "\n"
	}
	w := newWorld(t, t.TempDir(), policy, argosim.Options{Poll: 20 * time.Second, Image: fate}, "web", "api")
	p := &rulePlay{world: w, t: t, c: c, bin: bin}
	w.poll = 20 * time.Second
	w.set.Interval = w.poll
	// The programs have no other clock than the machine's, so the watcher began then.
	if c.reverted {
		c.age = revertTakes
	}
	w.start = time.Now().UTC().Truncate(time.Second).Add(-6*time.Minute - c.age)
	w.now = w.start
	for _, name := range []string{"web", "api"} {
		spec := simple(name)
		spec.Retry = &argosim.Retry{Limit: 0}
		p.must(w.app(spec))
	}
	if c.app != "" {
		w.sim.reshape = p.reshape
	}
	w.sim.around = p.around()
	me, err := user.Current()
	p.must(err)
	p.run(w.srv.Dir, filepath.Join(bin, "navhook"), "install", "--watcher", me.Username, w.srv.Dir)
	p.must(w.launch("d"))
	p.must(w.advance(340 * time.Second)) // the second inventory says how the apps stand
	if c.reverted {
		p.revertOne()
	}
	p.work = w.srv.Clone()
	p.work.Git("fetch", "-q", "origin", "+refs/notes/nav/*:refs/notes/nav/*")
	return p
}

// revertTakes is how long it takes that one is reverted, and that the inventory
// says so.
const revertTakes = 10 * time.Minute

func (p *rulePlay) revertOne() {
	p.t.Helper()
	p.srv.Clock = p.now
	p.srv.Commit(navtest.Commit{Branch: "main", Message: p.message(), Files: navtest.Files{manifestPath("web"): navtest.Text(deployment("web", "web:2.0.0-does-not-exist"))}})
	p.queue(p.srv.Tip("main"), "main", "somebody")
	p.webhook("main")
	p.must(p.advance(p.now.Sub(p.start) + revertTakes))
	if got, err := p.reverts("main"); err != nil || len(got) != 1 {
		p.t.Fatalf("%q, %v\n%s", got, err, p.log.String())
	}
}

func (p *rulePlay) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatalf("%v\n%s", err, p.log.String())
	}
}

// around are the objects of the case; an ImageUpdater means that the kind is
// known, as does a project, which the case gives beside annotations.
func (p *rulePlay) around() arming.Place {
	place := arming.Place{Whole: arming.Whole{Sets: true, Projects: true, Global: true, Updaters: verdict.No}}
	p.must(manifest.Find(&place, []byte(p.c.around)))
	if strings.Contains(p.c.around, "kind: ImageUpdater") || p.c.name == "nobody reads them" {
		place.Whole.Updaters = verdict.Yes
	}
	return place
}

// reshape shows the Application web as the case has it.
func (p *rulePlay) reshape(object []byte) []byte {
	var app, patch map[string]any
	if json.Unmarshal(object, &app) != nil || app["metadata"].(map[string]any)["name"] != "web" || yaml.Unmarshal([]byte(p.c.app), &patch) != nil {
		return object
	}
	merge(app, patch)
	out, err := json.Marshal(app)
	if err != nil {
		return object
	}
	return out
}

// merge is RFC 7386, a JSON merge patch.
func merge(into, patch map[string]any) {
	for key, value := range patch {
		below, nested := value.(map[string]any)
		there, has := into[key].(map[string]any)
		switch {
		case value == nil:
			delete(into, key)
		case nested && has:
			merge(there, below)
		default:
			into[key] = value
		}
	}
}

// run runs a program, which must pass.
func (p *rulePlay) run(dir string, args ...string) string {
	p.t.Helper()
	out, code := p.try(dir, args...)
	if code != 0 {
		p.t.Fatalf("%q: exit code %d\n%s", args, code, out)
	}
	return out
}

func (p *rulePlay) try(dir string, args ...string) (string, int) {
	p.t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, append(p.srv.Env(), "GORACE=atexit_sleep_ms=0")
	out, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		p.t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// commit makes the commit in the clone.
func (p *rulePlay) commit() string {
	p.t.Helper()
	files := map[string]string{manifestPath("web"): deployment("web", "web:1.2.3-does-not-exist")}
	if p.c.only {
		files = map[string]string{}
	}
	maps.Copy(files, p.c.files)
	return p.write(files, p.message())
}

func (p *rulePlay) message() string {
	fields := "app=web mode=arm deadline=60 reach=60 stable=30"
	if p.c.trailer != "" {
		fields = p.c.trailer
	}
	return "web: change\n\nNav-Watchdog: " + fields + "\n"
}

func (p *rulePlay) write(files map[string]string, message string) string {
	p.t.Helper()
	for name, text := range files {
		path := filepath.Join(p.work.Dir, name)
		p.must(os.MkdirAll(filepath.Dir(path), 0o777))
		p.must(os.WriteFile(path, []byte(text), 0o666))
	}
	p.work.Git("add", "-A")
	p.work.Git("commit", "-q", "-m", message)
	return p.work.Git("rev-parse", "HEAD")
}

// lintByInventory lints the commit as its author does, who has fetched the notes.
func (p *rulePlay) lintByInventory() {
	p.t.Helper()
	want := p.c.want
	if p.c.lint != "" {
		want = p.c.lint
	}
	p.lint("navlint by inventory", want, p.ruleOfInventory(), p.c.also)
}

func (p *rulePlay) ruleOfInventory() string {
	if p.c.inventory != "" {
		return p.c.inventory
	}
	return p.c.rule
}

func (p *rulePlay) lint(who, want string, rules ...string) {
	p.t.Helper()
	var report struct {
		Findings []struct{ Rule, Severity, Message string }
	}
	out, _ := p.try(p.work.Dir, filepath.Join(p.bin, "navlint"), "commits", "--format", "json", "--branch", "main", "HEAD~1..HEAD")
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		p.t.Fatalf("%s: %v\n%s", who, err, out)
	}
	found := map[string]string{}
	for _, f := range report.Findings {
		if found[f.Rule] != "error" {
			found[f.Rule] = f.Severity
		}
	}
	p.same(who, found, want, out, rules...)
}

// same holds what a place found of the first rule against what is wanted; nothing
// else refuses but the others.
func (p *rulePlay) same(who string, found map[string]string, want, out string, rules ...string) {
	p.t.Helper()
	rule := rules[0]
	rules = slices.DeleteFunc(slices.Sorted(slices.Values(rules)), func(r string) bool { return r == "" })
	errs := slices.DeleteFunc(slices.Sorted(maps.Keys(found)), func(r string) bool { return found[r] != "error" })
	if found[rule] != want || want == "error" && !slices.Equal(errs, rules) || want != "error" && len(errs) > 0 {
		p.t.Errorf("%s: %s is %q, want %q; errors are of %q\n%s", who, rule, found[rule], want, errs, out)
	}
}

// lintByTree lints the same commit on top of one that holds the Applications, in
// a clone that knows no inventory.
func (p *rulePlay) lintByTree() {
	p.t.Helper()
	want := p.c.want
	switch {
	case p.c.tree == none:
		return
	case p.c.lint != "":
		want = p.c.lint
	}
	commit := p.work.Git("rev-parse", "HEAD")
	p.work.Git("update-ref", "-d", "refs/notes/nav/status")
	p.work.Git("reset", "-q", "--hard", "HEAD~1")
	files := map[string]string{"argo/around.yaml": p.c.around}
	objects, err := p.sim.sim.List()
	p.must(err)
	for _, o := range objects {
		if p.c.app != "" {
			o = p.reshape(o)
		}
		var app map[string]any
		p.must(json.Unmarshal(o, &app))
		delete(app, "status")
		text, err := yaml.Marshal(app)
		p.must(err)
		files["argo/"+app["metadata"].(map[string]any)["name"].(string)+".yaml"] = string(text)
	}
	p.write(files, "manifests")
	p.work.Git("cherry-pick", commit)
	p.lint("navlint by manifests", want, p.c.rule)
	p.work.Git("reset", "-q", "--hard", commit)
}

// push pushes through the real hook, and then past it.
func (p *rulePlay) push() {
	p.t.Helper()
	out, code := p.try(p.work.Dir, "git", "push", "-q", "origin", "HEAD:main")
	found := map[string]string{}
	for _, m := range regexp.MustCompile(`(error|warning): .* \[([a-z-]+)\]`).FindAllStringSubmatch(out, -1) {
		if found[m[2]] != "error" {
			found[m[2]] = m[1]
		}
	}
	p.same("pre-receive", found, p.c.want, out, p.ruleOfInventory(), p.c.also)
	if (code != 0) != (p.c.want == "error") {
		p.t.Errorf("pre-receive: exit code %d\n%s", code, out)
	}
	if code != 0 {
		hook := filepath.Join(p.srv.Dir, "hooks", "pre-receive")
		p.must(os.Rename(hook, hook+".away"))
		p.run(p.work.Dir, "git", "push", "-q", "origin", "HEAD:main")
		p.must(os.Rename(hook+".away", hook))
	}
}

// judged lets the watcher judge the commit, which breaks the app.
func (p *rulePlay) judged(commit string) {
	p.t.Helper()
	p.webhook("main")
	p.must(p.advance(p.now.Sub(p.start) + 6*time.Minute))
	if p.c.gate == none {
		return
	}
	s, err := p.stanza(commit, "web")
	if err != nil {
		p.t.Fatalf("%v\n%s", err, p.log.String())
	}
	gate := p.c.gate
	if gate == "" {
		gate = "eligible"
	}
	if string(s.Verdict) == gate {
		return
	}
	i := slices.IndexFunc(s.Gates, func(g verdict.Gate) bool { return g.Name == gate })
	if i < 0 || s.Gates[i].Pass || gate == "eligible" && !strings.Contains(s.Gates[i].Why, p.c.rule) {
		p.t.Errorf("the watcher says %s (%s), held by %q; want it held by %s", s.Verdict, s.Reason, s.Held(), gate)
	}
}
