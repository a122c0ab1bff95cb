package trailer

import "bytes"

// Mended is a message file in which [Mend] moved trailers to where git reads
// them.
type Mended struct {
	File    []byte
	Repairs []Repair
	Left    []Unmended // what only a person can mend; places are those of File
}

// Repair is one thing that was done.
type Repair struct {
	Rule Rule
	Line int    // in the file as it was given, from 1
	What string // for people, lower case
}

// Unmended is a finding of the rules that Mend is about, and why it is left.
type Unmended struct {
	Finding
	Why string
}

// Mends tells whether Mend is about a rule: OutsideBlock, SquashLost and
// KeyNearMiss.
func Mends(r Rule) bool { return r == OutsideBlock || r == SquashLost || r == KeyNearMiss }

// maxMends bounds how many repairs are tried.
const maxMends = 256

// Mend corrects keys that are almost ours, and moves our trailers that stand
// where git reads none to the end of the trailer block, without the indentation
// or quote mark before them and with the lines that continue them. A copy of what
// the block has already is deleted. A blank line goes with a trailer that was a
// paragraph, and comes where a block begins. Nothing else of the file changes, not
// a byte; no repair is kept by which git would read another trailer
// differently.
//
// The file is what an editor left, and c how git is going to clean it up; a
// stored message is Cleanup{Mode: Verbatim, KeepCut: true}.
func Mend(file []byte, c Cleanup) Mended {
	m := mender{clean: c, rows: rowsOf(file)}
	var repairs []Repair
	given := map[int]string{} // rows that were given up, by where they came from, and why
	for range maxMends {
		now := m.read()
		f, row, ok := m.next(now, given)
		if !ok {
			break
		}
		next, what, why := m.try(now, f, row)
		if why != "" {
			given[m.rows[row].from] = why
			continue
		}
		repairs = append(repairs, Repair{Rule: f.Rule, Line: m.rows[row].from, What: what})
		m.rows = next
		clear(given) // what was impossible may be possible now
	}
	out := Mended{File: joinRows(m.rows), Repairs: repairs}
	now := m.read()
	for _, f := range now.found {
		why := given[m.rows[now.row(f)].from]
		if why == "" {
			why = "there is too much to mend"
		}
		f.Pos.Line = now.row(f) + 1
		out.Left = append(out.Left, Unmended{f, why})
	}
	return out
}

// mender is a file that is being mended.
type mender struct {
	clean Cleanup
	rows  []row
}

// row is a line of the file, with its line feed, and where it stood at first.
type row struct {
	text []byte
	from int
}

func rowsOf(file []byte) []row {
	var rows []row
	for i, n := 0, 1; i < len(file); n++ {
		next := nextLine(file, i)
		rows = append(rows, row{file[i:next], n})
		i = next
	}
	return rows
}

func joinRows(rows []row) []byte {
	var out []byte
	for _, r := range rows {
		out = append(out, r.text...)
	}
	return out
}

// reading is the message that git would make of the file, and what Mend is
// about in it.
type reading struct {
	msg   []byte
	lines []int // of the file, for each line of msg
	block Block
	found []Finding
}

func (m mender) read() reading { return readRows(m.rows, m.clean) }

func readRows(rows []row, c Cleanup) reading {
	var r reading
	r.msg, r.lines = CleanLines(joinRows(rows), c)
	r.block = Parse(r.msg)
	for _, f := range Lint(r.msg, DefaultPolicy()) {
		if Mends(f.Rule) {
			r.found = append(r.found, f)
		}
	}
	return r
}

// row is the index of the row that a finding is about.
func (r reading) row(f Finding) int { return r.lines[f.Pos.Line-1] - 1 }

// next is the first finding that was not given up.
func (m mender) next(now reading, given map[int]string) (f Finding, row int, ok bool) {
	for _, f := range now.found {
		if row = now.row(f); given[m.rows[row].from] == "" {
			return f, row, true
		}
	}
	return Finding{}, 0, false
}

// count is how many findings there are of rules.
func (r reading) count(rules ...Rule) int {
	n := 0
	for _, f := range r.found {
		for _, rule := range rules {
			if f.Rule == rule {
				n++
			}
		}
	}
	return n
}

// correct gives a line whose key is almost ours the right one, and the colon.
func correct(line []byte) ([]byte, bool) {
	if _, ok := nearMiss(line, true); !ok {
		return nil, false
	}
	head := line[:min(len(line), maxKey)]
	_, _, rest := splitKey(head)
	value := line[len(head)-len(rest):]
	out := []byte(Key + ":")
	if len(value) > 0 && !isSpace(value[0]) {
		out = append(out, ' ')
	}
	return append(out, value...), true
}

// ending is the line feed of a line, with the CR before it if there is one.
func ending(line []byte) []byte {
	if bytes.HasSuffix(line, []byte("\r\n")) {
		return []byte("\r\n")
	}
	return newline
}
