package kube_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd/kube"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// answers serves lists by path; what is not there is 404 as an API server says it
// of a kind that it does not know, and what begins with a digit a status code.
func answers(t *testing.T, bodies map[string]string) (kubeconfig string, asked *atomic.Int64) {
	t.Helper()
	asked = &atomic.Int64{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			t.Errorf("%s %s", r.Method, r.URL)
		}
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("watch") != "" {
			if r.URL.Query().Get("sendInitialEvents") != "" {
				w.WriteHeader(http.StatusBadRequest)
				_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"BadRequest","code":400}`))
				return
			}
			<-r.Context().Done()
			return
		}
		asked.Add(1)
		body, there := bodies[r.URL.Path]
		switch {
		case !there:
			w.WriteHeader(http.StatusNotFound)
			body = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`
		case body == "403":
			w.WriteHeader(http.StatusForbidden)
			body = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"forbidden","code":403}`
		}
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],
		"clusters":[{"name":"c","cluster":{"server":%q}}],"users":[{"name":"u","user":{"token":"t"}}]}`, s.URL)
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return kubeconfig, asked
}

func listOf(kind string, items ...string) string {
	group := "argoproj.io/v1alpha1"
	if kind == "ImageUpdater" {
		group = "argocd-image-updater.argoproj.io/v1alpha1"
	}
	return fmt.Sprintf(`{"apiVersion":%q,"kind":"%sList","metadata":{"resourceVersion":"1"},"items":[%s]}`, group, kind, strings.Join(items, ","))
}

const argoPath, updaterPath = "/apis/argoproj.io/v1alpha1/", "/apis/argocd-image-updater.argoproj.io/v1alpha1/imageupdaters"

func whole() map[string]string {
	return map[string]string{
		argoPath + "applications": listOf("Application", `{"apiVersion":"argoproj.io/v1alpha1","kind":"Application","metadata":{"name":"web","namespace":"argocd","resourceVersion":"1",
			"ownerReferences":[{"apiVersion":"argoproj.io/v1alpha1","kind":"ApplicationSet","name":"webs","controller":true}]},
			"spec":{"project":"prod","source":{"repoURL":"https://h/r","path":"a"}},"status":{"controllerNamespace":"argocd"}}`),
		argoPath + "appprojects": listOf("AppProject",
			`{"apiVersion":"argoproj.io/v1alpha1","kind":"AppProject","metadata":{"name":"prod","namespace":"argocd","labels":{"env":"prod"}},"spec":{"signatureKeys":[{"keyID":"4AEE18F83AFDEB23"}]}}`,
			`{"apiVersion":"argoproj.io/v1alpha1","kind":"AppProject","metadata":{"name":"all","namespace":"argocd"},"spec":{"syncWindows":[{"kind":"deny","schedule":"0 8 * * *","duration":"8h","applications":["*"]}]}}`),
		argoPath + "applicationsets": listOf("ApplicationSet",
			`{"apiVersion":"argoproj.io/v1alpha1","kind":"ApplicationSet","metadata":{"name":"webs","namespace":"argocd"},"spec":{"strategy":{"type":"RollingSync","rollingSync":{"steps":[{"maxUpdate":1}]}},"template":{"spec":{"syncPolicy":{"automated":{"prune":true}}}}}}`),
		updaterPath: listOf("ImageUpdater",
			`{"apiVersion":"argocd-image-updater.argoproj.io/v1alpha1","kind":"ImageUpdater","metadata":{"name":"iu","namespace":"argocd"},"spec":{"applicationRefs":[{"namePattern":"web","writeBackConfig":{"method":"git"}}]}}`),
		"/api/v1/namespaces/argocd/configmaps/argocd-cm": `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"argocd-cm"},"data":{"globalProjects":"- labelSelector:\n    matchExpressions: [{key: env, operator: In, values: [prod]}]\n  projectName: all\n"}}`,
	}
}

// around starts a reader on these answers and gives what stands around.
func around(t *testing.T, bodies map[string]string) (*kube.Reader, *atomic.Int64) {
	t.Helper()
	kubeconfig, asked := answers(t, bodies)
	r, err := kube.New(kube.Config{Kubeconfig: kubeconfig})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.Start(ctx)
	t.Cleanup(func() { cancel(); r.Wait() })
	for !r.Synced() {
		<-r.Changed()
	}
	return r, asked
}

func TestAround(t *testing.T) {
	r, asked := around(t, whole())
	now := time.Date(2026, time.November, 29, 12, 0, 0, 0, time.UTC)
	p, err := r.Around(context.Background(), now, false)
	if err != nil {
		t.Fatal(err)
	}
	apps, err := r.List(context.Background(), time.Now())
	if err != nil || len(apps) != 1 {
		t.Fatal(apps, err)
	}
	f := p.Around(apps[0].Facts("live", now))
	if f.Template == nil || !f.Template.RollingSync || !f.Template.Prune {
		t.Errorf("ApplicationSet: %+v", f.Template)
	}
	if f.Rules == nil || f.Rules.Signatures == "" || len(f.Rules.Windows) != 1 || f.Rules.GlobalUnknown {
		t.Errorf("AppProject with the global one: %+v", f.Rules)
	}
	if f.UpdaterCRD != verdict.Yes || len(f.Updaters) != 1 || !f.Updaters[0].Live {
		t.Errorf("ImageUpdaters: %s, %+v", f.UpdaterCRD, f.Updaters)
	}
	if may, why := f.Sync(now); may != verdict.No {
		t.Errorf("%s (%s)", may, why)
	}
	// For a minute what was read is enough, unless something hangs on it.
	before := asked.Load()
	if _, err := r.Around(context.Background(), now.Add(30*time.Second), false); err != nil || asked.Load() != before {
		t.Errorf("%v, asked again", err)
	}
	if _, err := r.Around(context.Background(), now.Add(31*time.Second), true); err != nil || asked.Load() == before {
		t.Errorf("%v, not asked anew", err)
	}
}

// What may not be read is not known; a kind that the cluster does not have is.
func TestAroundForbidden(t *testing.T) {
	bodies := whole()
	delete(bodies, updaterPath)
	bodies[argoPath+"appprojects"] = "403"
	bodies["/api/v1/namespaces/argocd/configmaps/argocd-cm"] = "403"
	r, _ := around(t, bodies)
	p, err := r.Around(context.Background(), time.Now(), false)
	if err == nil || !strings.Contains(err.Error(), "appprojects") || !strings.Contains(err.Error(), "argocd-cm") {
		t.Errorf("%v", err)
	}
	if p.Whole.Projects || p.Whole.Global || !p.Whole.Sets || p.Whole.Updaters != verdict.No || len(p.Sets) != 1 {
		t.Errorf("%+v", p)
	}
}
