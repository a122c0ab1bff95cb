package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// loadAPI is an API server with many Applications of about 20 KB each, as Argo
// CD writes them. It makes them anew for every answer, so that what a daemon
// holds is not mixed up with what the server does, and counts what it is asked.
type loadAPI struct {
	*httptest.Server
	kubeconfig string

	mu      sync.Mutex
	apps    []loadApp
	version int
	watches map[chan string]bool
	asked   map[string]int // by verb and resource
}

// loadApp is how one Application stands.
type loadApp struct {
	name, path string
	revision   string
	version    int
	at         time.Time // of the end of the operation
	compared   time.Time
	health     string
}

func newLoadAPI(tb testing.TB, n int, revision string, at time.Time) *loadAPI {
	tb.Helper()
	s := &loadAPI{version: n, watches: map[chan string]bool{}, asked: map[string]int{}}
	for i := range n {
		s.apps = append(s.apps, loadApp{name: fmt.Sprintf("app-%d", i), path: loadPath(i), revision: revision, version: i + 1, at: at, compared: at, health: "Healthy"})
	}
	s.Server = httptest.NewServer(s)
	tb.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	s.kubeconfig = filepath.Join(tb.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],
		"clusters":[{"name":"c","cluster":{"server":%q}}],"users":[{"name":"u","user":{"token":"t"}}]}`, s.URL)
	check(tb, os.WriteFile(s.kubeconfig, []byte(text), 0o600))
	return s
}

// put compares one Application, and tells whoever watches. Another revision, or
// another health, comes with an operation.
func (s *loadAPI) put(i int, revision, health string, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	a := &s.apps[i]
	if a.revision != revision || a.health != health {
		a.at = at
	}
	a.revision, a.health, a.compared, a.version = revision, health, at, s.version
	for w := range s.watches {
		w <- `{"type":"MODIFIED","object":` + a.json() + "}\n"
	}
}

// taken are the requests since the last call.
func (s *loadAPI) taken() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.asked
	s.asked = map[string]int{}
	return asked
}

func (s *loadAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	name := ""
	for i, p := range parts {
		if p == "namespaces" && len(parts) > i+3 {
			name = parts[i+3]
		}
	}
	what, verb := "other", "list"
	for _, kind := range []string{"applications", "applicationsets", "appprojects", "imageupdaters", "configmaps"} {
		if parts[len(parts)-1] == kind || name != "" && parts[len(parts)-2] == kind {
			what = kind
		}
	}
	switch {
	case name != "":
		verb = "get"
	case r.URL.Query().Get("watch") == "true":
		verb = "watch"
	}
	s.mu.Lock()
	s.asked[verb+" "+what]++
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch {
	case what == "applications" && verb == "watch":
		s.watch(w, r)
	case what == "applications" && verb == "get":
		s.get(w, name)
	case what == "applications":
		s.list(w)
	case verb == "get":
		_, _ = fmt.Fprint(w, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"argocd-cm","namespace":"argocd"}}`)
	default:
		_, _ = fmt.Fprint(w, `{"apiVersion":"argoproj.io/v1alpha1","kind":"List","metadata":{"resourceVersion":"1"},"items":[]}`)
	}
}

func (s *loadAPI) get(w http.ResponseWriter, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.apps {
		if a.name == name {
			_, _ = fmt.Fprint(w, a.json())
			return
		}
	}
	w.WriteHeader(http.StatusNotFound)
}

func (s *loadAPI) list(w http.ResponseWriter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = fmt.Fprintf(w, `{"apiVersion":"argoproj.io/v1alpha1","kind":"ApplicationList","metadata":{"resourceVersion":"%d"},"items":[`, s.version)
	for i, a := range s.apps {
		if i > 0 {
			_, _ = fmt.Fprint(w, ",")
		}
		_, _ = fmt.Fprint(w, a.json())
	}
	_, _ = fmt.Fprint(w, "]}")
}

// watch begins with a list, as an API server of today does it when asked to.
func (s *loadAPI) watch(w http.ResponseWriter, r *http.Request) {
	events := make(chan string, 1000)
	s.mu.Lock()
	if r.URL.Query().Get("sendInitialEvents") == "true" {
		for _, a := range s.apps {
			_, _ = fmt.Fprint(w, `{"type":"ADDED","object":`+a.json()+"}\n")
		}
		_, _ = fmt.Fprintf(w, `{"type":"BOOKMARK","object":{"apiVersion":"argoproj.io/v1alpha1","kind":"Application","metadata":{"resourceVersion":"%d","annotations":{"k8s.io/initial-events-end":"true"}}}}`+"\n", s.version)
	}
	s.watches[events] = true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.watches, events)
		s.mu.Unlock()
	}()
	flush := http.NewResponseController(w)
	for _ = flush.Flush(); ; _ = flush.Flush() {
		select {
		case <-r.Context().Done():
			return
		case e := <-events:
			if _, err := fmt.Fprint(w, e); err != nil {
				return
			}
		}
	}
}

const loadResources = 40

// json is the Application with what makes one big: managed objects, results, a
// history, managed fields and what kubectl left.
func (a loadApp) json() string {
	source := fmt.Sprintf(`{"repoURL":%q,"path":%q,"targetRevision":"main"}`, deployURL, a.path)
	at, compared := a.at.UTC().Format(time.RFC3339), a.compared.UTC().Format(time.RFC3339)
	var resources, results, history strings.Builder
	for i := range loadResources {
		comma := ","
		if i == loadResources-1 {
			comma = ""
		}
		fmt.Fprintf(&resources, `{"group":"apps","version":"v1","kind":"Deployment","namespace":"team-%s","name":"service-%d","status":"Synced","health":{"status":"Healthy"}}%s`, a.name, i, comma)
		fmt.Fprintf(&results, `{"group":"apps","version":"v1","kind":"Deployment","namespace":"team-%s","name":"service-%d","status":"Synced","message":"deployment.apps/service-%d configured","hookPhase":"Running","syncPhase":"Sync"}%s`, a.name, i, i, comma)
	}
	for i := range 10 {
		comma := ","
		if i == 9 {
			comma = ""
		}
		fmt.Fprintf(&history, `{"id":%d,"revision":%q,"deployStartedAt":%q,"deployedAt":%q,"initiatedBy":{"automated":true},"source":%s}%s`, i, a.revision, at, at, source, comma)
	}
	return fmt.Sprintf(`{"apiVersion":"argoproj.io/v1alpha1","kind":"Application","metadata":{"name":%q,"namespace":"argocd","uid":"uid-%s","resourceVersion":"%d",`+
		`"annotations":{"kubectl.kubernetes.io/last-applied-configuration":%q},"managedFields":[{"manager":"argocd-controller","fieldsV1":{"f:status":{"f:x":%q}}}]},`+
		`"spec":{"project":"default","source":%s,"destination":{"server":"https://kubernetes.default.svc","namespace":%q},"syncPolicy":{"automated":{"selfHeal":true}}},`+
		`"status":{"sync":{"status":"Synced","revision":%q,"comparedTo":{"source":%s,"destination":{"server":"https://kubernetes.default.svc","namespace":%q}}},`+
		`"health":{"status":%q,"lastTransitionTime":%q},"reconciledAt":%q,"controllerNamespace":"argocd","resources":[%s],"history":[%s],`+
		`"operationState":{"phase":"Succeeded","startedAt":%q,"finishedAt":%q,"message":"successfully synced (all tasks run)","operation":{"sync":{"revision":%q},"initiatedBy":{"automated":true}},`+
		`"syncResult":{"revision":%q,"source":%s,"resources":[%s]}}}}`,
		a.name, a.name, a.version, strings.Repeat("x", 2000), strings.Repeat("y", 1500),
		source, a.name, a.revision, source, a.name, a.health, at, compared, resources.String(), history.String(),
		at, at, a.revision, a.revision, source, results.String())
}

// TestLoadApplication: what the load is made of is an Application of 20 KB.
func TestLoadApplication(t *testing.T) {
	t.Parallel()
	text := loadApp{name: "app-1", revision: strings.Repeat("a", 40), version: 7, at: time.Now(), health: "Healthy"}.json()
	if !json.Valid([]byte(text)) {
		t.Fatal("not JSON")
	}
	if size := len(text); size < 18<<10 || size > 24<<10 {
		t.Errorf("an Application has %s bytes", strconv.Itoa(size))
	}
}
