package exit

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// A name with a letter that looks like another shows it; a name of one script
// stays readable.
func TestName(t *testing.T) {
	for in, want := range map[string]string{
		"main": "main", "m\u0430in": `m\u0430in`, "größe": "größe", "ветка": "ветка", "分支": "分支", "feature/分支": `feature/\u5206\u652f`,
		"a\x1b[1m": `a\x1b[1m`, "\u202emain": `\u202emain`, "ma\xffin": `ma\xffin`, "prod\u2010eu": "prod\u2010eu", "alice\u200b": `alice\u200b`,
	} {
		if got := Name(in, 72); got != want {
			t.Errorf("Name(%+q) = %s, want %s", in, got, want)
		}
	}
	if got := Name("аbcdef", 3); got != `\u0430bc...` {
		t.Errorf("a long name is %s", got)
	}
}

// FuzzPrintable: whatever stands in a text, a terminal only shows it; a Line is
// one line within its limit, and what was printable is as it was.
func FuzzPrintable(f *testing.F) {
	for _, s := range []string{"plain", "a\x1b[31m\u009b1m\u202e\xff\r\n\t", "m\u0430in", "\u200d\ufeff\U000e0001", strings.Repeat("é", 100)} {
		f.Add(s, 20)
	}
	f.Fuzz(func(t *testing.T, s string, limit int) {
		limit = limit % 1000
		for what, out := range map[string]string{"Printable": Printable(s), "Line": Line(s, limit), "Name": Name(s, limit)} {
			if !utf8.ValidString(out) || strings.ContainsFunc(out, func(r rune) bool {
				return !unicode.IsPrint(r) && (what != "Printable" || r != '\n' && r != '\t')
			}) {
				t.Fatalf("%s(%q) = %q", what, s, out)
			}
		}
		if out := Line(s, limit); limit > 0 && utf8.RuneCountInString(out) > limit+len("...") {
			t.Fatalf("Line(%q, %d) = %q", s, limit, out)
		}
		if again := Printable(Printable(s)); again != Printable(s) {
			t.Fatalf("%q becomes %q", Printable(s), again)
		}
	})
}
