package argosim_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nav-watchdog/nav-watchdog/internal/argosim"
)

func TestDegradeAndRepair(t *testing.T) {
	sc := healthyWeb(t, argosim.Options{Poll: -1}, nil)
	sc.must(sc.Degrade("web", "Deployment/web"))
	sc.run(2 * time.Second)
	sc.expect("web", succeeded+"Synced c1 Degraded history=1")
	if got := at(sc.object("web"), "status", "health", "lastTransitionTime"); got != "2026-11-29T15:00:10Z" {
		t.Errorf("Degraded since %v", got)
	}
	sc.deploy(map[string]string{"README.md": "an innocent commit\n"})
	sc.expect("web", succeeded+"Synced c2 Degraded history=1")
	sc.must(sc.Repair("web", "Deployment/web"))
	sc.run(2 * time.Second)
	sc.expect("web", succeeded+"Synced c2 Healthy history=1")
}

func TestSuspend(t *testing.T) {
	sc := healthyWeb(t, argosim.Options{}, nil)
	sc.must(sc.Suspend("web", "Deployment/web"))
	sc.run(10 * time.Second)
	sc.expect("web", succeeded+"Synced c1 Suspended history=1")
}

func TestScaleByHand(t *testing.T) {
	sc := healthyWeb(t, argosim.Options{}, func(a *argosim.AppSpec) { a.Automated.SelfHeal = false })
	sc.must(sc.ScaleByHand("web", "Deployment/web", 5))
	sc.run(2 * time.Second)
	sc.expect("web", succeeded+"OutOfSync c1 Progressing history=1") // Git says one replica
	sc.run(10 * time.Second)
	sc.expect("web", succeeded+"OutOfSync c1 Healthy history=1")

	free := map[string]string{"app/web.yaml": strings.Replace(docs(deployment("web:1"), settings), "  replicas: 1\n", "", 1)}
	sc.deploy(free)
	sc.expect("web", succeeded+"Synced c2 Healthy history=2")
	sc.must(sc.ScaleByHand("web", "Deployment/web", 7))
	sc.run(2 * time.Second)
	sc.expect("web", succeeded+"Synced c2 Progressing history=2") // nobody declares replicas
}

func TestPlatformFault(t *testing.T) {
	sc := newScene(t, argosim.Options{})
	sc.tree.push("main", web("web:1"))
	for _, name := range []string{"web", "api", "db"} {
		sc.must(sc.AddApp(auto(name)))
	}
	sc.run(20 * time.Second)
	sc.must(sc.PlatformFault())
	sc.run(2 * time.Second)
	since := map[any]bool{}
	for _, name := range []string{"web", "api", "db"} {
		sc.expect(name, succeeded+"Synced c1 Degraded history=1")
		since[at(sc.object(name), "status", "health", "lastTransitionTime")] = true
	}
	if len(since) != 1 {
		t.Errorf("not at one moment: %v", since)
	}
	sc.must(sc.PlatformRepaired("api", "db"))
	sc.run(2 * time.Second)
	want := "argocd/api: " + succeeded + "Synced c1 Healthy history=1\nargocd/db: " + succeeded + "Synced c1 Healthy history=1\nargocd/web: " + succeeded + "Synced c1 Degraded history=1\n"
	if diff := cmp.Diff(want, strings.ReplaceAll(sc.Dump(), sc.tree.order[0][:12], "c1")); diff != "" {
		t.Errorf("dump:\n%s", diff)
	}
}

func TestDeleteAndRecreate(t *testing.T) {
	sc := healthyWeb(t, argosim.Options{}, nil)
	before := at(sc.object("web"), "metadata", "uid")
	sc.must(sc.RecreateApp("web"))
	if o := sc.object("web"); at(o, "status") != nil || at(o, "metadata", "uid") == before || at(o, "metadata", "creationTimestamp") != "2026-11-29T15:00:10Z" {
		t.Errorf("made anew: %v", o)
	}
	sc.run(10 * time.Second)
	// Its objects are there as they should be, so that there is nothing to sync.
	sc.expect("web", "no-operation | Synced c1 Healthy history=0")
	sc.must(sc.DeleteApp("web"))
	if got := sc.Applications(); len(got) != 0 || len(sc.gone) != 2 {
		t.Errorf("%d applications left, %d deletions seen", len(got), len(sc.gone))
	}
	if _, err := sc.State("web"); !errors.Is(err, argosim.ErrNoApp) {
		t.Errorf("state of a deleted application: %v", err)
	}
	sc.run(10 * time.Minute)
}

func TestStoppedControllerLeavesTheStatusStale(t *testing.T) {
	sc := healthyWeb(t, argosim.Options{Poll: 15 * time.Second}, nil)
	sc.StopController()
	before := sc.state("web")
	sc.tree.push("main", web("web:does-not-exist"))
	sc.run(10 * time.Minute)
	if diff := cmp.Diff(before, sc.state("web")); diff != "" {
		t.Errorf("changed while the controller was down:\n%s", diff)
	}
	sc.StartController()
	sc.run(10 * time.Second)
	sc.expect("web", succeeded+"Synced c2 Progressing history=2")
	if got := sc.state("web").ReconciledAt; got < "2026-11-29T15:10:10Z" {
		t.Errorf("reconciled at %s", got)
	}
}

func TestOperationError(t *testing.T) {
	sc := healthyWeb(t, argosim.Options{}, func(a *argosim.AppSpec) { a.Retry = &argosim.Retry{Limit: 1} })
	sc.must(sc.OperationError("web", "dial tcp 10.96.0.1:443: connect: connection refused"))
	sc.deploy(web("web:2"))
	sc.expect("web", "requested Running result finished retry=1 | OutOfSync c2 Healthy history=1")
	sc.run(20 * time.Second)
	sc.expect("web", "Error result finished retry=1 | OutOfSync c2 Healthy history=1 SyncError")
	sc.must(sc.OperationError("web", ""))
	sc.deploy(web("web:3"))
	sc.expect("web", succeeded+"Synced c3 Healthy history=2")
}

func TestOrphanedOperation(t *testing.T) {
	sc := healthyWeb(t, argosim.Options{}, nil)
	sc.must(sc.OrphanOperation("web"))
	sc.deploy(web("web:2"))
	sc.run(10 * time.Minute)
	sc.expect("web", "Running | OutOfSync c2 Healthy history=1")
	sc.must(sc.Terminate("web"))
	sc.run(10 * time.Second)
	sc.expect("web", succeeded+"Synced c2 Healthy history=2")
	if err := sc.Terminate("web"); err == nil {
		t.Error("terminated an operation that is over")
	}
}

func TestOrphanedWhileRetrying(t *testing.T) {
	sc := healthyWeb(t, argosim.Options{}, nil)
	sc.deploy(relabelled())
	sc.must(sc.OrphanOperation("web"))
	sc.run(time.Hour)
	sc.expect("web", "Running result finished retry=1 | OutOfSync c2 Healthy history=1")
}

func TestRefusedReads(t *testing.T) {
	sc := healthyWeb(t, argosim.Options{}, nil)
	sc.RefuseReads(true)
	if got, err := sc.List(); !errors.Is(err, argosim.ErrRefused) || got != nil {
		t.Errorf("List: %d objects, %v", len(got), err)
	}
	sc.RefuseReads(false)
	if got, err := sc.List(); err != nil || len(got) != 1 {
		t.Errorf("List: %d objects, %v", len(got), err)
	}
}

func TestSkipReconcile(t *testing.T) {
	sc := newScene(t, argosim.Options{})
	sc.tree.push("main", web("web:1"))
	spec := auto("web")
	spec.Annotations = map[string]string{"argocd.argoproj.io/skip-reconcile": "true"}
	sc.must(sc.AddApp(spec))
	sc.run(10 * time.Minute)
	if o := sc.object("web"); at(o, "status") != nil {
		t.Errorf("reconciled: %v", o)
	}
}

func TestOtherTargetRevision(t *testing.T) {
	sc := healthyWeb(t, argosim.Options{Poll: -1}, nil)
	sc.tree.push("next", web("web:2"))
	sc.must(sc.SetTarget("web", "next"))
	compared := at(sc.object("web"), "status", "sync", "comparedTo", "source", "targetRevision")
	if compared != "main" || at(sc.object("web"), "spec", "source", "targetRevision") != "next" {
		t.Errorf("the status is newer than its spec: %v", compared)
	}
	sc.run(10 * time.Second)
	sc.expect("web", succeeded+"Synced c2 Healthy history=2")
	mark := sc.mark()
	sc.tree.push("main", web("web:3"))
	sc.Webhook("main") // nobody follows main any more
	sc.run(10 * time.Second)
	if sc.mark() != mark {
		t.Errorf("refreshed: %v", sc.story(mark))
	}
	sc.tree.push("next", web("web:4"))
	sc.Webhook("next")
	sc.run(10 * time.Second)
	sc.expect("web", succeeded+"Synced c4 Healthy history=3")
}

func TestSourcesThatCannotBeLoaded(t *testing.T) {
	for name, tc := range map[string]struct {
		source argosim.Source
		want   string
	}{
		"no such branch": {argosim.Source{Path: "app", TargetRevision: "gone"}, "unable to resolve 'gone' to a commit SHA"},
		"no such path":   {argosim.Source{Path: "elsewhere", TargetRevision: "main"}, "elsewhere: app path does not exist"},
		"outside":        {argosim.Source{Path: "../app", TargetRevision: "main"}, "app path is outside root"},
		"unknown repo":   {argosim.Source{Path: "app", RepoURL: "https://git.example.com/other.git"}, "repository not found"},
		"a kustomization": {argosim.Source{Path: "kustom", TargetRevision: "main"},
			"the simulator renders plain directories only, found kustom/kustomization.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			sc := newScene(t, argosim.Options{})
			sc.tree.push("main", map[string]string{"app/web.yaml": deployment("web:1"), "kustom/kustomization.yaml": "resources: []\n"})
			spec := auto("web")
			spec.Sources = []argosim.Source{tc.source}
			sc.must(sc.AddApp(spec))
			sc.run(10 * time.Second)
			o := sc.object("web")
			if got, _ := at(o, "status", "conditions", 0, "message").(string); !strings.Contains(got, tc.want) {
				t.Errorf("condition %q, want %q", got, tc.want)
			}
			if sync := at(o, "status", "sync", "status"); sync != "Unknown" || at(o, "operation") != nil {
				t.Errorf("sync %v", sync)
			}
		})
	}
}

func TestTroubleOfTheTreeIsNoEventInTheCluster(t *testing.T) {
	sc := healthyWeb(t, argosim.Options{Poll: 15 * time.Second}, nil)
	sc.tree.push("main", web("web:2"))
	sc.tree.broken = fmt.Errorf("disk on fire")
	mark := sc.mark()
	err := sc.Tick(context.Background(), sc.start.Add(time.Minute))
	if !errors.Is(err, sc.tree.broken) || sc.mark() != mark {
		t.Errorf("Tick: %v, %d objects shown", err, sc.mark()-mark)
	}
	sc.tree.broken = nil
	sc.at = time.Minute
	sc.run(0)
	sc.expect("web", succeeded+"Synced c2 Healthy history=2")
}

func TestTickRefuses(t *testing.T) {
	sc := healthyWeb(t, argosim.Options{}, nil)
	if err := sc.Tick(context.Background(), sc.start); err == nil {
		t.Error("the clock went backwards")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := sc.Tick(ctx, sc.start.Add(time.Hour)); !errors.Is(err, context.Canceled) {
		t.Errorf("Tick with a cancelled context: %v", err)
	}
}

func TestSwitchesRefuse(t *testing.T) {
	sc := healthyWeb(t, argosim.Options{}, nil)
	twin := auto("web")
	twin.Namespace = "team-a"
	sc.must(sc.AddApp(twin))
	for what, err := range map[string]error{
		"ambiguous name": sc.Refresh("web"),
		"bad name":       sc.Refresh("a/b/c"),
		"added twice":    sc.AddApp(auto("web")),
		"no sources":     sc.AddApp(argosim.AppSpec{Name: "x"}),
		"no name":        sc.AddApp(argosim.AppSpec{}),
		"no object":      sc.Drift("argocd/web", "Deployment/api"),
		"scaling a map":  sc.ScaleByHand("argocd/web", "ConfigMap/settings", 3),
		"pausing a map":  sc.Suspend("argocd/web", "ConfigMap/settings"),
		"breaking a map": sc.Degrade("argocd/web", "ConfigMap/settings"),
	} {
		if err == nil {
			t.Errorf("%s: accepted", what)
		}
	}
}

// play is a scenario with a bit of everything.
func play(sc *scene) {
	sc.deploy(web("web:does-not-exist"))
	sc.run(time.Minute)
	sc.deploy(web("web:1"))
	sc.must(sc.Drift("web", "ConfigMap/settings"))
	sc.run(10 * time.Second)
	sc.deploy(relabelled())
	sc.run(10 * time.Minute)
	sc.must(sc.RecreateApp("web"))
	sc.run(10 * time.Second)
}

func TestSameInputsSameBytes(t *testing.T) {
	first, second := healthyWeb(t, argosim.Options{}, nil), healthyWeb(t, argosim.Options{}, nil)
	play(first)
	play(second)
	if !bytes.Equal(bytes.Join(first.seen, []byte("\n")), bytes.Join(second.seen, []byte("\n"))) {
		t.Error("two runs of the same scenario differ")
	}
	if diff := cmp.Diff(first.times, second.times); diff != "" || len(first.times) < 50 {
		t.Errorf("%d times, which differ:\n%s", len(first.times), diff)
	}
	seeded := healthyWeb(t, argosim.Options{Seed: "other"}, nil)
	if at(seeded.object("web"), "metadata", "uid") == at(healthyWeb(t, argosim.Options{}, nil).object("web"), "metadata", "uid") {
		t.Error("the seed does not change the UID")
	}
}

// How often Tick is called does not matter, as long as nobody does anything in
// between.
func TestTicksOfAnyLength(t *testing.T) {
	fine, coarse := healthyWeb(t, argosim.Options{}, nil), healthyWeb(t, argosim.Options{}, nil)
	for _, sc := range []*scene{fine, coarse} {
		sc.tree.push("main", web("web:does-not-exist"))
		sc.must(sc.Refresh("web"))
	}
	fine.run(time.Hour)
	coarse.must(coarse.Tick(context.Background(), coarse.start.Add(time.Hour+10*time.Second)))
	if !bytes.Equal(bytes.Join(fine.seen, []byte("\n")), bytes.Join(coarse.seen, []byte("\n"))) {
		t.Error("3600 ticks and one tick show different things")
	}
	coarse.expect("web", succeeded+"Synced c2 Degraded history=2")
}
