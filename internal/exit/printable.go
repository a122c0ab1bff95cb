package exit

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable is s with everything escaped that could do more on a terminal than
// be read: control characters, escape sequences, what reorders text or has no
// width, and bytes that are no UTF-8. Newlines and tabs stay.
func Printable(s string) string { return escape(s, true) }

// Line is s as one line of at most limit characters (0: no limit); newlines
// are escaped too, and a cut is shown as "...".
func Line(s string, limit int) string {
	s = escape(s, false)
	if limit <= 0 || utf8.RuneCountInString(s) <= limit {
		return s
	}
	n := 0
	for i := range s {
		if n == limit {
			return s[:i] + "..."
		}
		n++
	}
	return s
}

// Name is Line for a name that a reader compares with others. Where it mixes
// Latin letters with those of another script, these are escaped: a Cyrillic "а"
// in "mаin" cannot be told from a Latin one.
func Name(s string, limit int) string {
	latin := strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Latin, r) })
	other := func(r rune) bool {
		return latin && r >= utf8.RuneSelf && r != utf8.RuneError && !unicode.In(r, unicode.Latin, unicode.Common)
	}
	if !strings.ContainsFunc(s, other) {
		return Line(s, limit)
	}
	var b strings.Builder
	for _, r := range Line(s, limit) {
		if other(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func escape(s string, multiline bool) string {
	clean := true
	for _, r := range s {
		if !shown(r, multiline) {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case shown(r, multiline):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		i += size
	}
	return b.String()
}

// shown is strict: unicode.IsPrint leaves out all of the categories C and Z but
// the space, so also C1, the bidirectional controls, U+2028 and the like. The
// replacement character counts as not shown, so that broken UTF-8 is found.
func shown(r rune, multiline bool) bool {
	return (unicode.IsPrint(r) && r != utf8.RuneError) || (multiline && (r == '\n' || r == '\t'))
}
