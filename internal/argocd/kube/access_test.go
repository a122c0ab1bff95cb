package kube_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd/kube"
)

// reviewer is an API server that only answers SelfSubjectAccessReviews.
type reviewer struct {
	allow func(verb, namespace string) bool
	date  time.Time
	asked []string
}

func (v *reviewer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !v.date.IsZero() {
		w.Header().Set("Date", v.date.UTC().Format(http.TimeFormat))
	}
	var review struct {
		Kind string
		Spec struct {
			ResourceAttributes struct{ Group, Resource, Verb, Namespace string }
		}
	}
	err := json.NewDecoder(r.Body).Decode(&review)
	a := review.Spec.ResourceAttributes
	if err != nil || r.Method != http.MethodPost || r.URL.Path != "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews" ||
		review.Kind != "SelfSubjectAccessReview" || a.Group != "argoproj.io" || a.Resource != "applications" {
		reply(w, http.StatusBadRequest, status(http.StatusBadRequest, "BadRequest", fmt.Sprintf("%s %s %+v", r.Method, r.URL, review)))
		return
	}
	if v.allow == nil {
		reply(w, http.StatusForbidden, status(http.StatusForbidden, "Forbidden", "no reviews here"))
		return
	}
	v.asked = append(v.asked, strings.TrimSpace(a.Verb+" "+a.Namespace))
	reply(w, http.StatusCreated, map[string]any{"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
		"status": map[string]any{"allowed": v.allow(a.Verb, a.Namespace)}})
}

func (v *reviewer) reader(t *testing.T, c kube.Config) *kube.Reader {
	t.Helper()
	srv := httptest.NewServer(v)
	t.Cleanup(srv.Close)
	c.Kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	config := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],
		"clusters":[{"name":"c","cluster":{"server":%q}}],"users":[{"name":"u","user":{"token":"t"}}]}`, srv.URL)
	if err := os.WriteFile(c.Kubeconfig, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := kube.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestAccess: each verb is asked for in each namespace that is read.
func TestAccess(t *testing.T) {
	v := &reviewer{allow: func(verb, namespace string) bool {
		return slices.Contains([]string{"get", "list"}, verb) || verb == "patch" && namespace == "team"
	}}
	got, err := v.reader(t, kube.Config{Namespaces: []string{"team", "argocd"}}).Access(t.Context())
	if err != nil || len(got) != 14 {
		t.Fatalf("%v, %+v", err, got)
	}
	if want := "get argocd"; v.asked[0] != want || !slices.Contains(v.asked, "delete team") {
		t.Errorf("asked %q", v.asked)
	}
	var missing, surplus []string
	for _, a := range got {
		switch {
		case a.Needed && !a.Allowed:
			missing = append(missing, a.Verb+" "+a.Namespace)
		case !a.Needed && a.Allowed:
			surplus = append(surplus, a.Verb+" "+a.Namespace)
		}
	}
	if strings.Join(missing, ", ") != "watch argocd, watch team" || strings.Join(surplus, ", ") != "patch team" {
		t.Errorf("missing %q, surplus %q", missing, surplus)
	}
	everywhere := &reviewer{allow: func(string, string) bool { return true }}
	if _, err := everywhere.reader(t, kube.Config{}).Access(t.Context()); err != nil || everywhere.asked[0] != "get" {
		t.Errorf("all namespaces: %v, asked %q", err, everywhere.asked)
	}
	if _, err := (&reviewer{}).reader(t, kube.Config{}).Access(t.Context()); err == nil || !strings.Contains(err.Error(), "no reviews here") {
		t.Errorf("reviews that are refused: %v", err)
	}
}

// TestAhead: the API server's clock is known after its first answer.
func TestAhead(t *testing.T) {
	v := &reviewer{allow: func(string, string) bool { return true }, date: start.Add(-90 * time.Second)}
	r := v.reader(t, kube.Config{Now: func() time.Time { return start.Add(700 * time.Millisecond) }})
	if _, known := r.Ahead(); known {
		t.Error("it is known before it was asked")
	}
	if _, err := r.Access(t.Context()); err != nil {
		t.Fatal(err)
	}
	if ahead, known := r.Ahead(); !known || ahead != -90*time.Second {
		t.Errorf("%s, %v", ahead, known)
	}
}
