package verdict

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A trailer's value is words, `key=value` or bare; the last may be free text.
// Values that come from outside are escaped, so that a space ends a word.

// escapeWord writes a value as one word: space, %, control characters and what
// is not ASCII as %XX.
func escapeWord(s string) string {
	plain := true
	for i := range len(s) {
		plain = plain && !escaped(s[i])
	}
	if plain {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; escaped(c) {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func escaped(c byte) bool { return c <= ' ' || c == '%' || c >= 0x7f }

func unescapeWord(s string) (string, error) {
	if !strings.Contains(s, "%") {
		return s, nil
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", fmt.Errorf("word %q ends in an escape", s)
		}
		n, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil {
			return "", fmt.Errorf("word %q has a bad escape", s)
		}
		b.WriteByte(byte(n))
		i += 2
	}
	return b.String(), nil
}

// words builds a value. Zero values are left out, so that a note says only
// what is known.
type words []string

func (w *words) str(key, v string) {
	if v != "" {
		*w = append(*w, key+"="+escapeWord(v))
	}
}

func (w *words) time(key string, t time.Time) {
	if !t.IsZero() {
		*w = append(*w, key+"="+stamp(t))
	}
}

func (w *words) dur(key string, d time.Duration) {
	if d = d.Truncate(time.Second); d != 0 {
		*w = append(*w, key+"="+d.String())
	}
}

func (w *words) flag(key string, set bool) {
	if set {
		*w = append(*w, key)
	}
}

func (w words) String() string { return strings.Join(w, " ") }

// reader takes a value apart; the first error stays.
type reader struct {
	kv  []pair
	err error
}

type pair struct{ key, value string }

func readWords(v string, known ...string) *reader {
	r := &reader{kv: make([]pair, 0, len(known))}
	for f := range strings.FieldsSeq(v) {
		k, val, _ := strings.Cut(f, "=")
		if !slices.Contains(known, k) {
			r.fail("word %q is not known here", k)
			continue
		}
		if r.flag(k) {
			r.fail("word %q stands twice", k)
			continue
		}
		u, err := unescapeWord(val)
		if err != nil {
			r.fail("%v", err)
		}
		r.kv = append(r.kv, pair{k, u})
	}
	return r
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// get finds a word; there are few.
func (r *reader) get(key string) (value string, ok bool) {
	for i := range r.kv {
		if r.kv[i].key == key {
			return r.kv[i].value, true
		}
	}
	return "", false
}

func (r *reader) str(key string) string {
	v, _ := r.get(key)
	return v
}

func (r *reader) flag(key string) bool {
	_, ok := r.get(key)
	return ok
}

func (r *reader) time(key string) time.Time {
	v, ok := r.get(key)
	if !ok {
		return time.Time{}
	}
	t, err := readTime(v)
	if err != nil {
		r.fail("%s: %v", key, err)
	}
	return t
}

func (r *reader) dur(key string) time.Duration {
	v, ok := r.get(key)
	if !ok {
		return 0
	}
	d, err := time.ParseDuration(v)
	if err != nil || d < 0 {
		r.fail("%s: %q is no duration", key, v)
	}
	return d
}

func (r *reader) secs(key string) time.Duration {
	n, err := strconv.ParseUint(r.str(key), 10, 31)
	if err != nil {
		r.fail("%s: %q is no number of seconds", key, r.str(key))
	}
	return time.Duration(n) * time.Second
}

func readTime(v string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, v)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is no time", v)
	}
	return t.UTC(), nil
}

// seconds writes a duration as design, section 4, has it: `180s`.
func seconds(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) + "s" }

func secsWord(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) }
