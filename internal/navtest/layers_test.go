package navtest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/nav-watchdog/nav-watchdog"

// listed is what `go list` says of a package of ours.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	Imports, Deps   []string
}

func (p listed) name() string { return strings.TrimPrefix(p.ImportPath, module+"/") }

// kind is a floor of the house (design, section 2).
type kind string

const (
	wiring  kind = "wiring"
	shell   kind = "shell"
	pure    kind = "pure"
	adapter kind = "adapter"
	plain   kind = "plain" // exit, hooks, navtest: belongs to no floor
)

// room is a row of the import table. It holds for the package and, where a
// package below it has no row of its own, for that too.
type room struct {
	kind  kind
	third []string // what it may import of others, by prefix
}

func rooms() map[string]room {
	cli, yaml, retry := "github.com/urfave/cli/v2", "gopkg.in/yaml.v3", "github.com/hashicorp/go-retryablehttp"
	return map[string]room{
		"cmd/navlint": {wiring, []string{cli}}, "cmd/navhook": {wiring, []string{cli}}, "cmd/navwatchd": {wiring, []string{cli, "github.com/prometheus/client_golang"}},
		"internal/lint": {shell, nil}, "internal/hook": {shell, nil}, "internal/watchd": {shell, nil}, "internal/drill": {shell, nil},
		"pkg/trailer": {pure, nil}, "pkg/verdict": {pure, nil}, "internal/arming": {pure, nil}, "internal/config": {pure, []string{yaml}},
		"internal/gitstore": {adapter, nil}, "internal/gitstore/gogit": {adapter, []string{"github.com/go-git"}},
		"internal/argocd": {adapter, nil}, "internal/argocd/kube": {adapter, []string{"k8s.io"}}, "internal/argocd/api": {adapter, []string{retry}},
		"internal/argocd/folder": {adapter, []string{yaml}}, "internal/argocd/manifest": {adapter, []string{yaml}},
		"internal/argosim": {adapter, []string{yaml}}, "internal/forge": {adapter, []string{retry}}, "internal/notify": {adapter, []string{retry}},
		"internal/exit": {plain, []string{cli}}, "internal/navtest": {plain, nil}, "hooks": {plain, nil},
		"internal/navtest/pushbench":  {wiring, nil}, // make bench: a command that nobody installs
		"internal/navtest/lintbench":  {wiring, nil}, // the same
		"internal/navtest/storebench": {wiring, nil}, // the same
		"internal/navtest/measure":    {plain, nil},  // what they have in common
	}
}

// roomOf finds the row of a package; the second result is the row's name.
func roomOf(name string) (room, string) {
	table := rooms()
	for at := name; at != "."; at = filepath.Dir(at) {
		if r, ok := table[at]; ok {
			return r, at
		}
	}
	return room{}, ""
}

// family is the adapter that a package belongs to: argocd/kube may use argocd.
func family(name string) string {
	parts := strings.Split(name, "/")
	return strings.Join(parts[:min(2, len(parts))], "/")
}

// linkBan is something that a binary must not even link, with the reason.
type linkBan struct{ binary, prefix, reason string }

func linkBans() []linkBan {
	return []linkBan{
		{"cmd/navlint", "k8s.io/", "a developer's tool asks no cluster, and client-go triples its size"},
		{"cmd/navhook", "k8s.io/", "a hook asks no cluster, and its start-up counts"},
		{"cmd/navhook", "github.com/go-git/", "its start-up counts, and go-git cannot see a quarantined push"},
	}
}

// breaches holds one package against the table.
func breaches(p listed) []string {
	var out []string
	say := func(format string, args ...any) {
		out = append(out, p.name()+": "+fmt.Sprintf(format, args...))
	}
	r, row := roomOf(p.name())
	if row == "" {
		say("has no row in the import table: design section 2 says which rooms there are")
		return out
	}
	for _, word := range []string{"util", "utils", "common", "helpers", "types", "models"} {
		if slices.Contains(strings.Split(p.name(), "/"), word) {
			say("a package is named after what it is about, and %q says nothing", word)
		}
	}
	for _, imp := range p.Imports {
		if reason := banned(p.name(), r, imp); reason != "" {
			say("imports %s: %s", strings.TrimPrefix(imp, module+"/"), reason)
		}
	}
	for _, ban := range linkBans() {
		for _, dep := range p.Deps {
			if ban.binary == p.name() && strings.HasPrefix(dep, ban.prefix) {
				say("links %s: %s", dep, ban.reason)
				break
			}
		}
	}
	return out
}

// banned gives the reason why a package may not import another; "" is may.
func banned(name string, r room, imp string) string {
	ours, isOurs := strings.CutPrefix(imp, module+"/")
	switch {
	case isOurs:
		return bannedOurs(name, r, ours)
	case strings.Contains(strings.Split(imp, "/")[0], "."):
		for _, ok := range r.third {
			if imp == ok || strings.HasPrefix(imp, ok+"/") {
				return ""
			}
		}
		return "the table gives this room no such third party"
	case r.kind == pure:
		for _, std := range []string{"os", "net", "log", "syscall", "os/exec"} {
			if imp == std || strings.HasPrefix(imp, std+"/") {
				return "the pure floor touches nothing: no files, no network, no log"
			}
		}
	}
	return ""
}

func bannedOurs(name string, r room, ours string) string {
	target, _ := roomOf(ours)
	switch {
	case ours == "internal/navtest":
		return "it is for tests only"
	case target.kind == wiring:
		return "nothing imports a command"
	case strings.HasPrefix(name, "pkg/"):
		return "pkg/trailer and pkg/verdict import nothing of ours, not even each other, so that others can use them"
	case r.kind == pure && target.kind != pure:
		return "the pure floor imports the pure floor only"
	case r.kind == shell && target.kind == adapter:
		return "a shell says in an interface of its own what it needs; cmd/*/app.go brings the two together"
	case r.kind == adapter && target.kind == shell:
		return "an adapter must not know who uses it"
	case r.kind == adapter && target.kind == adapter && family(name) != family(ours):
		return "adapters do not know one another"
	case r.kind == plain && target.kind != plain:
		return "what belongs to no floor depends on none"
	}
	return ""
}

// calls that a floor must not make, as "package.Name", with the reason. An
// empty result: it may.
func bannedCall(k kind, call string) string {
	switch call {
	case "time.Now", "time.Since", "time.Until", "time.Sleep", "time.After", "time.AfterFunc", "time.NewTimer", "time.NewTicker", "time.Tick":
		clock := slices.Contains([]string{"time.Now", "time.Since", "time.Until"}, call)
		if k == pure || (k == shell && clock) {
			return "time is an argument; the clock is read in cmd/*/main.go"
		}
	case "os.Exit", "log.Fatal", "log.Fatalf", "log.Fatalln":
		if k != wiring {
			return "only main ends the process: elsewhere deferred work would be lost"
		}
	case "panic":
		return "what can go wrong is an error"
	}
	return ""
}

// callBreaches reads the sources of a package for calls, and for init.
func callBreaches(k kind, name, path string, src any) ([]string, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, src, 0)
	if err != nil {
		return nil, err
	}
	var out []string
	say := func(at token.Pos, what, reason string) {
		out = append(out, fmt.Sprintf("%s: %s:%d: %s: %s", name, filepath.Base(path), fset.Position(at).Line, what, reason))
	}
	imported := map[string]bool{}
	for _, imp := range file.Imports {
		imported[strings.Trim(imp.Path.Value, `"`)] = imp.Name == nil
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr: // also where the function is only handed on
			if x, ok := n.X.(*ast.Ident); ok && imported[x.Name] {
				if reason := bannedCall(k, x.Name+"."+n.Sel.Name); reason != "" {
					say(n.Pos(), x.Name+"."+n.Sel.Name, reason)
				}
			}
		case *ast.CallExpr:
			if x, ok := n.Fun.(*ast.Ident); ok {
				if reason := bannedCall(k, x.Name); reason != "" {
					say(n.Pos(), x.Name, reason)
				}
			}
		case *ast.FuncDecl:
			if n.Name.Name == "init" && n.Recv == nil {
				say(n.Pos(), "func init", "nothing happens before main")
			}
		}
		return true
	})
	return out, nil
}

func packages(t *testing.T) []listed {
	t.Helper()
	// -e: a room that somebody is still building must not hide the others.
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,GoFiles,Imports,Deps", "./...")
	cmd.Dir = top(t)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// top is the folder of go.mod.
func top(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	for err == nil {
		if _, statErr := os.Stat(filepath.Join(dir, "go.mod")); statErr == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	t.Fatalf("no go.mod above the test: %v", err)
	return ""
}

func TestLayers(t *testing.T) {
	all := packages(t)
	if len(all) == 0 {
		t.Fatal("go list names no package")
	}
	for _, p := range all {
		for _, b := range breaches(p) {
			t.Error(b)
		}
		r, _ := roomOf(p.name())
		for _, f := range p.GoFiles {
			found, err := callBreaches(r.kind, p.name(), filepath.Join(p.Dir, f), nil)
			if err != nil { // the compiler says it better
				t.Logf("%s: %v", p.name(), err)
			}
			for _, b := range found {
				t.Error(b)
			}
		}
	}
}

// Whatever else lies at the top needs a reason, and a line here.
func TestTopLevel(t *testing.T) {
	allowed := []string{
		"cmd", "hooks", "pkg", "internal", "e2e", "docs", "testdata",
		"go.mod", "go.sum", "Makefile", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE", "NOTICE",
		".git", ".gitignore", ".gitattributes", ".editorconfig", ".golangci.yml", ".pre-commit-hooks.yaml", ".ci", ".github",
		"deploy", ".dockerignore", // what an operator applies to a cluster: not code, not tests, not prose
		"bin", "dist", // ignored by .gitignore: what make builds
	}
	entries, err := os.ReadDir(top(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.Contains(allowed, e.Name()) {
			t.Errorf("%s at the top: nothing lies there without a reason (design, section 2)", e.Name())
		}
	}
}
