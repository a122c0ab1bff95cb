package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
)

const timelines = "../../testdata/timelines"

// expectation is a line of expected.tsv: what replay has to say of a recording.
type expectation struct {
	name, verdict, revert, recovery, reason, holds string
	flags                                          []string
}

func expectations(t *testing.T) []expectation {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(timelines, "expected.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var out []expectation
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, "\t")
		for i := range f {
			if f[i] == "-" {
				f[i] = ""
			}
		}
		if len(f) != 6 && len(f) != 7 {
			t.Fatalf("expected.tsv: %q has %d fields", line, len(f))
		}
		e := expectation{name: f[0], verdict: f[1], revert: f[2], recovery: f[3], reason: f[4], holds: f[5]}
		if len(f) == 7 {
			flag, value, _ := strings.Cut(f[6], " ")
			e.flags = []string{flag, value}
		}
		out = append(out, e)
	}
	return out
}

// Every recording of a real Argo CD is judged as it should be. One after the
// other: urfave/cli keeps its help flag in a global.
func TestRecordings(t *testing.T) {
	seen := map[string]bool{}
	for _, want := range expectations(t) {
		seen[want.name] = true
		t.Run(strings.Join(append([]string{want.name}, want.flags...), "_"), func(t *testing.T) {
			r := replayed(t, want.name, want.flags)
			var holds []string
			for name, g := range r.Gates {
				if g.Result == "hold" {
					holds = append(holds, name)
				}
			}
			slices.Sort(holds)
			code, _, _ := strings.Cut(r.Reason, " ")
			got := expectation{
				want.name, r.Verdict, fmt.Sprint(r.WouldRevert), r.Recovery, code, strings.Join(holds, ","), want.flags,
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("replay says\n\t%+v, want\n\t%+v\n%s\n%+v", got, want, r.Reason, r.Gates)
			}
		})
	}
	files, err := filepath.Glob(filepath.Join(timelines, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, f := range files {
		if name := strings.TrimSuffix(filepath.Base(f), ".jsonl"); !seen[name] {
			t.Errorf("expected.tsv says nothing of %s", name)
		}
	}
}

func replayed(t *testing.T, name string, flags []string) replayJSON {
	t.Helper()
	var stdout, stderr bytes.Buffer
	args := append([]string{"navwatchd", "replay", "--json"}, flags...)
	args = append(args, filepath.Join(timelines, name+".jsonl"))
	e := env{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr, environ: os.Environ(), now: navtest.Start}
	if err := run(context.Background(), args, e); err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	var r replayJSON
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	return r
}
