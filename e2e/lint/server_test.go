// Package lint holds navlint against the API of a real Argo CD.
package lint

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nav-watchdog/nav-watchdog/e2e/cluster"
	"github.com/nav-watchdog/nav-watchdog/e2e/programs"
)

// objects are what Argo CD holds: an Application that nothing speaks against but
// its project, one that prunes, and one that an ApplicationSet makes.
const objects = `
apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: signed, namespace: argocd}
spec:
  sourceRepos: ["*"]
  destinations: [{server: "*", namespace: "*"}]
  signatureKeys: [{keyID: 4AEE18F83AFDEB23}]
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web, namespace: argocd}
spec:
  project: signed
  source: {repoURL: https://git.example.com/team/deploy.git, path: apps/web, targetRevision: main}
  destination: {server: https://kubernetes.default.svc, namespace: web}
  syncPolicy: {automated: {}, retry: {limit: 0}}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: pruned, namespace: argocd}
spec:
  project: default
  source: {repoURL: https://git.example.com/team/deploy.git, path: apps/pruned, targetRevision: main}
  destination: {server: https://kubernetes.default.svc, namespace: web}
  syncPolicy: {automated: {prune: true}}
---
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: many, namespace: argocd}
spec:
  generators: [{list: {elements: [{name: one}]}}]
  template:
    metadata: {name: "many-{{name}}"}
    spec:
      project: default
      source: {repoURL: https://git.example.com/team/deploy.git, path: apps/many, targetRevision: main}
      destination: {server: https://kubernetes.default.svc, namespace: web}
      syncPolicy: {automated: {prune: true}}
`

const policy = `version: 1
repositories: [https://git.example.com/team/deploy.git]
arm: {allow: [{apps: ["*"], by: ["*"]}]}
`

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// clone is a repository with a commit for each Application, armed.
type clone struct {
	t       *testing.T
	dir     string
	navlint string
	server  string
	env     []string
}

func (c *clone) run(name string, args ...string) (string, int) {
	c.t.Helper()
	var out bytes.Buffer
	cmd := exec.CommandContext(c.t.Context(), name, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = c.dir, c.env, &out, &out
	err := cmd.Run()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		c.t.Fatal(err)
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

func (c *clone) git(args ...string) {
	c.t.Helper()
	if out, code := c.run("git", args...); code != 0 {
		c.t.Fatalf("git %q: %s", args, out)
	}
}

func (c *clone) commit(path, text, message string) {
	c.t.Helper()
	file := filepath.Join(c.dir, path)
	check(c.t, os.MkdirAll(filepath.Dir(file), 0o777))
	check(c.t, os.WriteFile(file, []byte(text), 0o666))
	c.git("add", "-A")
	c.git("commit", "-q", "-m", message)
}

// lint asks the server about the last commit.
func (c *clone) lint(more ...string) (string, int) {
	c.t.Helper()
	was := c.env
	c.env = append(c.env[:len(c.env):len(c.env)], more...)
	defer func() { c.env = was }()
	return c.run(c.navlint, "commits", "--branch", "main", "--argocd-server", c.server, "HEAD~1..HEAD")
}

func newClone(t *testing.T, server string) *clone {
	t.Helper()
	p, err := programs.Build(t.Context(), t.TempDir())
	check(t, err)
	home := t.TempDir()
	c := &clone{t: t, dir: t.TempDir(), navlint: p.Lint, server: server, env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	}}
	c.git("init", "-q", "-b", "main")
	c.commit(".nav-watchdog.yaml", policy, "policy")
	return c
}

// A real server, over TLS, with the token of an account: what it shows decides,
// and what the token may not do is said.
func TestArgoServer(t *testing.T) {
	bin, missing := programs.Parts("etcd", "kube-apiserver", "kube-controller-manager", "kwok", "argocd-server", "argocd-application-controller", "argocd-repo-server", "argocd-applicationset-controller")
	if len(missing) > 0 {
		t.Fatalf("%v not built: e2e/build.sh", missing)
	}
	cl, err := cluster.Start(t.Context(), cluster.Options{Bin: bin, Dir: filepath.Join(t.TempDir(), "cluster"), Base: 24600})
	check(t, err)
	t.Cleanup(cl.Stop)
	check(t, cl.Apply(t.Context(), objects))
	server, tokens, certificate, err := cl.ArgoServerWithAccounts(t.Context(), "ci", "stranger")
	check(t, err)
	c := newClone(t, server)
	authority := filepath.Join(t.TempDir(), "authority.pem")
	check(t, os.WriteFile(authority, certificate, 0o600))
	trusts, may := "SSL_CERT_FILE="+authority, "ARGOCD_AUTH_TOKEN="+tokens["ci"]

	for _, app := range []struct{ name, want string }{
		{"web", `AppProject "signed" demands signed commits (signatureKeys), and the watcher is not known to sign its reverts (live) [project-signatures]`},
		{"pruned", `argocd/pruned prunes automatically, so that a revert would delete what the commit added (live) [prune]`},
		{"many-one", `the template of ApplicationSet "many", which makes argocd/many-one, prunes automatically (live) [appset-prune]`},
		{"nosuch", "no Application nosuch is known; asked was live [unknown-app]"},
	} {
		c.commit("apps/"+strings.TrimSuffix(app.name, "-one")+"/cm.yaml", "x: "+app.name, fmt.Sprintf("%s\n\nNav-Watchdog: app=%s mode=arm", app.name, app.name))
		if out, code := c.lint(trusts, may); code != 1 || !strings.Contains(out, app.want) {
			t.Errorf("%s: exit code %d\n%s", app.name, code, out)
		}
	}
	// Mended in the cluster, it passes.
	_, err = cl.Dynamic.Resource(cluster.Applications).Namespace(cluster.Namespace).Patch(t.Context(), "pruned", types.MergePatchType,
		[]byte(`{"spec":{"syncPolicy":{"automated":{"prune":false}}},"status":{"sync":{"status":"Synced","revision":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}}}`), metav1.PatchOptions{})
	check(t, err)
	c.commit("apps/pruned/cm.yaml", "x: mended", "mended\n\nNav-Watchdog: app=pruned mode=arm")
	out, _ := c.lint(trusts, may)
	if strings.Contains(out, "[prune]") {
		t.Errorf("mended:\n%s", out)
	}

	for name, bad := range map[string]struct {
		env  []string
		want string
	}{
		"no token":                {[]string{trusts}, "hint: set ARGOCD_AUTH_TOKEN"},
		"a token that is none":    {[]string{trusts, "ARGOCD_AUTH_TOKEN=x.y.z"}, "hint: the token in ARGOCD_AUTH_TOKEN is not valid there"},
		"a foreign certificate":   {[]string{may}, "hint: name the file of the authority's certificate in SSL_CERT_FILE"},
		"a token that sees a bit": {[]string{trusts, "ARGOCD_AUTH_TOKEN=" + tokens["stranger"]}, "no Application pruned is known; asked was live [unknown-app]"},
	} {
		out, code := c.lint(bad.env...)
		if code == 0 || !strings.Contains(out, bad.want) || strings.Contains(out, tokens["ci"]) {
			t.Errorf("%s: exit code %d\n%s", name, code, out)
		}
	}
}
