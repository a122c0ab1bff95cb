package argocd_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// What each fixture says, in a line: comparison and health; flags; the
// operation with what it applies; the newest history entry; conditions;
// resources that are to be pruned or have a health of their own.
func TestFixtures(t *testing.T) {
	want := map[string]string{
		"app-of-apps":                         "Synced@NEW Healthy app-of-apps op: Succeeded NEW result automated history: 7 NEW child=argocd/web",
		"bug07680-revision-went-back":         "Synced@OLD Healthy op: Succeeded NEW result automated history: 7 NEW",
		"bug11494-old-operation-blocks":       "OutOfSync@NEW Healthy op: requested Running OLD result automated retries=7/-1 history: 6 OLD",
		"bug22665-no-transition-time":         "Synced@NEW Healthy op: Succeeded NEW result automated history: 7 NEW",
		"bug24408-all-prunable":               "OutOfSync@NEW Healthy op: Succeeded NEW result automated history: 7 NEW ConfigMap/OutOfSync/prune Deployment/OutOfSync/prune",
		"bug26530-retry-applied-old":          "OutOfSync@NEW Healthy op: Succeeded OLD result automated retries=1/5 history: 6 OLD",
		"bug27875-landed-during-sync":         "OutOfSync@NEW Healthy op: Succeeded OLD result automated history: 6 OLD",
		"bug27875-partial-sync":               "Synced@NEW Healthy op: Succeeded NEW result selective auto-heal automated history: 6 OLD",
		"bug29716-downgraded-itself":          "OutOfSync@NEW,NEW Healthy op: Succeeded OLD,OLD result automated history: 8 OLD,OLD",
		"multi-source-chart-and-values":       `Synced@"15.7.1",NEW Healthy op: Succeeded "15.7.1",NEW result automated history: 7 "15.7.1",NEW`,
		"r01-chart":                           `Synced@"65.5.0" Healthy op: Succeeded "65.5.0" result automated history: 6 "65.5.0"`,
		"r01-helm-oci":                        `Synced@"65.5.0" Healthy op: Succeeded "65.5.0" result automated history: 6 "65.5.0"`,
		"r01-oci":                             `Synced@"sha256:eeeee" Healthy op: Succeeded "sha256:eeeee" result automated history: 6 "sha256:eeeee"`,
		"r04-spec-changed":                    "Synced@OLD Healthy spec-changed op: Succeeded OLD result automated history: 6 OLD",
		"r06-deleting":                        "Synced@NEW Healthy deleting op: Succeeded NEW result automated history: 7 NEW",
		"r08-completed-without-finish":        "OutOfSync@NEW Healthy op: Succeeded NEW automated unfinished history: 6 OLD",
		"r08-orphaned-running":                "OutOfSync@NEW Healthy op: Running NEW result automated history: 6 OLD",
		"r10-dry-run":                         "OutOfSync@NEW Healthy op: Succeeded NEW result dry-run by=alice retries=0/0 history: 6 OLD",
		"r10-local-sync":                      `OutOfSync@"main" Healthy op: Succeeded "main" result local by=alice retries=0/0 history: 6 OLD`,
		"r16-empty-status":                    "no-status op: requested NEW automated",
		"r16-no-status":                       "no-status",
		"r18-hydrated":                        `Synced@"dddddddddddd" Healthy hydrator op: Succeeded "dddddddddddd" result automated history: 6 "dddddddddddd"`,
		"r19-stale-after-success":             "Synced@NEW Healthy op: Succeeded NEW result automated stale history: 7 NEW",
		"r20-inline-health":                   "Synced@NEW Degraded inline op: Succeeded NEW result automated history: 7 NEW Deployment/Healthy CronJob/Degraded",
		"r22-warning":                         "Synced@NEW Healthy op: Succeeded NEW result automated history: 7 NEW !SharedResourceWarning",
		"r34-drift":                           "OutOfSync@NEW Healthy op: Succeeded NEW result automated history: 7 NEW",
		"row01a-requested":                    "Synced@OLD Healthy op: requested NEW automated history: 6 OLD",
		"row01b-compared":                     "OutOfSync@NEW Healthy op: requested NEW automated history: 6 OLD",
		"row01c-running":                      "OutOfSync@NEW Healthy op: requested Running NEW result automated unfinished history: 6 OLD",
		"row01c-running-no-result":            "OutOfSync@NEW Healthy op: requested Running NEW automated unfinished history: 6 OLD",
		"row01d-synced-while-running":         "Synced@NEW Progressing op: requested Running NEW result automated unfinished history: 6 OLD",
		"row01e-succeeded-not-compared":       "OutOfSync@NEW Healthy op: Succeeded NEW result automated stale history: 7 NEW",
		"row01f-progressing":                  "Synced@NEW Progressing op: Succeeded NEW result automated history: 7 NEW",
		"row01g-healthy":                      "Synced@NEW Healthy op: Succeeded NEW result automated history: 7 NEW",
		"row02-render-error-3.1":              `Unknown@"" Healthy op: Succeeded OLD result automated history: 6 OLD !ComparisonError ConfigMap/Unknown/prune Deployment/Unknown/prune`,
		"row02-render-error-3.2":              `Unknown@"main" Healthy op: Succeeded OLD result automated history: 6 OLD !ComparisonError ConfigMap/Unknown/prune Deployment/Unknown/prune`,
		"row02-render-error-manual-sync":      `Unknown@"main" Healthy op: Error NEW by=alice retries=0/0 history: 6 OLD !ComparisonError ConfigMap/Unknown/prune Deployment/Unknown/prune`,
		"row02-render-error-multi-source":     `Unknown@"","" Healthy op: Succeeded OLD,OLD result automated history: 6 OLD,OLD !ComparisonError ConfigMap/Unknown/prune Deployment/Unknown/prune`,
		"row03-sync-error":                    "OutOfSync@NEW Healthy op: Error NEW result automated history: 6 OLD !SyncError",
		"row03-sync-failed":                   "OutOfSync@NEW Healthy op: Failed NEW result automated retries=2/2 failed=Deployment history: 6 OLD !SyncError",
		"row04-nothing-to-deploy":             "Synced@NEW Healthy op: Succeeded OLD result automated history: 6 OLD",
		"row04b-generate-paths-not-refreshed": "Synced@OLD Healthy op: Succeeded OLD result automated history: 6 OLD",
		"row04b-generate-paths-rekeyed":       "Synced@NEW Healthy op: Succeeded OLD result automated history: 6 OLD",
		"row05-annotated-tag":                 `Synced@"dddddddddddd" Healthy op: Succeeded OLD result automated history: 6 OLD`,
		"row05-other-branch":                  `Synced@"cccccccccccc" Healthy op: Succeeded OLD result automated history: 6 OLD`,
		"row05-pinned-commit":                 "Synced@OLD Healthy op: Succeeded OLD result automated history: 6 OLD",
		"row05-short-commit":                  `Synced@"bbbbbbbb" Healthy op: Succeeded OLD result automated history: 6 OLD`,
		"row06-semver-range":                  "Synced@OLD Healthy op: Succeeded OLD result automated history: 6 OLD",
		"row07-rolled-back":                   "OutOfSync@NEW Healthy manual op: Succeeded OLD result by=alice retries=0/0 history: 8 OLD",
		"row07-rolling-back":                  "Synced@NEW Healthy manual op: requested Running OLD result by=alice unfinished retries=0/0 history: 7 NEW",
		"row08-selective-sync":                "OutOfSync@NEW Healthy op: Succeeded NEW result selective by=alice retries=0/0 history: 6 OLD",
		"row09-presync-hook-running":          "OutOfSync@NEW Healthy op: requested Running NEW result automated unfinished PreSync=Running history: 6 OLD",
		"row10-postsync-hook-failed":          "Synced@NEW Healthy op: Failed NEW result automated PostSync=Failed history: 6 OLD",
		"row10-postsync-hook-running":         "Synced@NEW Healthy op: requested Running NEW result automated unfinished PostSync=Running history: 6 OLD",
		"row11-last-wave-degraded":            "Synced@NEW Degraded op: Succeeded NEW result automated history: 7 NEW",
		"row11-wave-degraded":                 "OutOfSync@NEW Degraded op: Failed NEW result automated history: 6 OLD",
		"row11-wave-waiting":                  "OutOfSync@NEW Progressing op: requested Running NEW result automated unfinished history: 6 OLD",
		"row12-sync-window":                   "OutOfSync@NEW Healthy op: Succeeded OLD result automated history: 6 OLD",
		"row12-sync-window-blocks-operation":  "OutOfSync@NEW Healthy op: requested Running NEW automated unfinished history: 6 OLD",
		"row13-auto-sync-disabled":            "OutOfSync@NEW Healthy manual op: Succeeded OLD result automated history: 6 OLD",
		"row13-auto-sync-off":                 "OutOfSync@NEW Healthy manual op: Succeeded OLD result automated history: 6 OLD",
		"row14-retry-refresh":                 "OutOfSync@NEW Healthy op: requested Running NEW result automated unfinished retries=9/-1 history: 6 OLD",
		"row14-retry-running":                 "OutOfSync@NEW Healthy op: requested Running NEW result automated unfinished retries=2/2 failed=Deployment history: 6 OLD",
		"row14-retry-waiting":                 "OutOfSync@NEW Healthy op: requested Running NEW result automated retries=2/2 failed=Deployment history: 6 OLD",
		"row15-self-heal-running":             "OutOfSync@NEW Healthy op: requested Running NEW selective auto-heal automated unfinished history: 7 NEW",
		"row15-self-healed":                   "Synced@NEW Healthy op: Succeeded NEW result selective auto-heal automated history: 7 NEW",
		"row16-skip-reconcile":                "Synced@OLD Healthy skip-reconcile op: Succeeded OLD result automated history: 6 OLD",
		"row16-suspended":                     "Synced@NEW Suspended op: Succeeded NEW result automated history: 7 NEW",
		"row17-rolling-sync-syncing":          `OutOfSync@NEW Healthy manual owned-by-set op: requested Running "" automated by=applicationset-controller unfinished history: 6 OLD`,
		"row17-rolling-sync-waiting":          "OutOfSync@NEW Healthy manual owned-by-set op: Succeeded OLD result automated history: 6 OLD",
		"row18-prune-and-drift":               "OutOfSync@NEW Healthy op: Succeeded OLD result automated history: 6 OLD ConfigMap/OutOfSync/prune",
		"row18-prune-only":                    "OutOfSync@NEW Healthy op: Succeeded NEW result automated history: 7 NEW ConfigMap/OutOfSync/prune",
		"row19-wipe-out":                      "OutOfSync@NEW Healthy op: Succeeded OLD result automated history: 6 OLD !SyncError ConfigMap/OutOfSync/prune Deployment/OutOfSync/prune",
		"row20-unsigned":                      "OutOfSync@NEW Healthy op: Succeeded OLD result automated history: 6 OLD !ComparisonError",
		"row20-unsigned-operation":            "OutOfSync@NEW Healthy op: Error NEW automated history: 6 OLD !ComparisonError",
		"row21-project-missing":               "Unknown@OLD Unknown op: Succeeded OLD result automated history: 6 OLD !InvalidSpecError",
		"row22-status-too-big":                "Synced@OLD Healthy op: Succeeded OLD result automated history: 6 OLD !UnknownError",
		"updater-default-method":              "Synced@NEW Healthy op: Succeeded NEW result automated history: 7 NEW",
		"updater-git-method":                  "Synced@NEW Healthy op: Succeeded NEW result automated history: 7 NEW",
	}
	got := map[string]string{}
	for name, app := range fixtures(t) {
		got[name] = summary(app.Look(lookedAt, true))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("fixtures read otherwise (-want +got):\n%s", d)
	}
}

// One Look whole, every field.
func TestLookWhole(t *testing.T) {
	const message = `error when patching "/dev/shm/1708071941": Deployment.apps "web" is invalid: ` +
		`spec.selector: Invalid value: {"matchLabels":{"app":"web","tier":"x"}}: field is immutable`
	web := verdict.Source{RepoURL: "https://git.example.com/team/deploy.git", Path: "apps/web", TargetRevision: "main", Plain: true}
	settings := verdict.ObjectID{Kind: "ConfigMap", Namespace: "web", Name: "settings"}
	deployment := verdict.ObjectID{Group: "apps", Kind: "Deployment", Namespace: "web", Name: "web"}
	clock := func(h, m, s int) time.Time { return time.Date(2026, 11, 29, h, m, s, 0, time.UTC) }
	want := verdict.Look{
		App:          verdict.App{Namespace: "argocd", Name: "row03-sync-failed"},
		UID:          "0b1c9d6e-8a54-4d55-9a3e-5a7b60f1c0de",
		At:           lookedAt,
		Direct:       true,
		Project:      "default",
		Spec:         []verdict.Source{web},
		AutoSync:     true,
		HasStatus:    true,
		SyncStatus:   verdict.OutOfSync,
		Compared:     []verdict.Revision{{Source: web, Rev: newCommit}},
		Health:       verdict.Healthy,
		HealthSince:  clock(11, 0, 20),
		ReconciledAt: clock(12, 1, 10),
		SourceTypes:  []string{"Directory"},
		Resources: []verdict.Resource{
			{ObjectID: settings, Status: verdict.Synced},
			{ObjectID: deployment, Status: verdict.OutOfSync},
		},
		Operation: verdict.Operation{
			Present:    true,
			Phase:      verdict.PhaseFailed,
			StartedAt:  clock(12, 0, 1),
			FinishedAt: clock(12, 1, 4),
			RetryCount: 2,
			RetryLimit: 2,
			Message:    "one or more objects failed to apply, reason: " + message + " (retried 2 times).",
			Automated:  true,
			Revisions:  []verdict.Revision{{Source: web, Rev: newCommit}},
			HasResult:  true,
			Resources: []verdict.OperationResource{
				{ObjectID: settings, Status: "Synced", HookPhase: "Running", SyncPhase: "Sync", Message: "configmap/settings unchanged"},
				{ObjectID: deployment, Status: "SyncFailed", HookPhase: "Failed", SyncPhase: "Sync", Message: message},
			},
		},
		History: &verdict.HistoryEntry{ID: 6, DeployedAt: clock(11, 0, 3), Revisions: []verdict.Revision{{Source: web, Rev: oldCommit}}},
		Conditions: []verdict.Condition{{
			Type:    "SyncError",
			Message: "Failed last sync attempt to [" + newCommit + "]: one or more objects failed to apply, reason: " + message + " (retried 2 times).",
			Since:   clock(12, 1, 4),
		}},
	}
	got := fixtures(t)["row03-sync-failed"].Look(lookedAt, true)
	want.SpecDigest = got.SpecDigest // TestSpecDigest
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("row03-sync-failed reads otherwise (-want +got):\n%s", d)
	}
}

// The digest changes with whatever changes the cluster without a commit, and
// with nothing else.
func TestSpecDigest(t *testing.T) {
	long := strings.Repeat("x", 100)
	spec := func(s string) string { return decode(t, `,"spec":`+s).Look(lookedAt, false).SpecDigest }
	was := spec(`{"source":{"repoURL":"https://h/r","helm":{"values":"` + long + `"}},"destination":{"namespace":"web"}}`)
	for what, tt := range map[string]struct {
		spec string
		same bool
	}{
		"nothing":                 {`{"source":{"repoURL":"https://h/r","helm":{"values":"` + long + `"}},"destination":{"namespace":"web"}}`, true},
		"a field that says none":  {`{"source":{"repoURL":"https://h/r","path":"","helm":{"values":"` + long + `"}},"destination":{"namespace":"web"}}`, true},
		"the policy":              {`{"source":{"repoURL":"https://h/r","helm":{"values":"` + long + `"}},"destination":{"namespace":"web"},"syncPolicy":{"automated":{}}}`, true},
		"the values":              {`{"source":{"repoURL":"https://h/r","helm":{"values":"` + long + `y"}},"destination":{"namespace":"web"}}`, false},
		"an image that overrides": {`{"source":{"repoURL":"https://h/r","kustomize":{"images":["a:1"]},"helm":{"values":"` + long + `"}},"destination":{"namespace":"web"}}`, false},
		"the namespace":           {`{"source":{"repoURL":"https://h/r","helm":{"values":"` + long + `"}},"destination":{"namespace":"other"}}`, false},
	} {
		if got := spec(tt.spec); (got == was) != tt.same || got == "" {
			t.Errorf("%s changed: %q, was %q", what, got, was)
		}
	}
	if got := spec(`{}`); got != "" {
		t.Errorf("an empty spec has the digest %q", got)
	}
}

// Several sources keep their own revisions, and only the git one of a chart
// and its values is watchable (3.1).
func TestLookMultiSource(t *testing.T) {
	chart := verdict.Source{Kind: verdict.SourceChart, RepoURL: "https://charts.example.com", TargetRevision: "15.7.1", Chart: "prometheus"}
	values := verdict.Source{RepoURL: "https://git.example.com/team/deploy.git", TargetRevision: "main", Ref: "values"}
	at := func(rev string) []verdict.Revision {
		return []verdict.Revision{{Source: chart, Rev: "15.7.1"}, {Source: values, Rev: rev}}
	}
	l := fixtures(t)["multi-source-chart-and-values"].Look(lookedAt, false)
	for _, tt := range []struct {
		what      string
		want, got any
	}{
		{"spec", []verdict.Source{chart, values}, l.Spec},
		{"compared", at(newCommit), l.Compared},
		{"operation", at(newCommit), l.Operation.Revisions},
		{"history", at(newCommit), l.History.Revisions},
		{"source types", []string{"Helm", ""}, l.SourceTypes},
		{"direct", false, l.Direct},
	} {
		if d := cmp.Diff(tt.want, tt.got); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.what, d)
		}
	}
}

// What is read of a hydrated Application: commits are made on the dry source,
// the rest speaks of the hydrated branch, and the pair joins them (R18).
func TestLookHydrated(t *testing.T) {
	l := fixtures(t)["r18-hydrated"].Look(lookedAt, true)
	hydrated := strings.Repeat("d", 40)
	if d := cmp.Diff(&verdict.Hydration{DrySHA: newCommit, HydratedSHA: hydrated, Phase: "Hydrated"}, l.Hydration); d != "" {
		t.Errorf("hydration (-want +got):\n%s", d)
	}
	if len(l.Spec) != 1 || l.Spec[0].TargetRevision != "main" || l.Spec[0].Path != "apps/web" {
		t.Errorf("Spec = %+v, want the dry source", l.Spec)
	}
	if len(l.Compared) != 1 || l.Compared[0].Source.TargetRevision != "env/prod" || l.Compared[0].Rev != hydrated {
		t.Errorf("Compared = %+v, want the hydrated branch", l.Compared)
	}
	if l.SpecChanged != "" {
		t.Errorf("SpecChanged = %q", l.SpecChanged)
	}
}

func TestAbsent(t *testing.T) {
	app := verdict.App{Namespace: "argocd", Name: "web"}
	if d := cmp.Diff(verdict.Look{App: app, At: lookedAt, Absent: true}, argocd.Absent(app, lookedAt)); d != "" {
		t.Error(d)
	}
}

// Every object that a real Argo CD wrote is read, and none of the recordings
// has a spec that changed.
func TestRecordings(t *testing.T) {
	files, err := filepath.Glob("../../testdata/timelines/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		objects := 0
		for i, line := range bytes.Split(bytes.TrimSpace(raw), []byte("\n")) {
			var entry struct {
				Object json.RawMessage `json:"object"`
			}
			if err := json.Unmarshal(line, &entry); err != nil {
				t.Fatal(err)
			}
			if entry.Object == nil {
				continue
			}
			objects++
			app, err := argocd.Decode(entry.Object)
			if err != nil {
				t.Errorf("%s:%d: %v", name, i+1, err)
				continue
			}
			l := app.Look(lookedAt, false)
			if l.SpecChanged != "" {
				t.Errorf("%s:%d: spec changed: %s", name, i+1, l.SpecChanged)
			}
			if l.HasStatus && l.SyncStatus != "" && len(l.Compared) != len(l.Spec) {
				t.Errorf("%s:%d: %d sources compared, the spec has %d", name, i+1, len(l.Compared), len(l.Spec))
			}
		}
		if objects == 0 {
			t.Errorf("%s holds no object", name)
		}
	}
}
