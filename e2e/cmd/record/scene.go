package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nav-watchdog/nav-watchdog/e2e/cluster"
	"github.com/nav-watchdog/nav-watchdog/e2e/recording"
	"github.com/nav-watchdog/nav-watchdog/e2e/repository"
)

// scenario is a situation to be recorded.
type scenario struct {
	name  string
	play  func(*scene)
	app   string // the watched Application; empty: the scenario's name
	apart bool   // disturbs others: played alone
}

// scene is one scenario while it is played. The first error ends it: all that
// follows does nothing.
type scene struct {
	ctx  context.Context
	name string // of the Application, if it has only one
	ns   string
	c    *cluster.Cluster
	dir  string // of the repositories
	repo *repository.Repository
	rec  *recording.Recorder
	err  error
}

const label = "scenario"

func (r *runner) record(ctx context.Context, sc scenario) error {
	repo, err := repository.New(ctx, r.dir, sc.name)
	if err != nil {
		return err
	}
	watched := sc.app
	if watched == "" {
		watched = sc.name
	}
	s := &scene{
		ctx: ctx, name: sc.name, ns: "demo-" + sc.name, c: r.c, dir: r.dir, repo: repo,
		rec: recording.New(recording.Header{
			Name: sc.name, ArgoCD: "v3.2.11", Kubernetes: "v1.37.2", Reconciliation: "15s",
			Watch: "app=" + watched + " deadline=40 reach=40 stable=15 mode=arm expect=Healthy",
		}, "file://"+r.dir, "https://git.example.com/demo", r.c.Server, "https://kubernetes.default.svc"),
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	broke := make(chan error, 2)
	go func() {
		broke <- s.rec.Watch(watching, r.c.Dynamic, cluster.Applications, cluster.Namespace, label+"="+sc.name)
	}()
	go func() {
		broke <- s.rec.Watch(watching, r.c.Dynamic, cluster.ApplicationSets, cluster.Namespace, label+"="+sc.name)
	}()
	s.do(s.c.Apply(ctx, "{apiVersion: v1, kind: Namespace, metadata: {name: "+s.ns+"}}"))
	sc.play(s)
	if s.err != nil {
		return s.err
	}
	stop()
	for range 2 {
		if err := <-broke; err != nil && ctx.Err() != nil {
			return err
		}
	}
	if err := s.rec.Write(filepath.Join(r.out, sc.name+".jsonl")); err != nil {
		return err
	}
	if err := repo.Bundle(ctx, filepath.Join(r.out, sc.name+".bundle")); err != nil {
		return err
	}
	return s.sweep()
}

// sweep deletes the scene's Applications, so that those of later scenes have
// the controller for themselves.
func (s *scene) sweep() error {
	for _, gvr := range []struct{ sets bool }{{true}, {false}} {
		r := s.c.Dynamic.Resource(cluster.Applications)
		if gvr.sets {
			r = s.c.Dynamic.Resource(cluster.ApplicationSets)
		}
		if err := r.Namespace(cluster.Namespace).DeleteCollection(s.ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: label + "=" + s.rec.Header.Name}); err != nil {
			return err
		}
	}
	return s.c.Delete(s.ctx, "v1", "Namespace", "", s.ns)
}

func (s *scene) do(err error) bool {
	if s.err == nil {
		s.err = err
	}
	return s.err == nil
}

func (s *scene) note(format string, args ...any) {
	if s.err == nil {
		s.do(s.rec.Note(fmt.Sprintf(format, args...), ""))
	}
}

// sleep lets time pass on the cluster: the recording shows it.
func (s *scene) sleep(seconds int) {
	if s.err != nil {
		return
	}
	select {
	case <-s.ctx.Done():
		s.do(s.ctx.Err())
	case <-time.After(time.Duration(seconds) * time.Second):
	}
}

type files map[string]string

func (s *scene) commit(subject string, f files) string {
	if s.err != nil {
		return ""
	}
	sha, err := s.repo.Commit(s.ctx, subject, f)
	s.do(err)
	return sha
}

func (s *scene) git(args ...string) string {
	if s.err != nil {
		return ""
	}
	out, err := s.repo.Git(s.ctx, args...)
	s.do(err)
	return out
}

// push pushes, says so, and tells Argo CD of it as a webhook would.
func (s *scene) push(force bool, sha, text string, apps ...string) {
	if s.err != nil || !s.do(s.repo.Push(s.ctx, force)) {
		return
	}
	s.do(s.rec.Note(text, sha))
	for _, a := range apps {
		s.refresh(a)
	}
}

func (s *scene) refresh(app string) {
	s.patchApp(app, "metadata: {annotations: {argocd.argoproj.io/refresh: normal}}")
}

func (s *scene) patchApp(app, change string) {
	if s.err == nil {
		s.do(s.c.Patch(s.ctx, "argoproj.io/v1alpha1", "Application", cluster.Namespace, app, change))
	}
}

func (s *scene) patch(apiVersion, kind, name, change string, sub ...string) {
	if s.err == nil {
		s.do(s.c.Patch(s.ctx, apiVersion, kind, s.ns, name, change, sub...))
	}
}

func (s *scene) apply(documents string) {
	if s.err == nil {
		s.do(s.c.Apply(s.ctx, documents))
	}
}

// first is the commit that everything starts from.
func (s *scene) first(f files) string {
	sha := s.commit("first", f)
	s.push(false, sha, "commit "+short(sha)+" first pushed")
	return sha
}

// watched is the commit that the recording is about.
func (s *scene) watched(subject string, f files, apps ...string) string {
	sha := s.other(subject, f, apps...)
	s.rec.Header.Commit = sha
	return sha
}

// other is a commit beside it.
func (s *scene) other(subject string, f files, apps ...string) string {
	if len(apps) == 0 {
		apps = []string{s.name}
	}
	sha := s.commit(subject, f)
	s.push(false, sha, "commit "+short(sha)+" "+firstLine(subject)+" pushed", apps...)
	return sha
}

// revert is what the watcher would push.
func (s *scene) revert(sha string, apps ...string) {
	if len(apps) == 0 {
		apps = []string{s.name}
	}
	s.git("revert", "--no-edit", sha)
	head := s.git("rev-parse", "HEAD")
	s.push(false, head, "revert pushed", apps...)
	s.rec.Header.Revert = head
}

// settled waits for an Application that is synced, healthy and at rest.
func (s *scene) settled(apps ...string) {
	if len(apps) == 0 {
		apps = []string{s.name}
	}
	for _, a := range apps {
		s.await(a, func(u *unstructured.Unstructured) bool {
			return field(u, "status", "sync", "status") == "Synced" && field(u, "status", "health", "status") == "Healthy" &&
				field(u, "status", "operationState", "phase") == "Succeeded" && u.Object["operation"] == nil &&
				field(u, "status", "reconciledAt") >= field(u, "status", "operationState", "finishedAt")
		})
	}
	s.note("healthy at baseline")
	s.sleep(2)
}

// reached waits until an operation with the commit has ended or failed once.
func (s *scene) reached(app, sha, phase string) {
	s.await(app, func(u *unstructured.Unstructured) bool {
		return field(u, "status", "operationState", "syncResult", "revision") == sha && field(u, "status", "operationState", "phase") == phase
	})
}

func (s *scene) healthIs(app, health string) {
	s.await(app, func(u *unstructured.Unstructured) bool { return field(u, "status", "health", "status") == health })
}

func (s *scene) await(app string, ok func(*unstructured.Unstructured) bool) {
	if s.err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(s.ctx, 2*time.Minute)
	defer cancel()
	s.do(s.rec.Await(ctx, app, ok))
}

func field(u *unstructured.Unstructured, path ...string) string {
	v, _, _ := unstructured.NestedString(u.Object, path...)
	return v
}

func short(sha string) string {
	if len(sha) > 12 {
		return sha[:12]
	}
	return sha
}

func firstLine(s string) string {
	for i, c := range s {
		if c == '\n' {
			return s[:i]
		}
	}
	return s
}
