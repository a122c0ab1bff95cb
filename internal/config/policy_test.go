package config

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/pkg/trailer"
)

const policyFile = ".nav-watchdog.yaml"

const full = `version: 1
branches: [main]      # watched
repositories: [https://git.example.com/team/deploy.git]
owners: ["@sre"]
groups: {sre: [bob, carol]}
defaults: {deadline: 10m, reach: 600, stable: 1m}
limits: {deadline: {min: 30s, max: 2h}, watches-per-commit: 4}
arm:
  allow:
    - apps: ["nav-*"]
      by: [alice, "@sre"]
  progressing: hold
  never-paths: ["**/migrations/**"]
  accept:
    - {rule: prune, apps: ["nav-*"], reason: stateless, when: deletes-nothing}
    - {rule: related, apps: [argocd/nav-web], reason: a monolith}
circuit: {consecutive: 1, per-day: 3, repository: {reverts: 5, within: 12h}, storm: {apps: 4, within: 90}}
`

func TestParsePolicy(t *testing.T) {
	want := arming.Policy{
		Exists:       true,
		Branches:     []string{"main"},
		Repositories: []string{"https://git.example.com/team/deploy.git"},
		Owners:       []string{"@sre"},
		Groups:       map[string][]string{"sre": {"bob", "carol"}},
		Trailer: trailer.Policy{
			Deadline: 10 * time.Minute, Reach: 10 * time.Minute, Stable: time.Minute,
			DeadlineLimit:    trailer.Range{Min: 30 * time.Second, Max: 2 * time.Hour},
			ReachLimit:       trailer.Range{Min: time.Minute, Max: 24 * time.Hour},
			StableLimit:      trailer.Range{Min: 30 * time.Second, Max: time.Hour},
			WatchesPerCommit: 4,
		},
		Arm: arming.Arm{
			Allow:       []arming.Allow{{Apps: []string{"nav-*"}, By: []string{"alice", "@sre"}}},
			Progressing: "hold",
			NeverPaths:  []string{"**/migrations/**"},
			Accept: []arming.Accept{
				{Rule: "prune", Apps: []string{"nav-*"}, Reason: "stateless", When: "deletes-nothing"},
				{Rule: "related", Apps: []string{"argocd/nav-web"}, Reason: "a monolith"},
			},
		},
		Circuit: arming.Circuit{
			Consecutive: 1, PerDay: 3, RepositoryReverts: 5, RepositoryWithin: 12 * time.Hour, StormApps: 4, StormWithin: 90 * time.Second,
		},
	}
	for name, text := range map[string]string{
		"as written":      full,
		"CRLF":            strings.ReplaceAll(full, "\n", "\r\n"),
		"byte order mark": "\ufeff" + full,
		"with anchors":    strings.NewReplacer(`apps: ["nav-*"]`, `apps: &apps ["nav-*"]`, `rule: prune, apps: ["nav-*"]`, `rule: prune, apps: *apps`).Replace(full),
		"document marks":  "---\n" + full + "...\n",
	} {
		got, err := ParsePolicy([]byte(text), policyFile)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestParsePolicyDefaults(t *testing.T) {
	got, err := ParsePolicy([]byte("version: 1\n"), policyFile)
	want := arming.Default()
	want.Exists = true
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// broken is a policy that is none. want has "; hint:" before a hint.
type broken struct{ name, text, want string }

// brokenPolicies are every way to get it wrong, with the place and the text.
func brokenPolicies() []broken {
	const v = "version: 1\n"
	return []broken{
		{"empty", "", "1:1: the file is empty"},
		{"only a comment", "# later\n", "1:1: the file is empty"},
		{"null", "~\n", "1:1: the file is empty"},
		{"only a byte order mark", "\ufeff", "1:1: the file is empty"},
		{"no mapping", "- version\n", "1:1: the file must be a mapping (key: value), not a list"},
		{"no version", "branches: [main]\n", "1:1: version is missing"},
		{"other version", "version: 2\n", `1:10: version: this program reads version 1, not "2"`},
		{"version as text", "version: \"1\"\n", `1:10: version: this program reads version 1, not "1"`},
		{"unknown key", v + "branch: [main]\n", `2:1: unknown key "branch"; hint: did you mean "branches"?`},
		{"unknown key, far off", v + "arm: {everything: true}\n", `2:7: unknown key "everything" in arm; hint: the keys here are accept, allow, never-paths, progressing`},
		{"twice", v + "owners: [a]\nbranches: [main]\nowners: [b]\n", `4:1: the key "owners" is there twice, first in line 2`},
		{"twice, nested", v + "groups: {sre: [a], sre: [b]}\n", `2:20: the key "sre" is there twice, first in line 2`},
		{"scalar for a list", v + "branches: main\n", "2:11: branches must be a list, not a single value; hint: write [main]"},
		{"list for a mapping", v + "arm: [web]\n", "2:6: arm must be a mapping (key: value), not a list"},
		{"no value", v + "branches:\n", "2:10: branches has no value"},
		{"number for text", v + "branches: [1.10]\n", `2:12: branches[0] must be text, not 1.10; hint: put it in quotes: "1.10"`},
		{"bool for text", v + "owners: [true]\n", "2:10: owners[0] must be text, not true"},
		{"a tag", v + "branches: [!!binary bWFpbg==]\n", `2:12: branches[0]: the tag "!!binary" is not supported`},
		{"merge", v + "groups: &g {a: [b]}\narm: {<<: *g}\n", "3:7: a key must be plain text; merging (<<) is not supported"},
		{"second document", v + "---\nversion: 1\n", "2:1: a second document begins here"},
		{"bad branch pattern", v + "branches: [\"rel[ease\"]\n", `2:12: branches[0]: "rel[ease": a "[" is not closed within its segment`},
		{"branch in full", v + "branches: [refs/heads/main]\n", `2:12: branches[0]: "refs/heads/main": write it without refs/heads/: "main"`},
		{"branch twice", v + "branches: [main, main]\n", `2:18: branches[1]: "main" is there twice`},
		{"bad path pattern", v + "arm: {never-paths: [\"!a\", \"a//b\"]}\n", "2:21: arm.never-paths[0]: \"!a\": a leading ! (taking paths back) is not supported\n2:27: arm.never-paths[1]: \"a//b\": the segment \"\" matches nothing"},
		{"password", v + "repositories: [\"https://bot:hunter2@git.example.com/x\"]\n", `2:16: repositories[0]: "https://git.example.com/x": the address holds a password; write it without`},
		{"unknown group", v + "owners: [alice, \"@sre\"]\n", `2:17: owners[1]: no group "sre" is defined`},
		{"unknown group in allow", v + "arm: {allow: [{apps: [web], by: [\"@sre\"]}]}\n", `2:34: arm.allow[0].by[0]: no group "sre" is defined`},
		{"group in a group", v + "groups: {a: [\"@b\"], b: [c]}\n", `2:14: groups.a[0]: "@b": a group holds users, not groups`},
		{"pattern in a group", v + "groups: {a: [\"b*\"]}\n", `2:14: groups.a[0]: "b*": a group holds names, not patterns`},
		{"bad name of a group", v + "groups: {\"a b\": [c]}\n", `2:17: "a b" is no name for a group`},
		{"bad duration", v + "defaults: {deadline: soon}\n", `2:22: defaults.deadline: "soon" is neither seconds nor a duration such as 90s, 15m or 1h30m`},
		{"negative duration", v + "defaults: {deadline: -5m}\n", `2:22: defaults.deadline: "-5m" is negative`},
		{"part of a second", v + "defaults: {stable: 90.5s}\n", `2:20: defaults.stable: "90.5s" has a part of a second`},
		{"overflow", v + "defaults: {stable: 99999999999999999999}\n", `2:20: defaults.stable: "99999999999999999999" is more than 744h`},
		{"no time", v + "circuit: {storm: {within: 0}}\n", "2:27: circuit.storm.within must be more than 0"},
		{"default below limit", v + "defaults: {deadline: 30s}\n", "2:22: defaults.deadline (30s) is less than limits.deadline.min (1m)"},
		{"default above limit", v + "limits: {reach: {max: 10m}}\n", "2:23: defaults.reach (15m) is more than limits.reach.max (10m)"},
		{"min above max", v + "limits: {stable: {min: 5m, max: 4m}}\n", "2:33: limits.stable: min 5m is more than max 4m"},
		{"min above the max that is not said", v + "limits: {stable: {min: 2h}}\n", "2:24: limits.stable: min 2h is more than max 1h"},
		{"no watches", v + "limits: {watches-per-commit: 0}\n", `2:30: limits.watches-per-commit: "0" is no number from 1 to 1000`},
		{"progressing", v + "arm: {progressing: wait}\n", `2:20: arm.progressing: "wait" is not one of: revert, hold`},
		{"allow without by", v + "arm: {allow: [{apps: [web]}]}\n", "2:15: arm.allow[0] needs by"},
		{"allow without apps", v + "arm: {allow: [{by: [a]}]}\n", "2:15: arm.allow[0] needs apps"},
		{"allow nobody", v + "arm: {allow: [{apps: [web], by: []}]}\n", "2:33: arm.allow[0].by is empty, so the entry says nothing"},
		{"allow no app", v + "arm: {allow: [{apps: [], by: [a]}]}\n", "2:22: arm.allow[0].apps is empty, so the entry says nothing"},
		{"too much of a name", v + "arm: {allow: [{apps: [a/b/c], by: [a]}]}\n", `2:23: arm.allow[0].apps[0]: "a/b/c": an Application is NAME or NAMESPACE/NAME`},
		{"accept without reason", v + "arm: {accept: [{rule: prune, apps: [web]}]}\n", "2:16: arm.accept[0] needs reason"},
		{"accept with an empty reason", v + "arm: {accept: [{rule: prune, apps: [web], reason: \" \"}]}\n", "2:51: arm.accept[0].reason: the text is empty"},
		{"accept an unknown rule", v + "arm: {accept: [{rule: prunes, apps: [web], reason: r}]}\n", `2:23: arm.accept[0].rule: there is no rule "prunes"; those that can be waived are never-paths, `},
		{"accept what cannot be waived", v + "arm: {accept: [{rule: not-allowed, apps: [web], reason: r}]}\n", `2:23: arm.accept[0].rule: the rule "not-allowed" cannot be waived`},
		{"condition", v + "arm: {accept: [{rule: prune, apps: [web], reason: r, when: always}]}\n", `2:60: arm.accept[0].when: "always" is not one of: deletes-nothing`},
		{"condition of another rule", v + "arm: {accept: [{rule: related, apps: [web], reason: r, when: deletes-nothing}]}\n", "2:56: arm.accept[0].when: only the rules prune and appset-prune can be accepted under a condition"},
		{"circuit", v + "circuit: {consecutive: 0, per-day: -1, repository: {reverts: many}}\n", "2:24: circuit.consecutive: \"0\" is no number from 1 to 1000\n2:36: circuit.per-day: \"-1\" is no number from 1 to 1000\n2:62: circuit.repository.reverts: \"many\" is no number"},
		{"all at once", "version: 3\nbranchs: [main]\narm: {progressing: 1}\n", "1:10: version: this program reads version 1, not \"3\"\n2:1: unknown key \"branchs\"; hint: did you mean \"branches\"?\n3:20: arm.progressing must be text, not 1"},

		{"tab", v + "arm:\n\tprogressing: hold\n", "3:1: this is not YAML: found character that cannot start any token; hint: indent with spaces, never with tabs"},
		{"group without quotes", v + "owners: [@sre]\n", `2:1: this is not YAML: found character that cannot start any token; hint: put a @group in quotes: "@sre"`},
		{"star without quotes", v + "branches: [**]\n", `2:1: this is not YAML: did not find expected alphabetic or numeric character; hint: put a pattern that begins with * in quotes: "*.sql"`},
		{"not closed", v + "branches: [main\n", "2:1: this is not YAML: did not find expected ',' or ']'"},
		{"alias to nothing", v + "branches: *x\n", "1:1: this is not YAML: unknown anchor 'x' referenced"},
		{"not UTF-8", v + "# \xff\n", "2:3: the file holds the byte 0xff, which is not UTF-8"},
		{"UTF-16", "\xff\xfev\x00", "1:1: the file holds the byte 0xff, which is not UTF-8"},
		{"NUL", "version: 1\x00\n", "1:11: the file holds the control character U+0000"},
		{"hidden line", "version: 1 # é\u2028arm: {}\n", "1:15: the file holds the invisible line break U+2028"},
		{"carriage return", "version: 1 # x\rarm: {}\n", "1:15: the file holds a carriage return without a line feed"},
		{"writing direction", "version: 1 # \u202e\n", "1:14: the file holds U+202E, which changes the writing direction"},
		{"ring", "version: &a [*a]\n", "1:14: the alias *a is part of what it stands for"},
		{"too deep", v + "arm: " + strings.Repeat("[", 20) + strings.Repeat("]", 20) + "\n", "2:21: the nesting is deeper than 16 levels"},
		{"too large", "#" + strings.Repeat("x", maxSize), "1:1: the file is 262145 bytes long, more than 262144"},
	}
}

func TestParsePolicyErrors(t *testing.T) {
	for _, c := range brokenPolicies() {
		t.Run(c.name, func(t *testing.T) {
			p, err := ParsePolicy([]byte(c.text), "f")
			if diff := cmp.Diff(arming.Default(), p); diff != "" {
				t.Errorf("the policy of a broken file is not the default:\n%s", diff)
			}
			got := strings.ReplaceAll(strings.ReplaceAll(errText(err), "\nhint: ", "; hint: "), "\nf:", "\n")
			got = strings.TrimPrefix(got, "f:")
			wants := strings.Split(c.want, "\n")
			gots := strings.Split(got, "\n")
			if len(gots) != len(wants) {
				t.Fatalf("got\n%s\nwant\n%s", got, c.want)
			}
			for i := range wants {
				if !strings.HasPrefix(gots[i], wants[i]) {
					t.Errorf("got  %s\nwant %s", gots[i], wants[i])
				}
			}
			if one := (*Error)(nil); err != nil && !errors.As(err, &one) {
				t.Errorf("%T holds no *Error", err)
			}
			if strings.Contains(got, "hunter2") {
				t.Error("the error shows a password")
			}
		})
	}
}

func errText(err error) string {
	if err == nil {
		return "no error"
	}
	return err.Error()
}

// A bomb of aliases is refused before anybody follows them.
func TestAliasBomb(t *testing.T) {
	var b strings.Builder
	b.WriteString("version: 1\ngroups:\n  a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 30; i++ {
		fmt.Fprintf(&b, "  a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	_, err := ParsePolicy([]byte(b.String()), "f")
	if err == nil || !strings.Contains(err.Error(), "more than 20000 nodes") || strings.Count(err.Error(), "\n") > 1 {
		t.Errorf("bomb: %v", err)
	}
}

func TestErrorsAreBounded(t *testing.T) {
	_, err := ParsePolicy([]byte("version: 1\nbranches: ["+strings.TrimSuffix(strings.Repeat("1,", 5000), ",")+"]\n"), "f")
	var es Errors
	if !errors.As(err, &es) || len(es) != maxErrors+1 || es[maxErrors].Text != "there are more errors; these are the first" {
		t.Errorf("%d errors, the last %v", len(es), es[len(es)-1])
	}
}

// The policy in docs/policy.md is one, and says what the defaults are.
func TestPolicyDocs(t *testing.T) {
	text, err := os.ReadFile("../../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```yaml\n")
	sample, _, closed := strings.Cut(rest, "```\n")
	if !closed {
		t.Fatal("docs/policy.md shows no policy")
	}
	p, err := ParsePolicy([]byte(sample), "docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	d := arming.Default()
	if diff := cmp.Diff(d.Trailer, p.Trailer); diff != "" {
		t.Errorf("the sample's limits and defaults are not the default ones:\n%s", diff)
	}
	if diff := cmp.Diff(d.Circuit, p.Circuit); diff != "" || p.Arm.Progressing != d.Arm.Progressing {
		t.Errorf("the sample's circuit and progressing are not the default ones:\n%s", diff)
	}
	if len(p.Branches) == 0 || len(p.Repositories) == 0 || len(p.Owners) == 0 || len(p.Groups) == 0 ||
		len(p.Arm.Allow) == 0 || len(p.Arm.NeverPaths) == 0 || len(p.Arm.Accept) == 0 {
		t.Errorf("the sample leaves a key out: %+v", p)
	}
}
