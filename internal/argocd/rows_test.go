package argocd_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// refresh is Argo CD's default: timeout.reconciliation and its jitter.
const refresh = 180 * time.Second

// answersFor is what Git says of the fixtures' commits: NEW is on main, contains
// OLD and changed apps/web. 40 x d is a tag of NEW, or what a hydrator made.
func answersFor(name string) verdict.Answers {
	in := func(c string, yes bool) verdict.Rev {
		return verdict.Rev{Looked: true, Commit: c, Contains: verdict.TriOf(yes)}
	}
	side, other := strings.Repeat("c", 40), strings.Repeat("d", 40)
	a := verdict.Answers{
		Commit: newCommit, Names: []string{"https://git.example.com/team/deploy.git"},
		Paths: []string{"apps/web/deployment.yaml"}, Default: "main",
		Branches: map[string]verdict.Tri{"main": verdict.Yes, "staging": verdict.No, "release": verdict.No, "env/prod": verdict.No},
		Revs: map[string]verdict.Rev{
			oldCommit: in(oldCommit, false), newCommit: in(newCommit, true), newCommit[:7]: in(newCommit, true), side: in(side, false),
			other: in(newCommit, true),
		},
	}
	if strings.HasPrefix(name, "row04") {
		a.Paths = []string{"docs/README.md"}
	}
	return a
}

// Each fixture, the rule or row of the table of situations that it shows, and
// what one look at it says of NEW: reached (and by what) or only seen, healthy,
// whether it says anything for or against the commit, and why not.
func TestRows(t *testing.T) {
	rows := []struct{ fixture, cites, want string }{
		{"row01a-requested", "row 1a, R7", "determinate (operation-requested)"},
		{"row01b-compared", "row 1b, R14", "seen determinate (operation-requested)"},
		{"row01c-running-no-result", "row 1c, 2.3", "reached=operation determinate (operation-running)"},
		{"row01c-running", "row 1c, R13", "reached=operation determinate (operation-running)"},
		{"row01d-synced-while-running", "row 1d, R7", "reached=operation determinate (operation-running)"},
		{"row01e-succeeded-not-compared", "row 1e, R19", "reached=operation (status-older-than-operation)"},
		{"row01f-progressing", "row 1f, R13", "reached=operation determinate (health=Progressing)"},
		{"row01g-healthy", "row 1g, R19, R20", "reached=operation healthy determinate"},
		{"row02-render-error-3.1", "row 2, R16", "(comparison-error)"},
		{"row02-render-error-3.2", "row 2, R1, R15", "(comparison-error)"},
		{"row02-render-error-multi-source", "row 2, R16", "(comparison-error)"},
		{"row02-render-error-manual-sync", "row 2, R11", "reached=operation determinate error (operation-error)"},
		{"row03-sync-failed", "row 3, R11", "reached=operation determinate failed (operation-failed)"},
		{"row03-sync-error", "row 3, R11", "reached=operation determinate error (operation-error)"},
		{"row04-nothing-to-deploy", "row 4, R13", "reached=synced healthy determinate"},
		{"row04b-generate-paths-not-refreshed", "row 4b, R17", "determinate (not-compared)"},
		{"row04b-generate-paths-rekeyed", "row 4b, R17", "reached=synced healthy determinate"},
		{"row05-other-branch", "row 5", "determinate (not-compared)"},
		{"row05-pinned-commit", "row 5", "unwatchable (follows-no-branch)"},
		{"row05-short-commit", "row 5, R3", "unwatchable (follows-no-branch)"},
		{"row05-annotated-tag", "row 5, R3", "unwatchable (follows-no-branch)"},
		{"row06-semver-range", "row 6", "unwatchable (follows-no-branch)"},
		{"row07-rolling-back", "row 7, R29", "reached=history determinate (operation-running)"},
		{"row07-rolled-back", "row 7, R29", "seen determinate (auto-sync-off)"},
		{"row08-selective-sync", "row 8, R10", "seen determinate (not-attempted)"},
		{"row09-presync-hook-running", "row 9, R13", "reached=operation determinate (operation-running)"},
		{"row10-postsync-hook-running", "row 10, R19", "reached=operation determinate (operation-running)"},
		{"row10-postsync-hook-failed", "row 10, R11", "reached=operation determinate failed (operation-failed)"},
		{"row11-wave-waiting", "row 11, R7", "reached=operation determinate (operation-running)"},
		{"row11-wave-degraded", "row 11, R11", "reached=operation determinate failed (operation-failed)"},
		{"row11-last-wave-degraded", "row 11, R19", "reached=operation determinate (health=Degraded)"},
		{"row12-sync-window", "row 12, R14", "seen determinate (not-attempted)"},
		{"row12-sync-window-blocks-operation", "row 12, R14", "seen determinate (sync-window)"},
		{"row13-auto-sync-off", "row 13, R14", "seen determinate (auto-sync-off)"},
		{"row13-auto-sync-disabled", "row 13, R14", "seen determinate (auto-sync-off)"},
		{"row14-retry-waiting", "row 14, R7", "reached=operation determinate failed (operation-failed)"},
		{"row14-retry-running", "row 14, R7", "reached=operation determinate failed (operation-failed)"},
		{"row14-retry-refresh", "row 14, R13", "reached=operation determinate failed (operation-failed)"},
		{"row15-self-heal-running", "row 15, R10", "reached=history determinate (operation-running)"},
		{"row15-self-healed", "row 15, R23", "reached=history healthy determinate"},
		{"row16-suspended", "row 16, R21", "reached=operation determinate (health=Suspended)"},
		{"row16-skip-reconcile", "row 16, R5", "(stale)"},
		{"row17-rolling-sync-waiting", "row 17, R14", "seen determinate (rolling-sync)"},
		{"row17-rolling-sync-syncing", "row 17, R16", "seen determinate (operation-requested)"},
		{"row18-prune-only", "row 18, R9", "reached=operation healthy determinate"},
		{"row18-prune-and-drift", "row 18, R9", "seen determinate (not-attempted)"},
		{"row19-wipe-out", "row 19, R14", "seen determinate (sync-error)"},
		{"row20-unsigned", "row 20, R14", "seen (comparison-error)"},
		{"row20-unsigned-operation", "row 20, R11", "reached=operation determinate error (operation-error)"},
		{"row21-project-missing", "row 21, R15", "(invalid-spec)"},
		{"row22-status-too-big", "row 22, R5", "(stale)"},

		{"r01-chart", "R1", "unwatchable (chart-source)"},
		{"r01-helm-oci", "R1", "unwatchable (chart-source)"},
		{"r01-oci", "R1", "unwatchable (oci-source)"},
		{"multi-source-chart-and-values", "R2, 3.1", "reached=operation healthy determinate"},
		{"r04-spec-changed", "R4", "(spec-changed)"},
		{"r06-deleting", "R6", "gone (app-deleted)"},
		{"r08-orphaned-running", "R8", "(orphaned)"},
		{"r08-completed-without-finish", "R8", "(orphaned)"},
		{"r10-dry-run", "R10", "seen determinate (not-attempted)"},
		{"r10-local-sync", "R10, R16", "(no-revision)"},
		{"r16-no-status", "R16", "(no-status)"},
		{"r16-empty-status", "R16", "(no-status)"},
		{"r18-hydrated", "R18", "unwatchable (hydrator)"},
		{"r19-stale-after-success", "R19", "reached=operation (status-older-than-operation)"},
		{"r20-inline-health", "R20", "reached=operation determinate (health=Degraded)"},
		{"r22-warning", "R22", "reached=operation healthy determinate"},
		{"r34-drift", "R34", "reached=operation determinate (out-of-sync)"},
		{"app-of-apps", "4.3", "reached=operation healthy determinate"}, // that it has children, the step says

		{"bug07680-revision-went-back", "R29, argo-cd#7680", "reached=operation determinate (not-compared)"},
		{"bug11494-old-operation-blocks", "R14, argo-cd#11494", "seen determinate (operation-older)"},
		{"bug22665-no-transition-time", "R24, argo-cd#22665", "reached=operation healthy determinate"},
		{"bug24408-all-prunable", "R9, argo-cd#24408", "reached=operation healthy determinate"},
		{"bug26530-retry-applied-old", "R12, argo-cd#26530", "seen determinate (not-attempted)"},
		{"bug27875-landed-during-sync", "R14, argo-cd#27875", "seen determinate (not-attempted)"},
		{"bug27875-partial-sync", "R13, argo-cd#27875", "reached=synced healthy determinate"},
		{"bug29716-downgraded-itself", "R29, argo-cd#29716", "seen determinate (not-attempted)"},
		{"updater-default-method", "6.1", "reached=operation healthy determinate"},
		{"updater-git-method", "6.1", "reached=operation healthy determinate"},
	}
	apps := fixtures(t)
	for _, tt := range rows {
		t.Run(tt.fixture, func(t *testing.T) {
			app := apps[tt.fixture]
			if app == nil {
				t.Fatal("there is no such fixture")
			}
			delete(apps, tt.fixture)
			j := verdict.Judge(watchOf(tt.fixture), look(app, tt.fixture))
			if got := judged(j); got != tt.want {
				t.Errorf("%s: got %s, want %s (%s)", tt.cites, got, tt.want, j.Reason)
			}
		})
	}
	for name := range apps {
		t.Errorf("%s is in no row", name)
	}
}

func watchOf(name string) verdict.Watch {
	return verdict.Watch{
		Commit: newCommit, App: verdict.App{Name: name}, Expect: verdict.Healthy, Mode: verdict.Arm, Queued: lookedAt.Add(-time.Hour),
		Deadline: 15 * time.Minute, Reach: 15 * time.Minute, Stable: 2 * time.Minute,
	}
}

func look(app *argocd.Application, name string) verdict.Observation {
	return verdict.Observation{Look: app.Look(lookedAt, true), Git: answersFor(name), Refresh: refresh}
}

// What a watch makes of a row depends on what it saw before: a person or Argo CD
// itself goes backwards (R29), an app of apps says nothing of its children
// (4.3), and none of these is ever a FAIL.
func TestRowsAfterReached(t *testing.T) {
	for _, tt := range []struct{ fixture, cites, want string }{
		{"row07-rolled-back", "row 7, R29", "INCONCLUSIVE rolled-back"},
		{"bug29716-downgraded-itself", "R29, argo-cd#29716", "INCONCLUSIVE rolled-back"},
		{"bug07680-revision-went-back", "R29, argo-cd#7680", "INCONCLUSIVE rolled-back"},
		{"row02-render-error-3.1", "R16: no rollback", "WAITING comparison-error"},
		{"row02-render-error-3.2", "R16: no rollback", "WAITING comparison-error"},
		{"row21-project-missing", "R29: Unknown is no rollback", "WAITING invalid-spec"},
		{"row15-self-healed", "row 15: no rollback", "WAITING stabilizing"},
		{"row03-sync-error", "R11", "INCONCLUSIVE operation-error"},
		{"row02-render-error-manual-sync", "R11", "INCONCLUSIVE operation-error"},
		{"row20-unsigned-operation", "R11", "INCONCLUSIVE operation-error"},
		{"row16-suspended", "R21", "INCONCLUSIVE suspended"},
		{"r34-drift", "R34", "INCONCLUSIVE drift"},
		{"row15-self-heal-running", "R34", "INCONCLUSIVE drift"},
		{"r06-deleting", "R6", "INCONCLUSIVE app-deleted"},
		{"r08-orphaned-running", "R8", "WAITING orphaned"},
		{"r08-completed-without-finish", "R8", "WAITING orphaned"},
		{"r19-stale-after-success", "R19", "WAITING status-older-than-operation"},
		{"row22-status-too-big", "R5", "WAITING stale"},
		{"row16-skip-reconcile", "R5", "WAITING stale"},
		{"row03-sync-failed", "R11", "FAIL deadline operation-failed"},
		{"row10-postsync-hook-failed", "row 10, R11", "FAIL deadline operation-failed"},
		{"row11-wave-degraded", "row 11, R11", "FAIL deadline operation-failed"},
		{"row11-last-wave-degraded", "row 11, R19", "FAIL deadline health=Degraded"},
		{"row11-wave-waiting", "row 11, R7", "FAIL deadline operation-running"},
		{"row01f-progressing", "row 1f: the contract counts", "FAIL deadline health=Progressing"},
	} {
		t.Run(tt.fixture, func(t *testing.T) {
			o := look(fixtures(t)[tt.fixture], tt.fixture)
			// Everything before is in the past; what is in the look is newer.
			s := verdict.New(watchOf(tt.fixture), "test")
			s.UID, s.Branch = o.Look.UID, "main"
			s.Track = verdict.Track{
				OnBranch: lookedAt.Add(-time.Hour), Seen: true, ReachedAt: lookedAt.Add(-30 * time.Minute), ReachedBy: "operation", Revision: newCommit,
				ReachedOp: lookedAt.Add(-30 * time.Minute), ReachedHist: 6, Deployed: true, DeadlineUsed: s.Watch.Deadline, SyncedAt: newCommit,
			}
			if strings.HasPrefix(tt.want, "FAIL") { // one that was synced and is not would be drift
				s.Track.SyncedAt = ""
			}
			in := verdict.Input{Now: lookedAt, Poll: 10 * time.Second, Seen: &o}
			after, next := verdict.Step(s, in)
			if next.Conclude {
				after = verdict.CloseHeld(after, lookedAt)
			}
			if got := string(after.Verdict) + " " + after.Reason.String(); !strings.HasPrefix(got, tt.want) {
				t.Errorf("%s: got %s, want %s", tt.cites, got, tt.want)
			}
			if rolledBack := after.Reason.Code == "rolled-back"; rolledBack != !after.Frozen.IsZero() {
				t.Errorf("%s: reverts are frozen: %v", tt.cites, after.Frozen)
			}
		})
	}
}

// judged is a judgement in words.
func judged(j verdict.Judgement) string {
	var w []string
	flag := func(on bool, name string) {
		if on {
			w = append(w, name)
		}
	}
	flag(j.Gone, "gone")
	flag(j.Unwatchable, "unwatchable")
	flag(j.Reached, "reached="+j.ReachedBy)
	flag(!j.Reached && j.Seen == verdict.Yes, "seen")
	flag(j.Healthy, "healthy")
	flag(j.Determinate, "determinate")
	flag(j.OpFailed, "failed")
	flag(j.OpError, "error")
	flag(!j.Reason.IsZero(), "("+j.Reason.Code+")")
	return strings.Join(w, " ")
}
