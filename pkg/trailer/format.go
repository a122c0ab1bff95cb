package trailer

import (
	"bytes"
	"strings"
)

// Format adds trailers to a message as `git commit --signoff` does: to its
// trailer block, or, if it has none, as a new last paragraph, above comments
// and a cut line (append_signoff and has_conforming_footer in git). What
// follows the block is kept; the block of the result ends with ts.
//
// A Trailer that could not be read back is changed so that it adds nothing
// else to the message: white space around the value is dropped, a line break
// or NUL in it becomes a space, a byte that no key may hold becomes '-'.
func Format(msg []byte, ts ...Trailer) []byte {
	if len(ts) == 0 {
		return bytes.Clone(msg)
	}
	var lines strings.Builder
	for _, t := range ts {
		lines.WriteString(t.line())
	}
	b := text(msg)
	block := Parse(b)
	if block.Start < block.End {
		if out, at := insert(msg, lastInBlock(b, block), "", lines.String()); endsAt(out, at, len(ts)) {
			return out
		}
	}
	if out, at := insert(msg, block.End, "\n", lines.String()); endsAt(out, at, len(ts)) {
		return out
	}
	// An old "Conflicts:" paragraph higher up can make git skip lines at the end
	// that it no longer skips below a trailer: then go below those, too. A cut line
	// at the very end is none until its line feed follows: stay above it.
	at := cutAt(b, string(comment))
	if last := lastLine(b); last >= 0 && string(b[last:])+"\n" == string(comment)+" "+cut {
		at = last
	}
	out, _ := insert(msg, at, "\n", lines.String())
	return out
}

// endsAt tells whether the last n trailers of msg start at the offset at, each
// on one line.
func endsAt(msg []byte, at, n int) bool {
	_, spans := parse(msg)
	if len(spans) < n || spans[len(spans)-n].start != at {
		return false
	}
	last := spans[len(spans)-1]
	return bytes.IndexByte(trim(msg[last.value:last.end]), '\n') < 0
}

// lastInBlock is the offset after the last line of the block that is neither
// blank nor a comment: below a blank line, a trailer would be a paragraph of its
// own.
func lastInBlock(b []byte, block Block) int {
	end := block.End
	for end > block.Start {
		i := lastLine(b[:end])
		if b[i] != comment && !isBlank(b[i:end]) {
			break
		}
		end = i
	}
	return end
}

// insert puts lines into msg at the offset at, after gap unless the line above
// is blank, and returns the offset at which they then stand.
func insert(msg []byte, at int, gap, lines string) ([]byte, int) {
	head := msg[:at:at]
	if at > 0 && head[at-1] != '\n' {
		head = append(head, '\n')
	}
	switch {
	case gap == "":
	case len(head) == 0:
		head = append(head, "\n\n"...) // room for a title, as git leaves it
	case len(head) == 1 || !isBlank(head[lastLine(head):]):
		head = append(head, gap...)
	}
	out := make([]byte, 0, len(head)+len(lines)+len(msg)-at)
	out = append(out, head...)
	out = append(out, lines...)
	return append(out, msg[at:]...), len(head)
}

// line is the trailer as a line of a message.
func (t Trailer) line() string {
	key := []byte(t.Key)
	for i, c := range key {
		if !isKey(c) {
			key[i] = '-'
		}
	}
	if len(key) == 0 {
		key = []byte{'-'}
	}
	value := []byte(t.Value)
	for i, c := range value {
		if c == '\n' || c == 0 {
			value[i] = ' '
		}
	}
	return string(key) + ": " + string(trim(value)) + "\n"
}
