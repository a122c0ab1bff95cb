package config

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
)

var update = flag.Bool("update", false, "write the waivable rules into docs/policy.schema.json")

const schemaFile = "../../docs/policy.schema.json"

// beyond are the broken policies that no schema refuses: what it is shown is
// what YAML made of the file, and it compares no two places with each other.
// Those whose reason is "not shown" are no single value to YAML.
func beyond() map[string]string {
	const shown, spelled, two = "not shown", "the spelling is gone", "compares two places"
	return map[string]string{
		"twice": shown, "twice, nested": shown, "second document": shown, "tab": shown, "group without quotes": shown, "star without quotes": shown,
		"not closed": shown, "alias to nothing": shown, "not UTF-8": shown, "NUL": shown, "ring": shown, "empty": shown, "only a comment": shown,
		"only a byte order mark": shown, "too large": shown,

		"a tag": spelled, "hidden line": spelled, "carriage return": spelled, "writing direction": spelled,

		"unknown group": two, "unknown group in allow": two, "default below limit": two, "default above limit": two, "min above max": two,
		"min above the max that is not said": two,
	}
}

// The schema accepts and refuses what ParsePolicy does, of all of its cases.
func TestPolicySchema(t *testing.T) {
	schema := navtest.ReadSchema(t, schemaFile)
	left := beyond()
	for _, c := range brokenPolicies() {
		reason, isBeyond := left[c.name]
		delete(left, c.name)
		value, err := yamlValue(c.text)
		if (err != nil) != (reason == "not shown") {
			t.Errorf("%s: YAML says %v, the reason is %q", c.name, err, reason)
		}
		if err != nil {
			continue
		}
		if why := schema.Validate(value); (len(why) == 0) != isBeyond {
			t.Errorf("%s: the schema says %q, and is it beyond it: %v", c.name, why, isBeyond)
		}
	}
	for name := range left {
		t.Errorf("there is no case %q", name)
	}
	doc, err := os.ReadFile("../../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(doc), "```yaml\n")
	sample, _, _ := strings.Cut(rest, "```\n")
	for name, text := range map[string]string{
		"full": full, "CRLF": strings.ReplaceAll(full, "\n", "\r\n"), "least": "version: 1\n", "docs": sample,
		"anchors": strings.NewReplacer(`apps: ["nav-*"]`, `apps: &apps ["nav-*"]`, `rule: prune, apps: ["nav-*"]`, `rule: prune, apps: *apps`).Replace(full),
	} {
		if value, err := yamlValue(text); err != nil || len(schema.Validate(value)) > 0 {
			t.Errorf("%s: %v %q", name, err, schema.Validate(value))
		}
	}
}

// One value at a time, both ways: the schema and ParsePolicy agree.
func TestPolicySchemaValues(t *testing.T) {
	schema := navtest.ReadSchema(t, schemaFile)
	for place, values := range map[string][]string{
		"version: 1\nbranches: [%]\n": {
			`main`, `"release/*"`, `"**"`, `"a/**/b"`, `"[a-z]x"`, `"[]a]"`, `"[!]a]"`, `"[a"`, `"a]"`, `'a\b'`, `'a\'`, `"[[:alpha:]]"`, `"a//b"`, `"/a"`, `"a/"`, `"."`, `"a/.."`, `"..a"`, `""`, `" "`, `"a b"`,
			`refs/heads/a`, `refs/tags/a`, `"é"`, `'[\]]'`, `"[a/b]"`, `1`, `true`, `null`, `[a]`, `"a\u0001"`, `"` + strings.Repeat("x", 256) + `"`, `"` + strings.Repeat("x", 257) + `"`,
		},
		"version: 1\narm: {never-paths: [%]}\n":                          {`"*.sql"`, `"db/"`, `"/db"`, `"/"`, `"!a"`, `"a//b"`, `"//a"`, `"a/./b"`, `"[x"`, `"**/migrations/**"`},
		"version: 1\nowners: [%]\n":                                      {`alice`, `"*"`, `"a/b"`, `"@"`, `"@ "`, `""`, `"x@y.z"`, `"a\tb"`},
		"version: 1\ngroups: {%: [a]}\n":                                 {`sre`, `"a b"`, `a.b-c_d`, `""`, `"é"`},
		"version: 1\ngroups: {a: [%]}\n":                                 {`bob`, `"@b"`, `"b*"`, `"b?"`, `"b[c]"`, `"b c"`, `""`, `"b\nc"`, `b@c`},
		"version: 1\narm: {allow: [{apps: [%], by: [a]}]}\n":             {`web`, `"*"`, `a/b`, `"a/b/c"`, `"a/*"`, `""`, `"/a"`},
		"version: 1\nrepositories: [\"%\"]\n":                            {"https://h/x.git", "git@h:x.git", "ssh://git@h/x", "https://t@h/x", "HTTPS://u:p@h/x", "ssh://u:p@h/x", "ssh://h:22/x@y", "", "a b", "https://h/x?@"},
		"version: 1\ncircuit: {storm: {within: %}}\n":                    {`1`, `90`, `"90"`, `2678400`, `2678401`, `0`, `"0s"`, `90s`, `1h30m`, `1.5h`, `1.5m`, `90.5s`, `90.0s`, `-1`, `-1m`, `1d`, `1500ms`, `2000ms`, `1.5`, `soon`, `""`, `.5h`, `1m1h`, `true`, `[1]`},
		"version: 1\ncircuit: {per-day: %}\n":                            {`1`, `1000`, `1001`, `0`, `-1`, `"4"`, `4.5`, `many`},
		"version: %\n":                                                   {`1`, `2`, `"1"`, `1.5`, `true`},
		"version: 1\narm: {accept: [{rule: %, apps: [a], reason: r}]}\n": {`prune`, `related`, `not-allowed`, `no-policy`, `x`, `1`},
		"version: 1\narm: {accept: [{rule: prune, apps: [a], reason: %}]}\n": {
			`r`, `""`, `" "`, `" r "`, `"r\ns"`, `"` + strings.Repeat("r", 1024) + `"`, `"` + strings.Repeat("r", 1025) + `"`, `1`,
		},
	} {
		for _, v := range values {
			text := strings.Replace(place, "%", v, 1)
			value, err := yamlValue(text)
			if err != nil {
				t.Errorf("%q: %v", text, err)
				continue
			}
			_, refused := ParsePolicy([]byte(text), "f")
			if why := schema.Validate(value); (len(why) > 0) != (refused != nil) {
				t.Errorf("%q: the schema says %q, ParsePolicy %v", text, why, refused)
			}
		}
	}
}

// The rules that may be waived are those of internal/arming; -update writes
// them.
func TestPolicySchemaRules(t *testing.T) {
	text, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?s)("description": "the id of the rule[^"]*",\s*"enum": \[)([^\]]*)\]`)
	at := list.FindSubmatchIndex(text)
	if at == nil {
		t.Fatal("docs/policy.schema.json has no list of rules")
	}
	if *update {
		indent := "\n" + strings.Repeat(" ", 18)
		rules := indent + `"` + strings.Join(arming.Waivable(), `",`+indent+`"`) + `"` + indent[:len(indent)-2]
		text = slices.Concat(text[:at[4]], []byte(rules), text[at[5]:])
		if err := os.WriteFile(schemaFile, text, 0o666); err != nil {
			t.Fatal(err)
		}
		at = list.FindSubmatchIndex(text)
	}
	var have []string
	if err := json.Unmarshal(slices.Concat([]byte("["), text[at[4]:at[5]], []byte("]")), &have); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(have, arming.Waivable()) {
		t.Errorf("docs/policy.schema.json lists %q, waivable are %q; go test ./internal/config -run SchemaRules -update writes them", have, arming.Waivable())
	}
}

// yamlValue is what a schema is shown of a file: one document, as JSON has it.
func yamlValue(text string) (any, error) {
	dec := yaml.NewDecoder(bytes.NewReader([]byte(text)))
	var v, more any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if err := dec.Decode(&more); err == nil {
		return nil, os.ErrExist
	}
	out, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	err = json.Unmarshal(out, &v)
	return v, err
}
