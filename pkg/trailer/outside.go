package trailer

import (
	"bytes"
	"fmt"
	"sort"
	"strings"
)

// stray is a line that looks like our trailer and is none.
type stray struct {
	at    int // offset of the line
	line  int
	col   int   // of the key
	bare  bool  // the key stands at the first column
	close *miss // set if the key is only close
}

// outside reports lines that look like our trailer and are none.
func (l *linter) outside() {
	strays := l.strays()
	if len(strays) == 0 {
		return
	}
	prose := readProse(l.msg)
	var why reasons
	before := len(l.findings)
	for _, s := range strays {
		if len(l.findings)-before > maxFindings {
			return // in order, and all errors: no more would be shown
		}
		at := Pos{Line: s.line, Col: s.col}
		fenced := prose.fenced(s.line)
		squashed, heading := prose.squashed(s.line)
		switch {
		case fenced && !squashed:
		case s.close != nil:
			l.nearMiss(at, *s.close)
		case s.at >= l.block.Start && s.at < l.block.End:
			l.folded(s, at)
		case s.bare && l.inLast(s.at, &why):
			l.fail(OutsideBlock, at, "git reads no trailer here: "+why.void, why.hint)
		case squashed:
			l.fail(SquashLost, at, fmt.Sprintf("git reads no trailer here: it belongs to a commit in the list on line %d, and is lost by the squash", heading),
				"move it to the last paragraph of the message, at the first column")
		case s.bare:
			message, hint := l.elsewhere(s.at, &why)
			l.fail(OutsideBlock, at, "git reads no trailer here: "+message, hint)
		}
	}
}

// strays finds the lines, first by their looks alone.
func (l *linter) strays() []stray {
	// Each has our key or names an application, and nearly no message does.
	if !mentions(l.msg) && !mayNameApp(l.msg) {
		return nil
	}
	var found []stray
	spans := l.spans
	for i, n := 0, 1; i < len(l.msg); n++ {
		next := nextLine(l.msg, i)
		line := l.msg[i:next]
		if len(spans) > 0 && spans[0].start == i {
			spans = spans[1:]
		} else if s, ok := looksOurs(line); ok && (n > 1 || namesField(line)) {
			s.at, s.line = i, n
			found = append(found, s)
		} else if m, ok := nearMiss(line, false); ok {
			near := m // escapes, m does not
			found = append(found, stray{at: i, line: n, col: 1, bare: true, close: &near})
		}
		i = next
	}
	return found
}

// mayNameApp tells cheaply whether namesApp can hold of a line of a message: few
// have a '=' at all.
func mayNameApp(msg []byte) bool {
	for i := 0; ; i++ {
		n := bytes.IndexByte(msg[i:], '=')
		if n < 0 {
			return false
		}
		i += n
		if bytes.HasSuffix(msg[:i], []byte("app")) || bytes.HasSuffix(msg[:i], []byte("appset")) {
			return true
		}
	}
}

// looksOurs tells whether a line is our key and a colon, perhaps indented,
// quoted or in a list.
func looksOurs(line []byte) (stray, bool) {
	mark := 0
	for mark < len(line) && strings.IndexByte(" \t>*-", line[mark]) >= 0 {
		mark++
	}
	rest := line[mark:]
	if len(rest) <= len(Key) || !equalKey(string(rest[:len(Key)]), Key) || separator(rest) < len(Key) {
		return stray{}, false
	}
	if !isBlank(rest[len(Key):separator(rest)]) {
		return stray{}, false
	}
	return stray{col: mark + 1, bare: mark == 0}, true
}

// namesField tells whether a line has a field. On the first line the key alone
// proves nothing: "nav-watchdog: fix the parser" is a usual subject.
func namesField(line []byte) bool {
	for _, w := range words(line, Pos{}) {
		if key, _, ok := bytes.Cut([]byte(w.text), []byte("=")); ok && isField(key) {
			return true
		}
	}
	return false
}

// folded reports an indented line in the block: git takes it for more of the
// trailer above it, or for text.
func (l *linter) folded(s stray, at Pos) {
	const hint = "start the line at the first column"
	i := sort.Search(len(l.spans), func(i int) bool { return l.spans[i].end > s.at })
	if i < len(l.spans) && l.spans[i].start < s.at {
		if t := l.block.Trailers[i]; !equalKey(t.Key, Key) { // in ours it is a bad field already
			l.fail(OutsideBlock, at, fmt.Sprintf("git reads no trailer here: indented, the line belongs to the value of %s on line %d", quote(t.Key), t.Pos.Line), hint)
		}
		return
	}
	if bytes.IndexByte(l.msg[s.at:s.at+s.col-1], '>') < 0 {
		l.fail(OutsideBlock, at, "git reads no trailer here: indented, the line is text in the trailer block", hint)
	}
}

// reasons holds what is found once a message: where its parts are, and why the
// last paragraph is no block.
type reasons struct {
	known      bool
	title, cut int // where the title ends and the cut line is
	from, line int // where the last paragraph starts
	void, hint string
}

// inLast fills in the reasons, and tells whether the offset lies in the last
// paragraph.
func (l *linter) inLast(at int, r *reasons) bool {
	if !r.known {
		b := l.msg[:l.block.End]
		*r = reasons{known: true, title: titleEnd(b), cut: cutAt(text(l.msg), string(comment)), from: lastParagraph(b)}
		r.line = lineAt(l.msg, r.from)
		if r.from < r.title {
			r.void = "the message is one paragraph, and its first paragraph is the title"
			r.hint = "leave a blank line above the trailer"
		} else {
			r.void, r.hint = voided(b, r.from, r.line)
		}
	}
	return at >= r.from && at < l.block.End
}

// lastParagraph is the offset at which the last paragraph of b starts, found as
// blockStart finds it.
func lastParagraph(b []byte) int {
	end, blank := len(b), true
	for i := lastLine(b); i >= 0; i = lastLine(b[:end]) {
		switch line := b[i:end]; {
		case line[0] == comment:
		case !isBlank(line):
			blank = false
		case !blank:
			return end
		}
		end = i
	}
	return 0
}

// voided says which line of the paragraph at from, which has a trailer, keeps
// it from being a trailer block.
func voided(b []byte, from, n int) (why, hint string) {
	var c count // only counts: the line itself is found going down
	stray, text, above := 0, "", true
	follows := false // does a continuation belong to a trailer?
	for i := from; i < len(b); n++ {
		next := nextLine(b, i)
		line := b[i:next]
		i = next
		switch {
		case line[0] == comment:
			follows = false
		case isTrailer(line) || isGitMade(line):
			c.add(line)
			follows = true
			above = above && stray != 0
		case isSpace(line[0]) && (follows || isBlank(line)):
		default:
			c.plain++
			if stray == 0 {
				stray, text = n, string(trimRight(line))
			}
			follows = false
		}
	}
	why = fmt.Sprintf("line %d, %s, is no trailer, so the whole paragraph is text to git", stray, quote(text))
	if c.recognised {
		why = fmt.Sprintf("the paragraph has %d lines that are no trailers, more than three times its %d trailers; the first is line %d, %s", c.plain, c.trailers, stray, quote(text))
	}
	hint = fmt.Sprintf("move line %d to a paragraph of its own above, or make it a trailer", stray)
	if above {
		hint = fmt.Sprintf("put a blank line between line %d and the trailers", stray)
	}
	return why, hint
}

// elsewhere says why there is no trailer at an offset outside the last
// paragraph, once the reasons are filled in.
func (l *linter) elsewhere(at int, r *reasons) (why, hint string) {
	switch {
	case at >= len(text(l.msg)):
		return "a NUL byte above it ends the message", "remove the NUL byte"
	case at >= r.cut:
		return fmt.Sprintf("it stands below the cut line on line %d", lineAt(l.msg, r.cut)), "move it above the cut line"
	case at < r.title:
		return "the first paragraph is the title", "move it to the last paragraph of the message"
	default:
		return fmt.Sprintf("only the last paragraph can hold trailers, and that starts on line %d", r.line),
			"move it to the last paragraph, without a blank line between trailers"
	}
}
