package lint

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
	"github.com/nav-watchdog/nav-watchdog/pkg/trailer"
)

// hostile are texts that would break out of one of the formats, or of the
// terminal on which somebody reads them.
func hostile() []string {
	return []string{
		"plain",
		"%0A::error::x", "a\n::error file=x::forged\n", "a\r::set-output name=x::y", "::add-mask::x", "50%, a:b, c", "##[error]x",
		`</failure><testcase name="x"/>`, "]]>", "<!-- & \" ' -->", "&#x0;",
		"{0} {{1}} }{", "[click](https://evil.example)", "[click](1)", `\[x](2)`,
		`","severity":"info`, "a\x00b\x07\x1b[31mred\x1b[0m", "\u009b31m\u202eabc\u2066\u200b\u2028", "\xff\xfe not UTF-8", "\U000e0001 ünï 世界 😀",
		strings.Repeat("x", 5000),
	}
}

// written is what a format makes of a finding in a file and one in a commit
// whose every text is s.
func written(t *testing.T, format, s string) []byte {
	t.Helper()
	var b bytes.Buffer
	tally := &Tally{Handler: NewHandler(format, Output{W: &b, Command: "commits", Version: "v1"})}
	fs := []Finding{
		{Rule: "nav-app-missing", Severity: Error, Line: 3, Col: 9, Char: 7, Message: s, Hint: s},
		{Rule: "nav-app-missing", Severity: Error, Line: 4, Col: 1, Message: s, Hint: s},
		{Rule: "no-policy", Severity: Warning, Message: "m" + s},
		{Rule: "other", Severity: Note, Line: 2, Col: 5, Message: "n" + s},
	}
	for _, p := range []Place{{File: "dir/" + s}, {Commit: strings.Repeat("a", 40), Subject: s}} {
		if err := tally.Add(p, fs); err != nil {
			t.Fatal(err)
		}
	}
	tally.Checked += 3
	if code := exit.Code(tally.Close(false)); code != exit.Findings {
		t.Errorf("exit code %d", code)
	}
	for _, r := range b.String() {
		if r != '\n' && (r < ' ' || hides(r)) {
			t.Errorf("%s prints %U, of %q", format, r, s)
		}
	}
	return b.Bytes()
}

func TestFormatsOfNothing(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]string{
		FormatText: "", FormatGitLab: "[]\n", FormatGitHub: "0 messages checked: 0 errors, 0 warnings\n",
		FormatJUnit: xml.Header + `<testsuites>
  <testsuite name="navlint commits" tests="1" failures="0" errors="0" skipped="0">
    <testcase classname="navlint.commits" name="0 messages without findings"></testcase>
  </testsuite>
</testsuites>
`,
	} {
		var b bytes.Buffer
		if err := NewHandler(format, Output{W: &b, Command: "commits"}).Done(Summary{}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, b.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", format, diff)
		}
	}
	if NewHandler("nosuch", Output{}) != nil {
		t.Error("there is a handler for any word")
	}
	for _, format := range Formats() {
		if NewHandler(format, Output{}) == nil {
			t.Errorf("no handler for %s", format)
		}
	}
}

func TestSARIF(t *testing.T) {
	t.Parallel()
	schemas := []navtest.Schema{navtest.ReadSchema(t, "testdata/sarif-written.schema.json")}
	if file := os.Getenv("NAV_SARIF_SCHEMA"); file != "" {
		schemas = append(schemas, navtest.ReadSchema(t, file))
	}
	check := func(t *testing.T, out []byte) map[string]any {
		var log map[string]any
		if err := json.Unmarshal(out, &log); err != nil {
			t.Fatal(err)
		}
		for _, s := range schemas {
			for _, why := range s.Validate(log) {
				t.Error(why)
			}
		}
		return log["runs"].([]any)[0].(map[string]any)
	}
	var b bytes.Buffer
	if err := (&SARIF{W: &b}).Done(Summary{}); err != nil {
		t.Fatal(err)
	}
	check(t, b.Bytes())
	for _, s := range hostile() {
		run := check(t, written(t, FormatSARIF, s))
		results := run["results"].([]any)
		rules := run["tool"].(map[string]any)["driver"].(map[string]any)["rules"].([]any)
		if len(results) != 8 || len(rules) != 3 {
			t.Fatalf("%d results, %d rules", len(results), len(rules))
		}
		for _, r := range results {
			r := r.(map[string]any)
			if rule := rules[int(r["ruleIndex"].(float64))].(map[string]any); rule["id"] != r["ruleId"] {
				t.Errorf("the index of %v leads to %v", r["ruleId"], rule["id"])
			}
		}
		region := results[0].(map[string]any)["locations"].([]any)[0].(map[string]any)["physicalLocation"].(map[string]any)["region"]
		if diff := cmp.Diff(map[string]any{"startLine": 3.0, "startColumn": 7.0}, region); diff != "" {
			t.Error(diff)
		}
	}
}

// The schema of what is written refuses what a careless writer could write.
func TestSARIFSchemaRefuses(t *testing.T) {
	t.Parallel()
	schema := navtest.ReadSchema(t, "testdata/sarif-written.schema.json")
	good := string(written(t, FormatSARIF, "plain"))
	for old, bad := range map[string]string{
		`"version": "2.1.0"`: `"version": "2.1"`, `"level": "error"`: `"level": "major"`, `"startLine": 3`: `"startLine": 0`,
		`"text": "plain\nhint: plain"`: `"text": "{0}"`, `"ruleId"`: `"rule"`, `"uri": "dir/plain"`: `"uri": "a b"`,
	} {
		var log any
		text := strings.Replace(good, old, bad, 1)
		if err := json.Unmarshal([]byte(text), &log); err != nil || text == good {
			t.Fatalf("%s: %v", bad, err)
		}
		if len(schema.Validate(log)) == 0 {
			t.Errorf("%s is accepted", bad)
		}
	}
}

// Read by the runner's own rules, a report holds one command a finding, and
// each gives back what was found.
func TestGitHub(t *testing.T) {
	t.Parallel()
	command := regexp.MustCompile(`^::(error|warning|notice) ([^:]*)::(.*)$`)
	unescape := strings.NewReplacer("%25", "%", "%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",")
	for _, s := range hostile() {
		lines := strings.Split(strings.TrimSuffix(string(written(t, FormatGitHub, s)), "\n"), "\n")
		if len(lines) != 9 || lines[8] != "5 messages checked: 4 errors, 2 warnings" {
			t.Fatalf("%q: %d lines, the last %q", s, len(lines), lines[len(lines)-1])
		}
		for i, line := range lines[:8] {
			m := command.FindStringSubmatch(line)
			if m == nil {
				t.Fatalf("no command: %q", line)
			}
			properties := map[string]string{}
			for p := range strings.SplitSeq(m[2], ",") {
				key, value, _ := strings.Cut(p, "=")
				properties[key] = unescape.Replace(value)
			}
			switch {
			case i == 0 && (properties["file"] != exit.Line("dir/"+s, 0) || properties["line"] != "3" || properties["col"] != "7" || len(properties) != 4):
				t.Errorf("%q: properties %q", s, properties)
			case i == 0 && unescape.Replace(m[3]) != exit.Printable(joinHint(Finding{Message: s, Hint: s})):
				t.Errorf("%q reads back as %q", s, unescape.Replace(m[3]))
			case i == 4 && (properties["title"] != "nav-app-missing in commit aaaaaaaaaaaa" || len(properties) != 1):
				t.Errorf("%q: properties of a commit %q", s, properties)
			}
		}
	}
}

func TestGitLab(t *testing.T) {
	t.Parallel()
	for _, s := range hostile() {
		var got []gitlabFinding
		dec := json.NewDecoder(bytes.NewReader(written(t, FormatGitLab, s)))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&got); err != nil || len(got) != 8 {
			t.Fatalf("%d findings, %v", len(got), err)
		}
		for i, f := range got {
			if f.Description == "" || f.Check == "" || f.Location.Path == "" || f.Location.Lines.Begin < 1 || !slices.Contains([]string{"major", "minor", "info"}, f.Severity) {
				t.Errorf("%q: %+v", s, f)
			}
			for _, other := range got[:i] {
				if other.Fingerprint == f.Fingerprint {
					t.Errorf("%q: two findings have the fingerprint %s", s, f.Fingerprint)
				}
			}
		}
		if p := got[4].Location.Path; p != "commit/"+strings.Repeat("a", 40) {
			t.Errorf("path %q", p)
		}
	}
}

// A finding keeps its fingerprint when it moves, and when the commit is made
// anew with the same subject; another message, rule or file has another.
func TestFingerprints(t *testing.T) {
	t.Parallel()
	one := func(p Place, f Finding) string { return fingerprints{}.of(p, f) }
	p, f := Place{Commit: "a", Subject: "s"}, Finding{Rule: "r", Message: "m", Line: 1}
	first := one(p, f)
	if again := one(Place{Commit: "b", Subject: "s"}, Finding{Rule: "r", Message: "m", Line: 9, Col: 3}); again != first {
		t.Error("the fingerprint moves with the line and the commit")
	}
	for _, other := range []string{
		one(Place{Commit: "a", Subject: "t"}, f), one(Place{File: "s"}, f), one(p, Finding{Rule: "q", Message: "m"}), one(p, Finding{Rule: "r", Message: "n"}),
	} {
		if other == first {
			t.Error("different findings have the same fingerprint")
		}
	}
	if first != "b004113d9366327c4113db1e33885024" { // changed, every finding is new to everybody
		t.Errorf("fingerprint %q", first)
	}
}

func TestJUnit(t *testing.T) {
	t.Parallel()
	for _, s := range hostile() {
		var got junitSuites
		if err := xml.Unmarshal(written(t, FormatJUnit, s), &got); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		suite := got.Suite
		if suite.Tests != 3 || len(suite.Cases) != 3 || suite.Failures != 2 {
			t.Fatalf("%q: %d tests, %d cases, %d failures", s, suite.Tests, len(suite.Cases), suite.Failures)
		}
		file := suite.Cases[0]
		if file.Name != exit.Line("dir/"+s, 0) || file.Failure.Message != exit.Line(s, 0) || file.Failure.Type != "nav-app-missing" {
			t.Errorf("%q reads back as %+v %+v", s, file, file.Failure)
		}
		if !strings.Contains(file.Output, ": warning: m") || strings.Contains(file.Failure.Text, "warning: m") {
			t.Errorf("%q: a warning fails", s)
		}
		if suite.Cases[2].Name != "3 messages without findings" || suite.Cases[2].Failure != nil {
			t.Errorf("the last case is %+v", suite.Cases[2])
		}
	}
}

func TestJUnitStrict(t *testing.T) {
	t.Parallel()
	for strict, want := range map[bool]int{false: 0, true: 1} {
		var b bytes.Buffer
		j := &JUnit{W: &b, Strict: strict}
		if err := j.Report(Place{File: "x"}, []Finding{{Severity: Note}, {Severity: Warning}}); err != nil || j.failures != want {
			t.Errorf("strict %v: %d failures, %v", strict, j.failures, err)
		}
	}
}

// Columns for programs count characters, those for people bytes.
func TestChar(t *testing.T) {
	t.Parallel()
	msg := []byte("subject\n\nNav-Watchdog: app=wéb nosuch=1\n")
	fs := Message(msg, trailer.DefaultPolicy(), nil)
	i := slices.IndexFunc(fs, func(f Finding) bool { return f.Rule == string(trailer.FieldUnknown) })
	if i < 0 || fs[i].Col != 24 || fs[i].Char != 23 {
		t.Errorf("findings %+v", fs)
	}
	for at, want := range map[trailer.Pos]int{{}: 0, {Line: 1, Col: 1}: 1, {Line: 3, Col: 24}: 23, {Line: 9, Col: 2}: 0, {Line: 1, Col: 99}: 8} {
		if got := charAt(msg, at); got != want {
			t.Errorf("charAt(%v) = %d, want %d", at, got, want)
		}
	}
}
