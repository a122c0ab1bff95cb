package verdict

import (
	"regexp"
	"strings"
	"sync"
	"time"
)

// maxText bounds what is taken over from a cluster's or a person's words.
const maxText = 300

// userinfo is what stands before the host in an address: often a token.
var userinfo = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`://[^/\s]*@`) })

// clip makes foreign text one bounded line without control characters, and
// without the credentials of an address: notes are read by many. What is
// clipped stays as it is when it is clipped again.
func clip(s string) string {
	if isPlain(s) { // nearly all that is written, and all of a note that is read
		return s
	}
	return clipForeign(s)
}

func clipForeign(s string) string {
	s = strings.TrimSpace(s)
	s = userinfo().ReplaceAllString(s[:min(len(s), 16*maxText)], "://")
	s = strings.Join(strings.Fields(strings.Map(plainRune, s)), " ")
	if r := []rune(s); len(r) > maxText {
		return string(r[:maxText-len("...")]) + "..."
	}
	return s
}

// isPlain reports whether clip has nothing to do: short ASCII, single spaces, no
// address with credentials.
func isPlain(s string) bool {
	space, at := true, false
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c < ' ' || c >= 0x7f || c == ' ' && space {
			return false
		}
		space, at = c == ' ', at || c == '@'
	}
	if at && strings.Contains(s, "://") {
		return false
	}
	return len(s) <= maxText && (!space || s == "")
}

// plainRune replaces what would break a line or reorder it.
func plainRune(r rune) rune {
	switch {
	case r == '\n' || r == '\t' || r == '\r':
		return ' '
	case r < ' ' || (r >= 0x7f && r < 0xa0) || r == '\u2028' || r == '\u2029' || isBidi(r):
		return '\uFFFD'
	}
	return r
}

// isBidi: characters that reorder a line on a terminal or a web page.
func isBidi(r rune) bool {
	return (r >= 0x202a && r <= 0x202e) || (r >= 0x2066 && r <= 0x2069) || r == 0x200e || r == 0x200f
}

// The times that a note can hold. A cluster may say anything; what lies outside
// would be written in a form that nobody can read back.
var (
	firstTime = time.Unix(0, 0)
	lastTime  = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
)

func stamp(t time.Time) string {
	switch {
	case t.Before(firstTime):
		t = firstTime
	case t.After(lastTime):
		t = lastTime
	}
	return t.UTC().Format(time.RFC3339)
}
