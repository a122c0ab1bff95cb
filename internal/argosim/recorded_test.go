package argosim_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nav-watchdog/nav-watchdog/internal/argosim"
)

// recording is a timeline that a watch on a real Argo CD delivered.
func recording(t *testing.T, name string) [][]byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "timelines", name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var out [][]byte
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct {
			Object json.RawMessage
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		if line.Object != nil {
			out = append(out, line.Object)
		}
	}
	if err := lines.Err(); err != nil || len(out) == 0 {
		t.Fatalf("reading %s: %d objects, %v", name, len(out), err)
	}
	return out
}

// story is the sequence of tuples (operation, phase, syncResult, finishedAt,
// retries, sync.status, revision, health, length of history) with commits
// numbered as they appear, and repetitions left out.
func story(t *testing.T, objects [][]byte) []string {
	t.Helper()
	var out []string
	numbers := map[string]string{}
	for _, object := range objects {
		st, err := argosim.ReadState(object)
		if err != nil {
			t.Fatal(err)
		}
		var revisions []string
		for _, r := range st.Revisions {
			revisions = append(revisions, numbered(numbers, r))
		}
		op := "-"
		if st.Requested {
			op = "op"
		}
		line := fmt.Sprintf("%-2s %s result=%t finished=%t retry=%d | %s %s %s history=%d",
			op, orDash(st.Phase), st.HasResult, st.Finished, st.Retries, orDash(st.Sync), orDash(strings.Join(revisions, ",")), orDash(st.Health), st.History)
		if len(out) == 0 || out[len(out)-1] != line {
			out = append(out, line)
		}
	}
	return out
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func numbered(numbers map[string]string, revision string) string {
	if len(revision) != 40 {
		return revision
	}
	if numbers[revision] == "" {
		numbers[revision] = fmt.Sprintf("c%d", len(numbers)+1)
	}
	return numbers[revision]
}

// The three ways in which the two loops were recorded to race; see Delays.
func statusFirst() argosim.Delays  { return argosim.Delays{} }
func runningFirst() argosim.Delays { return argosim.Delays{Pickup: 10 * time.Millisecond} }

// staleCache: the refresh after the operation runs before the live cache has
// what was applied, and self-heal does it again.
func staleCache() argosim.Delays {
	return argosim.Delays{Lag: 300 * time.Millisecond, Settle: 200 * time.Millisecond, Pickup: 150 * time.Millisecond}
}

func TestRecorded(t *testing.T) {
	for _, tc := range []struct {
		name  string
		spec  func(*argosim.AppSpec)
		opts  argosim.Options
		begin argosim.Delays // latencies of the first sync
		then  func(*scene)   // just before the second commit is pushed
		later func(*scene)   // before the third
	}{
		{
			name: "good-rollout", opts: argosim.Options{Rollout: 400 * time.Millisecond},
			then: func(sc *scene) { sc.SetDelays(staleCache()) },
		},
		{
			name:  "bad-image",
			then:  func(sc *scene) { sc.SetDelays(runningFirst()) },
			later: func(sc *scene) { sc.SetDelays(statusFirst()) },
		},
		{name: "sync-failed", spec: func(a *argosim.AppSpec) {
			a.Retry = &argosim.Retry{Limit: 2, Backoff: &argosim.Backoff{Duration: "5s", Factor: 2, MaxDuration: "1m"}}
		}},
		{name: "render-error"},
		{
			name: "deny-window", spec: func(a *argosim.AppSpec) { a.Project = "frozen" },
			then: func(sc *scene) { sc.must(sc.Window("deny-window", true)) },
		},
		{name: "nothing-to-deploy"},
		{name: "prune-only-leftover"},
		{name: "multi-source", spec: func(a *argosim.AppSpec) {
			a.Sources = []argosim.Source{{Path: "app", TargetRevision: "main"}, {Path: "conf", TargetRevision: "main"}}
		}},
		{
			name: "chart-source", spec: func(a *argosim.AppSpec) {
				a.Sources = []argosim.Source{{RepoURL: "https://charts.example.com", Chart: "stack", TargetRevision: "65.5.0"}}
			},
			begin: argosim.Delays{Pickup: 20 * time.Millisecond, Patch: 40 * time.Millisecond, Settle: 30 * time.Millisecond, Lag: 200 * time.Millisecond},
			opts:  argosim.Options{Image: func(string) argosim.Image { return argosim.Image{} }},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.opts.Delays, tc.opts.Poll = tc.begin, 15*time.Second
			tc.opts.RepoURL = "https://git.example.com/demo/" + tc.name + ".git"
			sc := newScene(t, tc.opts)
			spec := argosim.AppSpec{
				Name: tc.name, Automated: &argosim.Automated{SelfHeal: true},
				Sources: []argosim.Source{{Path: "app", TargetRevision: "main"}},
			}
			if tc.spec != nil {
				tc.spec(&spec)
			}
			for i, commit := range sc.tree.load(t, tc.name) {
				sc.tree.branches["main"] = commit
				switch i {
				case 0:
					sc.must(sc.AddApp(spec))
				case 1:
					if tc.then != nil {
						tc.then(sc)
					}
					sc.must(sc.Refresh(tc.name))
				case 2:
					tc.later(sc)
					sc.must(sc.Refresh(tc.name))
				}
				sc.run(time.Minute)
			}
			recorded := recording(t, tc.name)
			if diff := cmp.Diff(story(t, recorded), sc.story(0)); diff != "" {
				t.Errorf("order of states (-recorded +simulated):\n%s", diff)
			}
			want, got := chapters(t, recorded), chapters(t, sc.seen)
			for i := range min(len(want), len(got)) {
				if diff := cmp.Diff(want[i], got[i]); diff != "" {
					t.Errorf("state %d (-recorded +simulated):\n%s", i, diff)
				}
			}
		})
	}
}

// chapters are the full objects, the last one of every state of the story,
// without what differs from run to run: times, ids, counters.
func chapters(t *testing.T, objects [][]byte) []map[string]any {
	t.Helper()
	var out []map[string]any
	var texts []string
	for i, object := range objects {
		if i+1 < len(objects) {
			both := story(t, objects[i:i+2])
			if len(both) == 1 {
				continue // the next one shows the same state, more completely
			}
		}
		texts = append(texts, string(object))
	}
	volatile := regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|/dev/shm/\d+| at \d+:\d\d[AP]M|` +
		`yaml: line \d+`) // another version of the parser counts one less
	for _, text := range texts {
		text = volatile.ReplaceAllString(text, "VOLATILE")
		var o map[string]any
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			t.Fatal(err)
		}
		meta := o["metadata"].(map[string]any)
		for _, key := range []string{"uid", "resourceVersion", "generation"} {
			if meta[key] == nil {
				t.Errorf("metadata.%s is missing", key)
			}
			delete(meta, key)
		}
		forgetRaces(o)
		out = append(out, o)
	}
	return out
}

// forgetRaces removes what differs between two runs of a real Argo CD too:
// summary.images comes from a map and from the tree of pods, which is refreshed
// by itself, and the objects of a first sync may enter the live cache one by
// one (seen in half of the recordings).
func forgetRaces(o map[string]any) {
	switch summary, _ := at(o, "status", "summary").(map[string]any); at(o, "status", "health", "status") {
	case "Healthy":
		list, _ := summary["images"].([]any)
		slices.SortFunc(list, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	case "Missing":
		resources, _ := at(o, "status", "resources").([]any)
		for _, r := range resources {
			delete(r.(map[string]any), "status")
		}
	default:
		delete(summary, "images")
	}
}
