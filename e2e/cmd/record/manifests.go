package main

import (
	"fmt"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/e2e/cluster"
)

const badImage = "registry.example/web:does-not-exist"

// deployment of one pod; more are further fields of its spec.
func deployment(name, image string, more ...string) string {
	return fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata:
  name: %[1]s
spec:
  replicas: 1
  progressDeadlineSeconds: 20
  selector: {matchLabels: {app: %[1]s}}
%[3]s  template:
    metadata: {labels: {app: %[1]s}}
    spec:
      nodeName: %[4]s
      containers: [{name: main, image: %[2]q}]
`, name, image, indent(more), cluster.Node)
}

func web(image string, more ...string) string {
	return deployment("web", "registry.example/web:"+image, more...)
}

func indent(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return "  " + strings.Join(lines, "\n  ") + "\n"
}

func configMap(name, value string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {value: %q}\n", name, value)
}

func pod(name, image string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Pod
metadata: {name: %s}
spec:
  nodeName: %s
  containers: [{name: main, image: "registry.example/%s:%s"}]
`, name, cluster.Node, name, image)
}

// job is a hook or, with hook empty, a plain Job. One that cannot be pulled
// fails after seconds.
func job(name, image, hook string, seconds int) string {
	meta := ""
	if hook != "" {
		meta = fmt.Sprintf("\n  annotations: {argocd.argoproj.io/hook: %s, argocd.argoproj.io/hook-delete-policy: BeforeHookCreation}", hook)
	}
	return fmt.Sprintf(`apiVersion: batch/v1
kind: Job
metadata:
  name: %s%s
spec:
  activeDeadlineSeconds: %d
  backoffLimit: 0
  template:
    spec:
      nodeName: %s
      restartPolicy: Never
      containers: [{name: main, image: "registry.example/job:%s"}]
`, name, meta, seconds, cluster.Node, image)
}

func wave(manifest string, n int) string {
	return strings.Replace(manifest, "metadata:\n", fmt.Sprintf("metadata:\n  annotations: {argocd.argoproj.io/sync-wave: %q}\n", fmt.Sprint(n)), 1)
}

// application is one as most scenarios have it; with are changes to its spec,
// each `key: value` in one line of YAML and replacing the default of that key.
func (s *scene) application(name, path string, with ...string) string {
	fields := map[string]string{
		"project":     "default",
		"destination": fmt.Sprintf("{server: %q, namespace: %s}", s.c.Server, s.ns),
		"source":      fmt.Sprintf("{repoURL: %q, path: %s, targetRevision: main}", s.repo.URL, path),
		"syncPolicy":  "{automated: {selfHeal: true}}",
	}
	order := []string{"project", "destination", "source", "syncPolicy"}
	for _, w := range with {
		key, value, _ := strings.Cut(w, ": ")
		if _, known := fields[key]; !known {
			order = append(order, key)
		}
		fields[key] = value
	}
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: %s\n  namespace: argocd\n  labels: {%s: %s}\nspec:\n",
		name, label, s.rec.Header.Name)
	for _, k := range order {
		if fields[k] != "-" {
			fmt.Fprintf(&b, "  %s: %s\n", k, fields[k])
		}
	}
	return b.String()
}

func (s *scene) source(path, target string) string {
	return fmt.Sprintf("source: {repoURL: %q, path: %s, targetRevision: %s}", s.repo.URL, path, target)
}

// start creates the scene's one Application and waits until it is well.
func (s *scene) start(with ...string) {
	s.apply(s.application(s.name, "app", with...))
	s.settled()
}

// base is what the one Application starts from.
func base() files {
	return files{"app/web.yaml": web("1"), "app/settings.yaml": configMap("settings", "1")}
}

// trailers names Applications in a message.
func trailers(subject, mode string, apps ...string) string {
	b := subject + "\n\n"
	for _, a := range apps {
		b += "Nav-Watchdog: app=" + a + " mode=" + mode + "\n"
	}
	return b
}
