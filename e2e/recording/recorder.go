// Package recording writes what a watch on Applications delivers as a
// timeline, the format that `navwatchd replay` judges.
package recording

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
)

// Header is the first line of a timeline.
type Header struct {
	Timeline       int    `json:"timeline"`
	Name           string `json:"name"`
	ArgoCD         string `json:"argocd"`
	Kubernetes     string `json:"kubernetes"`
	Commit         string `json:"commit"`
	Revert         string `json:"revert,omitempty"`
	End            string `json:"end"`
	Reconciliation string `json:"reconciliation"`
	Watch          string `json:"watch"`
}

// Recorder collects the lines of one timeline.
type Recorder struct {
	Header Header

	rewrite *strings.Replacer
	mu      sync.Mutex
	lines   [][]byte
	latest  map[string]*unstructured.Unstructured // Applications, by name
	changed chan struct{}
}

// New makes an empty timeline. The pairs of rewrite replace what only this
// machine knows, such as the addresses of repositories and cluster.
func New(h Header, rewrite ...string) *Recorder {
	h.Timeline = 1
	return &Recorder{
		Header: h, rewrite: strings.NewReplacer(rewrite...),
		latest: map[string]*unstructured.Unstructured{}, changed: make(chan struct{}),
	}
}

type line struct {
	At     string         `json:"at"`
	Type   string         `json:"type"`
	Text   string         `json:"text,omitempty"`
	SHA    string         `json:"sha,omitempty"`
	Object map[string]any `json:"object,omitempty"`
}

const stamp = "2006-01-02T15:04:05.000Z07:00"

// Note records what somebody did; sha is the commit that was pushed, if one
// was.
func (r *Recorder) Note(text, sha string) error {
	return r.add(line{Type: "NOTE", Text: text, SHA: sha})
}

func (r *Recorder) add(l line) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	l.At = time.Now().UTC().Format(stamp)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(l); err != nil {
		return err
	}
	r.lines = append(r.lines, []byte(r.rewrite.Replace(b.String())))
	return nil
}

// Watch records until the context ends. A watch that breaks is taken up again
// where it stopped.
func (r *Recorder) Watch(ctx context.Context, client dynamic.Interface, gvr schema.GroupVersionResource, namespace, selector string) error {
	version := "0"
	for ctx.Err() == nil {
		w, err := client.Resource(gvr).Namespace(namespace).Watch(ctx, metav1.ListOptions{LabelSelector: selector, ResourceVersion: version})
		if err != nil {
			return fmt.Errorf("watching %s: %w", gvr.Resource, err)
		}
		for e := range w.ResultChan() {
			u, ok := e.Object.(*unstructured.Unstructured)
			if !ok || e.Type == watch.Bookmark || e.Type == watch.Error {
				continue
			}
			version = u.GetResourceVersion()
			if err := r.event(string(e.Type), u); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Recorder) event(kind string, u *unstructured.Unstructured) error {
	u.SetManagedFields(nil)
	annotations := u.GetAnnotations()
	delete(annotations, "kubectl.kubernetes.io/last-applied-configuration")
	u.SetAnnotations(annotations)
	if err := r.add(line{Type: kind, Object: u.Object}); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if u.GetKind() == "Application" {
		r.latest[u.GetName()] = u
		if kind == string(watch.Deleted) {
			delete(r.latest, u.GetName())
		}
	}
	close(r.changed)
	r.changed = make(chan struct{})
	return nil
}

// Await waits until an Application is as asked. None is nil.
func (r *Recorder) Await(ctx context.Context, app string, ok func(*unstructured.Unstructured) bool) error {
	for {
		r.mu.Lock()
		u, changed := r.latest[app], r.changed
		r.mu.Unlock()
		if u != nil && ok(u) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for the Application %s: %w", app, ctx.Err())
		case <-changed:
		}
	}
}

// Write ends the timeline and writes it into a file.
func (r *Recorder) Write(file string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Header.End = time.Now().UTC().Format(stamp)
	head, err := json.Marshal(r.Header)
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(append(head, '\n'), bytes.Join(r.lines, nil)...), 0o644)
}
