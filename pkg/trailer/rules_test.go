package trailer

import (
	"strings"
	"testing"
)

// example is one message of docs/rules.md.
type example struct {
	kind string // "Refused", "Warned" or "Mended"
	line int
	msg  string
}

// section is what docs/rules.md has on one rule.
type section struct {
	rule     string
	severity string
	examples []example
}

// readRules reads docs/rules.md.
func readRules(t *testing.T) []section {
	t.Helper()
	var sections []section
	var label string
	var open *example
	for i, line := range strings.Split(string(readFile(t, "../../docs/rules.md")), "\n") {
		switch {
		case line == "# Rules about manifests": // internal/argocd/manifest holds those
			return sections
		case line == "```" && open != nil:
			last := &sections[len(sections)-1]
			last.examples = append(last.examples, *open)
			open, label = nil, ""
		case open != nil:
			open.msg += line + "\n"
		case line == "```":
			kind, _, _ := strings.Cut(strings.TrimSuffix(label, ":"), ",")
			if kind != "Refused" && kind != "Warned" && kind != "Mended" {
				t.Fatalf("docs/rules.md:%d: a message below %q", i+1, label)
			}
			open = &example{kind: kind, line: i + 1}
		case strings.HasPrefix(line, "## "):
			sections = append(sections, section{rule: strings.Trim(line[3:], "`")})
		case strings.HasPrefix(line, "Severity: "):
			sections[len(sections)-1].severity = strings.TrimPrefix(line, "Severity: ")
		case line != "":
			label = line
		}
	}
	return sections
}

// TestRulesDoc holds docs/rules.md: a section for each rule, in order, whose
// failing messages raise that rule and no other, and whose mended ones none.
func TestRulesDoc(t *testing.T) {
	sections, rules := readRules(t), Rules()
	if len(sections) != len(rules) {
		t.Fatalf("docs/rules.md has %d rules, there are %d", len(sections), len(rules))
	}
	for i, s := range sections {
		if s.rule != string(rules[i].Rule) {
			t.Errorf("section %d is on %s, want %s", i+1, s.rule, rules[i].Rule)
			continue
		}
		if rules[i].Summary == "" || !strings.HasPrefix(s.severity, rules[i].Severity.String()) {
			t.Errorf("%s: severity %q, want %s", s.rule, s.severity, rules[i].Severity)
		}
		seen := map[string]int{}
		for _, e := range s.examples {
			seen[e.kind]++
			checkExample(t, s.rule, e)
		}
		if seen["Refused"] == 0 || seen["Mended"] == 0 {
			t.Errorf("%s: %v; want a refused and a mended message", s.rule, seen)
		}
	}
}

func checkExample(t *testing.T, rule string, e example) {
	t.Helper()
	fs := Lint([]byte(e.msg), DefaultPolicy())
	if e.kind == "Mended" {
		if len(fs) > 0 {
			t.Errorf("docs/rules.md:%d: the mended message of %s has %v", e.line, rule, lines(fs))
		}
		return
	}
	want := map[string]Severity{"Refused": Error, "Warned": Warning}[e.kind]
	if len(fs) == 0 {
		t.Errorf("docs/rules.md:%d: %s finds nothing", e.line, rule)
	}
	for _, f := range fs {
		if string(f.Rule) != rule || f.Severity != want {
			t.Errorf("docs/rules.md:%d: %s has %v", e.line, rule, lines(fs))
		}
	}
}

// TestSeverity holds the words that other formats are made of.
func TestSeverity(t *testing.T) {
	for s, want := range map[Severity]string{Warning: "warning", Error: "error", 0: "severity 0"} {
		if s.String() != want {
			t.Errorf("%d is %q, want %q", int(s), s, want)
		}
	}
	if Warning >= Error {
		t.Error("a warning must be less than an error")
	}
}
