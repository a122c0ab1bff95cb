package manifest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd/manifest"
	"github.com/nav-watchdog/nav-watchdog/internal/arming"
)

// BenchmarkPlace reads 1,000 Applications that a glob names.
func BenchmarkPlace(b *testing.B) {
	files := map[string]string{}
	for i := range 1000 {
		name := fmt.Sprintf("app-%d", i)
		files["argocd/"+name+".yaml"] = fmt.Sprintf(`apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: %s
  namespace: argocd
  labels: {team: team-%s}
spec:
  project: default
  source:
    repoURL: https://git.example.com/team/deploy.git
    path: deploy/%d
    targetRevision: main
  destination: {server: https://kubernetes.default.svc, namespace: %s}
  syncPolicy:
    automated: {selfHeal: true}
    retry: {limit: 5, refresh: true}
    syncOptions: [CreateNamespace=true]
`, name, name, i, name)
	}
	repo := &tree{revs: map[string]map[string]string{"c": files}}
	for b.Loop() {
		p, bad, _, err := manifest.NewReader(repo).Place(context.Background(), arming.TreeAsk{
			Commit: "c", Globs: []string{"/argocd/*.yaml"}, Apps: []string{"app-7"}, Changed: []string{"deploy/7/x.yaml"},
		})
		if err != nil || len(bad) > 0 || len(p.Apps) == 0 {
			b.Fatal(len(p.Apps), bad, err)
		}
	}
}
