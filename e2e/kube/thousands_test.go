package kube

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nav-watchdog/nav-watchdog/e2e/cluster"
	"github.com/nav-watchdog/nav-watchdog/e2e/programs"
	"github.com/nav-watchdog/nav-watchdog/internal/argocd/kube"
)

// TestFiveThousand measures the first list of 5,000 Applications of 20 KB.
func TestFiveThousand(t *testing.T) {
	const count = 5000
	c := control(t)
	allow(t, c, cluster.Reader)
	size := fill(t, c, count)
	before := heap()
	begin := time.Now()
	r := start(t, c, cluster.Reader, "")
	until(t, "the first list", r.Synced)
	took := time.Since(begin)
	decode := decoded(t, r, count)
	kept := heap() - before
	t.Logf("%d Applications of %d bytes: first list %s, decoding all %s, %d MiB kept, peak of this process %d MiB",
		count, size, took.Round(time.Millisecond), decode.Round(time.Millisecond), kept>>20, peak()>>20)
	begin = time.Now()
	check(t, c.Patch(t.Context(), "argoproj.io/v1alpha1", "Application", "argocd", "app-02500", `status: {health: {status: Degraded}}`))
	until(t, "one change", func() bool { return len(r.Between()) > 0 })
	t.Logf("one change was seen %s after it was asked for", time.Since(begin).Round(time.Millisecond))
	program(t, c)
	if kept > 400<<20 {
		t.Errorf("%d MiB kept, at most 400 are allowed", kept>>20)
	}
}

// decoded counts what the reader knows and returns how long that takes.
func decoded(t *testing.T, r *kube.Reader, want int) time.Duration {
	t.Helper()
	begin := time.Now()
	apps, err := r.List(t.Context(), begin)
	check(t, err)
	if len(apps) != want {
		t.Fatalf("%d Applications, want %d", len(apps), want)
	}
	return time.Since(begin)
}

// program measures the daemon itself: one pass over all of them, for a
// repository that none of them deploys from.
func program(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	dir := t.TempDir()
	p, err := programs.Build(t.Context(), dir)
	check(t, err)
	bare := filepath.Join(dir, "deploy.git")
	check(t, exec.CommandContext(t.Context(), "git", "init", "--quiet", "--bare", bare).Run())
	file, err := c.KubeconfigOf(cluster.Reader, "")
	check(t, err)
	cmd := exec.CommandContext(t.Context(), p.Watchd, "once", "--repository", bare, "--mirror", filepath.Join(dir, "mirror.git"), "--kubeconfig", file, "--dry-run=true")
	begin := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "applications=5000") {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("navwatchd once: %s, peak %d MiB", time.Since(begin).Round(time.Millisecond), cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss>>10)
}

// fill creates Applications as an Argo CD leaves them and returns the size of
// one.
func fill(t *testing.T, c *cluster.Cluster, count int) int {
	t.Helper()
	work := make(chan int)
	errs := make(chan error, 8)
	var all sync.WaitGroup
	size := 0
	for range 8 {
		all.Go(func() {
			for i := range work {
				u := grown(fmt.Sprintf("app-%05d", i))
				_, err := c.Dynamic.Resource(cluster.Applications).Namespace("argocd").Create(context.Background(), u, metav1.CreateOptions{})
				if err != nil {
					errs <- err
					return
				}
			}
		})
	}
	for i := range count {
		select {
		case work <- i:
		case err := <-errs:
			close(work)
			t.Fatal(err)
		}
	}
	close(work)
	all.Wait()
	data, err := grown("app-00000").MarshalJSON()
	check(t, err)
	size = len(data)
	return size
}

// grown is an Application of about 20 KB: a hundred resources, ten revisions of
// history, and inline Helm values.
func grown(name string) *unstructured.Unstructured {
	source := map[string]any{
		"repoURL": "https://git.example.com/team/deploy.git", "path": "apps/" + name, "targetRevision": "main",
		"helm": map[string]any{"values": strings.Repeat("replicas: 1 # as many as there are\n", 40)},
	}
	const revision = "0123456789012345678901234567890123456789"
	var resources, history []any
	for i := range 60 {
		resources = append(resources, map[string]any{
			"group": "apps", "version": "v1", "kind": "Deployment", "namespace": "demo", "name": fmt.Sprintf("%s-%d", name, i), "status": "Synced",
			"health": map[string]any{"status": "Healthy"},
		})
	}
	for i := range 4 {
		history = append(history, map[string]any{
			"id": int64(i), "revision": revision, "deployedAt": "2026-11-29T10:00:00Z", "source": source, "initiatedBy": map[string]any{"automated": true},
		})
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
		"metadata": map[string]any{"name": name, "namespace": "argocd"},
		"spec":     map[string]any{"project": "default", "source": source, "destination": map[string]any{"server": "https://kubernetes.default.svc", "namespace": "demo"}},
		"status": map[string]any{
			"sync":         map[string]any{"status": "Synced", "revision": revision, "comparedTo": map[string]any{"source": source, "destination": map[string]any{}}},
			"health":       map[string]any{"status": "Healthy"},
			"reconciledAt": "2026-11-29T10:00:00Z", "resources": resources, "history": history, "sourceType": "Helm",
		},
	}}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// peak is the most memory that this process ever had, in bytes.
func peak() uint64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return uint64(u.Maxrss) << 10
}
