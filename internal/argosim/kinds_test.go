package argosim_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nav-watchdog/nav-watchdog/internal/argosim"
)

func workload(kind, name, image string) string {
	api := "apps/v1"
	if kind == "Job" {
		api = "batch/v1"
	}
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: %s}\nspec:\n  selector: {matchLabels: {app: x}}\n  template:\n    spec:\n      containers: [{name: c, image: %q}]\n", api, kind, name, image)
}

func TestHealthOfKinds(t *testing.T) {
	for _, tc := range []struct {
		name, manifest string
		early, late    string // the app's health 2 s and an hour after the apply
	}{
		{"deployment", workload("Deployment", "x", "r/x:1"), "Progressing", "Healthy"},
		{"deployment, bad image", workload("Deployment", "x", "r/x:does-not-exist"), "Progressing", "Degraded"},
		{"deployment, failing", workload("Deployment", "x", "r/x:fails"), "Progressing", "Degraded"},
		{"stateful set", workload("StatefulSet", "x", "r/x:1"), "Progressing", "Healthy"},
		{"stateful set, bad image", workload("StatefulSet", "x", "r/x:does-not-exist"), "Progressing", "Progressing"},
		{"daemon set, bad image", workload("DaemonSet", "x", "r/x:does-not-exist"), "Progressing", "Progressing"},
		{"job", workload("Job", "x", "r/x:1"), "Progressing", "Healthy"},
		{"job, failing", workload("Job", "x", "r/x:fails"), "Progressing", "Degraded"},
		{"job, bad image", workload("Job", "x", "r/x:does-not-exist"), "Progressing", "Progressing"},
		{"cron job", "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: x}\nspec: {schedule: '* * * * *'}\n", "Healthy", "Healthy"},
		{"service", "apiVersion: v1\nkind: Service\nmetadata: {name: x}\n", "Healthy", "Healthy"},
		{"load balancer", "apiVersion: v1\nkind: Service\nmetadata: {name: x}\nspec: {type: LoadBalancer}\n", "Progressing", "Progressing"},
		{"secret", "apiVersion: v1\nkind: Secret\nmetadata: {name: x}\n", "Healthy", "Healthy"},
		{"nothing", "# no objects\n", "Healthy", "Healthy"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			sc := newScene(t, argosim.Options{InlineHealth: true})
			sc.tree.push("main", map[string]string{"app/x.yaml": tc.manifest})
			sc.must(sc.AddApp(auto("x")))
			sc.run(2 * time.Second)
			if got := sc.state("x").Health; got != tc.early {
				t.Errorf("after two seconds %s, want %s", got, tc.early)
			}
			sc.run(time.Hour)
			if got := sc.state("x"); got.Health != tc.late || got.Sync != "Synced" {
				t.Errorf("after an hour %s, want %s", got, tc.late)
			}
		})
	}
}

func TestInlineHealth(t *testing.T) {
	sc := healthyWeb(t, argosim.Options{InlineHealth: true}, nil)
	status := sc.object("web")["status"]
	if at(status, "resourceHealthSource") != nil || at(status, "resources", 0, "health") != nil || at(status, "resources", 1, "health", "status") != "Healthy" {
		t.Errorf("resources: %v", at(status, "resources"))
	}
}

func TestSlowImageIsDegradedAndThenHealthy(t *testing.T) {
	sc := healthyWeb(t, argosim.Options{Image: func(image string) argosim.Image {
		if image == "registry.example/web:slow" {
			return argosim.Image{Ready: time.Minute}
		}
		return argosim.Image{Ready: 2 * time.Second}
	}}, nil)
	sc.deploy(web("web:slow"))
	sc.expect("web", succeeded+"Synced c2 Progressing history=2")
	if got := at(sc.object("web"), "status", "summary", "images", 0); got != "registry.example/web:1" {
		t.Errorf("the old pods do not run on: %v", got)
	}
	sc.run(20 * time.Second)
	sc.expect("web", succeeded+"Synced c2 Degraded history=2")
	sc.run(time.Minute)
	sc.expect("web", succeeded+"Synced c2 Healthy history=2")
	if diff := cmp.Diff([]any{"registry.example/web:slow"}, at(sc.object("web"), "status", "summary", "images")); diff != "" {
		t.Errorf("images:\n%s", diff)
	}
}

func TestChangedJobCannotBeApplied(t *testing.T) {
	sc := newScene(t, argosim.Options{})
	sc.tree.push("main", map[string]string{"app/x.yaml": workload("Job", "x", "r/x:1")})
	spec := auto("x")
	spec.Retry = &argosim.Retry{}
	sc.must(sc.AddApp(spec))
	sc.run(20 * time.Second)
	sc.deploy(map[string]string{"app/x.yaml": workload("Job", "x", "r/x:2")})
	sc.expect("x", "Failed result finished | OutOfSync c2 Healthy history=1 SyncError")
}

func TestNothingIsThereWithoutASync(t *testing.T) {
	sc := newScene(t, argosim.Options{})
	sc.tree.push("main", web("web:1"))
	spec := auto("web")
	spec.Automated = nil
	sc.must(sc.AddApp(spec))
	sc.run(10 * time.Minute)
	sc.expect("web", "no-operation | OutOfSync c1 Missing history=0")
}

func TestChildApplications(t *testing.T) {
	child := "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: leaf, namespace: argocd}\nspec:\n" +
		"  destination: {namespace: leaf, server: https://kubernetes.default.svc}\n" +
		"  source: {repoURL: https://git.example.com/demo/deploy.git, path: leaf, targetRevision: %s}\n  syncPolicy: {automated: {}}\n"
	sc := newScene(t, argosim.Options{})
	sc.tree.push("main", map[string]string{"app/leaf.yaml": fmt.Sprintf(child, "main"), "leaf/x.yaml": workload("Deployment", "x", "r/x:does-not-exist")})
	parent := auto("parent")
	parent.Automated.Prune, parent.Automated.AllowEmpty = true, true
	sc.must(sc.AddApp(parent))
	sc.run(time.Minute)
	// The parent is Healthy whatever its child does (argo-cd#3781).
	sc.expect("parent", succeeded+"Synced c1 Healthy history=1")
	sc.expect("leaf", succeeded+"Synced c1 Progressing history=1")
	if at(sc.object("parent"), "status", "summary", "isAppOfApps") != true {
		t.Error("the parent does not say that it is one")
	}
	sc.tree.push("next", map[string]string{"leaf/x.yaml": workload("Deployment", "x", "r/x:1")})
	sc.deploy(map[string]string{"app/leaf.yaml": fmt.Sprintf(child, "next")})
	sc.run(20 * time.Second)
	sc.expect("leaf", succeeded+"Synced c2 Healthy history=2")
	sc.must(sc.DeleteApp("leaf"))
	sc.run(20 * time.Second) // self-heal makes it again
	if st := sc.state("leaf"); st.Sync != "Synced" {
		t.Errorf("the child is %s", st)
	}
	sc.deploy(map[string]string{"app/leaf.yaml": "# gone\n"})
	if got := sc.Applications(); len(got) != 1 {
		t.Errorf("%d applications after the child was pruned", len(got))
	}
}
