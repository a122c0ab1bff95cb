package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// view is the cache of one namespace, or of all, and what is known of how
// fresh it is.
type view struct {
	reader    *Reader
	namespace string
	informer  cache.SharedIndexInformer

	mu       sync.Mutex
	contact  time.Time // the API server was last heard of
	listErr  error     // of the last list, nil if it worked
	watchErr error     // of the last attempt to watch, nil if it worked
}

func newView(r *Reader, namespace string) (*view, error) {
	v := &view{reader: r, namespace: namespace}
	v.informer = cache.NewSharedIndexInformer(&cache.ListWatch{
		ListWithContextFunc:  v.list,
		WatchFuncWithContext: v.watch,
	}, &unstructured.Unstructured{}, 0, cache.Indexers{})
	if err := v.informer.SetTransform(digest); err != nil {
		return nil, fmt.Errorf("configuring the cluster's cache: %w", err)
	}
	if err := v.informer.SetWatchErrorHandlerWithContext(v.failed); err != nil {
		return nil, fmt.Errorf("configuring the cluster's cache: %w", err)
	}
	_, err := v.informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc:    r.added,
		UpdateFunc: r.updated,
		DeleteFunc: func(any) { r.signal() },
	})
	if err != nil {
		return nil, fmt.Errorf("configuring the cluster's cache: %w", err)
	}
	return v, nil
}

func (v *view) where() string {
	if v.namespace == metav1.NamespaceAll {
		return ""
	}
	return " of namespace " + v.namespace
}

// list and watch are what the informer calls; they note what becomes of it.
func (v *view) list(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	list, err := v.reader.client.Namespace(v.namespace).List(ctx, options)
	v.note(func() { v.listErr = err }, err == nil)
	if err != nil {
		return nil, err // not a typed nil
	}
	return list, nil
}

func (v *view) watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	w, err := v.reader.client.Namespace(v.namespace).Watch(ctx, options)
	if err != nil {
		// An API server that cannot begin a watch with a list refuses this
		// one, and the informer lists instead. Whatever else is an error: of a
		// server that is away the informer asks nothing but this, for ever.
		if options.SendInitialEvents == nil || !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
			v.note(func() { v.watchErr = err }, false)
		}
		return nil, err
	}
	v.note(func() { v.watchErr, v.listErr = nil, nil }, true)
	return watch.Filter(w, func(e watch.Event) (watch.Event, bool) {
		if e.Type != watch.Error {
			v.note(func() {}, true)
		}
		return e, true
	}), nil
}

// failed is told by the informer of whatever ended a list or a watch. That a
// watch ran out or its resource version is too old (410) is how they end; the
// informer lists again.
func (v *view) failed(_ context.Context, _ *cache.Reflector, err error) {
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) || errors.Is(err, io.EOF) {
		return
	}
	v.note(func() {
		if v.listErr == nil && v.watchErr == nil {
			v.watchErr = err
		}
	}, false)
}

// note changes the state and signals a failure; heard says that the API server
// answered.
func (v *view) note(change func(), heard bool) {
	now := v.reader.now()
	v.mu.Lock()
	change()
	if heard {
		v.contact = now
	}
	v.mu.Unlock()
	if !heard {
		v.reader.signal()
	}
}

func (v *view) state() State {
	v.mu.Lock()
	defer v.mu.Unlock()
	s := State{Namespace: v.namespace, Synced: v.informer.HasSynced(), Contact: v.contact}
	if err := errors.Join(v.listErr, v.watchErr); err != nil {
		s.Err = explain(err)
	}
	return s
}

// trouble is why the cache may not tell the truth at now, nil if it may.
func (v *view) trouble(now time.Time, maxAge time.Duration) error {
	s := v.state()
	age := now.Sub(s.Contact)
	switch {
	case s.Err != nil:
		return s.Err
	case !s.Synced:
		return errors.New("not read yet")
	case age > maxAge:
		return fmt.Errorf("the API server was not heard of for %s", age.Round(time.Second))
	}
	return nil
}

// isAbsent tells "there is no such Application" from a 404 that something else
// answered: a missing CRD, a proxy, a wrong address.
func isAbsent(err error) bool {
	if !apierrors.IsNotFound(err) {
		return false
	}
	if _, unexpected := apierrors.StatusCause(err, metav1.CauseTypeUnexpectedServerResponse); unexpected {
		return false
	}
	var status apierrors.APIStatus
	return errors.As(err, &status) && status.Status().Details != nil && status.Status().Details.Name != ""
}

// explain adds what to do about it.
func explain(err error) error {
	hint := ""
	switch {
	case apierrors.IsForbidden(err):
		hint = "allow get, list and watch on applications.argoproj.io, and nothing more, in the namespaces that are read"
	case apierrors.IsUnauthorized(err):
		hint = "the cluster does not know these credentials"
	case apierrors.IsNotFound(err):
		hint = "is this the cluster of Argo CD? It has no applications.argoproj.io"
	}
	if hint == "" {
		return err
	}
	return fmt.Errorf("%w\nhint: %s", err, hint)
}
