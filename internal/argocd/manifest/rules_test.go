package manifest_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd/manifest"
	"github.com/nav-watchdog/nav-watchdog/internal/arming"
)

var (
	ruleSection = regexp.MustCompile("(?m)^## `([a-z-]+)`\n\nSeverity: (error|warning|note)")
	ruleExample = regexp.MustCompile("(?m)^(Refused|Warned|Noted|Mended)(?:, by Argo CD ([0-9.]+))?:\n\n```\n((?s:.*?))^```$")
)

// docs/rules.md has a section for each rule about manifests, in order, with
// files in which that rule finds something, as severe as it says, and mended
// ones. Of the other rules only the ones about arming may find something.
func TestRulesDoc(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(doc), "\n# Rules about manifests\n")
	sections := ruleSection.FindAllStringSubmatchIndex(text, -1)
	rules := arming.FileRules()
	if !found || len(sections) != len(rules) {
		t.Fatalf("docs/rules.md has %d rules about manifests, there are %d", len(sections), len(rules))
	}
	for i, at := range sections {
		end := len(text)
		if i+1 < len(sections) {
			end = sections[i+1][0]
		}
		id, severity := text[at[2]:at[3]], text[at[4]:at[5]]
		if id != rules[i].ID || severity != rules[i].Severity || rules[i].Summary == "" || rules[i].Hint == "" {
			t.Errorf("section %d is on %s, %s; want %+v", i+1, id, severity, rules[i])
		}
		seen := map[string]int{}
		for _, e := range ruleExample.FindAllStringSubmatch(text[at[0]:end], -1) {
			kind, version, file := e[1], e[2], e[3]
			seen[kind]++
			got := strings.Join(severities(t, id, version, file), " ")
			want := map[string]string{"Refused": "error", "Warned": "warning", "Noted": "note", "Mended": ""}[kind]
			if got != want {
				t.Errorf("%s, %s: found %q, want %q in\n%s", id, kind, got, want, file)
			}
		}
		failing := map[string]string{"error": "Refused", "warning": "Warned", "note": "Noted"}[severity]
		if seen[failing] == 0 || seen["Mended"] == 0 {
			t.Errorf("%s: %v; want an example that is %s, and one that is mended", id, seen, failing)
		}
	}
}

// severities are those of what a rule finds in a file; what another rule about
// manifests finds is an error.
func severities(t *testing.T, id, version, file string) (out []string) {
	t.Helper()
	ask := arming.FileAsk{Request: arming.Request{Vouched: arming.VouchNotAssessed}}
	if version != "" {
		v, err := arming.ParseVersion(version)
		if err != nil {
			t.Fatal(err)
		}
		ask.Version = v
	}
	if !manifest.Declares([]byte(file)) {
		t.Errorf("not taken for a manifest:\n%s", file)
	}
	objects, fs, skipped := manifest.Declared([]byte(file))
	if skipped != "" {
		fs = []arming.FileFinding{{Finding: arming.Finding{Rule: arming.RuleSkipped, Outcome: arming.NotAssessed}, Own: true}}
	}
	for _, d := range objects {
		fs = append(fs, arming.CheckDeclared(d, ask)...)
	}
	for _, f := range fs {
		if !f.Own {
			continue
		}
		if f.Rule != id {
			t.Errorf("%s finds in an example of %s: %s", f.Rule, id, f.Message)
		}
		if f.Line == 0 && skipped == "" {
			t.Errorf("%s has no place: %s", f.Rule, f.Message)
		}
		switch {
		case f.Wrong:
			out = append(out, "error")
		case f.Outcome == arming.Warned:
			out = append(out, "warning")
		default:
			out = append(out, "note")
		}
	}
	return out
}
