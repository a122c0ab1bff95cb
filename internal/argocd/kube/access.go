package kube

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var accessReviews = schema.GroupVersionResource{Group: "authorization.k8s.io", Version: "v1", Resource: "selfsubjectaccessreviews"}

// Access is what the API server says of one verb on Applications.
type Access struct {
	Namespace string // "" is all
	Verb      string
	Needed    bool // the reader needs it; otherwise it should not have it
	Allowed   bool
}

// verbs that the reader needs, and those that it should not have: whoever may
// write an Application may start syncs.
func verbs() []Access {
	return []Access{
		{Verb: "get", Needed: true}, {Verb: "list", Needed: true}, {Verb: "watch", Needed: true},
		{Verb: "create"}, {Verb: "update"}, {Verb: "patch"}, {Verb: "delete"},
	}
}

// Access asks the API server what this account may do, by
// SelfSubjectAccessReviews. They store nothing.
func (r *Reader) Access(ctx context.Context) ([]Access, error) {
	var out []Access
	for _, v := range r.views {
		for _, a := range verbs() {
			a.Namespace = v.namespace
			var err error
			if a.Allowed, err = r.may(ctx, a); err != nil {
				return out, fmt.Errorf("asking whether %s of Applications%s is allowed: %w", a.Verb, v.where(), explain(err))
			}
			out = append(out, a)
		}
	}
	return out, nil
}

func (r *Reader) may(ctx context.Context, a Access) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	attributes := map[string]any{"group": applications.Group, "resource": applications.Resource, "verb": a.Verb}
	if a.Namespace != metav1.NamespaceAll {
		attributes["namespace"] = a.Namespace
	}
	got, err := r.reviews.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": accessReviews.Group + "/" + accessReviews.Version, "kind": "SelfSubjectAccessReview",
		"spec": map[string]any{"resourceAttributes": attributes},
	}}, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	allowed, _, err := unstructured.NestedBool(got.Object, "status", "allowed")
	return allowed, err
}

// clock remembers what the API server's clock showed at its last answer.
type clock struct {
	now    func() time.Time
	offset atomic.Pointer[time.Duration]
}

// wrap notes the Date of every answer that comes through a transport.
func (c *clock) wrap(base http.RoundTripper) http.RoundTripper { return &dated{base, c} }

type dated struct {
	base  http.RoundTripper
	clock *clock
}

func (d *dated) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := d.base.RoundTrip(req)
	if err != nil {
		return resp, err
	}
	if at, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		offset := at.Sub(d.clock.now().Truncate(time.Second)) // a Date has whole seconds
		d.clock.offset.Store(&offset)
	}
	return resp, nil
}

// Ahead is by how much the API server's clock was ahead of ours when it answered
// last, to a second or so; false: it has not answered, or says no time.
func (r *Reader) Ahead() (time.Duration, bool) {
	offset := r.clock.offset.Load()
	if offset == nil {
		return 0, false
	}
	return *offset, true
}
