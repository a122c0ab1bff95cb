package kube_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// apiServer speaks as much of the Kubernetes API as a dynamic informer of
// Applications needs: get, list and watch of one resource, with field
// selector, bookmarks, a list at the beginning of a watch, and its refusals.
type apiServer struct {
	*httptest.Server
	kubeconfig string

	mu       sync.Mutex
	version  int
	objects  map[string]map[string]any // namespace/name
	watchers map[*watcher]bool
	sent     []sentEvent
	requests []string // verb and path, in order

	// Switches.
	forbidden  []string // verbs that RBAC does not allow
	foreign    string   // a namespace in which RBAC allows nothing
	noCRD      bool     // as a server that knows no Applications
	noStreamed bool     // as a server that cannot begin a watch with a list
}

// sentEvent is what a watch from an older version still gets.
type sentEvent struct {
	version   int
	namespace string
	text      string
}

type watcher struct {
	namespace string
	events    chan string
}

func newServer(t *testing.T) *apiServer {
	t.Helper()
	s := &apiServer{objects: map[string]map[string]any{}, watchers: map[*watcher]bool{}, version: 100}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() {
		s.goAway()
		s.Close()
	})
	s.kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	config := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"c",
		"contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],
		"clusters":[{"name":"c","cluster":{"server":%q}}],"users":[{"name":"u","user":{"token":"t"}}]}`, s.URL)
	if err := os.WriteFile(s.kubeconfig, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// goAway refuses new connections before it drops those that are open, so that
// nobody comes back in between.
func (s *apiServer) goAway() {
	_ = s.Listener.Close() // an error says that it is closed already
	s.CloseClientConnections()
}

// set changes switches.
func (s *apiServer) set(change func(*apiServer)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

func (s *apiServer) put(object map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	meta := object["metadata"].(map[string]any)
	key := meta["namespace"].(string) + "/" + meta["name"].(string)
	event := "MODIFIED"
	if s.objects[key] == nil {
		event = "ADDED"
	}
	s.version++
	meta["resourceVersion"] = strconv.Itoa(s.version)
	s.objects[key] = object
	s.send(event, object)
}

func (s *apiServer) remove(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	object := s.objects[key]
	delete(s.objects, key)
	s.version++
	object["metadata"].(map[string]any)["resourceVersion"] = strconv.Itoa(s.version)
	s.send("DELETED", object)
}

// expire ends all watches as the API server does when their resource version
// is too old, after it lost what lose changes.
func (s *apiServer) expire(lose func(objects map[string]map[string]any)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lose(s.objects)
	s.version++
	gone := status(http.StatusGone, "Expired", "too old resource version")
	for w := range s.watchers {
		w.events <- event("ERROR", gone)
	}
}

func (s *apiServer) bookmark() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.watchers {
		w.events <- event("BOOKMARK", s.mark(nil))
	}
}

func (s *apiServer) send(kind string, object map[string]any) {
	e := sentEvent{s.version, object["metadata"].(map[string]any)["namespace"].(string), event(kind, object)}
	s.sent = append(s.sent, e)
	for w := range s.watchers {
		w.give(e)
	}
}

func (w *watcher) give(e sentEvent) {
	if w.namespace == "" || w.namespace == e.namespace {
		w.events <- e.text
	}
}

func (s *apiServer) mark(annotations map[string]any) map[string]any {
	return map[string]any{"apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
		"metadata": map[string]any{"resourceVersion": strconv.Itoa(s.version), "annotations": annotations}}
}

func (s *apiServer) asked(prefix string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.requests, func(r string) bool { return strings.HasPrefix(r, prefix) })
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rest, ok := strings.CutPrefix(r.URL.Path, "/apis/argoproj.io/v1alpha1/")
	namespace := ""
	if after, found := strings.CutPrefix(rest, "namespaces/"); found {
		namespace, rest, _ = strings.Cut(after, "/")
	}
	resource, name, _ := strings.Cut(rest, "/")
	verb := "list"
	switch {
	case r.Method != http.MethodGet:
		verb = r.Method
	case name != "":
		verb = "get"
	case r.URL.Query().Get("watch") == "true":
		verb = "watch"
	}
	s.mu.Lock()
	s.requests = append(s.requests, verb+" "+r.URL.Path)
	forbidden, noCRD := slices.Contains(s.forbidden, verb) || s.foreign != "" && s.foreign == namespace, s.noCRD
	noStreamed := s.noStreamed && r.URL.Query().Get("sendInitialEvents") == "true"
	s.mu.Unlock()
	switch {
	case !ok || resource != "applications" || noCRD:
		http.NotFound(w, r) // plain text, as the real one
	case forbidden:
		reply(w, http.StatusForbidden, status(http.StatusForbidden, "Forbidden",
			`applications.argoproj.io is forbidden: User "u" cannot `+verb+` resource "applications" in API group "argoproj.io"`))
	case noStreamed:
		reply(w, http.StatusUnprocessableEntity, status(http.StatusUnprocessableEntity, "Invalid", "sendInitialEvents is forbidden"))
	case verb == "get":
		s.get(w, namespace, name)
	case verb == "list":
		s.list(w, r, namespace)
	case verb == "watch":
		s.watch(w, r, namespace)
	default:
		reply(w, http.StatusMethodNotAllowed, status(http.StatusMethodNotAllowed, "MethodNotAllowed", "read only"))
	}
}

func (s *apiServer) get(w http.ResponseWriter, namespace, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	object := s.objects[namespace+"/"+name]
	if object == nil {
		missing := status(http.StatusNotFound, "NotFound", `applications.argoproj.io "`+name+`" not found`)
		missing["details"] = map[string]any{"name": name, "group": "argoproj.io", "kind": "applications"}
		reply(w, http.StatusNotFound, missing)
		return
	}
	reply(w, http.StatusOK, object)
}

// selected are the objects of a namespace, in the order of their keys.
func (s *apiServer) selected(namespace, selector string) []any {
	items := []any{}
	keys := make([]string, 0, len(s.objects))
	for key := range s.objects {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	name, byName := strings.CutPrefix(selector, "metadata.name=")
	for _, key := range keys {
		ns, n, _ := strings.Cut(key, "/")
		if (namespace == "" || ns == namespace) && (!byName || n == name) {
			items = append(items, s.objects[key])
		}
	}
	return items
}

func (s *apiServer) list(w http.ResponseWriter, r *http.Request, namespace string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	reply(w, http.StatusOK, map[string]any{"apiVersion": "argoproj.io/v1alpha1", "kind": "ApplicationList",
		"metadata": map[string]any{"resourceVersion": strconv.Itoa(s.version)},
		"items":    s.selected(namespace, r.URL.Query().Get("fieldSelector"))})
}

func (s *apiServer) watch(w http.ResponseWriter, r *http.Request, namespace string) {
	me := &watcher{namespace: namespace, events: make(chan string, 1000)}
	s.mu.Lock()
	if r.URL.Query().Get("sendInitialEvents") == "true" {
		for _, object := range s.selected(namespace, "") {
			me.events <- event("ADDED", object)
		}
		me.events <- event("BOOKMARK", s.mark(map[string]any{"k8s.io/initial-events-end": "true"}))
	} else if since, err := strconv.Atoi(r.URL.Query().Get("resourceVersion")); err == nil && since > 0 {
		for _, e := range s.sent {
			if e.version > since {
				me.give(e)
			}
		}
	}
	s.watchers[me] = true
	s.mu.Unlock()
	defer s.set(func(s *apiServer) { delete(s.watchers, me) })
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	flush := w.(http.Flusher)
	flush.Flush()
	for {
		select {
		case <-r.Context().Done():
			return
		case e := <-me.events:
			if _, err := fmt.Fprintln(w, e); err != nil {
				return
			}
			flush.Flush()
			if strings.HasPrefix(e, `{"object":{"apiVersion":"v1","code":410`) {
				return
			}
		}
	}
}

// event is made at once, under the lock: the object may change later.
func event(kind string, object any) string {
	text, err := json.Marshal(map[string]any{"type": kind, "object": object})
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func status(code int, reason, message string) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": message}
}

func reply(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}
