package verdict_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// told is a judgement in words: what it says, then why not.
func told(j verdict.Judgement) string {
	var w []string
	flag := func(on bool, name string) {
		if on {
			w = append(w, name)
		}
	}
	flag(j.Gone, "gone")
	flag(j.Unwatchable, "unwatchable")
	flag(j.Stale, "stale")
	flag(j.Reached, "reached="+j.ReachedBy)
	flag(j.Seen == verdict.Yes, "seen")
	flag(j.Synced, "synced")
	flag(j.Healthy, "healthy")
	flag(j.InProgress, "running")
	flag(j.OpFailed, "failed")
	flag(j.OpError, "error")
	flag(j.Suspended, "suspended")
	flag(j.Determinate, "determinate")
	flag(j.Counts && !j.Determinate, "counts")
	flag(!j.Reason.IsZero(), "("+j.Reason.Code+")")
	return strings.Join(w, " ")
}

// The truth table: one look at second 60, what it says of NEW. Words change
// the Application of newWorld, in which OLD was deployed an hour ago.
func TestJudge(t *testing.T) {
	for _, tt := range []struct {
		rule, words string
		expect      string
		source      *verdict.Source // instead of apps/web on main
		change      func(*world)    // after the words
		want        string
	}{
		// Identity and staleness.
		{rule: "R1 chart", words: "chart", want: "unwatchable (chart-source)"},
		{rule: "R1 OCI", source: &verdict.Source{Kind: verdict.SourceOCI, RepoURL: "oci://r/x"}, want: "unwatchable (oci-source)"},
		{rule: "R1 a raw ref is no source type", words: "Unknown@raw error:ComparisonError", want: "counts (comparison-error)"},
		{rule: "R1 hydrator", change: func(w *world) { w.look.Hydrator = true }, want: "unwatchable (hydrator)"},
		{rule: "R2 another repository", source: &verdict.Source{RepoURL: "https://elsewhere.example.com/x.git", Path: "x", TargetRevision: "main"}, words: "Synced@bad", want: "unwatchable (other-repository)"},
		{rule: "R2 another address of this repository", source: &verdict.Source{RepoURL: "git@other.example.com:team/deploy.git", Path: "apps/web", TargetRevision: "main"}, words: "OutOfSync@new", want: "seen determinate (not-attempted)"},
		{rule: "R2 nothing known of an address yet", source: &verdict.Source{RepoURL: "https://elsewhere.example.com/x.git", Path: "x", TargetRevision: "main"}, change: func(w *world) {
			w.look.Operation, w.look.History = verdict.Operation{}, nil
		}, words: "Unknown@empty", want: "counts (no-revision)"},
		{rule: "row 5 follows a tag", words: "follow:v1.2.3", want: "unwatchable (follows-no-branch)"},
		{rule: "row 5 follows another branch", words: "follow:env/prod", want: "synced determinate (not-compared)"},
		{rule: "R3 a revision that nobody knows", words: "Synced@bad", want: "synced (unknown-revision)"},
		{rule: "R4 the spec changed", words: "Synced@new unsure", want: "(spec-changed)"},
		{rule: "R5 stale", words: "Synced@new", change: compared(-600), want: "stale (stale)"},
		{rule: "R5 old, not stale", words: "Synced@new", change: compared(60 - 540), want: "reached=synced seen synced healthy determinate"},
		{rule: "R5 without polling nothing grows stale", words: "Synced@new", change: func(w *world) { compared(-6000)(w); w.refresh = 0; w.look.Operation = verdict.Operation{} }, want: "reached=synced seen synced healthy determinate"},
		{rule: "R5 skip-reconcile", words: "Synced@new", change: func(w *world) { w.look.SkipReconcile = true }, want: "stale (stale)"},
		{rule: "R6 absent", words: "absent", want: "gone counts (app-not-found)"},
		{rule: "R6 deleting", words: "Synced@new deleting", want: "gone (app-deleted)"},

		// Operation.
		{rule: "R7 requested, row 1a", words: "OutOfSync@new", change: func(w *world) {
			w.look.Operation = verdict.Operation{Requested: true, Revisions: w.at(newCommit)}
		}, want: "seen running determinate (operation-requested)"},
		{rule: "R7 waits for a retry", words: "OutOfSync@new op:run@new op:retry", want: "reached=operation seen running failed determinate (operation-failed)"},
		{rule: "R8 orphaned, running", words: "OutOfSync@new op:run@new op:lost", change: func(w *world) { w.look.Operation.StartedAt = clock(60 - 121) }, want: "(orphaned)"},
		{rule: "R8 lost for less than 120 s", words: "OutOfSync@new op:run@new op:lost", change: func(w *world) { w.look.Operation.StartedAt = clock(60 - 119) }, want: "reached=operation seen running counts (operation-running)"},
		{rule: "R8 never finished", words: "OutOfSync@new op:run@new op:succeed", change: func(w *world) { w.look.Operation.FinishedAt = time.Time{} }, want: "(orphaned)"},
		{rule: "R9 leftovers only", words: "OutOfSync@new", change: resources(leftover), want: "reached=synced seen synced healthy determinate"},
		{rule: "R9 a difference beside", words: "OutOfSync@new", change: resources(leftover, drifted), want: "seen determinate (not-attempted)"},
		{rule: "R9 never when Unknown", words: "Unknown@new", change: resources(leftover), want: "counts (comparison-error)"},
		{rule: "R9 not when nothing is listed", words: "OutOfSync@new", want: "seen determinate (not-attempted)"},
		{rule: "row 19 wipe-out", words: "OutOfSync@new error:SyncError", change: resources(leftover), want: "seen synced determinate (sync-error)"},
		{rule: "R10 dry run", words: "OutOfSync@new op:dry@new op:succeed", want: "seen determinate (not-attempted)"},
		{rule: "R10 selective", words: "OutOfSync@new op:part@new op:succeed", want: "seen determinate (not-attempted)"},
		{rule: "R10 local", words: "OutOfSync@new op:run@new", change: func(w *world) { w.look.Operation.Local = true }, want: "seen running determinate (operation-requested)"},
		{rule: "R11 Failed though all is green", words: "Synced@new op:run@new op:fail", want: "reached=operation seen synced failed determinate (operation-failed)"},
		{rule: "R11 Error", words: "OutOfSync@new op:run@new op:error", want: "reached=operation seen error determinate (operation-error)"},
		{rule: "R11 Error and no comparison since", words: "OutOfSync@new op:run@new op:error error:ComparisonError", want: "reached=operation seen error determinate (operation-error)"},
		{rule: "R11 failed without NEW", words: "Synced@new op:run@old op:fail", want: "reached=synced seen synced healthy determinate"},
		{rule: "R12 syncResult counts", words: "OutOfSync@new op:run@old", want: "seen running determinate (operation-older)"},

		// Reached, 2.3.
		{rule: "R13 attempted", words: "OutOfSync@new op:run@new", want: "reached=operation seen running determinate (operation-running)"},
		{rule: "R13 attempted by a later commit", words: "OutOfSync@later op:run@later", want: "reached=operation seen running determinate (operation-running)"},
		{rule: "R13 by the history", words: "OutOfSync@new op:run@new op:succeed op:heal@new", want: "reached=history seen running determinate (operation-running)"},
		{rule: "R13 synced alone, row 4", words: "Synced@new", want: "reached=synced seen synced healthy determinate"},
		{rule: "row 7 rolled back", words: "op:run@old op:succeed OutOfSync@new manual", want: "seen determinate (auto-sync-off)"},
		{rule: "row 12 blocked by a window", words: "OutOfSync@new op:window@new", want: "seen running determinate (sync-window)"},
		{rule: "R14 compared only", words: "OutOfSync@new", want: "seen determinate (not-attempted)"},
		{rule: "R14 automated sync off", words: "OutOfSync@new manual", want: "seen determinate (auto-sync-off)"},
		{rule: "R14 rolling sync", words: "OutOfSync@new manual", change: func(w *world) { w.look.OwnedBySet = true }, want: "seen determinate (rolling-sync)"},
		{rule: "R14 unsigned", words: "OutOfSync@new error:ComparisonError", want: "seen counts (comparison-error)"},
		{rule: "R15 not polled", words: "Synced@old", want: "synced determinate (not-compared)"},
		{rule: "R15 row 21", words: "Unknown@old Unknown error:InvalidSpecError", want: "counts (invalid-spec)"},
		{rule: "R16 empty revision", words: "Unknown@empty error:ComparisonError", want: "counts (comparison-error)"},
		{rule: "R16 no status", change: func(w *world) { w.look.HasStatus = false }, want: "counts (no-status)"},

		// Healthy.
		{rule: "R19 healthy", words: "Synced@new op:run@new op:succeed", want: "reached=operation seen synced healthy determinate"},
		{rule: "R19 compared before the operation ended", words: "Synced@new op:run@new op:succeed", change: compared(59), want: "reached=operation seen synced counts (status-older-than-operation)"},
		{rule: "R19 compared in the same second", words: "Synced@new op:run@new op:succeed", change: compared(60), want: "reached=operation seen synced healthy determinate"},
		{rule: "R19 Progressing", words: "Synced@new op:run@new op:succeed Progressing", want: "reached=operation seen synced determinate (health=Progressing)"},
		{rule: "R19 Degraded", words: "Synced@new op:run@new op:succeed Degraded", want: "reached=operation seen synced determinate (health=Degraded)"},
		{rule: "R19 health Unknown tells nothing", words: "Synced@new op:run@new op:succeed Unknown", want: "reached=operation seen synced counts (health-unknown)"},
		{rule: "R19 an error condition", words: "Synced@new op:run@new op:succeed error:SyncError", want: "reached=operation seen synced determinate (condition)"},
		{rule: "R19 row 10, a hook runs", words: "Synced@new op:run@new", want: "reached=operation seen synced running determinate (operation-running)"},
		{rule: "R20 not inline: no key is no failure", words: "Synced@new", change: resources(sick), want: "reached=synced seen synced healthy determinate"},
		{rule: "R20 inline", words: "Synced@new", change: func(w *world) { resources(sick)(w); w.look.HealthInline = true }, want: "reached=synced seen synced determinate (resource)"},
		{rule: "R20 inline, a hook", words: "Synced@new", change: func(w *world) {
			hook := sick
			hook.Hook = true
			resources(hook)(w)
			w.look.HealthInline = true
		}, want: "reached=synced seen synced healthy determinate"},
		{rule: "R21 Suspended is not Healthy", words: "Synced@new Suspended", want: "reached=synced seen synced suspended determinate (health=Suspended)"},
		{rule: "R21 unless expected", words: "Synced@new Suspended", expect: verdict.Suspended, want: "reached=synced seen synced healthy determinate"},
		{rule: "R21 and then Healthy is, too", words: "Synced@new", expect: verdict.Suspended, want: "reached=synced seen synced healthy determinate"},
		{rule: "R22 a warning never blocks", words: "Synced@new error:SharedResourceWarning", want: "reached=synced seen synced healthy determinate"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			w, now := newWorld(), clock(60)
			w.look.ReconciledAt, w.silent = now, true
			if tt.source != nil {
				w.source, w.look.Spec = *tt.source, []verdict.Source{*tt.source}
				w.look.Operation, w.look.History = verdict.Operation{}, nil
			}
			w.say(now, tt.words)
			if tt.change != nil {
				tt.change(w)
			}
			q := watch()
			if tt.expect != "" {
				q.Expect = tt.expect
			}
			if got := told(verdict.Judge(q, *w.seen(now, true, newCommit))); got != tt.want {
				t.Errorf("%s\n got %s\nwant %s", tt.words, got, tt.want)
			}
		})
	}
}

var (
	leftover = verdict.Resource{ObjectID: verdict.ObjectID{Kind: "ConfigMap", Namespace: "web", Name: "old"}, Status: verdict.OutOfSync, RequiresPruning: true}
	drifted  = verdict.Resource{ObjectID: deployment, Status: verdict.OutOfSync}
	sick     = verdict.Resource{ObjectID: deployment, Status: verdict.Synced, Health: verdict.HealthDegraded}

	deployment = verdict.ObjectID{Group: "apps", Kind: "Deployment", Namespace: "web", Name: "web"}
)

func resources(rs ...verdict.Resource) func(*world) {
	return func(w *world) { w.look.Resources = rs }
}

func compared(second int) func(*world) {
	return func(w *world) { w.look.ReconciledAt = clock(second) }
}

// Several sources: those that the commit touches, each aligned with its own
// snapshot, and all of them must contain the commit (3.1, R2).
func TestJudgeSources(t *testing.T) {
	chart := verdict.Source{Kind: verdict.SourceChart, RepoURL: "https://charts.example.com", Chart: "x", TargetRevision: "15.7.1"}
	values := verdict.Source{RepoURL: repoURL, TargetRevision: "main", Ref: "values"}
	web, other := source(), source()
	other.Path = "apps/other"
	prod := source()
	prod.TargetRevision = "env/prod"
	rev := func(s verdict.Source, r string) verdict.Revision { return verdict.Revision{Source: s, Rev: r} }
	for _, tt := range []struct {
		what     string
		spec     []verdict.Source
		compared []verdict.Revision
		paths    []string
		want     string
	}{
		{"a chart and its values", []verdict.Source{chart, values}, []verdict.Revision{rev(chart, "15.7.1"), rev(values, newCommit)}, nil, "reached=synced seen synced healthy determinate"},
		{"in another order", []verdict.Source{chart, values}, []verdict.Revision{rev(values, newCommit), rev(chart, "15.7.1")}, nil, "reached=synced seen synced healthy determinate"},
		{"only the touched one counts", []verdict.Source{web, other}, []verdict.Revision{rev(web, newCommit), rev(other, oldCommit)}, nil, "reached=synced seen synced healthy determinate"},
		{"both are touched, one is behind", []verdict.Source{web, other}, []verdict.Revision{rev(web, newCommit), rev(other, oldCommit)}, []string{"apps/web/a", "apps/other/b"}, "synced determinate (not-compared)"},
		{"none is touched: both count", []verdict.Source{web, other}, []verdict.Revision{rev(web, newCommit), rev(other, oldCommit)}, []string{"README"}, "synced determinate (not-compared)"},
		{"of two branches, the one with the commit", []verdict.Source{prod, web}, []verdict.Revision{rev(prod, sideCommit), rev(web, newCommit)}, nil, "reached=synced seen synced healthy determinate"},
		{"charts only", []verdict.Source{chart, chart}, []verdict.Revision{rev(chart, "1"), rev(chart, "1")}, nil, "unwatchable (chart-source)"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			w := newWorld()
			w.look.Spec, w.look.Compared = tt.spec, tt.compared
			w.look.Operation, w.look.History = verdict.Operation{}, nil
			o := w.seen(clock(60), true, newCommit)
			if tt.paths != nil {
				o.Git.Paths = tt.paths
			}
			if got := told(verdict.Judge(watch(), *o)); got != tt.want {
				t.Errorf("got %s\nwant %s", got, tt.want)
			}
		})
	}
}

// A source counts as touched by its path, by manifest-generate-paths (R17), and
// always when it has no path of its own.
func TestTouches(t *testing.T) {
	with := func(path string, generate ...string) []verdict.Source {
		return []verdict.Source{{RepoURL: repoURL, Path: path, GeneratePaths: generate}}
	}
	for _, tt := range []struct {
		what    string
		sources []verdict.Source
		path    string
		want    bool
	}{
		{"inside", with("apps/web"), "apps/web/deployment.yaml", true},
		{"a name that begins alike", with("apps/web"), "apps/web2/deployment.yaml", false},
		{"dots and slashes", with("./apps/web/"), "apps/web/x", true},
		{"the whole repository", with("."), "anything", true},
		{"no path: a ref", with(""), "anything", true},
		{"elsewhere", with("apps/web"), "lib/x", false},
		{"generate paths", with("apps/web", "/lib"), "lib/x", true},
		{"generate paths, another", with("apps/web", "/lib"), "libs/x", false},
		{"a glob counts by its directory", with("apps/web", "/charts/*/values.yaml"), "charts/a/other.yaml", true},
		{"a glob in the first segment", with("apps/web", "/*.yaml"), "x", true},
	} {
		if got := verdict.Touches(tt.sources, []string{tt.path}); got != tt.want {
			t.Errorf("%s: Touches(%q) = %v", tt.what, tt.path, got)
		}
	}
	if verdict.Touches(with(""), nil) {
		t.Error("a commit without a path touches nothing")
	}
}

// Which revisions Git is asked about: ids only, each once (R3).
func TestRevisions(t *testing.T) {
	w := newWorld()
	w.say(start, "Synced@new op:run@new")
	if got := w.look.Revisions(); !slices.Equal(got, []string{newCommit, oldCommit}) {
		t.Errorf("Revisions() = %v", got)
	}
	for _, r := range []string{"main", "", "v1.2.3", "sha256:" + strings.Repeat("0", 64), "abcdef", "--upload-pack=x", strings.Repeat("a", 65)} {
		w.look.Compared, w.look.Operation, w.look.History = w.at(r), verdict.Operation{}, nil
		if got := w.look.Revisions(); len(got) != 0 {
			t.Errorf("%q is a question for Git: %v", r, got)
		}
	}
	w.look.Compared = w.at("ABCDEF0")
	if got := w.look.Revisions(); len(got) != 1 {
		t.Errorf("a short id is no question: %v", got)
	}
}

func TestParseApp(t *testing.T) {
	for in, want := range map[string]verdict.App{"web": {Name: "web"}, "argocd/web": {Namespace: "argocd", Name: "web"}} {
		got, err := verdict.ParseApp(in)
		if err != nil || got != want || got.String() != in {
			t.Errorf("ParseApp(%q) = %v, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "/web", "argocd/", "a/b/c"} {
		if got, err := verdict.ParseApp(in); err == nil {
			t.Errorf("ParseApp(%q) = %v", in, got)
		}
	}
	web := verdict.App{Name: "web"}
	for _, tt := range []struct {
		a, b verdict.App
		want bool
	}{
		{web, verdict.App{Namespace: "argocd", Name: "web"}, true},
		{verdict.App{Namespace: "x", Name: "web"}, verdict.App{Namespace: "argocd", Name: "web"}, false},
		{web, verdict.App{Name: "web2"}, false},
	} {
		if got := tt.a.Matches(tt.b); got != tt.want {
			t.Errorf("%v matches %v: %v", tt.a, tt.b, got)
		}
	}
}
