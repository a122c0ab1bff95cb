package verdict

import (
	"strings"
	"testing"
)

// What clip takes for plain is what it would not have changed.
func FuzzClip(f *testing.F) {
	for _, s := range []string{
		"", " ", "a", "a b", "a  b", " a", "a ", "a\tb", "a\x7f", "h\u00e9", "\xff", "a@b", "http://a", "http://t0ken@h/x", "@ ://",
		strings.Repeat("x", maxText), strings.Repeat("x", maxText+1), strings.Repeat("x", 17*maxText), "a\u2028b", "\u202ea",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, want := clip(s), clipForeign(s); got != want {
			t.Errorf("clip(%q) = %q, want %q", s, got, want)
		}
	})
}
