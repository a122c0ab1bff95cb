package arming

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// cron is a schedule of five fields as Argo CD takes them (robfig/cron's parser
// with minute, hour, day of month, month and day of week; no descriptors). Each
// field is a set of bits.
type cron struct {
	minute, hour, day, month, weekday uint64
	anyDay, anyWeekday                bool // written as * or ?: the other day field alone decides
}

// maxCron bounds the text of a schedule.
const maxCron = 256

func parseCron(text string) (cron, error) {
	fields := strings.Fields(text)
	if len(text) > maxCron || len(fields) != 5 {
		return cron{}, fmt.Errorf("the schedule %q has not five fields", clip(text))
	}
	var c cron
	var err error
	for i, f := range []struct {
		bits      *uint64
		low, high int
		names     string
		star      *bool
	}{
		{&c.minute, 0, 59, "", nil},
		{&c.hour, 0, 23, "", nil},
		{&c.day, 1, 31, "", &c.anyDay},
		{&c.month, 1, 12, "jan feb mar apr may jun jul aug sep oct nov dec", nil},
		{&c.weekday, 0, 6, "sun mon tue wed thu fri sat", &c.anyWeekday},
	} {
		star := false
		if *f.bits, star, err = cronField(fields[i], f.low, f.high, strings.Fields(f.names)); err != nil {
			return cron{}, fmt.Errorf("the schedule %q: %w", clip(text), err)
		}
		if f.star != nil {
			*f.star = star
		}
	}
	return c, nil
}

func cronField(text string, low, high int, names []string) (bits uint64, star bool, err error) {
	for part := range strings.SplitSeq(text, ",") {
		expr, stepText, stepped := strings.Cut(part, "/")
		from, to, ranged := strings.Cut(expr, "-")
		first, last, step := low, high, 1
		switch {
		case (from == "*" || from == "?") && !ranged:
			star = star || !stepped || stepText == "1" // robfig: a step above 1 is no star
		case from == "*" || from == "?":
			return 0, false, fmt.Errorf("%q is no range", part)
		default:
			if first, err = cronNumber(from, low, names); err != nil {
				return 0, false, err
			}
			last = first
			if ranged {
				if last, err = cronNumber(to, low, names); err != nil {
					return 0, false, err
				}
			} else if stepped {
				last = high
			}
		}
		if stepped {
			if step, err = strconv.Atoi(stepText); err != nil || step < 1 {
				return 0, false, fmt.Errorf("%q is no step", part)
			}
		}
		if first < low || last > high || first > last {
			return 0, false, fmt.Errorf("%q is not within %d to %d", part, low, high)
		}
		for n := first; n <= last; n += step {
			bits |= 1 << n
		}
	}
	return bits, star, nil
}

func cronNumber(text string, low int, names []string) (int, error) {
	for i, name := range names {
		if strings.EqualFold(text, name) {
			return low + i, nil
		}
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q is no number", clip(text))
	}
	return n, nil
}

// next is the first moment after t that the schedule names, by t's own clock;
// false: none within five years.
func (c cron) next(t time.Time) (time.Time, bool) {
	t = t.Truncate(time.Minute).Add(time.Minute)
	for limit := t.AddDate(5, 0, 0); t.Before(limit); {
		switch {
		case c.month&(1<<t.Month()) == 0:
			t = time.Date(t.Year(), t.Month()+1, 1, 0, 0, 0, 0, t.Location())
		case !c.onDay(t):
			t = time.Date(t.Year(), t.Month(), t.Day()+1, 0, 0, 0, 0, t.Location())
		case c.hour&(1<<t.Hour()) == 0:
			t = t.Truncate(time.Hour).Add(time.Hour)
		case c.minute&(1<<t.Minute()) == 0:
			t = t.Add(time.Minute)
		default:
			return t, true
		}
	}
	return time.Time{}, false
}

func (c cron) onDay(t time.Time) bool {
	day, weekday := c.day&(1<<t.Day()) != 0, c.weekday&(1<<t.Weekday()) != 0
	if c.anyDay || c.anyWeekday {
		return day && weekday
	}
	return day || weekday
}
