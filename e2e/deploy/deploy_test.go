// Package deploy tries the manifests of deploy/ on a real API server.
package deploy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/nav-watchdog/nav-watchdog/e2e/cluster"
	"github.com/nav-watchdog/nav-watchdog/e2e/process"
	"github.com/nav-watchdog/nav-watchdog/e2e/programs"
	"github.com/nav-watchdog/nav-watchdog/internal/config"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := programs.Root(t.Context())
	check(t, err)
	return dir
}

// overlay builds what an operator would: base and component, with another
// image.
func overlay(t *testing.T) []string {
	t.Helper()
	bin, missing := programs.Parts("kustomize", "etcd", "kube-apiserver")
	if len(missing) > 0 {
		t.Fatalf("%v not built: e2e/build.sh kustomize etcd kubernetes argocd", missing)
	}
	dir := t.TempDir()
	// Kustomize wants to find what it reads by relative paths.
	for _, name := range []string{"base", "prometheus"} {
		check(t, os.CopyFS(filepath.Join(dir, name), os.DirFS(filepath.Join(root(t), "deploy", name))))
	}
	check(t, os.Mkdir(filepath.Join(dir, "mine"), 0o755))
	check(t, os.WriteFile(filepath.Join(dir, "mine", "kustomization.yaml"), []byte(`apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: nav-watchdog
resources: [../base]
components: [../prometheus]
images: [{name: registry.example.com/nav-watchdog, newName: registry.example.com/mine, newTag: v1}]
`), 0o644))
	cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "kustomize"), "build", filepath.Join(dir, "mine"))
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		t.Fatalf("%v\n%s", err, exit.Stderr)
	}
	check(t, err)
	return strings.Split(string(out), "\n---\n")
}

// TestManifests: a real API server takes every object, and would take the pod
// in a namespace that enforces the strictest of the pod security standards.
func TestManifests(t *testing.T) {
	documents := overlay(t)
	bin, _ := programs.Parts()
	c, err := cluster.Start(t.Context(), cluster.Options{Bin: bin, Dir: filepath.Join(t.TempDir(), "cluster"), Base: 24300, NoArgo: true})
	check(t, err)
	t.Cleanup(c.Stop)
	stubs, err := os.ReadFile("testdata/prometheus-crds.yaml")
	check(t, err)
	check(t, c.Apply(t.Context(), string(stubs)))
	check(t, c.Discover(t.Context(), "monitoring.coreos.com", "PodMonitor", "PrometheusRule"))
	kinds := map[string]int{}
	var deployment map[string]any
	for _, doc := range documents {
		var object map[string]any
		check(t, yaml.Unmarshal([]byte(doc), &object))
		kind := object["kind"].(string)
		kinds[kind]++
		if kind == "Namespace" {
			check(t, c.Apply(t.Context(), doc)) // the others need it
			continue
		}
		if kind == "Deployment" {
			deployment = object
			if !strings.Contains(doc, "image: registry.example.com/mine:v1") {
				t.Errorf("the image was not replaced:\n%s", doc)
			}
		}
		if err := c.Try(t.Context(), doc); err != nil {
			t.Errorf("%v\n%s", err, doc)
		}
		if err := c.Try(t.Context(), strings.Replace(doc, "kind: "+kind+"\n", "kind: "+kind+"\nspecification: {}\n", 1)); err == nil {
			t.Errorf("%s: an unknown field passes", kind)
		}
	}
	for _, kind := range []string{"Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "ConfigMap", "Deployment", "NetworkPolicy", "PodMonitor", "PrometheusRule"} {
		if kinds[kind] != 1 {
			t.Errorf("%d objects of kind %s, want 1", kinds[kind], kind)
		}
	}
	pod := podOf(t, deployment)
	check(t, c.Try(t.Context(), pod))
	if err := c.Try(t.Context(), strings.ReplaceAll(pod, `"runAsNonRoot":true`, `"runAsNonRoot":false`)); err == nil || !strings.Contains(err.Error(), "PodSecurity") {
		t.Errorf("a pod that runs as root: %v", err)
	}
}

// podOf is the pod that a Deployment would make.
func podOf(t *testing.T, deployment map[string]any) string {
	t.Helper()
	template := deployment["spec"].(map[string]any)["template"].(map[string]any)
	template["apiVersion"], template["kind"] = "v1", "Pod"
	meta := template["metadata"].(map[string]any)
	meta["name"], meta["namespace"] = "nav-watchdog-0", "nav-watchdog"
	data, err := json.Marshal(template)
	check(t, err)
	return string(data)
}

// TestSettings: the settings of the base are settings that navwatchd takes.
func TestSettings(t *testing.T) {
	file := filepath.Join(root(t), "deploy/base/navwatchd.yaml")
	data, err := os.ReadFile(file)
	check(t, err)
	d, err := config.ParseDaemon(data, file)
	check(t, err)
	check(t, d.Validate())
}

// TestDockerfile: what the Dockerfile copies is all that the programs are built
// from.
func TestDockerfile(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(root(t), "deploy/Dockerfile"))
	check(t, err)
	dir := t.TempDir()
	for _, m := range regexp.MustCompile(`(?m)^COPY ([a-z][a-z. ]*) ([a-z./]+)$`).FindAllStringSubmatch(string(data), -1) {
		for _, name := range strings.Fields(m[1]) {
			from, to := filepath.Join(root(t), name), filepath.Join(dir, name)
			info, err := os.Stat(from)
			check(t, err)
			if info.IsDir() {
				check(t, os.CopyFS(to, os.DirFS(from)))
				continue
			}
			text, err := os.ReadFile(from)
			check(t, err)
			check(t, os.WriteFile(to, text, 0o644))
		}
	}
	build := regexp.MustCompile(`(?m)^RUN CGO_ENABLED=0 (go build .*) -o /out/ (.*)$`).FindStringSubmatch(string(data))
	if build == nil {
		t.Fatal("the Dockerfile builds nothing")
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", build[1]+" -o out/ "+build[2])
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "VERSION=v1.2.3", "GOFLAGS=-mod=readonly", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), filepath.Join(dir, "out/navwatchd"), "--version").Output()
	check(t, err)
	if !strings.Contains(string(out), "v1.2.3") {
		t.Errorf("the version is %q", out)
	}
}

// TestAlerts: every metric that an alert asks for is one that navwatchd serves.
func TestAlerts(t *testing.T) {
	dir := t.TempDir()
	p, err := programs.Build(t.Context(), dir)
	check(t, err)
	port, err := process.Port()
	check(t, err)
	apps := filepath.Join(dir, "applications")
	check(t, os.Mkdir(apps, 0o755))
	check(t, os.WriteFile(filepath.Join(apps, "web.yaml"),
		[]byte("apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: web, namespace: argocd}\n"), 0o600))
	bare := filepath.Join(dir, "deploy.git")
	out, err := exec.CommandContext(t.Context(), "git", "init", "--quiet", "--bare", bare).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	w := &process.Process{
		Name: "navwatchd", Bin: p.Watchd, Log: filepath.Join(dir, "log"), Alone: true, Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir},
		Args: []string{"run", "--repository", bare, "--mirror", filepath.Join(dir, "mirror.git"), "--folder", apps, "--dry-run=true", "--listen", address},
	}
	check(t, w.Start())
	t.Cleanup(w.Stop)
	var served string
	check(t, w.Await(t.Context(), func(ctx context.Context) error {
		served, err = get(ctx, "http://"+address+"/metrics")
		return err
	}))
	rule, err := os.ReadFile(filepath.Join(root(t), "deploy/prometheus/prometheusrule.yaml"))
	check(t, err)
	names := regexp.MustCompile(`navwatchd_[a-z_]+`).FindAllString(string(rule), -1)
	if len(names) == 0 {
		t.Fatal("no alert asks for a metric")
	}
	for _, name := range names {
		if !strings.Contains(served, "\n"+name+" ") && !strings.Contains(served, "\n"+name+"{") {
			t.Errorf("%s is not served", name)
		}
	}
}

func get(ctx context.Context, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	data, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %s", url, resp.Status)
	}
	return string(data), err
}
