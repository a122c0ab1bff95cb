// Package kube holds the product's reader of Applications against a real API
// server.
package kube

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	authorization "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/nav-watchdog/nav-watchdog/e2e/cluster"
	"github.com/nav-watchdog/nav-watchdog/e2e/line"
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
	link, err := line.New(strings.TrimPrefix(c.Server, "https://"))
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
