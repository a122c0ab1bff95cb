package arming

import (
	"strings"
	"testing"

	"github.com/nav-watchdog/nav-watchdog/pkg/trailer"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// How the ApplicationSet controller takes a term (applicationset_controller.go,
// buildAppDependencyList and labelMatchedExpression), and where a placeholder
// leaves it open.
func TestTermSelects(t *testing.T) {
	in := func(values ...string) Term { return Term{Key: "env", Operator: "In", Values: values} }
	notIn := func(values ...string) Term { return Term{Key: "env", Operator: "NotIn", Values: values} }
	for name, tt := range map[string]struct {
		term   Term
		labels map[string]string
		want   verdict.Tri
	}{
		"in":                           {in("dev", "qa"), map[string]string{"env": "qa"}, verdict.Yes},
		"not in":                       {in("dev"), map[string]string{"env": "qa"}, verdict.No},
		"in, no label":                 {in("dev"), nil, verdict.No},
		"in, empty label":              {in(""), map[string]string{"env": ""}, verdict.Yes},
		"case counts":                  {in("Dev"), map[string]string{"env": "dev"}, verdict.No},
		"NotIn":                        {notIn("dev"), map[string]string{"env": "qa"}, verdict.Yes},
		"NotIn, one of them":           {notIn("dev", "qa"), map[string]string{"env": "qa"}, verdict.No},
		"NotIn, no label":              {notIn("dev"), nil, verdict.Yes},
		"another operator":             {Term{Key: "env", Operator: "Exists"}, map[string]string{"env": "x"}, verdict.Unknown},
		"open":                         {in("dev"), map[string]string{"env": "{{env}}"}, verdict.Unknown},
		"open, no value":               {in(), map[string]string{"env": "{{env}}"}, verdict.No},
		"open, another beginning":      {in("dev"), map[string]string{"env": "x-{{env}}"}, verdict.No},
		"open, fits":                   {in("x-dev"), map[string]string{"env": "x-{{env}}"}, verdict.Unknown},
		"open, another end":            {in("x-dev"), map[string]string{"env": "x-{{env}}-y"}, verdict.No},
		"open, too short":              {in("ab"), map[string]string{"env": "ab{{env}}b"}, verdict.No},
		"NotIn, open":                  {notIn("dev"), map[string]string{"env": "{{env}}"}, verdict.Unknown},
		"NotIn, open, never":           {notIn("dev"), map[string]string{"env": "x-{{env}}"}, verdict.Yes},
		"open key":                     {in("dev"), map[string]string{"{{key}}": "dev"}, verdict.Unknown},
		"open key that is another one": {in("dev"), map[string]string{"a.b/{{key}}": "dev"}, verdict.No},
	} {
		if got := tt.term.selects(tt.labels, false); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
		if got := tt.term.selects(tt.labels, true); got != verdict.Unknown {
			t.Errorf("%s: %v although the labels are not known", name, got)
		}
	}
}

func TestVersion(t *testing.T) {
	for text, want := range map[string]Version{"3.2": {3, 2}, "v2.14.21": {2, 14}, "3.10.0": {3, 10}} {
		if got, err := ParseVersion(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "3", "latest", "3.x", "3.2.1.0", "0.1", "3.-1", "v", "3.2-rc1"} {
		if got, err := ParseVersion(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
	for _, tt := range []struct {
		v            Version
		major, minor int
		want         bool
	}{{Version{2, 14}, 3, 1, true}, {Version{3, 1}, 3, 1, false}, {Version{3, 10}, 3, 2, false}, {Version{}, 3, 1, false}} {
		if got := tt.v.Before(tt.major, tt.minor); got != tt.want {
			t.Errorf("%v before %d.%d: %v", tt.v, tt.major, tt.minor, got)
		}
	}
}

// Without a commit, any branch that the policy watches will do.
func TestStandingRevision(t *testing.T) {
	pushed := func(def, asked string, branches ...string) Request {
		return Request{
			NoCommit: true, PathsUnknown: true, Mode: trailer.Arm, Vouched: VouchNotAssessed, Branch: asked, DefaultBranch: def,
			Policies: []NamedPolicy{{Policy: Policy{Exists: true, Branches: branches}}},
		}
	}
	for name, tt := range map[string]struct {
		r      Request
		target string
		want   string // the outcome and what it says; empty: nothing
	}{
		"default":                        {pushed("main", ""), "main", ""},
		"HEAD":                           {pushed("main", ""), "HEAD", ""},
		"HEAD of nobody knows what":      {pushed("", ""), "", ""},
		"HEAD, other branches":           {pushed("", "", "release"), "", "not assessed: which branch is the default one"},
		"HEAD, the default is not":       {pushed("main", "", "release"), "HEAD", "refused: "},
		"another":                        {pushed("main", ""), "release", "refused: another branch"},
		"watched":                        {pushed("main", "", "main", "release/*"), "release/1", ""},
		"full name":                      {pushed("main", "", "main"), "refs/heads/main", ""},
		"not watched":                    {pushed("main", "", "release/*"), "main", "refused: "},
		"a branch, the default unknown":  {pushed("", ""), "main", "not assessed: "},
		"a tag":                          {pushed("", "", "**"), "refs/tags/v1", "refused: the tag"},
		"a range":                        {pushed("", "", "**"), "1.x", "refused: the version range"},
		"a commit":                       {pushed("", "", "**"), strings.Repeat("a", 40), "refused: the commit"},
		"asked for":                      {pushed("main", "release"), "release", ""},
		"not the one that was asked for": {pushed("main", "release", "**"), "main", "refused: "},
	} {
		fs := checkTargetRevision(tt.r, Facts{App: verdict.App{Name: "web"}}, []verdict.Source{{Path: "web", TargetRevision: tt.target}})
		got := ""
		for _, f := range fs {
			got = f.Outcome.String() + ": " + strings.TrimPrefix(f.Message, "a source of web follows ")
		}
		if !strings.HasPrefix(got, tt.want) || (tt.want == "") != (got == "") {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
