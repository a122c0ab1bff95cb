package main

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/exit"
)

// What cannot be judged is an error that names the place.
func TestReplayErrors(t *testing.T) {
	for _, tt := range []struct {
		what  string
		edit  func(*recording)
		flags []string
		want  string
	}{
		{"another version of the format", func(r *recording) { r.header["timeline"] = 2 }, nil, "edited.jsonl:1: timeline format 2 is not known"},
		{"a commit that is not there", func(*recording) {}, []string{"--commit", strings.Repeat("0", 40)}, "not in the repository: \"" + strings.Repeat("0", 40) + "\""},
		{"nobody pushed it", func(r *recording) {
			r.entries = slices.DeleteFunc(r.entries, func(e map[string]any) bool { return e["type"] == "NOTE" })
		}, nil, "no note"},
		{"time that goes backwards", func(r *recording) { r.entries[3]["at"] = "2020-01-01T00:00:00Z" }, nil, "edited.jsonl:5: "},
		{"an unknown type", func(r *recording) { r.entries[0]["type"] = "OTHER" }, nil, `edited.jsonl:2: type "OTHER" is not known`},
		{"a broken Application", func(r *recording) { put(r.entries[1], 7.0, "object", "spec", "source") }, nil, "edited.jsonl:3: "},
		{"fields that are none", func(*recording) {}, []string{"--watch", "app=bad-image color=red"}, "color"},
		{"a repository that is not there", func(*recording) {}, []string{"--repo", "nowhere.bundle"}, "nowhere.bundle"},
		{"a reconciliation that is no duration", func(r *recording) { r.header["reconciliation"] = "soon" }, nil, "edited.jsonl:1: "},
	} {
		t.Run(tt.what, func(t *testing.T) {
			r := record(t, "bad-image")
			tt.edit(r)
			got, err := r.replay(t, tt.flags...)
			if err == nil {
				t.Fatalf("it is judged: %s", got.Headline)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %q, want %q in it", err, tt.want)
			}
			if code := exit.Code(err); len(tt.flags) > 0 && code != exit.Usage {
				t.Errorf("exit code %d for a flag that must be mended, want %d", code, exit.Usage)
			}
		})
	}
}

// What a recording would say had one thing been otherwise: the verdict, the
// reason's code, whether it would be taken back, and the gates that hold.
func TestReplayVariants(t *testing.T) {
	const long = "deadline=300 reach=40 stable=15 mode=arm expect=Healthy"
	for _, tt := range []struct {
		what, recording string
		edit            func(*testing.T, *recording)
		flags           []string
		want            string // verdict, reason's code, "revert" and gates that hold
	}{
		{what: "as it is", recording: "bad-image", want: "FAIL deadline revert"},
		{what: "R27: Degraded before", recording: "bad-image", edit: func(_ *testing.T, r *recording) {
			r.objects(func(app map[string]any) {
				if at(app, "status", "sync", "revision") != r.commit() {
					put(app, "Degraded", "status", "health", "status")
				}
			})
		}, want: "FAIL deadline baseline attribution"},
		{what: "prune is on", recording: "bad-image", edit: func(_ *testing.T, r *recording) {
			r.objects(func(app map[string]any) { put(app, true, "spec", "syncPolicy", "automated", "prune") })
		}, want: "FAIL deadline eligible"},
		{what: "prune is on though automated sync is not", recording: "bad-image", edit: func(_ *testing.T, r *recording) {
			r.objects(func(app map[string]any) {
				put(app, map[string]any{"prune": true, "enabled": false}, "spec", "syncPolicy", "automated")
			})
		}, want: "FAIL deadline eligible deployable"},
		{what: "automated sync is off", recording: "bad-image", edit: func(_ *testing.T, r *recording) {
			r.objects(func(app map[string]any) { put(app, map[string]any{}, "spec", "syncPolicy") })
		}, want: "FAIL deadline eligible deployable"},
		{what: "mode=shadow", recording: "bad-image", flags: []string{"--watch", "app=bad-image deadline=40 reach=40 stable=15 mode=shadow"}, want: "FAIL deadline mode"},
		{what: "an app set", recording: "bad-image", flags: []string{"--watch", "appset=bad-image mode=arm"}, want: "INCONCLUSIVE not-supported-yet"},
		{what: "a probe", recording: "bad-image", flags: []string{"--watch", "app=bad-image expect=probe:smoke"}, want: "INCONCLUSIVE not-supported-yet"},
		{what: "another app", recording: "bad-image", flags: []string{"--watch", "app=elsewhere deadline=40 reach=40 stable=15"}, want: "NOT_REACHED app-not-found"},
		{what: "in another namespace", recording: "bad-image", flags: []string{"--watch", "app=other/bad-image deadline=40 reach=40 stable=15"}, want: "NOT_REACHED app-not-found"},
		{what: "R26: it ends before the deadline", recording: "bad-image", edit: func(t *testing.T, r *recording) {
			r.header["end"] = later(t, r, 30*time.Second)
		}, want: "WAITING health=Degraded"},
		{what: "R31: it ends before the revert is applied", recording: "bad-image", edit: func(t *testing.T, r *recording) {
			r.header["end"] = later(t, r, 60*time.Second)
		}, want: "FAIL deadline revert"},
		{what: "reverted by somebody before the deadline", recording: "bad-image", flags: []string{"--watch", "app=bad-image " + long}, want: "SUPERSEDED reverted-by"},
		{what: "a force-push before the deadline", recording: "bad-image", flags: []string{"--watch", "app=bad-image " + long}, edit: func(t *testing.T, r *recording) {
			r.clone(t)
			first := gitIn(t, r.repo, "", "rev-parse", r.commit()+"^")
			r.replace(t, r.header["revert"].(string), r.add(t, first, first, "app/other.yaml", "rewritten\n"))
			delete(r.header, "revert")
		}, want: "SUPERSEDED branch-rewritten"},
		{what: "R6: deleted", recording: "bad-image", edit: func(t *testing.T, r *recording) {
			last := maps.Clone(r.entries[len(r.entries)-1])
			r.cut(func(e map[string]any) bool { return e["at"].(string) > later(t, r, 20*time.Second) })
			last["type"], last["at"] = "DELETED", later(t, r, 21*time.Second)
			r.entries = append(r.entries, last)
			delete(r.header, "revert")
		}, want: "INCONCLUSIVE app-deleted"},
		{what: "R6: another of its name", recording: "bad-image", edit: func(t *testing.T, r *recording) {
			for _, e := range r.entries {
				if app, ok := e["object"].(map[string]any); ok && e["at"].(string) > later(t, r, 20*time.Second) {
					put(app, "another", "metadata", "uid")
				}
			}
		}, want: "INCONCLUSIVE app-replaced"},
		{what: "a second suspect", recording: "bad-image", edit: func(t *testing.T, r *recording) {
			r.clone(t)
			watched := r.commit()
			r.replace(t, watched, r.add(t, watched, watched, "app/other.yaml", "another change\n"))
			r.header["commit"] = watched
			delete(r.header, "revert")
		}, want: "FAIL deadline attribution"},
		{what: "a later commit elsewhere is a suspect, too: nobody else's path", recording: "bad-image", edit: func(t *testing.T, r *recording) {
			r.clone(t)
			watched := r.commit()
			r.replace(t, watched, r.add(t, watched, watched, "README", "docs\n"))
			r.header["commit"] = watched
			delete(r.header, "revert")
		}, want: "FAIL deadline attribution"},
		{what: "a second app that is not armed", recording: "bad-image", edit: func(t *testing.T, r *recording) {
			another(t, r, "web: new release\n\nNav-Watchdog: app=bad-image mode=arm\nNav-Watchdog: app=api\n")
		}, want: "FAIL deadline siblings"},
		{what: "the commit is itself a revert", recording: "bad-image", edit: func(t *testing.T, r *recording) {
			first := "9379d9491e5a44ae77d2a1a26205f52e50cdd062"
			another(t, r, "Revert \"x\"\n\nThis reverts commit "+first+".\n")
		}, want: "FAIL deadline lineage"},
		{what: "a policy for another app", recording: "bad-image", flags: []string{"--policy", policyOf(t, "version: 1\narm: {allow: [{apps: [api], by: [\"*\"]}]}\n")}, want: "FAIL deadline eligible"},
		{what: "a policy that allows it", recording: "bad-image", flags: []string{"--policy", policyOf(t, "version: 1\narm: {allow: [{apps: [bad-*], by: [\"*\"]}]}\n")}, want: "FAIL deadline revert"},
		{what: "a policy that allows somebody: a recording does not tell who pushed", recording: "bad-image", flags: []string{"--policy", policyOf(t, "version: 1\narm: {allow: [{apps: [bad-*], by: [alice]}]}\n")}, want: "FAIL deadline revert"},
		{what: "a path that is never armed", recording: "bad-image", flags: []string{"--policy", policyOf(t, "version: 1\narm: {allow: [{apps: [bad-*], by: [\"*\"]}], never-paths: [\"app/**\"]}\n")}, want: "FAIL deadline eligible"},
		{what: "a root commit", recording: "bad-image", flags: []string{"--commit", "9379d9491e5a44ae77d2a1a26205f52e50cdd062"}, want: "FAIL deadline baseline attribution exact"},

		{what: "as it is", recording: "sync-failed", want: "FAIL deadline revert"},
		{what: "R30: retried without limit", recording: "sync-failed", edit: func(t *testing.T, r *recording) {
			r.cut(func(e map[string]any) bool {
				app, _ := e["object"].(map[string]any)
				return at(app, "status", "operationState", "phase") == "Failed"
			})
			r.objects(func(app map[string]any) {
				if app["operation"] != nil {
					put(app, -1.0, "operation", "retry", "limit")
				}
				if at(app, "status", "operationState") != nil {
					put(app, -1.0, "status", "operationState", "operation", "retry", "limit")
				}
			})
			kept(t, r)
		}, want: "FAIL deadline deployable"},
		{what: "R30: a limited number of retries", recording: "sync-failed", edit: func(t *testing.T, r *recording) {
			r.cut(func(e map[string]any) bool {
				app, _ := e["object"].(map[string]any)
				return at(app, "status", "operationState", "phase") == "Failed"
			})
			kept(t, r)
		}, want: "FAIL deadline revert"},
		{what: "R11: phase Error", recording: "sync-failed", edit: func(_ *testing.T, r *recording) {
			r.objects(func(app map[string]any) {
				if at(app, "status", "operationState", "phase") == "Failed" {
					put(app, "Error", "status", "operationState", "phase")
				}
			})
		}, want: "INCONCLUSIVE operation-error"},

		{what: "watched from the first commit on", recording: "good-rollout", flags: []string{"--commit", "3411fd3057a41ba61d53095ed49aa69e279692a2"}, want: "CONFIRMED stable"},
		{what: "the app follows another branch", recording: "good-rollout", edit: func(t *testing.T, r *recording) {
			r.clone(t)
			first := gitIn(t, r.repo, "", "rev-parse", r.commit()+"^")
			gitIn(t, r.repo, "", "update-ref", "refs/heads/prod", first)
			follow(r, "prod", r.commit(), first)
			r.header["end"] = later(t, r, time.Minute)
		}, want: "NOT_REACHED not-on-prod"},
		{what: "the app follows a tag", recording: "good-rollout", edit: func(_ *testing.T, r *recording) {
			follow(r, "v1.0.0", "", "")
		}, want: "ERROR_UNWATCHABLE follows-no-branch"},
		{what: "4.3: an app of apps", recording: "good-rollout", edit: func(_ *testing.T, r *recording) {
			r.objects(func(app map[string]any) {
				if app["status"] != nil {
					put(app, true, "status", "summary", "isAppOfApps")
				}
			})
		}, want: "INCONCLUSIVE children-not-assessed"},
		{what: "R5: a controller that died", recording: "good-rollout", flags: []string{"--watch", "app=good-rollout deadline=40 reach=40 stable=60"}, edit: func(t *testing.T, r *recording) {
			r.header["end"] = later(t, r, time.Hour)
			r.cut(func(e map[string]any) bool { return e["at"].(string) > later(t, r, 3*time.Second) })
		}, want: "WAITING stale"},
	} {
		t.Run(tt.recording+" "+tt.what, func(t *testing.T) {
			r := record(t, tt.recording)
			if tt.edit != nil {
				tt.edit(t, r)
			}
			got, err := r.replay(t, tt.flags...)
			if err != nil {
				t.Fatal(err)
			}
			if said := summed(got); said != tt.want {
				t.Errorf("got %s (%s), want %s\n%+v", said, got.Reason, tt.want, got.Events)
			}
		})
	}
}

// summed is a result in a line: verdict, code of the reason, revert, holds.
func summed(r replayJSON) string {
	code, _, _ := strings.Cut(r.Reason, " ")
	words := []string{r.Verdict, code}
	if r.WouldRevert {
		words = append(words, "revert")
	}
	for _, name := range []string{
		"mode", "dry-run", "reached", "fresh", "eligible", "baseline", "attribution", "related", "siblings", "storm",
		"circuit", "progressing", "exact", "deployable", "lineage",
	} {
		if r.Gates[name].Result == "hold" {
			words = append(words, name)
		}
	}
	return strings.Join(words, " ")
}
