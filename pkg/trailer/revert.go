package trailer

import (
	"bytes"
	"slices"
	"strings"
)

// maxReverted bounds the commits that one message can name.
const maxReverted = 256

// minAbbrev is how short an abbreviated id may be: git's default for a small repository.
const minAbbrev = 7

// IsRevert tells whether this is the message of a commit that git made to take
// another one back, and which: `Revert "` or `Reapply "` as the subject, or
// "This reverts commit <id>" at the start of a line below it (also ", reversing
// changes made to", for a merge). Only full ids (40 or 64 hex digits) are
// returned, in lower case, each once; with `git revert --reference`, or after
// an editor, ok can hold without any.
//
// A reapply is a revert by this function; [IsReapply] tells it apart.
func IsRevert(msg []byte) (commits []string, ok bool) {
	const sentence = "This reverts commit "
	b := text(msg)
	first := subject(b)
	ok = strings.HasPrefix(first, `Revert "`) || strings.HasPrefix(first, `Reapply "`)
	for i := nextLine(b, 0); i < len(b); i = nextLine(b, i) {
		rest, found := bytes.CutPrefix(b[i:], []byte(sentence))
		if !found {
			continue
		}
		n := hexLen(rest)
		if n < minAbbrev || n > 40 && n != 64 || n < len(rest) && isKey(rest[n]) {
			continue // "This reverts commit deadlines to ..." is prose
		}
		ok = true
		id := strings.ToLower(string(rest[:n]))
		if (n == 40 || n == 64) && len(commits) < maxReverted && !slices.Contains(commits, id) {
			commits = append(commits, id)
		}
	}
	return commits, ok
}

// IsReapply tells whether a revert brings a commit back: by its subject it
// takes back a revert. Git calls it `Revert "Revert "…""` up to 2.42 and
// `Reapply "…"` since; both nest.
func IsReapply(msg []byte) bool {
	s := subject(text(msg))
	reverts := 0
	for {
		if rest, ok := strings.CutPrefix(s, `Revert "`); ok {
			s, reverts = rest, reverts+1
		} else if rest, ok := strings.CutPrefix(s, `Reapply "`); ok {
			s, reverts = rest, reverts+2
		} else {
			return reverts > 0 && reverts%2 == 0
		}
	}
}

// subject is the first line that is not blank.
func subject(b []byte) string {
	for i := 0; i < len(b); i = nextLine(b, i) {
		if line := b[i:nextLine(b, i)]; !isBlank(line) {
			return string(trimRight(line))
		}
	}
	return ""
}

// hexLen counts the hex digits at the start of b, at most 65.
func hexLen(b []byte) int {
	n := 0
	for n < len(b) && n <= 64 && isHex(b[n]) {
		n++
	}
	return n
}

func isHex(c byte) bool {
	c = lower(c)
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f'
}
