package argocd_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd"
	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

func TestFacts(t *testing.T) {
	got := fixtures(t)["updater-default-method"].Facts("live", lookedAt)
	want := arming.Facts{
		App:          verdict.App{Namespace: "argocd", Name: "updater-default-method"},
		From:         "live",
		At:           lookedAt,
		Project:      "default",
		Controller:   "argocd",
		Destination:  arming.Destination{Server: "https://kubernetes.default.svc", Namespace: "web"},
		Sources:      []verdict.Source{{RepoURL: "https://git.example.com/team/deploy.git", Path: "apps/web", TargetRevision: "main"}},
		AutoSync:     true,
		Prune:        true,
		RetryLimit:   3,
		RetryRefresh: true,
		ImageUpdater: arming.ImageUpdater{Managed: true, Method: "argocd"},
		State:        &arming.State{Sync: "Synced", Health: "Healthy", Settled: true},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if f := fixtures(t)["r18-hydrated"].Facts("live", lookedAt); !f.Hydrator || f.Sources[0].TargetRevision != "main" {
		t.Errorf("hydrated: %+v, want the dry source", f)
	}
	if f := fixtures(t)["row16-skip-reconcile"].Facts("live", lookedAt); !f.SkipReconcile {
		t.Error("skip-reconcile is not among the facts")
	}
}

func TestFactsOfSyncPolicy(t *testing.T) {
	for _, tt := range []struct {
		policy          string
		autoSync, prune bool
		limit           int64
	}{
		{`null`, false, false, 5},
		{`{}`, false, false, 5},
		{`{"automated":null}`, false, false, 5},
		{`{"automated":{}}`, true, false, 5},
		{`{"automated":{"enabled":null,"prune":null}}`, true, false, 5},
		{`{"automated":{"enabled":true,"prune":true}}`, true, true, 5},
		{`{"automated":{"enabled":false,"prune":true}}`, false, true, 5},
		{`{"automated":{"enabled":false}}`, false, false, 5},
		{`{"retry":{}}`, false, false, 0},
		{`{"retry":{"limit":-1}}`, false, false, -1},
	} {
		f := decode(t, `,"spec":{"syncPolicy":`+tt.policy+`}`).Facts("live", lookedAt)
		if f.AutoSync != tt.autoSync || f.Prune != tt.prune || f.RetryLimit != tt.limit {
			t.Errorf("%s: auto-sync %v, prune %v, limit %d; want %v, %v, %d", tt.policy, f.AutoSync, f.Prune, f.RetryLimit, tt.autoSync, tt.prune, tt.limit)
		}
	}
}

// withAnnotations is an Application with these annotations.
func withAnnotations(t *testing.T, annotations string) *argocd.Application {
	t.Helper()
	a, err := argocd.Decode([]byte(strings.Replace(string(app(``)), `"metadata":{`, `"metadata":{"annotations":{`+annotations+`},`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestImageUpdater(t *testing.T) {
	const list = `"argocd-image-updater.argoproj.io/image-list":"web=r/web"`
	const method = `"argocd-image-updater.argoproj.io/write-back-method":`
	for _, tt := range []struct {
		annotations string
		want        arming.ImageUpdater
	}{
		{``, arming.ImageUpdater{Method: "argocd"}},
		{`"argocd-image-updater.argoproj.io/image-list":" "`, arming.ImageUpdater{Method: "argocd"}},
		{list, arming.ImageUpdater{Managed: true, Method: "argocd"}},
		{list + `,` + method + `"argocd"`, arming.ImageUpdater{Managed: true, Method: "argocd", Said: true}},
		{list + `,` + method + `" git "`, arming.ImageUpdater{Managed: true, Method: "git", Said: true}},
		{list + `,` + method + `"git:secret:ns/creds"`, arming.ImageUpdater{Managed: true, Method: "git", Said: true}},
		{list + `,` + method + `"argocd:x"`, arming.ImageUpdater{Managed: true, Method: "argocd:x", Said: true}},
		{list + `,` + method + `":git"`, arming.ImageUpdater{Managed: true, Method: ":git", Said: true}},
		{list + `,` + method + `""`, arming.ImageUpdater{Managed: true, Said: true}},
		{method + `"git"`, arming.ImageUpdater{Method: "git", Said: true}},
	} {
		if d := cmp.Diff(tt.want, withAnnotations(t, tt.annotations).Facts("", lookedAt).ImageUpdater); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.annotations, d)
		}
	}
}

func TestAnnotations(t *testing.T) {
	for value, want := range map[string]bool{"true": true, "True": true, "1": true, "false": false, "": false, "yes": false} {
		if got := withAnnotations(t, `"argocd.argoproj.io/skip-reconcile":"`+value+`"`).Look(lookedAt, false).SkipReconcile; got != want {
			t.Errorf("skip-reconcile %q reads %v", value, got)
		}
	}
	if !withAnnotations(t, `"argocd.argoproj.io/refresh":"hard"`).Look(lookedAt, false).RefreshPending {
		t.Error("a refresh that is asked for is not seen")
	}
}

// Only the controlling ApplicationSet of Argo CD's own group counts.
func TestOwnedBySet(t *testing.T) {
	for owner, want := range map[string]bool{
		`{"apiVersion":"argoproj.io/v1alpha1","kind":"ApplicationSet","controller":true}`:                          true,
		`{"apiVersion":"argoproj.io/v1alpha1","kind":"ApplicationSet"}`:                                            false,
		`{"apiVersion":"argoproj.io/v1alpha1","kind":"Application","controller":true}`:                             false,
		`{"apiVersion":"argoproj.io.evil/v1alpha1","kind":"ApplicationSet","controller":true}`:                     false,
		`{"apiVersion":"v1","kind":"X"},{"apiVersion":"argoproj.io/v1","kind":"ApplicationSet","controller":true}`: true,
	} {
		a, err := argocd.Decode([]byte(strings.Replace(string(app(``)), `"metadata":{`, `"metadata":{"ownerReferences":[`+owner+`],`, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if got := a.Look(lookedAt, false).OwnedBySet; got != want {
			t.Errorf("%s reads %v", owner, got)
		}
	}
}

// An app that manages itself is no child of itself.
func TestChildren(t *testing.T) {
	res := func(group, namespace, name string) string {
		return `{"group":"` + group + `","kind":"Application","namespace":"` + namespace + `","name":"` + name + `"}`
	}
	got := decode(t, `,"status":{"resources":[`+strings.Join([]string{
		res("argoproj.io", "argocd", "web"), res("argoproj.io", "argocd", "api"), res("argoproj.io", "team", "web"), res("app.k8s.io", "argocd", "x"),
	}, ",")+`]}`).Look(lookedAt, false).Children
	want := []verdict.App{{Namespace: "argocd", Name: "api"}, {Namespace: "team", Name: "web"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
