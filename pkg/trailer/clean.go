package trailer

import (
	"bytes"
	"strings"
)

// CleanupMode is a mode of `git commit --cleanup`, or of commit.cleanup.
type CleanupMode string

// The modes of --cleanup. Git's default is Strip if an editor was used and
// Whitespace if not; the zero value is Strip.
const (
	Strip      CleanupMode = "strip"      // drops comment lines, and what Whitespace drops
	Whitespace CleanupMode = "whitespace" // drops trailing white space and surplus blank lines
	Scissors   CleanupMode = "scissors"   // drops the cut line and all below it, then as Whitespace
	Verbatim   CleanupMode = "verbatim"   // drops nothing
)

// Cleanup is how git is going to clean up a message.
type Cleanup struct {
	Comment string // core.commentChar or core.commentString; "" is "#"
	Mode    CleanupMode

	// KeepCut says that neither -v was given nor the mode is Scissors. Git then
	// takes a cut line for a comment or for text. A hook is not told, but where an
	// editor was used it finds the line only if git put it there or somebody
	// copied it; so the zero value cuts, in every mode, as -v does.
	KeepCut bool
}

// Clean returns what git makes of an edited message (a commit-msg file) when it
// commits (cleanup_message and strbuf_stripspace in git).
func Clean(msg []byte, c Cleanup) []byte {
	out, _ := CleanLines(msg, c)
	return out
}

// CleanLines is Clean, and says from which line of msg, counted from 1, each
// line of the result comes, so that a finding can be shown where a person
// wrote it.
func CleanLines(msg []byte, c Cleanup) ([]byte, []int) {
	prefix := c.prefix()
	if at, ok := c.cut(msg); ok {
		msg = msg[:at]
	}
	strip := c.Mode == Strip || c.Mode == ""
	out := make([]byte, 0, len(msg)+1)
	var from []int
	blanks := 0
	for i, n := 0, 1; i < len(msg); n++ {
		next := nextLine(msg, i)
		line := msg[i:next]
		i = next
		if c.Mode == Verbatim {
			out, from = append(out, line...), append(from, n)
			continue
		}
		if strip && bytes.HasPrefix(line, []byte(prefix)) {
			continue
		}
		if line = trimRight(line); len(line) == 0 {
			blanks++
			continue
		}
		if blanks > 0 && len(out) > 0 {
			out, from = append(out, '\n'), append(from, n-1)
		}
		blanks = 0
		out, from = append(append(out, line...), '\n'), append(from, n)
	}
	return out, from
}

// HasCut tells whether Clean ends msg at a cut line, so that what is below, were
// it more than msg holds, does not matter.
func HasCut(msg []byte, c Cleanup) bool {
	_, ok := c.cut(msg)
	return ok
}

// cut is the offset of the cut line at which the message ends.
func (c Cleanup) cut(msg []byte) (at int, ok bool) {
	if c.KeepCut && c.Mode != Scissors {
		return 0, false
	}
	// A cut line below a NUL is not seen: git looks for it as for a C string.
	b := text(msg)
	at = cutAt(b, c.prefix())
	return at, at < len(b)
}

func (c Cleanup) prefix() string {
	if c.Comment == "" {
		return string(comment)
	}
	return c.Comment
}

func trimRight(b []byte) []byte {
	for len(b) > 0 && isSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// AutoComment guesses the comment character where core.commentChar is "auto".
// Git then takes one that starts no line of the message and writes its template
// with it, and only the template shows which one it was: the cut line, or else
// the last line of the file.
func AutoComment(msg []byte) string {
	const candidates = "#;@!$%^&|:" // adjust_comment_line_char in git
	var last []byte
	for i := 0; i < len(msg); {
		next := nextLine(msg, i)
		line := msg[i:next]
		i = next
		if isBlank(line) {
			continue
		}
		if string(line[1:]) == " "+cut {
			return string(line[:1])
		}
		last = line
	}
	if len(last) > 0 && strings.IndexByte(candidates, last[0]) >= 0 {
		return string(last[:1])
	}
	return string(comment)
}
