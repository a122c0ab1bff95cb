package verdict_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// refuse lets the operation fail on the Deployment, whose manifest differs or
// not.
func refuse(f *verdict.GateFacts, differs verdict.Tri, hook string) {
	f.Look.Operation.Phase = verdict.PhaseFailed
	f.Look.Operation.Resources = []verdict.OperationResource{{ObjectID: deployment, Status: "SyncFailed", HookType: hook, HookPhase: verdict.PhaseFailed}}
	f.Manifests = map[verdict.ObjectID]verdict.Tri{deployment: differs}
}

// failed is a watch that failed at second 185 and facts in which every gate
// passes: NEW was deployed by an operation that changed the Deployment, which
// is Degraded since.
func failed() (verdict.State, verdict.GateFacts) {
	s := verdict.New(watch(), "test")
	s.Branch, s.UID, s.Reason = "main", "u1", verdict.Reason{Code: "deadline", Detail: "health=Degraded"}
	s.Track = verdict.Track{OnBranch: start, Seen: true, ReachedAt: clock(5), ReachedBy: "operation", Revision: newCommit, Deployed: true}
	s.Baseline = &verdict.Baseline{Known: true, Good: true, At: clock(-10), Detail: "health Healthy, Synced", Revisions: []string{oldCommit}}
	s.Changed = []verdict.ObjectID{deployment}
	s.FailSince = clock(185)
	w := newWorld()
	w.say(clock(5), "Synced@new op:run@new")
	w.say(clock(10), "op:succeed Degraded")
	w.look.Resources = []verdict.Resource{{ObjectID: deployment, Status: verdict.Synced}}
	o := w.seen(clock(185), true, newCommit)
	return s, verdict.GateFacts{
		Look: o.Look, Git: o.Git, Suspects: []string{newCommit},
		Rules:  []verdict.Rule{{Name: "who"}, {Name: "prune"}},
		Storm:  verdict.Storm{Apps: 3, Within: 5 * time.Minute},
		Deploy: verdict.Deploy{Branch: "main", Window: verdict.Yes},
	}
}

// holding names the gates that hold.
func holding(gates []verdict.Gate) []string {
	var names []string
	for _, g := range gates {
		if !g.Pass {
			names = append(names, g.Name)
		}
	}
	return names
}

func why(gates []verdict.Gate, name string) string {
	for _, g := range gates {
		if g.Name == name {
			return g.Why
		}
	}
	return ""
}

type (
	state = verdict.State
	facts = verdict.GateFacts
)

// Each gate: what makes it hold and only it; and what it must let pass (the
// want is empty). The cases are those of design, section 6.
var gateCases = []struct {
	gate   string // empty: all pass
	what   string
	change func(*state, *facts)
	why    string // in what the gate says
}{
	{"", "the base case", func(*state, *facts) {}, ""},

	{"mode", "shadow", func(s *state, _ *facts) { s.Watch.Mode = verdict.Shadow }, "mode=shadow"},
	{"mode", "propose", func(s *state, _ *facts) { s.Watch.Mode = verdict.Propose }, "mode=propose"},
	{"mode", "reached late", func(s *state, _ *facts) { s.Late = true }, "late"},

	{"dry-run", "DRY_RUN", func(_ *state, f *facts) { f.DryRun = "DRY_RUN is set" }, "DRY_RUN"},
	{"dry-run", "frozen", func(_ *state, f *facts) { f.Frozen = "by bob: maintenance" }, "frozen: by bob"},

	{"reached", "not reached", func(s *state, _ *facts) { s.Track.ReachedAt = time.Time{} }, "not reached"},

	{"fresh", "stale", func(_ *state, f *facts) { f.Stale = "stale: the controller is silent" }, "silent"},
	{"fresh", "a look from a cache", func(_ *state, f *facts) { f.Look.Direct = false }, "directly"},
	{"fresh", "an overdue comparison", func(_ *state, f *facts) { f.Overdue = 2 * refresh; f.Look.ReconciledAt = clock(185 - 361) }, "overdue"},
	{"", "a comparison that is not overdue yet", func(_ *state, f *facts) { f.Overdue = 2 * refresh; f.Look.ReconciledAt = clock(185 - 360) }, ""},

	{"eligible", "a rule that holds", func(_ *state, f *facts) { f.Rules[1].Holds, f.Rules[1].Why = true, "prune is on" }, "prune: prune is on"},
	{"", "a rule that nobody assessed", func(_ *state, f *facts) { f.Rules[1].NotAssessed = true }, ""},

	{"baseline", "no settled look", func(s *state, _ *facts) { s.Baseline = nil }, "no settled look"},
	{"baseline", "not known", func(s *state, _ *facts) { s.Baseline = &verdict.Baseline{Detail: "no settled look before it"} }, "no settled look"},
	{"baseline", "bad before", func(s *state, _ *facts) { s.Baseline.Good = false; s.Baseline.Detail = "health Degraded" }, "health Degraded"},

	{"attribution", "two suspects", func(_ *state, f *facts) { f.Suspects = append(f.Suspects, laterCommit) }, "2 suspects"},
	{"attribution", "another suspect", func(_ *state, f *facts) { f.Suspects = []string{laterCommit} }, "another commit"},
	{"attribution", "no suspect", func(_ *state, f *facts) { f.Suspects = nil }, "nothing since"},
	{"attribution", "not known", func(_ *state, f *facts) { f.SuspectsErr = "no last good revision" }, "not known"},

	{"related", "the workload was not changed", func(s *state, _ *facts) { s.Changed = nil }, "was not changed"},
	{"related", "one of two workloads was not", func(_ *state, f *facts) { f.Look.Resources = append(f.Look.Resources, ofKind("Job")) }, "Job web/x was not changed"},
	{"", "what is no workload need not", func(_ *state, f *facts) {
		for _, kind := range []string{"ConfigMap", "Secret", "ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding", "Service", "Ingress",
			"PersistentVolumeClaim", "NetworkPolicy", "PodDisruptionBudget", "HorizontalPodAutoscaler", "Namespace", "CustomResourceDefinition"} {
			f.Look.Resources = append(f.Look.Resources, ofKind(kind))
		}
	}, ""},
	{"related", "no workload at all", func(_ *state, f *facts) { f.Look.Resources = []verdict.Resource{ofKind("ConfigMap")} }, "no workload"},
	{"related", "inline: another resource fails", func(_ *state, f *facts) {
		inline(f, verdict.Healthy)
		cron := ofKind("CronJob")
		cron.Health = verdict.HealthDegraded
		f.Look.Resources = append(f.Look.Resources, cron)
	}, "CronJob web/x fails"},
	{"", "inline: the changed one fails", func(_ *state, f *facts) { inline(f, verdict.HealthDegraded) }, ""},
	{"", "3.6: the message names the changed one", func(_ *state, f *facts) {
		f.Look.HealthMessage = "apps/Deployment:web/web"
		f.Look.Resources = append(f.Look.Resources, ofKind("Job"))
	}, ""},
	{"related", "3.6: the message names another", func(_ *state, f *facts) {
		f.Look.HealthMessage = "Job:web/x"
		f.Look.Resources = append(f.Look.Resources, ofKind("Job"))
	}, "Job web/x fails"},
	{"", "3.6: what the message names is no resource of it", func(_ *state, f *facts) { f.Look.HealthMessage = "Pod:kube-system/dns" }, ""},
	{"", "the operation itself failed", func(s *state, f *facts) {
		s.Changed = nil
		f.Look.Operation.Phase = verdict.PhaseFailed
	}, ""},
	{"related", "the operation failed on what the commit left alone", func(_ *state, f *facts) { refuse(f, verdict.No, "") }, "whose manifest the commit did not change"},
	{"", "the operation failed on what the commit changed", func(_ *state, f *facts) { refuse(f, verdict.Yes, "") }, ""},
	{"", "nobody knows whether it changed what was refused", func(_ *state, f *facts) { refuse(f, verdict.Unknown, "") }, ""},
	{"", "an old hook failed", func(_ *state, f *facts) { refuse(f, verdict.No, "PostSync") }, ""},
	{"", "one of two was changed", func(_ *state, f *facts) {
		refuse(f, verdict.No, "")
		other := verdict.ObjectID{Kind: "ConfigMap", Namespace: "web", Name: "settings"}
		f.Look.Operation.Resources = append(f.Look.Operation.Resources, verdict.OperationResource{ObjectID: other, Status: "SyncFailed"})
		f.Manifests[other] = verdict.Yes
	}, ""},
	{"", "it failed and is retried", func(s *state, f *facts) {
		s.Changed = nil
		f.Look.Operation.Phase, f.Look.Operation.RetryCount, f.Look.Operation.Requested = verdict.PhaseRunning, 1, true
	}, ""},
	{"related", "an operation without NEW failed", func(s *state, f *facts) {
		s.Changed = nil
		f.Look.Operation.Phase, f.Look.Operation.Revisions[0].Rev = verdict.PhaseFailed, oldCommit
	}, "was not changed"},
	{"", "the policy waives it", func(s *state, f *facts) { s.Changed, f.AcceptRelated = nil, "sealed secrets" }, ""},
	{"related", "server-side apply tells nothing", func(s *state, _ *facts) { s.Changed, s.Untold = nil, s.Changed }, "not known whether"},
	{"", "but the manifest differs", func(s *state, f *facts) {
		s.Changed, s.Untold, f.Manifests = nil, s.Changed, map[verdict.ObjectID]verdict.Tri{deployment: verdict.Yes}
	}, ""},
	{"", "the manifest leaves the namespace out", func(s *state, f *facts) {
		bare := deployment
		bare.Namespace = ""
		s.Changed, s.Untold, f.Manifests = nil, s.Changed, map[verdict.ObjectID]verdict.Tri{bare: verdict.Yes}
	}, ""},
	{"related", "the manifest does not differ", func(s *state, f *facts) {
		s.Changed, s.Untold, f.Manifests = nil, s.Changed, map[verdict.ObjectID]verdict.Tri{deployment: verdict.No}
	}, "was not changed"},
	{"related", "more objects than are remembered", func(s *state, _ *facts) { s.Changed, s.Truncated = nil, true }, "not known whether"},

	{"siblings", "not armed", func(_ *state, f *facts) {
		f.Siblings = []verdict.Sibling{{App: verdict.App{Name: "api"}, Mode: verdict.Shadow}}
	}, "api is watched with mode=shadow"},
	{"siblings", "healthy with it", func(_ *state, f *facts) {
		f.Siblings = []verdict.Sibling{{App: verdict.App{Name: "api"}, Mode: verdict.Arm, Healthy: verdict.Yes}}
	}, "healthy with the commit"},
	{"siblings", "CONFIRMED with it", func(_ *state, f *facts) {
		f.Siblings = []verdict.Sibling{{App: verdict.App{Name: "api"}, Mode: verdict.Arm, Verdict: verdict.Confirmed}}
	}, "healthy with the commit"},
	{"", "armed and not healthy either", func(_ *state, f *facts) {
		f.Siblings = []verdict.Sibling{{App: verdict.App{Name: "api"}, Mode: verdict.Arm, Verdict: verdict.Waiting, Healthy: verdict.No}}
	}, ""},

	{"storm", "two others", func(_ *state, f *facts) { f.Storm.Others = bad(20, 30) }, "3 Applications"},
	{"", "one other", func(_ *state, f *facts) { f.Storm.Others = bad(20) }, ""},
	{"", "others that were bad long before", func(_ *state, f *facts) { f.Storm.Others = bad(-3000, -4000, 10) }, ""},

	{"circuit", "open", func(_ *state, f *facts) { f.Circuit = "2 reverts of web" }, "2 reverts"},

	{"progressing", "the policy holds", func(_ *state, f *facts) { f.HoldProgressing, f.Look.Health = true, verdict.HealthProgressing }, "Progressing"},
	{"", "by default it counts", func(_ *state, f *facts) { f.Look.Health = verdict.HealthProgressing }, ""},
	{"", "Degraded is not Progressing", func(_ *state, f *facts) { f.HoldProgressing = true }, ""},

	{"exact", "a path changed since", func(_ *state, f *facts) { f.ChangedSince = []string{"apps/web/deployment.yaml"} }, "1 of its paths"},
	{"exact", "no parent", func(_ *state, f *facts) { f.ExactErr = "the commit has no parent" }, "no parent"},

	{"deployable", "a closed window", func(_ *state, f *facts) { f.Deploy.Window, f.Deploy.WindowWhy = verdict.No, "deny 0 22 * * *" }, "deny"},
	{"", "a window that nobody assessed", func(_ *state, f *facts) { f.Deploy.Window = verdict.Unknown }, ""},
	{"deployable", "automated sync off", func(_ *state, f *facts) { f.Look.AutoSync = false }, "automated sync"},
	{"", "a progressive sync switched it off", func(_ *state, f *facts) { f.Look.AutoSync, f.Look.OwnedBySet = false, true }, ""},
	{"deployable", "skip-reconcile", func(_ *state, f *facts) { f.Look.SkipReconcile = true }, "skip-reconcile"},
	{"deployable", "an operation runs", func(_ *state, f *facts) {
		f.Look.Operation.Requested, f.Look.Operation.Phase = true, verdict.PhaseRunning
	}, "runs"},
	{"deployable", "an operation runs that nobody asked for any more", func(_ *state, f *facts) { f.Look.Operation.Phase = verdict.PhaseRunning }, "runs"},
	{"deployable", "an operation is requested", func(_ *state, f *facts) { f.Look.Operation.Requested = true }, "runs"},
	{"deployable", "an operation is terminating", func(_ *state, f *facts) { f.Look.Operation.Phase = verdict.PhaseTerminating }, "runs"},
	{"deployable", "retries without limit", func(_ *state, f *facts) { retried(f, -1) }, "without limit"},
	{"", "a limited number of retries", func(_ *state, f *facts) { retried(f, 5) }, ""},
	{"deployable", "a window blocks the operation", func(_ *state, f *facts) {
		retried(f, 5)
		f.Look.Operation.Message = "Sync operation blocked by sync window"
	}, "sync window"},
	{"deployable", "another branch", func(_ *state, f *facts) { f.Deploy.Branch = "release" }, "another branch"},
	{"deployable", "no branch", func(_ *state, f *facts) { f.Deploy.Branch = "" }, "not known"},

	{"lineage", "a revert", func(_ *state, f *facts) { f.IsRevert = true }, "itself a revert"},
	{"lineage", "already reverted", func(_ *state, f *facts) { f.AlreadyReverted = revertCommit }, "already reverted by eeeeeeeeeeee"},
}

func ofKind(kind string) verdict.Resource {
	return verdict.Resource{ObjectID: verdict.ObjectID{Kind: kind, Namespace: "web", Name: "x"}, Status: verdict.Synced}
}

func inline(f *facts, health string) {
	f.Look.HealthInline = true
	f.Look.Resources[0].Health = health
}

func retried(f *facts, limit int64) {
	op := &f.Look.Operation
	op.Requested, op.Phase, op.RetryCount, op.RetryLimit = true, verdict.PhaseRunning, 1, limit
}

func bad(since ...int) []verdict.BadApp {
	var out []verdict.BadApp
	for i, s := range since {
		out = append(out, verdict.BadApp{App: verdict.App{Name: "other" + itoa(i)}, Since: clock(s)})
	}
	return out
}

func TestGates(t *testing.T) {
	held := map[string]bool{}
	for _, tt := range gateCases {
		t.Run(tt.gate+" "+tt.what, func(t *testing.T) {
			s, f := failed()
			tt.change(&s, &f)
			gates := verdict.Evaluate(s, f)
			var want []string
			if tt.gate != "" {
				want, held[tt.gate] = []string{tt.gate}, true
			}
			if got := holding(gates); !slices.Equal(got, want) {
				t.Fatalf("gates that hold: %v, want %v: %s", got, want, why(gates, strings.Join(got, "")))
			}
			if tt.gate != "" && !strings.Contains(why(gates, tt.gate), tt.why) {
				t.Errorf("%s says %q, want %q in it", tt.gate, why(gates, tt.gate), tt.why)
			}
			if len(gates) != len(verdict.GateNames()) {
				t.Errorf("%d gates were asked, want all %d", len(gates), len(verdict.GateNames()))
			}
		})
	}
	for _, name := range verdict.GateNames() {
		if !held[name] {
			t.Errorf("no case makes %s hold", name)
		}
	}
}

// All gates are asked, also when another already said no.
func TestGatesAllAsked(t *testing.T) {
	s, f := failed()
	for _, name := range verdict.GateNames() {
		if name == "related" || name == "deployable" { // they read the look that others change
			continue
		}
		for _, tt := range gateCases {
			if tt.gate == name {
				tt.change(&s, &f)
				break
			}
		}
	}
	want := slices.DeleteFunc(verdict.GateNames(), func(n string) bool { return n == "related" || n == "deployable" })
	if got := holding(verdict.Evaluate(s, f)); !slices.Equal(got, want) {
		t.Errorf("gates that hold: %v, want %v", got, want)
	}
}

// What only an AppProject, an ImageUpdater or an ApplicationSet could tell is
// written as not assessed, and does not hold.
func TestGatesNotAssessed(t *testing.T) {
	s, f := failed()
	f.Rules[0].NotAssessed = true
	f.Deploy.Window, f.Deploy.NotAssessed = verdict.Unknown, []string{"project"}
	f.Look.AutoSync, f.Look.OwnedBySet = false, true
	gates := verdict.Evaluate(s, f)
	if got := why(gates, "eligible"); got != "not assessed: who" {
		t.Errorf("eligible says %q", got)
	}
	if got := why(gates, "deployable"); got != "not assessed: sync window, progressive sync, project" {
		t.Errorf("deployable says %q", got)
	}
}

// When an Application counts as bad, and since when (gate storm).
func TestTurnedBad(t *testing.T) {
	for _, tt := range []struct {
		what, words string
		since       int
		bad         bool
	}{
		{"well", "Synced@new", 0, false},
		{"degraded", "Synced@new Degraded", 60, true},
		{"missing", "Synced@new Missing", 60, true},
		{"an ordinary rollout", "Synced@new Progressing", 0, false},
		{"failed", "OutOfSync@new op:run@new op:fail", 60, true},
		{"in Error", "OutOfSync@new op:run@new op:error", 60, true},
		{"retried", "OutOfSync@new op:run@new op:retry", 60, true},
		{"Unknown", "Unknown@empty error:ComparisonError", 60, true},
		{"paused", "Synced@new Suspended", 0, false},
		{"absent", "absent", 0, false},
	} {
		w := newWorld()
		w.say(clock(60), tt.words)
		got, is := verdict.TurnedBad(w.seen(clock(90), true, newCommit).Look)
		if is != tt.bad || is && !got.Since.Equal(clock(tt.since)) {
			t.Errorf("%s: %+v, %v", tt.what, got, is)
		}
	}
	w := newWorld()
	w.say(clock(60), "Progressing")
	if _, is := verdict.TurnedBad(w.seen(clock(121), true, newCommit).Look); !is {
		t.Error("Progressing for more than a minute is not bad")
	}
}
