package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"gopkg.in/yaml.v3"
)

const ciFolder = "../../docs/ci"

// ci FILE JOB OUT writes the script of a job of docs/ci as its system would run
// it: of GitHub and Gitea the steps that have a name.
func ci(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: ci FILE JOB OUT")
	}
	text, err := os.ReadFile(filepath.Join(ciFolder, args[0]))
	ts.Check(err)
	type job struct {
		Script []string `yaml:"script"`
		Steps  []struct {
			Name, Run string
		} `yaml:"steps"`
	}
	var lines []string
	if strings.HasPrefix(args[0], "gitlab") {
		var jobs map[string]job
		ts.Check(yaml.Unmarshal(text, &jobs))
		lines = jobs[args[1]].Script
	} else {
		var root struct{ Jobs map[string]job }
		ts.Check(yaml.Unmarshal(text, &root))
		for _, s := range root.Jobs[args[1]].Steps {
			if s.Name != "" {
				lines = append(lines, s.Run)
			}
		}
	}
	if len(lines) == 0 {
		ts.Fatalf("%s has no script for %s", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(strings.Join(lines, "\n")+"\n"), 0o666))
}

// Every ready file is named in docs/ci.md, and is YAML.
func TestCIFiles(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile(ciFolder + ".md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(ciFolder + "/*")
	if err != nil || len(files) != 4 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		if !strings.Contains(string(doc), "](ci/"+filepath.Base(file)+")") {
			t.Errorf("docs/ci.md does not name %s", file)
		}
		text, err := os.ReadFile(file)
		var v map[string]any
		if err != nil || yaml.Unmarshal(text, &v) != nil || len(v) == 0 {
			t.Errorf("%s: %v, %d keys", file, err, len(v))
		}
	}
	// What pre-commit is told to run is there.
	var config struct {
		Repos []struct{ Hooks []struct{ ID string } }
	}
	var offered []struct{ ID, Entry string }
	for file, v := range map[string]any{ciFolder + "/pre-commit-config.yaml": &config, "../../.pre-commit-hooks.yaml": &offered} {
		text, err := os.ReadFile(file)
		if err != nil || yaml.Unmarshal(text, v) != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	for _, h := range config.Repos[0].Hooks {
		found := false
		for _, o := range offered {
			found = found || o.ID == h.ID && strings.HasPrefix(o.Entry, "navlint ")
		}
		if !found {
			t.Errorf("there is no hook %s for pre-commit", h.ID)
		}
	}
}
