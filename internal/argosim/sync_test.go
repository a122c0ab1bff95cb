package argosim_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nav-watchdog/nav-watchdog/internal/argosim"
)

const succeeded = "Succeeded result finished | "

func web(image string) map[string]string {
	return map[string]string{"app/web.yaml": docs(deployment(image), settings)}
}

// relabelled changes the selector, which the API server refuses.
func relabelled() map[string]string {
	return map[string]string{"app/web.yaml": strings.Replace(docs(deployment("web:1"), settings), "      app: web\n", "      app: web\n      tier: x\n", 1)}
}

func TestRetryingOperationHoldsUpNewerCommits(t *testing.T) {
	sc := healthyWeb(t, argosim.Options{Poll: 15 * time.Second}, func(a *argosim.AppSpec) {
		a.Retry = &argosim.Retry{Limit: 2}
	})
	sc.deploy(relabelled())
	sc.expect("web", "requested Running result finished retry=1 | OutOfSync c2 Healthy history=1")
	sc.deploy(web("web:2")) // the fix: compared, but not deployed
	sc.expect("web", "requested Running result finished retry=2 | OutOfSync c3 Healthy history=1")
	if got := sc.state("web").Applied; !slices.Equal(got, []string{sc.tree.order[1]}) {
		t.Errorf("applies %v, want the commit before the fix", got)
	}
	sc.run(30 * time.Second)
	sc.expect("web", succeeded+"Synced c3 Healthy history=2")
}

func TestRetryRefreshTakesTheNewestCommit(t *testing.T) {
	sc := healthyWeb(t, argosim.Options{}, func(a *argosim.AppSpec) {
		a.Retry = &argosim.Retry{Limit: 5, Refresh: true}
	})
	sc.deploy(relabelled())
	fixed := sc.deploy(web("web:2"))
	sc.run(10 * time.Second)
	sc.expect("web", "Succeeded result finished retry=1 | Synced c3 Healthy history=2")
	if got := sc.state("web").Applied; !slices.Equal(got, []string{fixed}) {
		t.Errorf("applied %v, want %s", got, fixed)
	}
}

func TestFailedOperationIsNotRepeatedAtItsCommit(t *testing.T) {
	sc := healthyWeb(t, argosim.Options{Poll: 15 * time.Second}, func(a *argosim.AppSpec) { a.Retry = &argosim.Retry{Limit: 0} })
	sc.deploy(relabelled())
	failed := "Failed result finished | OutOfSync c2 Healthy history=1 SyncError"
	sc.expect("web", failed)
	mark := sc.mark()
	sc.run(2 * time.Minute)
	sc.expect("web", failed)
	if got := sc.story(mark); len(got) != 1 {
		t.Errorf("something happened:\n%s", strings.Join(got, "\n"))
	}
	message, _ := at(sc.object("web"), "status", "conditions", 0, "message").(string)
	if !strings.HasPrefix(message, "Failed last sync attempt to ["+sc.tree.order[1]+"]: one or more objects failed to apply, reason: error when patching") {
		t.Errorf("SyncError says %q", message)
	}
}

func TestUnlimitedRetries(t *testing.T) {
	sc := healthyWeb(t, argosim.Options{}, func(a *argosim.AppSpec) { a.Retry = &argosim.Retry{Limit: -1} })
	sc.deploy(relabelled())
	sc.run(time.Hour)
	if st := sc.state("web"); !st.Requested || st.Phase != "Running" || st.Retries < 15 {
		t.Errorf("after an hour: %s", st)
	}
}

func TestPruneDeletes(t *testing.T) {
	sc := healthyWeb(t, argosim.Options{}, func(a *argosim.AppSpec) { a.Automated.Prune = true })
	sc.deploy(map[string]string{"app/web.yaml": deployment("web:1")})
	sc.expect("web", succeeded+"Synced c2 Healthy history=2")
	live, err := sc.Live("web")
	sc.must(err)
	if diff := cmp.Diff(map[string]string{"Deployment/web": "Healthy"}, live); diff != "" {
		t.Errorf("live objects:\n%s", diff)
	}
	if got := at(sc.object("web"), "status", "operationState", "syncResult", "resources", 0, "status"); got != "Pruned" {
		t.Errorf("the result of the ConfigMap is %v", got)
	}
}

func TestPruneOnlyDifferenceStartsNothing(t *testing.T) {
	sc := healthyWeb(t, argosim.Options{}, nil)
	sc.deploy(map[string]string{"app/web.yaml": deployment("web:1")})
	sc.expect("web", succeeded+"OutOfSync c2 Healthy history=1 leftover=ConfigMap/settings")
}

func TestPruneDoesNotWipeOut(t *testing.T) {
	sc := healthyWeb(t, argosim.Options{}, func(a *argosim.AppSpec) { a.Automated.Prune = true })
	sc.deploy(map[string]string{"app/web.yaml": "# nothing left\n"})
	sc.expect("web", succeeded+"OutOfSync c2 Healthy history=1 SyncError leftover=ConfigMap/settings,Deployment/web")
}

func TestSelfHeal(t *testing.T) {
	sc := healthyWeb(t, argosim.Options{}, nil)
	mark := sc.mark()
	sc.must(sc.Drift("web", "Deployment/web"))
	sc.run(5 * time.Second)
	want := []string{
		"op - result=false finished=false retry=0 | Synced c1 Healthy history=1",
		"op - result=false finished=false retry=0 | OutOfSync c1 Healthy history=1",
		"op Running result=false finished=false retry=0 | OutOfSync c1 Healthy history=1",
		"-  Succeeded result=true finished=true retry=0 | OutOfSync c1 Healthy history=1",
		"-  Succeeded result=true finished=true retry=0 | Synced c1 Healthy history=1",
	}
	if diff := cmp.Diff(want, sc.story(mark)); diff != "" {
		t.Errorf("story (-want +got):\n%s", diff)
	}
	op := at(sc.object("web"), "status", "operationState", "operation", "sync")
	if at(op, "autoHealAttemptsCount") != 1.0 || at(op, "resources", 0, "kind") != "Deployment" || at(op, "resources", 1) != nil {
		t.Errorf("the operation is %v", op)
	}
	if got := at(sc.object("web"), "status", "operationState", "syncResult", "resources", 0, "message"); got != "deployment.apps/web configured" {
		t.Errorf("the result says %v", got)
	}
}

func TestSelfHealBacksOff(t *testing.T) {
	sc := healthyWeb(t, argosim.Options{}, nil)
	var waited []time.Duration
	for range 4 {
		sc.must(sc.Drift("web", "ConfigMap/settings"))
		before := sc.at
		for sc.run(time.Second); sc.state("web").Sync == "OutOfSync" || sc.state("web").Requested; sc.run(time.Second) {
		}
		waited = append(waited, sc.at-before)
		if len(waited) > 1 && waited[len(waited)-1] < waited[len(waited)-2] {
			t.Errorf("attempt %d came faster than the one before: %v", len(waited), waited)
		}
	}
	if waited[3] < 15*time.Second {
		t.Errorf("the fourth attempt came after %s, want 2 s x 3 x 3 or about", waited[3])
	}
}

func TestNoSelfHeal(t *testing.T) {
	sc := healthyWeb(t, argosim.Options{}, func(a *argosim.AppSpec) { a.Automated.SelfHeal = false })
	sc.must(sc.Drift("web", "Deployment/web"))
	sc.run(5 * time.Minute)
	sc.expect("web", succeeded+"OutOfSync c1 Healthy history=1")
}

func TestAutoSyncOffAndRollback(t *testing.T) {
	sc := healthyWeb(t, argosim.Options{}, nil)
	sc.deploy(web("web:2"))
	if err := sc.Rollback("web", sc.tree.order[0]); !errors.Is(err, argosim.ErrAutoSync) {
		t.Errorf("rollback with auto-sync: %v", err)
	}
	sc.must(sc.AutoSync("web", false))
	if err := sc.Rollback("web", "0123456789012345678901234567890123456789"); err == nil {
		t.Error("rolled back to a commit that was never deployed")
	}
	sc.must(sc.Rollback("web", sc.tree.order[0]))
	sc.run(10 * time.Second)
	sc.expect("web", succeeded+"OutOfSync c2 Healthy history=3") // compared with main: row 7
	if got := sc.state("web").Applied; !slices.Equal(got, sc.tree.order[:1]) {
		t.Errorf("applied %v", got)
	}
	sc.deploy(web("web:3"))
	sc.expect("web", succeeded+"OutOfSync c3 Healthy history=3")
	sc.must(sc.Sync("web", sc.tree.order[2], "alice"))
	sc.run(10 * time.Second)
	sc.expect("web", succeeded+"Synced c3 Healthy history=4")
	sc.must(sc.AutoSync("web", true))
	sc.deploy(web("web:4"))
	sc.expect("web", succeeded+"Synced c4 Healthy history=5")
}

func TestWindowOpensAgain(t *testing.T) {
	sc := healthyWeb(t, argosim.Options{Poll: 15 * time.Second}, nil)
	sc.must(sc.Window("web", true))
	sc.deploy(web("web:2"))
	sc.run(time.Minute)
	sc.expect("web", succeeded+"OutOfSync c2 Healthy history=1")
	sc.must(sc.Window("web", false))
	sc.run(30 * time.Second)
	sc.expect("web", succeeded+"Synced c2 Healthy history=2")
}

func TestRenderErrorFoundByPollingIsQuietAtFirst(t *testing.T) {
	sc := healthyWeb(t, argosim.Options{Poll: 15 * time.Second}, nil)
	sc.tree.push("main", map[string]string{"app/web.yaml": "kind: [\n"})
	mark := sc.mark()
	sc.run(3 * time.Minute)
	if sc.mark() != mark {
		t.Errorf("shown within the grace period: %v", sc.story(mark))
	}
	sc.run(time.Minute)
	sc.expect("web", succeeded+"Unknown main Healthy history=1 ComparisonError")
	sc.tree.push("main", web("web:2"))
	sc.run(time.Minute)
	sc.expect("web", succeeded+"Synced c3 Healthy history=2")
}

func TestRenderErrorOfSeveralSources(t *testing.T) {
	sc := newScene(t, argosim.Options{})
	sc.tree.push("main", web("web:1"))
	spec := auto("web")
	spec.Sources = []argosim.Source{{Path: "app", TargetRevision: "main"}, {Ref: "values", TargetRevision: "main"}}
	sc.must(sc.AddApp(spec))
	sc.run(10 * time.Second)
	sc.expect("web", succeeded+"Synced c1,c1 Healthy history=1")
	sc.deploy(map[string]string{"app/web.yaml": "kind: [\n"})
	st := sc.state("web")
	if st.Sync != "Unknown" || st.Revisions != nil || !slices.Equal(st.Conditions, []string{"ComparisonError"}) {
		t.Errorf("want Unknown without revisions: %s", st)
	}
}

func TestHistoryLimit(t *testing.T) {
	two := 2
	sc := healthyWeb(t, argosim.Options{}, func(a *argosim.AppSpec) { a.HistoryLimit = &two })
	for _, image := range []string{"web:2", "web:3", "web:4"} {
		sc.deploy(web(image))
	}
	sc.expect("web", succeeded+"Synced c4 Healthy history=2")
	if id := at(sc.object("web"), "status", "history", 1, "id"); id != 3.0 {
		t.Errorf("the last id is %v", id)
	}
}

func TestPostSyncHook(t *testing.T) {
	smoke := func(image string) string {
		return "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: smoke\n  annotations: {argocd.argoproj.io/hook: PostSync}\n" +
			"spec:\n  template:\n    spec:\n      containers: [{name: c, image: " + image + "}]\n"
	}
	sc := healthyWeb(t, argosim.Options{}, func(a *argosim.AppSpec) { a.Retry = &argosim.Retry{} })
	push := func(image, hook string) {
		sc.tree.push("main", map[string]string{"app/web.yaml": docs(deployment(image), settings), "app/smoke.yaml": smoke(hook)})
		sc.must(sc.Refresh("web"))
	}
	push("web:2", "smoke:1")
	message := func() any { return at(sc.object("web"), "status", "operationState", "message") }
	sc.run(3 * time.Second)
	if got := message(); got != "waiting for healthy state of apps/Deployment/web" {
		t.Errorf("after the apply: %v", got)
	}
	sc.run(5 * time.Second)
	if got := message(); got != "waiting for completion of hook batch/Job/smoke" {
		t.Errorf("once healthy: %v", got)
	}
	sc.expect("web", "requested Running result | Synced c2 Healthy history=1")
	sc.run(10 * time.Second)
	sc.expect("web", succeeded+"Synced c2 Healthy history=2")

	push("web:3", "smoke:fails")
	sc.run(20 * time.Second)
	sc.expect("web", "Failed result finished | Synced c3 Healthy history=2") // row 10
	res := at(sc.object("web"), "status", "operationState", "syncResult", "resources", 2)
	if at(res, "hookType") != "PostSync" || at(res, "hookPhase") != "Failed" {
		t.Errorf("the result of the hook is %v", res)
	}
	push("web:4", "smoke:does-not-exist")
	sc.run(10 * time.Minute)
	sc.expect("web", "requested Running result | Synced c4 Healthy history=2")
}

// Row 9: while a PreSync hook runs, the commit is attempted and not applied.
func TestPreSyncHook(t *testing.T) {
	migrate := func(image string) string {
		return "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: migrate\n  annotations: {argocd.argoproj.io/hook: PreSync}\n" +
			"spec:\n  template:\n    spec:\n      containers: [{name: c, image: " + image + "}]\n"
	}
	sc := healthyWeb(t, argosim.Options{}, func(a *argosim.AppSpec) { a.Retry = &argosim.Retry{} })
	push := func(image, hook string) {
		sc.tree.push("main", map[string]string{"app/web.yaml": docs(deployment(image), settings), "app/hook.yaml": migrate(hook)})
		sc.must(sc.Refresh("web"))
	}
	push("web:2", "migrate:1")
	sc.run(3 * time.Second)
	sc.expect("web", "requested Running result | OutOfSync c2 Healthy history=1")
	if got := at(sc.object("web"), "status", "operationState", "message"); got != "waiting for completion of hook batch/Job/migrate" {
		t.Errorf("the operation says %v", got)
	}
	sc.run(20 * time.Second)
	sc.expect("web", succeeded+"Synced c2 Healthy history=2")
	push("web:3", "migrate:fails")
	sc.run(20 * time.Second)
	sc.expect("web", "Failed result finished | OutOfSync c3 Healthy history=2 SyncError")
	images := at(sc.object("web"), "status", "summary", "images")
	if diff := cmp.Diff([]any{"migrate:fails", "registry.example/web:2"}, images); diff != "" {
		t.Errorf("running (-want +got):\n%s", diff)
	}
}

func TestSeveralRepositories(t *testing.T) {
	charts := newMemory()
	chart := charts.push("main", map[string]string{"web.yaml": deployment("web:1")})
	sc := newScene(t, argosim.Options{Repos: map[string]argosim.Tree{"https://git.example.com/platform.git": charts}})
	values := sc.tree.push("main", map[string]string{"conf/settings.yaml": settings})
	spec := auto("web")
	spec.Sources = []argosim.Source{
		{RepoURL: "https://git.example.com/platform.git", TargetRevision: "HEAD"},
		{Path: "conf", TargetRevision: "main"},
		{RepoURL: "oci://registry.example/extra", TargetRevision: "1.0"},
	}
	sc.must(sc.AddApp(spec))
	sc.run(20 * time.Second)
	st := sc.state("web")
	if st.Sync != "Synced" || len(st.Revisions) != 3 || st.Revisions[0] != chart || st.Revisions[1] != values || !strings.HasPrefix(st.Revisions[2], "sha256:") {
		t.Errorf("compared at %v: %s", st.Revisions, st)
	}
	live, err := sc.Live("web")
	sc.must(err)
	if diff := cmp.Diff(map[string]string{"Deployment/web": "Healthy", "ConfigMap/settings": "", "Deployment/extra": "Healthy"}, live); diff != "" {
		t.Errorf("live objects:\n%s", diff)
	}
}
