package trailer

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"
)

// nearestField is the field that was probably meant, "" if there is none.
func nearestField(key string) string {
	for _, s := range synonyms {
		if equalKey(key, s[0]) {
			return s[1]
		}
	}
	return nearest(key, fieldNames[:]...)
}

// nearest is the candidate that s is a misspelling of, "" if there is none.
func nearest(s string, candidates ...string) string {
	best, found := 3, ""
	for _, c := range candidates {
		most := 2
		if len(c) <= 4 {
			most = 1
		}
		if d := distance(skeleton([]byte(s)), strings.ToLower(c)); d <= most && d < best {
			best, found = d, c
		}
	}
	return found
}

// miss is a line that was probably meant to be our trailer.
type miss struct {
	key  string
	why  string
	hint string
}

// maxKey is how much of a line is looked at for a key.
const maxKey = 96

// nearMiss looks at a line that starts at the first column. In a block a close
// key is enough; elsewhere the line must also name an application, because
// prose may well begin with such a word and a colon.
func nearMiss(line []byte, inBlock bool) (miss, bool) {
	line = line[:min(len(line), maxKey)]
	if len(line) == 0 || !startsWord(line) {
		return miss{}, false
	}
	key, sep, rest := splitKey(line)
	if key == nil || sep == ":" && equalKey(string(trim(key)), Key) {
		return miss{}, false
	}
	named := namesApp(rest)
	if !named && !inBlock {
		return miss{}, false
	}
	if plainlyFar(key) {
		return miss{}, false
	}
	s := skeleton(key)
	if !almost(s, key, named, sep != "") {
		return miss{}, false
	}
	shown := strings.TrimSpace(string(key))
	m := miss{key: shown, hint: "write " + Key + ": app=NAME ..."}
	switch {
	case !equalKey(shown, Key):
		m.why = quoteASCII(shown) + " is not the key " + Key
	case sep == "":
		m.why = "there is no ':' after " + Key
	default:
		m.why = quoteASCII(sep) + " stands where the ':' after " + Key + " belongs"
	}
	return m, true
}

// startsWord tells whether a line starts with a letter or digit, of whatever
// script, or with something invisible: not with a list mark, quote or bracket.
func startsWord(line []byte) bool {
	if c := line[0]; c < utf8.RuneSelf {
		return isKey(c) && c != '-'
	}
	r, _ := utf8.DecodeRune(line)
	return unicode.IsLetter(r) || unicode.IsDigit(r) || invisible(r)
}

// plainlyFar tells of an ASCII key, cheaply and for most, that it is not almost
// ours whatever follows: each edit mends one letter at most, so of the eleven in
// navwatchdog seven must be there.
func plainlyFar(key []byte) bool {
	var ours, seen uint32
	for _, c := range "navwatchdog" {
		ours |= 1 << (c - 'a')
	}
	for _, c := range key {
		if c >= utf8.RuneSelf {
			return false
		}
		if c = lower(c); c >= 'a' && c <= 'z' {
			seen |= 1 << (c - 'a')
		}
	}
	// The a stands twice, so of ten different letters six.
	return bits.OnesCount32(seen&ours) < 6
}

// plainlyNone tells cheaply of a message, and of nearly all that are not meant
// for us, that Lint finds nothing in it: whatever it looks for stands in a line
// before the first colon or '=', but for look-alikes, which are not ASCII.
func plainlyNone(msg []byte) bool {
	if !isASCII(msg) {
		return false
	}
	for len(msg) > 0 {
		line := msg[:nextLine(msg, 0)]
		msg = msg[len(line):]
		if i := bytes.IndexByte(line, ':'); i >= 0 {
			line = line[:i]
		} else if i = bytes.IndexByte(line, '='); i >= 0 {
			line = line[:i]
		} else {
			continue
		}
		if !plainlyFar(line) {
			return false
		}
	}
	return true
}

func isASCII(b []byte) bool {
	const high = 0x8080808080808080
	for ; len(b) >= 8; b = b[8:] {
		if binary.NativeEndian.Uint64(b)&high != 0 {
			return false
		}
	}
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// splitKey parts a line at the first colon or what looks like one, or at an
// '='. Before a field (app=...) the separator is "": it was left out.
func splitKey(line []byte) (key []byte, sep string, rest []byte) {
	for i := 0; i < len(line); {
		r, n := utf8.DecodeRune(line[i:])
		switch {
		case r == '=':
			word := bytes.LastIndexAny(line[:i], " \t") + 1
			if isField(line[word:i]) {
				return line[:word], "", line[word:]
			}
			return line[:i], "=", line[i+n:]
		case isColon(r):
			return line[:i], string(line[i : i+n]), line[i+n:]
		}
		i += n
	}
	return nil, "", nil
}

func isField(b []byte) bool {
	for _, name := range fieldNames {
		if string(b) == name {
			return true
		}
	}
	return false
}

// namesApp tells whether a value has an app or appset field.
func namesApp(rest []byte) bool {
	for _, name := range [...]string{"app=", "appset="} {
		for at := 0; ; {
			i := bytes.Index(rest[at:], []byte(name))
			if i < 0 {
				break
			}
			from := at + i
			at = from + len(name)
			if (from == 0 || isSpace(rest[from-1])) && at < len(rest) && !isSpace(rest[at]) {
				return true
			}
		}
	}
	return false
}

// almost tells whether a key, as written and as a skeleton, is almost ours.
func almost(s []rune, key []byte, named, colon bool) bool {
	d := distance(s, "navwatchdog")
	if words := bytes.Fields(key); len(words) > 1 {
		// Several words are prose ("the Nav-Watchdog: ...") unless they come very
		// close, or are our key and one more.
		if equalKey(string(words[len(words)-1]), Key) {
			return false
		}
		return d <= 1 || named && colon && len(words) == 2 && equalKey(string(words[0]), Key)
	}
	return d <= 2 || named && (d <= 4 || strings.Contains(string(s), "watchdog"))
}

// skeleton is what a reader sees of a word: lower-case letters and digits, with
// look-alikes of other scripts replaced, and no space, mark or hyphen.
func skeleton(word []byte) []rune {
	out := make([]rune, 0, maxKey)
	for len(word) > 0 && len(out) < maxKey {
		if c := word[0]; c < utf8.RuneSelf {
			word = word[1:]
			switch c {
			case ' ', '\t', '_', '.', '/', '-':
			default:
				out = append(out, rune(lower(c)))
			}
			continue
		}
		r, n := utf8.DecodeRune(word)
		word = word[n:]
		if r >= 0xFF01 && r <= 0xFF5E { // fullwidth forms of ASCII
			r -= 0xFF01 - '!'
		}
		r = unicode.ToLower(r)
		if i := strings.IndexRune(lookAlikes, r); i >= 0 {
			r = rune(looksLike[utf8.RuneCountInString(lookAlikes[:i])])
		}
		if invisible(r) || unicode.Is(unicode.Pd, r) || strings.ContainsRune("_./-\u2212", r) {
			continue
		}
		out = append(out, r)
	}
	return out
}

// lookAlikes are letters, in lower case, that a reader takes for the ASCII
// letter at the same place in looksLike: Cyrillic, Greek, Latin and Armenian.
const (
	lookAlikes = "аеосрхѕіԁһԝѵкнмтвгյ" + "αονωτιρκ" + "ɑɡıħ" + "օո"
	looksLike  = "aeocpxsidhwvkhmtbrj" + "aovwtipk" + "agih" + "on"
)

// isColon tells whether r is a colon or looks like one.
func isColon(r rune) bool {
	switch r {
	case ':', '：', '﹕', '︓', '꞉', '∶', 'ː', '˸', '։', '׃':
		return true
	default:
		return false
	}
}

// invisible tells whether r shows as nothing or as a space, ASCII left aside.
func invisible(r rune) bool {
	return r >= utf8.RuneSelf && r != utf8.RuneError && (unicode.IsSpace(r) || unicode.Is(unicode.Cf, r))
}

// distance is the number of letters to change, add or leave out to make a of
// b, which is ASCII. Words of very different length are simply far apart.
func distance(a []rune, b string) int {
	const far = 9
	if len(a) > len(b)+far || len(b) > len(a)+far {
		return far
	}
	var cells [32]int
	row := cells[:len(b)+1]
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if x != rune(b[j]) {
				cost = min(diagonal, row[j], row[j+1]) + 1
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
