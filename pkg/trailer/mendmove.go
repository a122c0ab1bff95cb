package trailer

import (
	"bytes"
	"fmt"
	"slices"
)

// Why a finding is left.
const (
	whyTitle     = "moved away, it would leave the commit without a title"
	whyElse      = "moved, git would read the other trailers differently"
	whyNoUse     = "git would not read it where it would be moved to"
	whyNoLine    = "the line is no trailer once it is corrected"
	whyDisagrees = "another trailer asks for something else for the same application: keep one of them"
)

// try is one repair: the rows after it and what it did, or why it can't be.
func (m mender) try(now reading, f Finding, at int) (rows []row, what, why string) {
	if f.Rule == KeyNearMiss {
		return m.tryKey(now, at)
	}
	return m.tryMove(now, at)
}

func (m mender) tryKey(now reading, at int) (rows []row, what, why string) {
	text, ok := correct(m.rows[at].text)
	if !ok {
		return nil, "", whyNoLine
	}
	rows = slices.Clone(m.rows)
	rows[at].text = text
	next := readRows(rows, m.clean)
	switch {
	case next.count(KeyNearMiss) >= now.count(KeyNearMiss) || len(next.found) > len(now.found):
		return nil, "", whyNoLine
	case !keeps(now.block, next.block):
		return nil, "", whyElse
	}
	return rows, "corrected the key", ""
}

// keeps tells whether every trailer of a block is still there, perhaps with our
// key.
func keeps(before, after Block) bool {
	for _, b := range before.Trailers {
		if !slices.ContainsFunc(after.Trailers, func(a Trailer) bool { return a.Value == b.Value && (a.Key == b.Key || equalKey(a.Key, Key)) }) {
			return false
		}
	}
	return true
}

func (m mender) tryMove(now reading, at int) (rows []row, what, why string) {
	s, ok := looksOurs(m.rows[at].text)
	if !ok {
		return nil, "", whyNoLine
	}
	moved := m.taken(at, s.col-1)
	rest := without(m.rows, at, len(moved))
	trailer := Trailer{Key: Key, Value: valueOf(moved)}
	switch same, target := now.has(trailer); {
	case same:
		rows, what = rest, "deleted a copy of what the trailer block has"
	case target, m.disputed(now, at, trailer):
		return nil, "", whyDisagrees
	default:
		rows, what = m.insert(rest, moved, trailer), "moved to the trailer block"
	}
	if rows == nil {
		return nil, "", whyTitle
	}
	next := readRows(rows, m.clean)
	switch {
	case len(next.found) >= len(now.found) || next.count(KeyNearMiss) > now.count(KeyNearMiss):
		return nil, "", whyNoUse
	case !reads(now, next, trailer, len(rows) == len(rest)):
		return nil, "", whyElse
	}
	return rows, what, ""
}

// taken are the row at a place, without the mark before its key, and the rows
// that continue it: those of nothing but fields.
func (m mender) taken(at, mark int) []row {
	moved := []row{{fed(m.rows[at].text[mark:]), m.rows[at].from}}
	for _, r := range m.rows[at+1:] {
		if !isSpace(r.text[0]) || isBlank(r.text) || !allFields(r.text) {
			break
		}
		moved = append(moved, row{fed(r.text), r.from})
	}
	return moved
}

// fed is a line that ends.
func fed(line []byte) []byte {
	if bytes.HasSuffix(line, newline) {
		return line
	}
	return append(bytes.Clone(line), '\n')
}

func allFields(line []byte) bool {
	for _, w := range words(line, Pos{}) {
		if key, _, ok := bytes.Cut([]byte(w.text), []byte("=")); !ok || !isField(key) {
			return false
		}
	}
	return true
}

func valueOf(rows []row) string {
	text := joinRows(rows)
	return unfold(text[separator(text)+1:])
}

// without takes rows out, and one of two blank rows that would then meet, or
// the one that would be the last.
func without(rows []row, at, n int) []row {
	end := at + n
	above := at > 0 && isBlank(rows[at-1].text)
	switch {
	case end == len(rows):
		if above {
			at--
		}
	case isBlank(rows[end].text) && (above || at == 0):
		end++
	}
	return slices.Concat(rows[:at], rows[end:])
}

// watches is what the trailer asks for, alone in a block: at most one watch.
func (t Trailer) watches() []Watch {
	ws, _ := Decode([]byte("t\n\n"+t.line()), DefaultPolicy().Unlimited())
	return ws
}

// has tells whether the block has this trailer already, or one for the same
// target that asks for something else.
func (r reading) has(t Trailer) (same, target bool) {
	ws := t.watches()
	if len(ws) != 1 {
		for _, other := range r.block.Get(Key) {
			same = same || other.Value == t.Value
		}
		return same, false
	}
	for _, other := range r.block.Get(Key) {
		for _, o := range other.watches() {
			same = same || o.same(ws[0])
			target = target || o.target() == ws[0].target()
		}
	}
	return same, target
}

// disputed tells whether another misplaced trailer asks for something else for the
// target of this one, of the row at a place: which of them was meant, nobody but
// who wrote them knows.
func (m mender) disputed(now reading, at int, t Trailer) bool {
	ws := t.watches()
	if len(ws) != 1 {
		return false
	}
	for _, f := range now.found {
		row := now.row(f)
		s, ours := looksOurs(m.rows[row].text)
		if row == at || !ours {
			continue
		}
		other := Trailer{Key: Key, Value: valueOf(m.taken(row, s.col-1))}
		for _, o := range other.watches() {
			if o.target() == ws[0].target() && !o.same(ws[0]) {
				return true
			}
		}
	}
	return false
}

// insert puts rows where Format puts a trailer; nil if there is no title to
// put them below.
func (m mender) insert(rows, moved []row, t Trailer) []row {
	msg, lines := CleanLines(joinRows(rows), m.clean)
	if isBlank(msg[:titleEnd(msg)]) {
		return nil
	}
	formatted := Format(msg, t)
	ts := Parse(formatted).Trailers
	if len(ts) == 0 {
		return nil
	}
	// Format adds the trailer's line and, where it begins a block, a blank one above.
	gap := bytes.Count(fed(formatted), newline) - bytes.Count(fed(msg), newline) - 1
	above := ts[len(ts)-1].Pos.Line - 1 - gap
	if gap < 0 || gap > 1 || above < 1 || above > len(lines) {
		return nil
	}
	at := lines[above-1]
	out := slices.Clone(rows[:at])
	last := &out[at-1]
	last.text = fed(last.text)
	end := ending(last.text)
	if gap == 1 {
		out = append(out, row{text: end})
	}
	for _, r := range moved {
		if len(end) == 2 && len(ending(r.text)) == 1 {
			r.text = append(bytes.Clone(r.text[:len(r.text)-1]), end...)
		}
		out = append(out, r)
	}
	return append(out, rows[at:]...)
}

// reads tells whether git reads in next what it read before, and the trailer,
// unless that was a copy. A trailer that had ours for its continuation may lose
// it.
func reads(now, next reading, t Trailer, deleted bool) bool {
	before, after := now.block.Trailers, next.block.Trailers
	if !deleted {
		if len(after) == 0 || after[len(after)-1].Value != t.Value || !equalKey(after[len(after)-1].Key, Key) {
			return false
		}
		after = after[:len(after)-1]
	}
	if len(before) == 0 {
		return len(after) == 0
	}
	return slices.EqualFunc(before, after, func(b, a Trailer) bool {
		return b.Key == a.Key && (b.Value == a.Value || len(a.Value) < len(b.Value) && bytes.Contains([]byte(b.Value), []byte(t.Value)))
	})
}

// String is the repair in one line.
func (r Repair) String() string { return fmt.Sprintf("line %d: %s [%s]", r.Line, r.What, r.Rule) }
