package trailer

import (
	"bytes"
	"strings"
)

// Key is the key of the trailer by which a commit asks to be watched.
const Key = "Nav-Watchdog"

// Pos is a place in a message: both count from 1, Col counts bytes.
type Pos struct{ Line, Col int }

// before orders places as they stand in the message.
func (p Pos) before(q Pos) bool {
	return p.Line < q.Line || p.Line == q.Line && p.Col < q.Col
}

// Trailer is one trailer. Value is unfolded and trimmed, as git prints it.
type Trailer struct {
	Key, Value string
	Pos        Pos // of the first byte of the key; zero in a Trailer to be formatted
}

// Block is the trailer block of a message.
type Block struct {
	Trailers   []Trailer
	Start, End int // byte offsets in the message; equal when there is no block
}

// Parse reads the trailer block of msg exactly as `git interpret-trailers
// --parse --no-divider` does, with '#' as the comment character. It is total:
// a message without a block is no error.
func Parse(msg []byte) Block {
	block, _ := parse(msg)
	return block
}

// Get returns the trailers with this key, compared as git does: without regard
// to the case of ASCII letters.
func (b Block) Get(key string) []Trailer {
	var ts []Trailer
	for _, t := range b.Trailers {
		if equalKey(t.Key, key) {
			ts = append(ts, t)
		}
	}
	return ts
}

// span is where a trailer stands in the message: its line starts at start, its
// value, raw and with its continuations, lies from value to end.
type span struct{ start, value, end int }

// parse is Parse, and says where each trailer stands.
func parse(msg []byte) (Block, []span) {
	b := text(msg)
	end := blockEnd(b)
	start := blockStart(b[:end])
	spans := split(b[:end], start)
	block := Block{Start: start, End: end}
	if len(spans) == 0 {
		return block, nil
	}
	block.Trailers = make([]Trailer, 0, len(spans))
	line, at := 1, 0
	for _, s := range spans {
		line, at = line+bytes.Count(b[at:s.start], newline), s.start
		block.Trailers = append(block.Trailers, Trailer{
			Key:   string(trim(b[s.start : s.value-1])),
			Value: unfold(b[s.value:s.end]),
			Pos:   Pos{Line: line, Col: 1},
		})
	}
	return block, spans
}

// split finds the trailers from start to the end of b, which is the end of the
// block (trailer_info_get and process_input_file in git).
func split(b []byte, start int) []span {
	var spans []span
	folds := false // may a line that starts with white space go on with the last one?
	for i := start; i < len(b); {
		next := nextLine(b, i)
		if folds && isSpace(b[i]) {
			spans[len(spans)-1].end = next
			i = next
			continue
		}
		sep := separator(b[i:next])
		folds = sep >= 1
		if folds {
			spans = append(spans, span{start: i, value: i + sep + 1, end: next})
		}
		i = next
	}
	return spans
}

// unfold joins the lines of a value and trims it (unfold_value in git, which
// trims before and after).
func unfold(raw []byte) string {
	raw = trim(raw)
	if bytes.IndexByte(raw, '\n') < 0 {
		return string(raw)
	}
	var out strings.Builder
	out.Grow(len(raw))
	for len(raw) > 0 {
		nl := bytes.IndexByte(raw, '\n')
		if nl < 0 {
			out.Write(raw)
			break
		}
		out.Write(raw[:nl])
		out.WriteByte(' ')
		for raw = raw[nl:]; len(raw) > 0 && isSpace(raw[0]); raw = raw[1:] {
		}
	}
	return out.String()
}
