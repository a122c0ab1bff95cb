package kube

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	authorization "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/nav-watchdog/nav-watchdog/e2e/cluster"
	"github.com/nav-watchdog/nav-watchdog/e2e/programs"
	"github.com/nav-watchdog/nav-watchdog/internal/argocd/kube"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// control is a control plane without Argo CD whose users Reader and Nobody have
// no rights yet.
func control(t *testing.T) *cluster.Cluster {
	t.Helper()
	bin, missing := programs.Parts("etcd", "kube-apiserver")
	if len(missing) > 0 {
		t.Fatalf("%v not built: e2e/build.sh etcd kubernetes argocd", missing)
	}
	c, err := cluster.Start(t.Context(), cluster.Options{Bin: bin, Dir: filepath.Join(t.TempDir(), "cluster"), Base: 24100, NoArgo: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Stop)
	return c
}

// allow gives a user the rights that deploy/ gives the daemon, and no others.
func allow(t *testing.T, c *cluster.Cluster, user string) {
	t.Helper()
	root, err := programs.Root(t.Context())
	check(t, err)
	check(t, c.Allow(t.Context(), filepath.Join(root, "deploy/base/rbac.yaml"), user))
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// start starts a reader as a user, through an address ("" is the cluster's).
func start(t *testing.T, c *cluster.Cluster, user, server string) *kube.Reader {
	t.Helper()
	file, err := c.KubeconfigOf(user, server)
	check(t, err)
	r, err := kube.New(kube.Config{Kubeconfig: file})
	check(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	r.Start(ctx)
	t.Cleanup(func() { cancel(); r.Wait() })
	return r
}

// until waits for something, at most three minutes.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	end := time.Now().Add(3 * time.Minute)
	for !ok() {
		if time.Now().After(end) {
			t.Fatalf("waited too long for %s", what)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// names lists what the reader knows, with the revision that is compared.
func names(r *kube.Reader) ([]string, error) {
	apps, err := r.List(context.Background(), time.Now())
	out := make([]string, len(apps))
	for i, a := range apps {
		out[i] = a.App().Name
	}
	return out, err
}

// knows reports whether the reader knows exactly these, without trouble.
func knows(r *kube.Reader, want ...string) bool {
	have, err := names(r)
	return err == nil && r.Synced() && slices.Equal(have, want)
}

func application(name, more string) string {
	return fmt.Sprintf(`apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: %s, namespace: argocd}
spec:
  project: default
  source: {repoURL: "https://git.example.com/team/deploy.git", path: apps/%[1]s, targetRevision: main}
  destination: {server: "https://kubernetes.default.svc", namespace: demo}
%s`, name, more)
}

// TestFirstListAndWatch: what is there is listed, what comes, changes and goes is
// watched, and a decision reads the API server itself.
func TestFirstListAndWatch(t *testing.T) {
	c := control(t)
	allow(t, c, cluster.Reader)
	ctx := t.Context()
	check(t, c.Apply(ctx, application("a", "")))
	check(t, c.Apply(ctx, application("b", "")))
	r := start(t, c, cluster.Reader, "")
	until(t, "the first list", func() bool { return knows(r, "a", "b") })
	check(t, c.Apply(ctx, application("c", "")))
	until(t, "a new one", func() bool { return knows(r, "a", "b", "c") })
	check(t, c.Patch(ctx, "argoproj.io/v1alpha1", "Application", "argocd", "b", `status: {sync: {status: Synced, revision: "0123456789012345678901234567890123456789"}}`))
	until(t, "a change", func() bool {
		return slices.ContainsFunc(r.Between(), func(d kubeDelivery) bool { return d.App.App().Name == "b" })
	})
	check(t, c.Delete(ctx, "argoproj.io/v1alpha1", "Application", "argocd", "a"))
	until(t, "one that goes", func() bool { return knows(r, "b", "c") })
	if _, err := r.Get(ctx, verdict.App{Name: "c"}, time.Now()); err != nil {
		t.Errorf("a direct read without a namespace: %v", err)
	}
	if _, err := r.Get(ctx, verdict.App{Namespace: "argocd", Name: "a"}, time.Now()); err == nil {
		t.Error("a direct read of one that is gone finds it")
	}
}

// TestReadOnlyUser: the reader works with the rights of deploy/, with which
// nothing can be changed.
func TestReadOnlyUser(t *testing.T) {
	c := control(t)
	allow(t, c, cluster.Reader)
	check(t, c.Apply(t.Context(), application("a", "")))
	r := start(t, c, cluster.Reader, "")
	until(t, "the first list", func() bool { return knows(r, "a") })
	file, err := c.KubeconfigOf(cluster.Reader, "")
	check(t, err)
	config, err := clientcmd.BuildConfigFromFlags("", file)
	check(t, err)
	kube, err := kubernetes.NewForConfig(config)
	check(t, err)
	for verb, want := range map[string]bool{
		"get": true, "list": true, "watch": true,
		"create": false, "update": false, "patch": false, "delete": false, "deletecollection": false,
	} {
		review, err := kube.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), &authorization.SelfSubjectAccessReview{
			Spec: authorization.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorization.ResourceAttributes{
				Namespace: "argocd", Group: "argoproj.io", Resource: "applications", Verb: verb,
			}},
		}, metav1.CreateOptions{})
		check(t, err)
		if review.Status.Allowed != want {
			t.Errorf("%s applications: allowed=%v, want %v", verb, review.Status.Allowed, want)
		}
	}
	if _, err := kube.CoreV1().ConfigMaps("argocd").Get(t.Context(), "argocd-cm", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("reading argocd-cm, which is not there: %v, want not found", err)
	}
	if _, err := kube.CoreV1().ConfigMaps("argocd").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("listing ConfigMaps: %v, want forbidden", err)
	}
	if _, err := kube.CoreV1().Secrets("argocd").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("listing Secrets: %v, want forbidden", err)
	}
}

// TestMissingPermission: who may not list is told so, with what to do, and goes
// on by itself once it may.
func TestMissingPermission(t *testing.T) {
	c := control(t)
	check(t, c.Apply(t.Context(), application("a", "")))
	r := start(t, c, cluster.Nobody, "")
	until(t, "the refusal", func() bool {
		_, err := names(r)
		return err != nil && strings.Contains(err.Error(), "forbidden")
	})
	_, err := names(r)
	if !strings.Contains(err.Error(), "hint: allow get, list and watch on applications.argoproj.io") || r.Synced() {
		t.Errorf("synced=%v, error without a hint: %v", r.Synced(), err)
	}
	if _, err := r.Get(t.Context(), verdict.App{Namespace: "argocd", Name: "a"}, time.Now()); err == nil || !strings.Contains(err.Error(), "hint: ") {
		t.Errorf("a direct read: %v", err)
	}
	allow(t, c, cluster.Nobody)
	until(t, "the list that is allowed now", func() bool { return knows(r, "a") })
}

// TestAPIServerRestarts: an outage is said, nothing that is known is forgotten,
// and what changed meanwhile is there afterwards.
func TestAPIServerRestarts(t *testing.T) {
	c := control(t)
	allow(t, c, cluster.Reader)
	check(t, c.Apply(t.Context(), application("a", "")))
	r := start(t, c, cluster.Reader, "")
	until(t, "the first list", func() bool { return knows(r, "a") })
	c.StopPart(cluster.APIServer)
	until(t, "the outage to be told", func() bool {
		known, err := names(r)
		return err != nil && slices.Equal(known, []string{"a"})
	})
	if _, err := r.Get(t.Context(), verdict.App{Namespace: "argocd", Name: "a"}, time.Now()); err == nil {
		t.Error("a direct read is answered without an API server")
	}
	check(t, c.StartPart(cluster.APIServer))
	check(t, c.Await(t.Context()))
	check(t, c.Apply(t.Context(), application("b", "")))
	until(t, "what came after the restart", func() bool { return knows(r, "a", "b") })
}

// TestExpiredWatch: the reader is cut off, Applications come and go, etcd is
// compacted and the API server forgets; a watch from where it was is refused
// (410), which is shown, and the reader lists again.
func TestExpiredWatch(t *testing.T) {
	c := control(t)
	allow(t, c, cluster.Reader)
	ctx := t.Context()
	link, err := NewLink(strings.TrimPrefix(c.Server, "https://"))
	check(t, err)
	t.Cleanup(link.Close)
	check(t, c.Apply(ctx, application("a", "")))
	check(t, c.Apply(ctx, application("b", "")))
	apps := c.Dynamic.Resource(cluster.Applications).Namespace("argocd")
	old, err := apps.List(ctx, metav1.ListOptions{})
	check(t, err)
	r := start(t, c, cluster.Reader, "https://"+link.Address)
	until(t, "the first list", func() bool { return knows(r, "a", "b") })

	link.Cut(true)
	check(t, c.Delete(ctx, "argoproj.io/v1alpha1", "Application", "argocd", "a"))
	check(t, c.Apply(ctx, application("c", "")))
	for i := range 20 {
		check(t, c.Patch(ctx, "argoproj.io/v1alpha1", "Application", "argocd", "b", fmt.Sprintf("metadata: {annotations: {n: %q}}", fmt.Sprint(i))))
	}
	check(t, compact(ctx, c))
	c.StopPart(cluster.APIServer)
	check(t, c.StartPart(cluster.APIServer))
	check(t, c.Await(ctx))
	until(t, "the old watch to be refused", func() bool {
		return expired(ctx, c, old.GetResourceVersion())
	})
	link.Cut(false)
	until(t, "the list after the expired watch", func() bool { return knows(r, "b", "c") })
}

// expired asks the API server itself whether a watch from a version is gone.
func expired(ctx context.Context, c *cluster.Cluster, version string) bool {
	w, err := c.Dynamic.Resource(cluster.Applications).Namespace("argocd").Watch(ctx, metav1.ListOptions{ResourceVersion: version})
	if err != nil {
		return apierrors.IsGone(err) || apierrors.IsResourceExpired(err)
	}
	defer w.Stop()
	select {
	case e := <-w.ResultChan():
		err := apierrors.FromObject(e.Object)
		return apierrors.IsGone(err) || apierrors.IsResourceExpired(err)
	case <-time.After(5 * time.Second):
		return false
	}
}

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
