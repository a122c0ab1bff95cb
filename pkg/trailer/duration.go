package trailer

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strings"
	"time"
)

// errFraction is what a time that is no whole number of seconds gives.
var errFraction = errors.New("is not a whole number of seconds")

// errOverflow is what a time beyond 292 years gives.
var errOverflow = errors.New("is too long")

// units are those of time.ParseDuration, in nanoseconds. Both signs for micro
// (U+00B5 and U+03BC) are known there, too.
var units = []struct {
	name string
	ns   uint64
}{
	// A unit stands before those that are a prefix of it.
	{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"μs", 1e3}, {"ms", 1e6},
	{"s", 1e9}, {"m", 60e9}, {"h", 3600e9},
}

// parseDuration reads plain seconds or a Go duration. It knows no sign, and is
// exact where time.ParseDuration drops what is below a nanosecond: a value that
// is no whole number of seconds is an error.
func parseDuration(s string) (time.Duration, error) {
	if s == "" || len(s) > 64 {
		return 0, errors.New("is no time")
	}
	var total uint64
	for rest := s; rest != ""; {
		var ns uint64
		var err error
		if ns, rest, err = component(rest, rest == s); err != nil {
			return 0, err
		}
		if total += ns; total > math.MaxInt64 {
			return 0, errOverflow
		}
	}
	if total%uint64(time.Second) != 0 {
		return 0, errFraction
	}
	return time.Duration(total), nil
}

// component reads one number and its unit. Only a number that is the whole
// value may go without: it is seconds.
func component(s string, first bool) (ns uint64, rest string, err error) {
	whole, rest := digits(s)
	frac, point := "", false
	if after, ok := strings.CutPrefix(rest, "."); ok {
		point = true
		frac, rest = digits(after)
	}
	if whole == "" || point && frac == "" {
		return 0, "", notTime(s)
	}
	unit := uint64(0)
	for _, u := range units {
		if after, ok := strings.CutPrefix(rest, u.name); ok {
			unit, rest = u.ns, after
			break
		}
	}
	if unit == 0 {
		if rest != "" || !first {
			return 0, "", notTime(s)
		}
		unit = uint64(time.Second)
	}
	ns, err = scale(whole, strings.TrimRight(frac, "0"), unit)
	return ns, rest, err
}

// scale is (whole + 0.frac) * unit, exactly.
func scale(whole, frac string, unit uint64) (uint64, error) {
	n, err := number(whole)
	if err != nil {
		return 0, err
	}
	hi, ns := bits.Mul64(n, unit)
	if hi != 0 || ns > math.MaxInt64 {
		return 0, errOverflow
	}
	if len(frac) > 14 { // 3600e9 has 13 digits: what is beyond them is below a nanosecond
		return 0, errFraction
	}
	f, err := number(frac)
	if err != nil {
		return 0, err
	}
	pow := uint64(1)
	for range len(frac) {
		pow *= 10
	}
	hi, lo := bits.Mul64(f, unit)
	q, r := bits.Div64(hi, lo, pow)
	if r != 0 {
		return 0, errFraction
	}
	return ns + q, nil
}

func digits(s string) (num, rest string) {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return s[:n], s[n:]
}

func number(s string) (uint64, error) {
	s = strings.TrimLeft(s, "0")
	if len(s) > 19 {
		return 0, errOverflow
	}
	n := uint64(0)
	for i := range len(s) {
		n = n*10 + uint64(s[i]-'0') // 19 digits fit
	}
	return n, nil
}

func notTime(s string) error {
	if strings.HasPrefix(s, "-") {
		return errors.New("is negative")
	}
	return fmt.Errorf("is no time (at %s)", quote(s))
}

// seconds prints a limit as a person would write it: 90s, 15m, 24h.
func seconds(d time.Duration) string {
	switch {
	case d >= time.Hour && d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d >= time.Minute && d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d%time.Second == 0:
		return fmt.Sprintf("%ds", d/time.Second)
	default:
		return d.String()
	}
}
