package trailer

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func TestParseDuration(t *testing.T) {
	for _, c := range []struct {
		in   string
		want time.Duration
		err  string
	}{
		{in: "0"},
		{in: "900", want: 900 * time.Second},
		{in: "0900", want: 900 * time.Second},
		{in: "15m", want: 15 * time.Minute},
		{in: "1h30m5s", want: time.Hour + 30*time.Minute + 5*time.Second},
		{in: "1.5m", want: 90 * time.Second},
		{in: "1.50m", want: 90 * time.Second},
		{in: "2.0", want: 2 * time.Second},
		{in: "60000ms", want: time.Minute},
		{in: "500ms500ms", want: time.Second},
		{in: "1000000\u00b5s", want: time.Second},
		{in: "1000000\u03bcs", want: time.Second},
		{in: "0.00000000000000000000s"},
		{in: "9223372036", want: 9223372036 * time.Second},
		{in: "9223372037", err: "is too long"},
		{in: "9223372036s1s", err: "is too long"},
		{in: "9223372037s9223372037s", err: "is too long"},
		{in: "9223372036s18446744073s", err: "is too long"},
		{in: "2562048h", err: "is too long"},
		{in: "99999999999999999999", err: "is too long"},
		{in: "1.5", err: "is not a whole number of seconds"},
		{in: "1500ms", err: "is not a whole number of seconds"},
		{in: "1ns", err: "is not a whole number of seconds"},
		{in: "1.0000000000000001s", err: "is not a whole number of seconds"},
		{in: "1s0.3ns", err: "is not a whole number of seconds"},
		{in: "-5", err: "is negative"},
		{in: "-5m", err: "is negative"},
		{in: "", err: "is no time"},
		{in: "+5", err: `is no time (at "+5")`},
		{in: ".5h", err: `is no time (at ".5h")`},
		{in: "5.h", err: `is no time (at "5.h")`},
		{in: "1h30", err: `is no time (at "30")`},
		{in: "30 1h", err: `is no time (at "30 1h")`},
		{in: "1d", err: `is no time (at "1d")`},
		{in: "\u0661", err: "is no time (at \"\u0661\")"},
		{in: strings.Repeat("1s", 33), err: "is no time"},
	} {
		got, err := parseDuration(c.in)
		if text := errText(err); got != c.want || text != c.err {
			t.Errorf("parseDuration(%q) = %v, %q; want %v, %q", c.in, got, text, c.want, c.err)
		}
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestParseDurationAsGo holds that what is read is what time.ParseDuration
// reads, and that only what is refused on purpose is refused.
func TestParseDurationAsGo(t *testing.T) {
	r := rand.New(rand.NewPCG(*randomSeed, 2))
	parts := []string{"0", "1", "2", "5", "9", "30", "00", ".", ".5", ".25", "ns", "us", "\u00b5s", "ms", "s", "m", "h", "h", "s", "m", "1000ms", "d", "-", "+", " "}
	read := 0
	for range 20000 {
		var b strings.Builder
		for range 1 + r.IntN(6) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		in := b.String()
		got, err := parseDuration(in)
		if strings.Trim(in, "0123456789.") == "" {
			in += "s" // plain seconds are ours
		}
		want, goErr := time.ParseDuration(in)
		switch {
		case err == nil && (goErr != nil || got != want):
			t.Errorf("%q: got %v, Go has %v, %v", in, got, want, goErr)
		case err == nil:
			read++
		case goErr == nil && want%time.Second == 0 && want >= 0 && errText(err) != errFraction.Error() &&
			!strings.ContainsAny(in, "+-") && !strings.HasPrefix(in, ".") && !pointWithoutDigits(in):
			t.Errorf("%q: refused (%v), Go has %v", in, err, want)
		}
	}
	if read < 500 {
		t.Errorf("only %d times were read", read)
	}
}

// pointWithoutDigits finds "5.s" and "m.5s", which Go reads.
func pointWithoutDigits(s string) bool {
	for i := range len(s) {
		if s[i] == '.' && (i == 0 || i+1 == len(s) || s[i-1] < '0' || s[i-1] > '9' || s[i+1] < '0' || s[i+1] > '9') {
			return true
		}
	}
	return false
}
