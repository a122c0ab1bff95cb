package arming

import (
	"strings"
	"testing"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

func TestAllows(t *testing.T) {
	p := Default()
	p.Exists = true
	p.Groups = map[string][]string{"sre": {"bob", "carol"}}
	p.Arm.Allow = []Allow{
		{Apps: []string{"nav-*"}, By: []string{"alice", "@sre", "team-*"}},
		{Apps: []string{"prod/api", "dev/*"}, By: []string{"dave"}},
		{Apps: []string{"sandbox", "*/toy"}, By: []string{"*"}},
		{Apps: []string{"nobody"}},
		{Apps: []string{"odd"}, By: []string{"@nosuch", "[", "DOMAIN/eve"}},
	}
	app := func(s string) verdict.App {
		a, err := verdict.ParseApp(s)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	for _, c := range []struct {
		app, by string
		ok      bool
		why     string
	}{
		{"nav-web", "alice", true, "arm.allow[0] lets alice arm nav-web"},
		{"any/nav-web", "bob", true, "bob, of @sre,"},
		{"nav-web", "carol", true, ""},
		{"nav-web", "team-blue", true, ""},
		{"nav-web", "mallory", false, `"mallory" may not arm nav-web, only "@sre", "alice", "team-*"`},
		{"nav-web", "", false, "nobody is vouched for"},
		{"nav-web", "@sre", false, ""},
		{"nav-web", "sre", false, ""},
		{"nav-web", "Alice", false, ""},
		{"web", "alice", false, "no entry of arm.allow names web"},
		{"prod/api", "dave", true, ""},
		{"test/api", "dave", false, ""},
		{"api", "dave", false, "with a namespace, which the trailer leaves out"},
		{"dev/x", "dave", true, ""},
		{"sandbox", "", true, "everybody"},
		{"sandbox", "mallory", true, ""},
		{"toy", "", true, ""},
		{"x/toy", "", true, ""},
		{"nobody", "alice", false, ""},
		{"nobody", "", false, ""},
		{"odd", "eve", false, ""},
		{"odd", "[", true, ""}, // a name is a name, whatever is in it
		{"odd", "@nosuch", false, ""},
		{"odd", "DOMAIN/eve", true, ""},
	} {
		ok, why := p.Allows(app(c.app), c.by)
		if ok != c.ok || !strings.Contains(why, c.why) || why == "" {
			t.Errorf("Allows(%s, %q) = %v, %q; want %v, %q", c.app, c.by, ok, why, c.ok, c.why)
		}
	}
	p.Exists = false
	if ok, why := p.Allows(app("sandbox"), "alice"); ok || why == "" {
		t.Error("without a policy somebody may arm")
	}
}

func TestOwners(t *testing.T) {
	p := Policy{Exists: true, Groups: map[string][]string{"sre": {"bob"}}, Owners: []string{"@sre", "alice"}}
	for by, want := range map[string]bool{"alice": true, "bob": true, "mallory": false, "": false, "@sre": false} {
		if p.IsOwner(by) != want || p.MayChange(by) != want {
			t.Errorf("IsOwner(%q) = %v, MayChange = %v, want %v", by, p.IsOwner(by), p.MayChange(by), want)
		}
	}
	p.Owners = nil
	if p.IsOwner("alice") || !p.MayChange("alice") || !p.MayChange("") {
		t.Error("without owners nobody is one, and anybody may change the policy")
	}
}

func TestWatchesBranch(t *testing.T) {
	for _, c := range []struct {
		branches []string
		branch   string
		want     bool
	}{
		{nil, "main", true},
		{nil, "refs/heads/main", true},
		{nil, "release", false},
		{[]string{"release/*"}, "main", false},
		{[]string{"release/*"}, "release/1", true},
		{[]string{"release/*"}, "refs/heads/release/1", true},
		{[]string{"release/*"}, "release/1/2", false},
		{[]string{"**"}, "a/b/c", true},
		{[]string{"*"}, "a/b", false},
		{[]string{"main"}, "feature/main", false},
		{[]string{"**"}, "", false},
	} {
		if got := (Policy{Branches: c.branches}).WatchesBranch(c.branch, "refs/heads/main"); got != c.want {
			t.Errorf("WatchesBranch(%q) of %q = %v", c.branch, c.branches, got)
		}
	}
	if (Policy{}).WatchesBranch("", "") {
		t.Error("no branch is watched where the default branch is not known")
	}
}
