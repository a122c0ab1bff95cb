package trailer

import (
	"bytes"
	"sort"
)

// prose knows where a message speaks about trailers, and where it lists what
// was squashed. It is read only for messages with a line that needs it.
type prose struct {
	fences  [][2]int // closed fences: first and last line
	heading int      // line of "Squashed commit of the following:", or 0
	lists   []list   // by line
}

// list is what is known from line on about "* subject" lists: the line of the
// item that this line may belong to, 0 if none.
type list struct {
	line  int
	loose int // the last item that is a paragraph of its own
	item  int // the last line at the first column, if that is an item
}

var squashHeading = []byte("Squashed commit of the following:")

// readProse goes through a message once.
func readProse(msg []byte) *prose {
	p := &prose{}
	var marks []fence
	var cur list
	above := true // is the line above blank?
	for i, n := 0, 1; i < len(msg); n++ {
		next := nextLine(msg, i)
		line := msg[i:next]
		if p.heading == 0 && bytes.HasPrefix(trim(line), squashHeading) {
			p.heading = n
		}
		if f, ok := fenceMark(line, n); ok {
			marks = append(marks, f)
		}
		below := next >= len(msg) || isBlank(msg[next:nextLine(msg, next)])
		if now := cur.after(line, n, above && below); now != cur {
			cur = now
			p.lists = append(p.lists, list{line: n, loose: cur.loose, item: cur.item})
		}
		above = isBlank(line)
		i = next
	}
	p.fences = closedFences(marks)
	return p
}

// after is what is known from line n on; alone says that the line is a
// paragraph.
func (l list) after(line []byte, n int, alone bool) list {
	item := bytes.HasPrefix(line, []byte("* "))
	switch {
	case isBlank(line) || isSpace(line[0]):
	case item:
		l.item = n
		if alone {
			l.loose = n
		}
	case isRule(line): // GitHub and Gitea end the list so, before Co-authored-by
		return list{}
	default:
		l.item = 0
	}
	return list{loose: l.loose, item: l.item}
}

// isRule tells whether a line is three or more dashes.
func isRule(line []byte) bool {
	line = trimRight(line)
	return len(line) >= 3 && len(bytes.Trim(line, "-")) == 0
}

// squashed tells whether a line stands in a list of squashed commits, and on
// which line that begins, or its item does.
func (p *prose) squashed(line int) (bool, int) {
	if p.heading != 0 && line > p.heading {
		return true, p.heading
	}
	i := sort.Search(len(p.lists), func(i int) bool { return p.lists[i].line > line }) - 1
	if i < 0 {
		return false, 0
	}
	l := p.lists[i]
	at := max(l.loose, l.item)
	return at != 0, at
}

// fenced tells whether a line stands in a fenced block. A fence that is never
// closed is none: it must not hide what follows.
func (p *prose) fenced(line int) bool {
	i := sort.Search(len(p.fences), func(i int) bool { return p.fences[i][1] >= line })
	return i < len(p.fences) && p.fences[i][0] < line
}

// fence is a line that may open or close a fenced block.
type fence struct {
	line, size int
	char       byte
	closes     bool // nothing follows the marks
	opens      bool
}

// fenceMark reads a line of three or more backticks or tildes, indented by at
// most three spaces (CommonMark 4.5).
func fenceMark(line []byte, n int) (fence, bool) {
	rest := bytes.TrimLeft(line, " ")
	if len(line)-len(rest) > 3 || len(rest) < 3 || rest[0] != '`' && rest[0] != '~' {
		return fence{}, false
	}
	info := bytes.TrimLeft(rest, string(rest[:1]))
	f := fence{line: n, size: len(rest) - len(info), char: rest[0]}
	f.closes = isBlank(info)
	f.opens = f.char == '~' || bytes.IndexByte(info, '`') < 0
	return f, f.size >= 3
}

// closedFences pairs marks in linear time: longest[i] tells whether any mark
// after i can close it, so that each search ends at the mark it looks for.
func closedFences(marks []fence) [][2]int {
	longest := make([]map[byte]int, len(marks)+1)
	longest[len(marks)] = map[byte]int{}
	for i := len(marks) - 1; i >= 0; i-- {
		longest[i] = longest[i+1]
		if m := marks[i]; m.closes && m.size > longest[i][m.char] {
			longest[i] = map[byte]int{'`': longest[i+1]['`'], '~': longest[i+1]['~']}
			longest[i][m.char] = m.size
		}
	}
	var closed [][2]int
	for i := 0; i < len(marks); i++ {
		open := marks[i]
		if !open.opens || longest[i+1][open.char] < open.size {
			continue
		}
		for i++; !marks[i].closes || marks[i].char != open.char || marks[i].size < open.size; i++ {
		}
		closed = append(closed, [2]int{open.line, marks[i].line})
	}
	return closed
}
