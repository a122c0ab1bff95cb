package gitea

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nav-watchdog/nav-watchdog/e2e/cluster"
	"github.com/nav-watchdog/nav-watchdog/e2e/programs"
	"github.com/nav-watchdog/nav-watchdog/e2e/simulator"
	"github.com/nav-watchdog/nav-watchdog/e2e/trial"
)

// TestArgoCD is the whole loop with nothing simulated but nodes: a bad image is
// pushed to Gitea, Argo CD deploys it, navwatchd reverts it as a user of the
// cluster who can only read, and Argo CD recovers.
func TestArgoCD(t *testing.T) {
	c, err := cluster.Start(t.Context(), cluster.Options{Bin: shared.bin, Dir: filepath.Join(t.TempDir(), "cluster"), Base: 24200})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Stop)
	r := newRepository(t, "argo", "web")
	address := shared.HTTP(trial.Olga, r.name)
	r.Check(
		c.Apply(t.Context(), "{apiVersion: v1, kind: Namespace, metadata: {name: demo}}"),
		c.Apply(t.Context(), trial.Application("web", address, c.Server)),
	)
	root, err := programs.Root(t.Context())
	r.Check(err)
	r.Check(c.Allow(t.Context(), filepath.Join(root, "deploy/base/rbac.yaml"), cluster.Reader))
	awaitHealth(t, c, "Healthy")

	// What the init container would say, of a user without rights and of the one
	// that deploy/ makes.
	source := func(user string) string {
		file, err := c.KubeconfigOf(user, "")
		r.Check(err)
		return fmt.Sprintf("dry-run: false\nsource: {kubeconfig: %s}\n", file)
	}
	login := r.askpass(shared.tokens[trial.Nav])
	for user, want := range map[string]int{cluster.Nobody: 1, cluster.Reader: 0} {
		out, code, err := r.NewWatcher(source(user), login).Selfcheck(t.Context())
		r.Check(err)
		if code != want {
			t.Errorf("selfcheck as %s: exit code %d, want %d:\n%s", user, code, want, out)
		}
	}
	w := r.Watch(source(cluster.Reader), login)
	alice := r.Clone(trial.Alice, "ssh")
	commit, err := alice.Commit(t.Context(), "a new image\n\nNav-Watchdog: app=web deadline=40 reach=120 stable=10 mode=arm",
		map[string]string{"apps/web/deployment.yaml": simulator.Deployment("web", "registry.example/web:does-not-exist")})
	r.Check(err)
	begin := time.Now()
	trial.Wants(t, "what alice reads", r.Push(alice, "main"), "queued", "the watcher was last seen")
	refresh(t, c)
	r.Verdict(w, commit, "Nav-Verdict: REVERTED")
	t.Logf("reverted %s after the push", time.Since(begin).Round(time.Second))
	note := r.Verdict(w, commit, "Nav-Recovery: RECOVERED")
	t.Logf("recovered %s after the push", time.Since(begin).Round(time.Second))
	reverts := r.Reverts(commit)
	if len(reverts) != 1 {
		t.Fatalf("%d reverts: %v", len(reverts), reverts)
	}
	r.Together(reverts[0])
	trial.Wants(t, "the verdict", note, "web: REVERTED", "Nav-Revert: "+reverts[0])
	awaitHealth(t, c, "Healthy")
	if got := deployed(t, c); got != reverts[0] {
		t.Errorf("Argo CD deployed %s, not the revert %s", got, reverts[0])
	}
	if strings.Contains(w.Text(), "forbidden") {
		t.Errorf("the cluster refused something:\n%s", w.Text())
	}
}

func application(t *testing.T, c *cluster.Cluster) *unstructured.Unstructured {
	t.Helper()
	u, err := c.Dynamic.Resource(cluster.Applications).Namespace(cluster.Namespace).Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func awaitHealth(t *testing.T, c *cluster.Cluster, want string) {
	t.Helper()
	for end := time.Now().Add(3 * time.Minute); ; time.Sleep(500 * time.Millisecond) {
		u := application(t, c)
		health, _, _ := unstructured.NestedString(u.Object, "status", "health", "status")
		sync, _, _ := unstructured.NestedString(u.Object, "status", "sync", "status")
		if health == want && sync == "Synced" {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the Application is %s and %s:\n%v", sync, health, u.Object["status"])
		}
	}
}

// refresh is what a webhook of Gitea would ask for.
func refresh(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	if err := c.Patch(t.Context(), "argoproj.io/v1alpha1", "Application", cluster.Namespace, "web",
		"metadata: {annotations: {argocd.argoproj.io/refresh: normal}}"); err != nil {
		t.Fatal(err)
	}
}

func deployed(t *testing.T, c *cluster.Cluster) string {
	t.Helper()
	revision, _, _ := unstructured.NestedString(application(t, c).Object, "status", "operationState", "syncResult", "revision")
	return revision
}
