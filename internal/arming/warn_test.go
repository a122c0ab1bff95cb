package arming

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nav-watchdog/nav-watchdog/pkg/trailer"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// What is only warned of refuses nothing.
var warnings = []struct {
	name, rule string
	change     func(*Request)
	message    string
}{
	{"a closed window", RuleProjectWindows, func(r *Request) {
		r.Places[0].Rules.Windows = []Window{{Kind: "deny", Schedule: "0 8 * * 0", Duration: "8h", Applications: []string{"w*"}}}
	}, "cannot be synced now: closed by deny \"0 8 * * 0\" for 8h; it opens at 2026-11-29T16:00:00Z"},
	{"a window that never opens", RuleProjectWindows, func(r *Request) {
		r.Places[0].Rules.Windows = []Window{{Kind: "allow", Schedule: "0 0 31 2 *", Duration: "1h", Applications: []string{"*"}}}
	}, "does not open within a month"},
	{"a window that closes soon", RuleProjectWindows, func(r *Request) {
		r.Places[0].Rules.Windows = []Window{{Kind: "allow", Schedule: "0 11 * * *", Duration: "75m", Applications: []string{"web"}}}
	}, "closes at 2026-11-29T12:15:00Z"},
	{"a short deadline", RuleDeadlineShort, func(r *Request) { r.Deadline = 2 * time.Minute }, "two refreshes of Argo CD (6m0s)"},
	{"a slow Deployment", RuleDeadlineShort, func(r *Request) {
		r.Content = &Content{Objects: []Object{{ID: verdict.ObjectID{Group: "apps", Kind: "Deployment", Name: "web"}, ProgressDeadline: 20 * time.Minute}}}
	}, "progressDeadlineSeconds 1200"},
	{"retries", RuleRetryStale, func(r *Request) { r.Places[0].RetryLimit = 5 }, "5 times with the same revision"},
	{"retries without end", RuleRetryStale, func(r *Request) { r.Places[0].RetryLimit = -1 }, "without end"},
	{"app of apps", RuleAppOfApps, func(r *Request) { r.Places[0].State.AppOfApps = true }, "deploys other Applications"},
	{"moving images", RuleMovingImage, func(r *Request) {
		r.Content = &Content{Objects: []Object{{Images: []string{"web", "web:1.2.3", "reg:5000/web", "web:latest", "web:1@sha256:0", "web:v1.2", "web:20261129"}}}}
	}, `the image "web", "reg:5000/web", "web:latest", "web:v1.2" (live)`},
	{"HPA", RuleReplicas, func(r *Request) {
		web := verdict.ObjectID{Group: "apps", Kind: "Deployment", Name: "web"}
		r.Content = &Content{Objects: []Object{{ID: web, Replicas: true}, {ID: verdict.ObjectID{Kind: "HorizontalPodAutoscaler", Name: "web"}, Scales: &web}}}
	}, "they fight"},
	{"ignored", RuleIgnored, func(r *Request) {
		r.Places[0].Ignored = []Ignored{{Group: "apps", Kind: "Deployment", Fields: []string{"/spec/replicas"}}}
		r.Content = &Content{Objects: []Object{{ID: verdict.ObjectID{Group: "apps", Kind: "Deployment", Name: "web"}, Changed: true}}}
	}, "ignores differences"},
	{"replace", RuleReplace, func(r *Request) { r.Places[0].SyncOptions = []string{"CreateNamespace=true", "Replace=true"} }, `"Replace=true"`},
	{"force of an object", RuleReplace, func(r *Request) {
		r.Content = &Content{Objects: []Object{{ID: verdict.ObjectID{Kind: "Job", Name: "web"}, Changed: true, SyncOptions: []string{"Force=true"}}}}
	}, "replaced or forced"},
	{"annotations that nobody reads", RuleImageUpdater, func(r *Request) {
		r.Places[0].UpdaterCRD, r.Places[0].ImageUpdater = verdict.Yes, ImageUpdater{Managed: true, Method: "argocd"}
	}, "managed if a version before 1.0 runs"},
}

func TestCheckWarns(t *testing.T) {
	for _, c := range warnings {
		r := clean()
		c.change(&r)
		fs := Check(r, AskAll)
		i := slices.IndexFunc(fs, func(f Finding) bool { return f.Outcome == Warned && f.Rule == c.rule })
		if refused(fs) || i < 0 || !strings.Contains(fs[i].Message, c.message) || fs[i].Hint == "" {
			t.Errorf("%s: %v, want only %s with %q", c.name, fs, c.rule, c.message)
		}
	}
	if fs := Check(clean(), AskAll); len(fs) > 0 {
		t.Errorf("a clean request: %v", fs)
	}
}

// Mended, the same cases say nothing.
func TestCheckMended(t *testing.T) {
	web := verdict.ObjectID{Group: "apps", Kind: "Deployment", Name: "web"}
	for name, change := range map[string]func(*Request){
		"a window that is open": func(r *Request) {
			r.Places[0].Rules.Windows = []Window{{Kind: "allow", Schedule: "0 8 * * *", Duration: "8h", Applications: []string{"web"}}}
		},
		"a window of another app": func(r *Request) {
			r.Places[0].Rules.Windows = []Window{{Kind: "deny", Schedule: "0 8 * * *", Duration: "8h", Applications: []string{"api"}}}
		},
		"a replica count that is ignored": func(r *Request) {
			r.Places[0].Ignored = []Ignored{{Group: "apps", Kind: "Deployment", Fields: []string{"/spec/replicas"}}}
			r.Content = &Content{Objects: []Object{{ID: web, Replicas: true}, {ID: verdict.ObjectID{Kind: "HorizontalPodAutoscaler", Name: "web"}, Scales: &web}}}
		},
		"refreshing retries": func(r *Request) { r.Places[0].RetryLimit, r.Places[0].RetryRefresh = 5, true },
		"a template that does not prune": func(r *Request) {
			r.Places[0].OwnedBySet, r.Places[0].AutoSync, r.Places[0].Template = true, false, &AppSet{Name: "webs", RollingSync: true}
		},
	} {
		r := clean()
		change(&r)
		if fs := Check(r, AskAll); len(fs) > 0 {
			t.Errorf("%s: %v", name, fs)
		}
	}
}

// Two places that disagree: the stricter counts, and the finding says so.
func TestPlacesDisagree(t *testing.T) {
	r := clean()
	tree := r.Places[0]
	tree.From, tree.Prune, tree.AutoSync = "manifest argo/web.yaml", true, false
	r.Places[0].From, r.Places[0].At = "inventory", navTime.Add(-3*time.Minute)
	r.Places = append(r.Places, tree)
	var got []string
	for _, f := range Check(r, AskAll) {
		got = append(got, f.String())
	}
	want := []string{
		"auto-sync-off: refused: auto-sync of argocd/web is off (manifest argo/web.yaml); it is otherwise in inventory, 3m old, and the stricter counts",
		"prune: refused: argocd/web prunes automatically, so that a revert would delete what the commit added " +
			"(also while automated.enabled is false: an ApplicationSet's sync, or enabling it again, prunes)" +
			" (manifest argo/web.yaml); it is otherwise in inventory, 3m old, and the stricter counts",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A commit in shadow mode is warned where its watch could only end in
// ERROR_UNWATCHABLE, and of nothing else.
func TestShadow(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Request)
		want   []string
	}{
		{"clean", func(*Request) {}, nil},
		{"nobody was asked", func(r *Request) { r.Places = nil }, []string{RuleUnknownApp}},
		{"unknown", func(r *Request) { r.Places, r.Asked = nil, []string{"inventory"} }, []string{RuleUnknownApp}},
		{"chart", func(r *Request) { r.Places[0].Sources = []verdict.Source{{Kind: verdict.SourceChart}} }, []string{RuleSourceType}},
		{"chart beside values of ours", func(r *Request) {
			r.Places[0].Sources = []verdict.Source{{Kind: verdict.SourceChart}, {RepoURL: ourURL, Ref: "values"}}
		}, nil},
		{"another repository", func(r *Request) { r.Places[0].Sources[0].RepoURL = otherURL }, []string{RuleRepository}},
		{"prune", func(r *Request) { r.Places[0].Prune = true }, nil},
	} {
		r := clean()
		r.Mode = trailer.Shadow
		c.change(&r)
		var got []string
		for _, f := range Check(r, AskAll) {
			if f.Outcome != Warned {
				t.Errorf("%s: %s", c.name, f)
			}
			got = append(got, f.Rule)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// Just before a revert the Application has failed, which is no reason against it.
func TestAskRevert(t *testing.T) {
	r := clean()
	r.Places[0].State, r.Watcher = &State{Health: "Degraded"}, nil
	if fs := Check(r, AskRevert); len(fs) > 0 {
		t.Errorf("%v", fs)
	}
}
