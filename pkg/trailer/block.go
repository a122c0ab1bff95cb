package trailer

import "bytes"

// comment starts a comment line: what git uses where nothing is configured,
// and what a server that parses a stored commit uses.
const comment = '#'

// cut is the line below which `git commit -v` puts the diff, without the
// comment string and the space before it.
const cut = "------------------------ >8 ------------------------\n"

var newline = []byte{'\n'}

// text is the message as git sees it: up to the first NUL.
func text(msg []byte) []byte {
	if i := bytes.IndexByte(msg, 0); i >= 0 {
		return msg[:i]
	}
	return msg
}

// isSpace is git's isspace: VT, FF, NBSP and the like are none.
func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r'
}

// isKey tells whether a key may hold c. Git's isalnum knows ASCII only.
func isKey(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-'
}

// isBlank tells whether a line holds white space only.
func isBlank(line []byte) bool {
	for _, c := range line {
		if !isSpace(c) {
			return false
		}
	}
	return true
}

func trim(b []byte) []byte {
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// equalKey compares as strcasecmp does in git: ASCII letters only, whereas
// strings.EqualFold would take U+212A for a k and U+017F for an s.
func equalKey(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// nextLine is the offset of the line after the one that starts at i.
func nextLine(b []byte, i int) int {
	if n := bytes.IndexByte(b[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(b)
}

// lastLine is the offset at which the last line of b starts, -1 if b is empty.
func lastLine(b []byte) int {
	if len(b) == 0 {
		return -1
	}
	return bytes.LastIndexByte(b[:len(b)-1], '\n') + 1
}

// separator is the offset of the colon that ends a key in this line; 0 if the
// line starts with one, -1 if there is none (find_separator in git).
func separator(line []byte) int {
	space := false
	for i, c := range line {
		switch {
		case c == ':':
			return i
		case isKey(c) && !space:
		case i > 0 && (c == ' ' || c == '\t'):
			space = true
		default:
			return -1
		}
	}
	return -1
}

// cutAt is the offset of the cut line in b, len(b) if there is none
// (wt_status_locate_end in git: the whole line, line feed included).
func cutAt(b []byte, comment string) int {
	line := []byte("\n" + comment + " " + cut)
	if bytes.HasPrefix(b, line[1:]) {
		return 0
	}
	if i := bytes.Index(b, line); i >= 0 {
		return i + 1
	}
	return len(b)
}

// blockEnd is the offset at which a trailer block would end: what an editor or
// a merge leaves at the end is no part of it (ignore_non_trailer in git).
func blockEnd(b []byte) int {
	end := cutAt(b, string(comment))
	// tail is where the run of lines to be dropped starts, 0 while there is
	// none. A run that starts at offset 0 is therefore seen from its second
	// line on: that is git's behaviour, too.
	tail, conflicts := 0, false
	for i := 0; i < end; i = nextLine(b, i) {
		switch {
		case b[i] == comment || b[i] == '\n':
			if tail == 0 {
				tail = i
			}
		case bytes.HasPrefix(b[i:], []byte("Conflicts:\n")):
			conflicts = true
			if tail == 0 {
				tail = i
			}
		case conflicts && b[i] == '\t':
		case tail != 0:
			tail, conflicts = 0, false
		}
	}
	if tail != 0 {
		return tail
	}
	return end
}

// titleEnd is the offset of the first blank line: nothing above it is a trailer.
func titleEnd(b []byte) int {
	i := 0
	for i < len(b) {
		next := nextLine(b, i)
		if isBlank(b[i:next]) {
			break
		}
		i = next
	}
	return i
}

// blockStart is the offset at which the trailer block of b starts, len(b) if
// there is none; b ends where a block would end (find_trailer_start in git).
func blockStart(b []byte) int {
	title := titleEnd(b)
	var c count
	blank := true
	for end := len(b); ; {
		i := lastLine(b[:end])
		if i < title {
			return len(b)
		}
		line := b[i:end]
		switch {
		case line[0] == comment:
			c.comment()
		case isBlank(line):
			if !blank {
				if c.block() {
					return end
				}
				return len(b)
			}
		default:
			blank = false
			c.add(line)
		}
		end = i
	}
}

// count adds up the lines of a paragraph, from the last to the first.
type count struct {
	recognised      bool // has a line that only git writes
	trailers, plain int
	indented        int // lines that continue whatever will be found above them
}

func (c *count) comment() {
	c.plain += c.indented
	c.indented = 0
}

func (c *count) add(line []byte) {
	switch gitMade := isGitMade(line); {
	case gitMade || isTrailer(line):
		c.trailers++
		c.indented = 0
		c.recognised = c.recognised || gitMade
	case isSpace(line[0]):
		c.indented++
	default:
		c.plain += 1 + c.indented
		c.indented = 0
	}
}

// block is the decision at the blank line above the paragraph.
func (c *count) block() bool {
	plain := c.plain + c.indented
	return c.recognised && c.trailers*3 >= plain || c.trailers > 0 && plain == 0
}

// isTrailer tells whether the line, in a block, would be a trailer.
func isTrailer(line []byte) bool { return separator(line) >= 1 }

// isGitMade knows the lines by which git recognises a block of its own making
// (git_generated_prefixes in git, case and final space included).
func isGitMade(line []byte) bool {
	return bytes.HasPrefix(line, []byte("Signed-off-by: ")) ||
		bytes.HasPrefix(line, []byte("(cherry picked from commit "))
}
