package kube

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd"
)

// cached is what is kept of an Application: what internal/argocd read of it
// when it came, and by what the informer finds it. The object itself, with its
// managed fields, Helm values and ten entries of history, would be most of the
// daemon's memory, and to read it anew most of a pass.
type cached struct {
	metav1.ObjectMeta

	app        *argocd.Application
	err        error  // why it could not be read; app is nil
	controller string // the namespace of the Argo CD that controls it
}

// digest makes of an object from the API server what is kept. The informer may
// call it twice.
func digest(o any) (any, error) {
	u, ok := o.(*unstructured.Unstructured)
	if !ok {
		return o, nil // a tombstone, or one that is cached already
	}
	c := &cached{ObjectMeta: metav1.ObjectMeta{
		Namespace: u.GetNamespace(), Name: u.GetName(), UID: u.GetUID(), ResourceVersion: u.GetResourceVersion(),
	}}
	c.app, c.err = argocd.FromObject(u.Object)
	c.controller, _, _ = unstructured.NestedString(u.Object, "status", "controllerNamespace")
	return c, nil
}
