package kube

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd"
	"github.com/nav-watchdog/nav-watchdog/internal/argocd/manifest"
	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// aroundAge is how old what stands around Applications may be, where nothing
// hangs on it.
const aroundAge = time.Minute

// around is what was last read of it.
type around struct {
	mu    sync.Mutex
	place arming.Place
	err   error
	at    time.Time
}

// Around reads ApplicationSets, AppProjects, ImageUpdaters and argocd-cm's
// globalProjects: by a list, at most once a minute, or at once if fresh. Each
// that may not be read, or is not there, is not known, and the error says so;
// that the cluster does not know ImageUpdaters at all is an answer.
func (r *Reader) Around(ctx context.Context, now time.Time, fresh bool) (arming.Place, error) {
	r.around.mu.Lock()
	defer r.around.mu.Unlock()
	if age := now.Sub(r.around.at); !fresh && !r.around.at.IsZero() && age >= 0 && age < aroundAge {
		return r.around.place, r.around.err
	}
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	var p arming.Place
	var errs []error
	for _, kind := range []struct {
		resource schema.GroupVersionResource
		whole    *bool
	}{
		{argo("applicationsets"), &p.Whole.Sets},
		{argo("appprojects"), &p.Whole.Projects},
	} {
		err := r.listAll(ctx, &p, kind.resource)
		*kind.whole = err == nil
		errs = append(errs, err)
	}
	err := r.listAll(ctx, &p, schema.GroupVersionResource{Group: argocd.UpdaterGroup, Version: "v1alpha1", Resource: "imageupdaters"})
	switch {
	case err == nil:
		p.Whole.Updaters = verdict.Yes
	case apierrors.IsNotFound(err):
		p.Whole.Updaters = verdict.No
	default:
		errs = append(errs, err)
	}
	p.Global, err = r.globalProjects(ctx)
	p.Whole.Global = err == nil
	errs = append(errs, err)
	r.around.place, r.around.err, r.around.at = p, errors.Join(errs...), now
	return p, r.around.err
}

func argo(resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: resource}
}

// pageSize bounds one answer of the API server.
const pageSize = 500

// listAll reads a kind in the namespaces of the Applications, and in those in
// which an Argo CD that controls them lives.
func (r *Reader) listAll(ctx context.Context, p *arming.Place, resource schema.GroupVersionResource) error {
	for _, namespace := range r.aroundNamespaces() {
		next := ""
		for {
			list, err := r.dynamic.Resource(resource).Namespace(namespace).List(ctx, metav1.ListOptions{Limit: pageSize, Continue: next})
			if err != nil {
				return fmt.Errorf("listing %s: %w", resource.GroupResource(), err)
			}
			for i := range list.Items {
				if err := argocd.Add(p, list.Items[i].Object, true); err != nil {
					return fmt.Errorf("listing %s: %w", resource.GroupResource(), err)
				}
			}
			if next = list.GetContinue(); next == "" {
				break
			}
		}
	}
	return nil
}

func (r *Reader) aroundNamespaces() []string {
	seen := map[string]bool{}
	var out []string
	add := func(namespace string) {
		if !seen[namespace] {
			seen[namespace] = true
			out = append(out, namespace)
		}
	}
	for _, v := range r.views {
		if v.namespace == metav1.NamespaceAll {
			return []string{metav1.NamespaceAll}
		}
		add(v.namespace)
	}
	for _, namespace := range r.controllers() {
		add(namespace)
	}
	return out
}

// controllers are the namespaces in which Applications say that their Argo CD
// lives.
func (r *Reader) controllers() []string {
	seen := map[string]bool{}
	var out []string
	for _, v := range r.views {
		for _, o := range v.informer.GetStore().List() {
			if c, ok := o.(*cached); ok && c.controller != "" && !seen[c.controller] {
				seen[c.controller] = true
				out = append(out, c.controller)
			}
		}
	}
	return out
}

// globalProjects reads argocd-cm of each Argo CD that controls an Application.
func (r *Reader) globalProjects(ctx context.Context) ([]arming.GlobalProject, error) {
	namespaces := r.controllers()
	if len(namespaces) == 0 {
		return nil, errors.New("reading argocd-cm: no Application says where its Argo CD lives")
	}
	var out []arming.GlobalProject
	for _, namespace := range namespaces {
		cm, err := r.dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(namespace).
			Get(ctx, "argocd-cm", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading argocd-cm: %w", err)
		}
		text, _, _ := unstructured.NestedString(cm.Object, "data", "globalProjects")
		found, err := manifest.GlobalProjects(text)
		if err != nil {
			return nil, fmt.Errorf("reading argocd-cm: %w", err)
		}
		out = append(out, found...)
	}
	return out, nil
}
