package arming

import (
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/pkg/trailer"
)

// FuzzInventory: what is read of an inventory can be written and read again, and
// every Application has a name; on an error nothing of it counts.
func FuzzInventory(f *testing.F) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	f.Add(FormatInventory(Place{}, nil))
	f.Add([]byte(`{"v":1,"apps":[{"app":"argocd/web","sources":[{"kind":"git","repoURL":"u","path":"a"}],"autoSync":true,"prune":true,"retryLimit":-1}],"imageUpdaterResources":"no","more":3,"circuits":{"web":"open"}}`))
	f.Add([]byte(`{"v":1,"apps":[{"app":"../x\u001b[31m"}],"every":-1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ParseInventory(data, at)
		if err != nil {
			if len(p.Apps)+len(p.Sets)+len(p.Projects)+len(p.Updaters) > 0 {
				t.Fatal("a broken inventory counts")
			}
			return
		}
		for _, a := range p.Apps {
			if a.App.Name == "" {
				t.Fatalf("an Application without a name: %+v", a)
			}
			checkAll(t, a)
		}
		if again, err := ParseInventory(FormatInventory(p, func(string) bool { return true }), at); err != nil || len(again.Apps) > len(p.Apps) {
			t.Fatalf("%d Applications become %d, %v", len(p.Apps), len(again.Apps), err)
		}
	})
}

// checkAll asks every rule about an Application.
func checkAll(t *testing.T, f Facts) {
	t.Helper()
	policy := Default()
	policy.Exists = true
	policy.Arm.Allow = []Allow{{Apps: []string{"**"}, By: []string{Everybody}}}
	r := Request{Commit: "1", Branch: "main", DefaultBranch: "main", Paths: []string{"a/b.yaml"}, Now: f.At, App: f.App, Mode: trailer.Arm,
		Policies: []NamedPolicy{{When: "now", Policy: policy}}, Places: []Facts{f}}
	for _, finding := range Check(r, AskAll) {
		if finding.Message == "" || len(finding.Message) > 4000 {
			t.Fatalf("%+v", finding)
		}
	}
}
