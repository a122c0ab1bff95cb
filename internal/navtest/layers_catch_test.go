package navtest_test

import (
	"strings"
	"testing"
)

// The layer test must be able to fail: each ban is broken here once, and the
// nearest thing that is allowed is done beside it.
func TestLayersCatch(t *testing.T) {
	for _, c := range []struct {
		pkg, imp string
		reason   string // part of it; "" = allowed
	}{
		{"pkg/trailer", "os", "touches nothing"},
		{"pkg/trailer", "log/slog", "touches nothing"},
		{"pkg/trailer", "net/url", "touches nothing"},
		{"pkg/trailer", "strings", ""},
		{"pkg/trailer", "github.com/google/uuid", "no such third party"},
		{"pkg/verdict", "~/pkg/trailer", "not even each other"},
		{"pkg/verdict/sub", "~/internal/arming", "not even each other"},
		{"internal/arming", "~/pkg/trailer", ""},
		{"internal/arming", "gopkg.in/yaml.v3", "no such third party"},
		{"internal/arming", "~/internal/gitstore", "pure floor only"},
		{"internal/arming", "~/internal/exit", "pure floor only"},
		{"internal/config", "gopkg.in/yaml.v3", ""},
		{"internal/lint", "~/internal/gitstore", "interface of its own"},
		{"internal/hook", "~/internal/argocd/kube", "interface of its own"},
		{"internal/hook", "~/internal/lint", ""},
		{"internal/hook", "os", ""},
		{"internal/watchd", "github.com/urfave/cli/v2", "no such third party"},
		{"internal/watchd", "~/internal/navtest", "tests only"},
		{"internal/gitstore", "~/internal/watchd", "who uses it"},
		{"internal/gitstore", "~/internal/argocd", "one another"},
		{"internal/gitstore", "~/pkg/verdict", ""},
		{"internal/gitstore", "github.com/go-git/go-git/v5", "no such third party"},
		{"internal/gitstore/gogit", "github.com/go-git/go-git/v5", ""},
		{"internal/gitstore/gogit", "~/internal/gitstore", ""},
		{"internal/argocd", "k8s.io/client-go/dynamic", "no such third party"},
		{"internal/argocd/kube", "k8s.io/client-go/dynamic", ""},
		{"internal/argocd/kube", "~/internal/argocd", ""},
		{"internal/argosim", "~/internal/argocd", "one another"},
		{"internal/exit", "~/pkg/trailer", "depends on none"},
		{"internal/exit", "~/cmd/navlint", "imports a command"},
		{"cmd/navwatchd", "~/internal/gitstore", ""},
		{"cmd/navwatchd", "k8s.io/client-go/rest", "no such third party"},
	} {
		imp := strings.Replace(c.imp, "~", module, 1)
		found := breaches(listed{ImportPath: module + "/" + c.pkg, Imports: []string{imp}})
		holds(t, c.pkg+" imports "+c.imp, found, c.reason)
	}
	for _, c := range []struct{ pkg, dep, reason string }{
		{"cmd/navlint", "k8s.io/client-go/rest", "asks no cluster"},
		{"cmd/navhook", "k8s.io/apimachinery/pkg/runtime", "asks no cluster"},
		{"cmd/navhook", "github.com/go-git/go-git/v5", "start-up counts"},
		{"cmd/navlint", "github.com/go-git/go-git/v5", ""},
		{"cmd/navwatchd", "k8s.io/client-go/rest", ""},
	} {
		found := breaches(listed{ImportPath: module + "/" + c.pkg, Deps: []string{"strings", c.dep}})
		holds(t, c.pkg+" links "+c.dep, found, c.reason)
	}
	for pkg, reason := range map[string]string{
		"internal/lint/util": "says nothing", "pkg/verdict/types": "says nothing", "internal/helpers": "no row", "pkg/other": "no row",
		"internal/lint/sarif": "",
	} {
		holds(t, pkg, breaches(listed{ImportPath: module + "/" + pkg}), reason)
	}
}

func TestLayersCatchCalls(t *testing.T) {
	for _, c := range []struct {
		kind         kind
		body, reason string
	}{
		{pure, "_ = time.Now()", "time is an argument"},
		{pure, "now := time.Now; _ = now", "time is an argument"},
		{pure, "time.Sleep(time.Second)", "time is an argument"},
		{pure, "_ = time.Second", ""},
		{pure, "_ = clock.Now()", ""},
		{shell, "_ = time.Since(x)", "time is an argument"},
		{shell, "<-time.After(time.Second)", ""},
		{wiring, "_ = time.Now()", ""},
		{shell, "os.Exit(1)", "only main"},
		{adapter, "log.Fatal(1)", "only main"},
		{wiring, "os.Exit(1)", ""},
		{wiring, "panic(1)", "an error"},
		{plain, "}\nfunc init() {", "before main"},
	} {
		src := "package p\nimport (\"log\"; \"os\"; \"time\")\nfunc f() {\n" + c.body + "\n}\n"
		found, err := callBreaches(c.kind, "p", "p.go", src)
		if err != nil {
			t.Fatalf("%s: %v", c.body, err)
		}
		holds(t, string(c.kind)+": "+c.body, found, c.reason)
	}
}

func holds(t *testing.T, what string, found []string, reason string) {
	t.Helper()
	text := strings.Join(found, "\n")
	if reason == "" && text != "" {
		t.Errorf("%s is allowed, but: %s", what, text)
	}
	if reason != "" && !strings.Contains(text, reason) {
		t.Errorf("%s: found %q, want a breach that says %q", what, text, reason)
	}
}
