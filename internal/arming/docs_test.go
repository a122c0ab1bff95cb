package arming

import (
	"os"
	"regexp"
	"testing"
)

// docs/arming.md explains every rule, in order, with the hint that findings
// carry, and with a case that breaks it and the same mended.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile("../../docs/arming.md")
	if err != nil {
		t.Fatal(err)
	}
	section := regexp.MustCompile("(?m)^## `([a-z-]+)`\n\n(.{40,})\n\nCan be waived: (yes|no)\\.\n\nhint: (.+)$")
	sections := section.FindAllSubmatch(text, -1)
	rules := Rules()
	if len(sections) != len(rules) {
		t.Fatalf("%d rules are documented, %d exist", len(sections), len(rules))
	}
	cases := regexp.MustCompile("(Refused|Warned): .+ Mended: .+")
	for i, rule := range rules {
		if !cases.Match(sections[i][2]) {
			t.Errorf("%s has no case that breaks it and the same mended", rule.ID)
		}
		waived := map[bool]string{true: "yes", false: "no"}[rule.Waivable]
		if s := sections[i]; string(s[1]) != rule.ID || string(s[3]) != waived || string(s[4]) != rule.Hint {
			t.Errorf("rule %d is %q, waivable %q, hint %q; documented as %q, %q, %q", i, rule.ID, waived, rule.Hint, s[1], s[3], s[4])
		}
	}
}
