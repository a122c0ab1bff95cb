package arming

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

func everything() Place {
	f := clean().Places[0]
	f.From, f.Rules, f.UpdaterCRD = "", nil, verdict.Unknown
	f.Controller, f.Labels, f.OwnedBySet, f.Set = "argocd", map[string]string{"tier": "prod"}, true, "webs"
	f.Destination = Destination{Server: "https://kubernetes.default.svc", Namespace: "web"}
	f.SyncOptions, f.Ignored = []string{"Replace=true"}, []Ignored{{Group: "apps", Kind: "Deployment", Fields: []string{"/spec/replicas"}}}
	f.ImageUpdater, f.RetryLimit, f.RetryRefresh = ImageUpdater{Managed: true, Method: "git", Said: true, Target: "kustomization"}, 5, true
	f.Sources = append(f.Sources, verdict.Source{Kind: verdict.SourceChart, RepoURL: "https://charts", Chart: "web"})
	f.Sources[0].GeneratePaths, f.Sources[0].Plain = []string{"/base"}, true
	foreign := Facts{App: verdict.App{Name: "foreign"}, Sources: []verdict.Source{{RepoURL: otherURL}}}
	return Place{
		From: "live", Apps: []Facts{f, foreign},
		Sets:     []AppSet{{Namespace: "argocd", Name: "webs", RollingSync: true}, {Name: "other"}},
		Projects: []AppProject{{Namespace: "argocd", Name: "prod", Signatures: "signatureKeys", Labels: map[string]string{"env": "prod"}}, {Namespace: "argocd", Name: "all", Windows: []Window{{Kind: "deny", Schedule: "0 8 * * *", Duration: "8h", Applications: []string{"*"}}}}},
		Updaters: []Updater{{Namespace: "argocd", Name: "iu", Config: &WriteBack{Method: "git"}, Refs: []UpdaterRef{{NamePattern: "w*"}}}, {Name: "none", Refs: []UpdaterRef{{NamePattern: "zzz"}}}},
		Global:   []GlobalProject{{Project: "all", Selector: Selector{Labels: map[string]string{"env": "prod"}}}},
		Whole:    Whole{Global: true, Updaters: verdict.Yes},
		Watcher:  &Watcher{At: navTime, Every: 300e9, Signs: verdict.No, Circuits: map[string]string{"argocd/web": "two reverts"}},
	}
}

// What is read back says what the cluster said, of this repository alone.
func TestInventoryRoundTrip(t *testing.T) {
	p := everything()
	isOurs := func(url string) bool { return url == ourURL }
	text := FormatInventory(p, isOurs)
	q, err := ParseInventory(text, navTime)
	if err != nil {
		t.Fatal(err)
	}
	want := p.Find(verdict.App{Name: "web"})[0]
	got := q.Find(verdict.App{Name: "web"})[0]
	want.From, want.At, want.Ours, want.Updaters = "inventory", navTime, []string{ourURL}, want.Updaters[:1]
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if len(got.Rules.Windows) != 1 {
		t.Errorf("the windows of the global project are not there: %+v", got.Rules)
	}
	if d := cmp.Diff(p.Watcher, q.Watcher); d != "" {
		t.Errorf("watcher (-want +got):\n%s", d)
	}
	for _, foreign := range []string{"foreign", "other", "none"} {
		if strings.Contains(string(text), `"`+foreign+`"`) {
			t.Errorf("%s is in the inventory", foreign)
		}
	}
	if again := FormatInventory(p, isOurs); string(again) != string(text) {
		t.Error("the same facts make another file")
	}
}

// It is bounded, and says what did not fit.
func TestInventoryBounded(t *testing.T) {
	p := everything()
	for i := range 20_000 {
		f := p.Apps[0]
		f.App.Name = fmt.Sprintf("web-%d", i)
		p.Apps = append(p.Apps, f)
	}
	text := FormatInventory(p, func(url string) bool { return url == ourURL })
	q, err := ParseInventory(text, navTime)
	if err != nil || len(text) > MaxInventory || q.Whole.Apps || len(q.Apps) < 500 {
		t.Errorf("%d bytes, %d Applications, whole %v, %v", len(text), len(q.Apps), q.Whole.Apps, err)
	}
	for _, bad := range []string{"", "{}", `{"v":2}`, `{"v":1,"apps":[{"app":"a/b/c"}]}`, `{"v":1,"apps":[{"app":"a","sources":[{"kind":"x"}]}]}`} {
		if _, err := ParseInventory([]byte(bad), navTime); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}
