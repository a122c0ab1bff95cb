// Package kube reads Applications from a cluster with client-go's dynamic
// client: it lists and watches applications.argoproj.io/v1alpha1 and keeps them
// in memory, and reads single ones directly where a decision hangs on it.
//
// It never writes, and needs no more than get, list and watch: an Application
// has no status subresource, so whoever may patch one may start syncs.
//
// The cache can lag and the API server can be away, so the reader says how it
// stands: List returns what it knows together with an error that names each
// namespace of which it does not know enough (not read yet, no permission, not
// heard of for too long). What is not in the list is then not known, which is
// not the same as absent.
//
// Of an Application only what internal/argocd reads is kept (see cached).
package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

var applications = schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "applications"}

// Reader reads the Applications of one cluster.
type Reader struct {
	client  dynamic.NamespaceableResourceInterface
	dynamic dynamic.Interface
	around  around
	reviews dynamic.ResourceInterface
	clock   *clock
	views   []*view
	maxAge  time.Duration
	timeout time.Duration
	now     func() time.Time
	changed chan struct{}
	passed  passed
	running sync.WaitGroup
}

// Start begins to list and watch, and returns at once. It goes on, through
// outages, until ctx ends; Wait then returns. Call it once.
func (r *Reader) Start(ctx context.Context) {
	for _, v := range r.views {
		r.running.Go(func() { v.informer.RunWithContext(ctx) })
		r.running.Go(func() {
			if cache.WaitForCacheSync(ctx.Done(), v.informer.HasSynced) {
				r.signal() // an empty list brings no other
			}
		})
	}
}

// Wait returns when everything that Start began has ended.
func (r *Reader) Wait() { r.running.Wait() }

// Changed is written to when an Application changed, a namespace was listed for
// the first time, or reading failed. Several changes may be one signal; it is a reason to look, not a queue.
func (r *Reader) Changed() <-chan struct{} { return r.changed }

func (r *Reader) signal() {
	select {
	case r.changed <- struct{}{}:
	default: // one is waiting already
	}
}

// Synced reports whether all that is configured was listed once.
func (r *Reader) Synced() bool {
	return !slices.ContainsFunc(r.views, func(v *view) bool { return !v.informer.HasSynced() })
}

// State is how the reading of one namespace stands.
type State struct {
	Namespace string // "" is all
	Synced    bool   // listed at least once
	Contact   time.Time
	Err       error // what fails at the moment, with a hint; nil if nothing does
}

// States tells how reading stands, by namespace. Contact is when the API
// server was last heard of: a list, a watch that opened, an event, a bookmark.
func (r *Reader) States() []State {
	states := make([]State, len(r.views))
	for i, v := range r.views {
		states[i] = v.state()
	}
	return states
}

// List returns the cached Applications by namespace and name. With an error it
// returns those that are known.
func (r *Reader) List(ctx context.Context, now time.Time) ([]*argocd.Application, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("listing Applications: %w", err)
	}
	var apps []*argocd.Application
	var errs []error
	for _, v := range r.views {
		if err := v.trouble(now, r.maxAge); err != nil {
			errs = append(errs, fmt.Errorf("listing Applications%s: %w", v.where(), err))
		}
		for _, o := range v.informer.GetStore().List() {
			switch c, ok := o.(*cached); {
			case !ok:
				errs = append(errs, fmt.Errorf("listing Applications%s: the cache holds a %T", v.where(), o))
			case c.err != nil:
				errs = append(errs, c.err)
			default:
				apps = append(apps, c.app)
			}
		}
	}
	slices.SortFunc(apps, argocd.ByName)
	return apps, errors.Join(errs...)
}

// Get reads one Application from the API server itself, never from the cache.
// The error is argocd.ErrNotFound only if the API server says that there is
// none, and argocd.ErrAmbiguous if app has no namespace and several have its
// name. A namespace that is not configured is an error, not an absence.
func (r *Reader) Get(ctx context.Context, app verdict.App, _ time.Time) (*argocd.Application, error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	found, err := r.get(ctx, app)
	if err != nil {
		return nil, fmt.Errorf("reading Application %s: %w", app, explain(err))
	}
	return argocd.FromObject(found.Object)
}

func (r *Reader) get(ctx context.Context, app verdict.App) (*unstructured.Unstructured, error) {
	if app.Namespace == "" {
		return r.find(ctx, app.Name)
	}
	if !slices.ContainsFunc(r.views, func(v *view) bool {
		return v.namespace == metav1.NamespaceAll || v.namespace == app.Namespace
	}) {
		return nil, fmt.Errorf("namespace %q is none of those that are read", app.Namespace)
	}
	found, err := r.client.Namespace(app.Namespace).Get(ctx, app.Name, metav1.GetOptions{})
	if isAbsent(err) {
		return nil, argocd.ErrNotFound
	}
	return found, err
}

// find looks for a name in all namespaces that are read. No resource version
// is named, so the API server answers from its store and not from its cache.
func (r *Reader) find(ctx context.Context, name string) (*unstructured.Unstructured, error) {
	options := metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", name).String()}
	var found []unstructured.Unstructured
	for _, v := range r.views {
		list, err := r.client.Namespace(v.namespace).List(ctx, options)
		if err != nil {
			return nil, err
		}
		for _, item := range list.Items {
			if item.GetName() == name { // should a proxy have dropped the selector
				found = append(found, item)
			}
		}
	}
	switch len(found) {
	case 0:
		return nil, argocd.ErrNotFound
	case 1:
		return &found[0], nil
	}
	var where []string
	for _, o := range found {
		where = append(where, o.GetNamespace())
	}
	slices.Sort(where)
	return nil, fmt.Errorf("%w, in the namespaces %s", argocd.ErrAmbiguous, strings.Join(where, ", "))
}
