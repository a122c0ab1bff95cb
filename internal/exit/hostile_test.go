package exit

import "testing"

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
