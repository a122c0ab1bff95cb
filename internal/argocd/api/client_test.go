package api_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd/api"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

const token = "secret-token"

// server answers as Argo CD does: the items of a list have no kind.
func server(t *testing.T, answers map[string]string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token || r.Method != http.MethodGet {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		body, there := answers[strings.TrimPrefix(r.URL.Path, "/api/v1/")]
		if !there {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		if to, redirect := strings.CutPrefix(body, "redirect "); redirect {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(s.Close)
	return s
}

const apps = `{"metadata":{"resourceVersion":"7","items":"no"},"items":[
 {"metadata":{"name":"web","namespace":"argocd","ownerReferences":[{"controller":true,"kind":"ApplicationSet","apiVersion":"argoproj.io/v1alpha1","name":"webs"}]},
  "spec":{"project":"prod","source":{"repoURL":"https://git.example.com/team/deploy.git","path":"apps/web","targetRevision":"main"},"syncPolicy":{"automated":{"prune":true}}},
  "status":{"sync":{"status":"Synced"},"health":{"status":"Healthy"},"controllerNamespace":"argocd"}}]}`

func TestPlace(t *testing.T) {
	s := server(t, map[string]string{
		"applications":    apps,
		"projects":        `{"items":[{"metadata":{"name":"prod","namespace":"argocd"},"spec":{"signatureKeys":[{"keyID":"4AEE18F83AFDEB23"}]}}]}`,
		"applicationsets": `{"items":[{"metadata":{"name":"webs","namespace":"argocd"},"spec":{"strategy":{"type":"RollingSync","rollingSync":{"steps":[{"maxUpdate":1}]}},"template":{"spec":{"syncPolicy":{"automated":{"prune":true}}}}}}]}`,
	})
	c, err := api.New(s.URL+"/", token)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, time.November, 29, 12, 0, 0, 0, time.UTC)
	p, err := c.Place(context.Background(), at)
	if err != nil {
		t.Fatal(err)
	}
	found := p.Find(verdict.App{Name: "web"})
	if len(found) != 1 {
		t.Fatalf("found %+v", found)
	}
	f := found[0]
	if f.From != "live" || !f.At.Equal(at) || !f.Prune || f.Rules == nil || f.Rules.Signatures != "signatureKeys" ||
		f.Template == nil || !f.Template.RollingSync || !f.Template.Prune || f.UpdaterCRD != verdict.Unknown {
		t.Errorf("%+v", f)
	}
}

// What the token may not see is not known; without Applications there is nothing.
func TestPlaceForbidden(t *testing.T) {
	s := server(t, map[string]string{"applications": apps})
	c, err := api.New(s.URL, token)
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Place(context.Background(), time.Time{})
	if err != nil || p.Find(verdict.App{Name: "web"})[0].Rules != nil || p.Whole.Projects {
		t.Errorf("%+v, %v", p, err)
	}
	for name, answers := range map[string]map[string]string{
		"403":        {},
		"cut off":    {"applications": apps[:len(apps)-2]},
		"no JSON":    {"applications": "<html>"},
		"no list":    {"applications": "[]"},
		"items":      {"applications": `{"items":{}}`},
		"a null":     {"applications": `{"items":[null]}`},
		"a redirect": {"applications": "redirect " + s.URL + "/api/v1/applications"},
	} {
		c, err := api.New(server(t, answers).URL, token)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Place(context.Background(), time.Time{}); err == nil || strings.Contains(err.Error(), token) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNew(t *testing.T) {
	for _, bad := range [][2]string{
		{"argocd.example.com", token}, {"http://argocd.example.com", token}, {"https://user:pw@argocd.example.com", token},
		{"https://argocd.example.com", ""}, {"https://argocd.example.com", "a\nb"}, {"ftp://x", token},
	} {
		if _, err := api.New(bad[0], bad[1]); err == nil || strings.Contains(err.Error(), "pw") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, err := api.New("https://argocd.example.com/argo", token); err != nil {
		t.Error(err)
	}
}
