package verdict_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// The goldens are frozen: a note that was written once must be readable for
// ever, and be written the same. -update adds the missing ones, no more; who
// needs another form needs another version of the format.
var update = flag.Bool("update", false, "add missing goldens")

const watcher = "v0.1.0 sha256:4f5a6b policy=sha256:77aa01 config=sha256:c0ffee"

// goldens are what became of watches in scenarios, by the name of the file.
func goldens(t *testing.T) map[string][]verdict.State {
	t.Helper()
	play := func(app string, mode verdict.Mode, text string, end int, conclude func(verdict.State, verdict.Observation, time.Time) verdict.State) verdict.State {
		r := newRun(t, func(w *verdict.Watch) { w.App.Name, w.Mode = app, mode }, text, nil, end)
		r.conclude = conclude
		s := r.play(t).state
		s.Policy, s.Watcher = oldCommit, watcher
		return s
	}
	gates := func(change func(*facts)) func(verdict.State, verdict.Observation, time.Time) verdict.State {
		return func(s verdict.State, o verdict.Observation, now time.Time) verdict.State {
			_, f := failed()
			f.Look, f.Git = o.Look, o.Git
			s.Changed = []verdict.ObjectID{deployment}
			f.Look.Resources = []verdict.Resource{{ObjectID: deployment, Status: verdict.Synced}}
			f.Rules[1].NotAssessed, f.Deploy.NotAssessed = true, []string{"project"}
			change(&f)
			s, next := verdict.Conclude(s, f, now, refresh)
			if next.Revert {
				s = s.WithRevert(revertCommit, now)
			}
			return s
		}
	}
	broken := deploy + `60 Degraded
		`
	return map[string][]verdict.State{
		"waiting":   {play("web", verdict.Arm, deploy, 60, nil)},
		"confirmed": {play("web", verdict.Arm, deploy+`40 Healthy`, 900, nil)},
		"nothing-to-deploy": {play("web", verdict.Shadow, `-60 Synced@old
			0 Synced@new`, 900, nil)},
		"not-reached": {play("web", verdict.Arm, `-60 Synced@old
			10 Unknown@raw error:ComparisonError`, 900, nil)},
		"fail-held": {play("web", verdict.Arm, broken, 900, gates(func(f *facts) {
			f.Suspects = []string{newCommit, laterCommit}
			f.Rules[0].Holds, f.Rules[0].Why = true, "alice may not arm web"
		}))},
		"reverted-recovered": {play("web", verdict.Arm, broken+`200 OutOfSync@revert op:run@revert
			205 op:succeed Synced@revert Progressing
			240 Healthy`, 900, gates(func(*facts) {}))},
		"two-apps": {
			play("web", verdict.Shadow, broken, 900, gates(func(*facts) {})),
			play("api", verdict.Shadow, deploy+`40 Healthy`, 900, nil),
		},
		"unwatchable": {play("web", verdict.Arm, `-60 chart`, 900, nil)},
		"superseded":  {play("web", verdict.Arm, deploy+`60 reverted:yes`, 900, nil)},
		"inconclusive-freeze": {play("web", verdict.Arm, deploy+`30 Healthy
			60 op:run@old
			70 op:succeed`, 900, nil)},
	}
}

func goldenFile(name string) string { return filepath.Join("testdata", "notes", "v1-"+name+".note") }

func TestGoldens(t *testing.T) {
	all := goldens(t)
	for name, states := range all {
		file, note := goldenFile(name), verdict.FormatNote(states)
		want, err := os.ReadFile(file)
		if os.IsNotExist(err) && *update {
			if err := os.WriteFile(file, note, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%v (go test -update adds it)", err)
			continue
		}
		if d := cmp.Diff(string(want), string(note)); d != "" {
			t.Errorf("%s is written otherwise (-frozen +now):\n%s", file, d)
		}
		back, err := verdict.ParseNote(want)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if d := cmp.Diff(sorted(states), withCommit(back), cmpopts.IgnoreUnexported(verdict.Track{}), secondsOnly); d != "" {
			t.Errorf("%s is read otherwise (-written +read):\n%s", file, d)
		}
	}
	files, err := filepath.Glob(goldenFile("*"))
	if err != nil || len(files) != len(all) {
		t.Errorf("%d goldens for %d notes: none is ever removed (%v)", len(files), len(all), err)
	}
}

// secondsOnly compares times as a note holds them.
var secondsOnly = cmp.Comparer(func(a, b time.Time) bool { return a.Truncate(time.Second).Equal(b.Truncate(time.Second)) })

// sorted is the order of a note.
func sorted(states []verdict.State) []verdict.State {
	if len(states) == 2 && states[0].Watch.App.Name > states[1].Watch.App.Name {
		return []verdict.State{states[1], states[0]}
	}
	return states
}

func withCommit(states []verdict.State) []verdict.State {
	for i := range states {
		states[i].Watch.Commit = newCommit
	}
	return states
}

// Git reads each stanza as a message with trailers, and so does our own parser.
func TestGoldensAreTrailers(t *testing.T) {
	for name, states := range goldens(t) {
		for i, stanza := range stanzas(verdict.FormatNote(states)) {
			asGitReads(t, name+itoa(i), stanza)
		}
	}
}

// stanzas cuts a note as a reader would: a headline, a blank line, trailers.
func stanzas(note []byte) [][]byte {
	parts := bytes.Split(note, []byte("\n\n"))
	var out [][]byte
	for i := 0; i+1 < len(parts); i += 2 {
		out = append(out, append(bytes.Join(parts[i:i+2], []byte("\n\n")), '\n'))
	}
	return out
}

// block is what stands below the headline.
func block(stanza []byte) string {
	_, b, _ := strings.Cut(string(stanza), "\n\n")
	return strings.TrimRight(b, "\n") + "\n"
}
