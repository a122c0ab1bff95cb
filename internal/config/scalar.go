package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// maxDuration bounds every duration, so that sums and multiples of them stay
// far from an overflow.
const maxDuration = 31 * 24 * time.Hour

// parseDuration reads plain seconds or a Go duration, in whole seconds, not
// negative. It rounds nothing.
func parseDuration(s string) (time.Duration, error) {
	if s != "" && strings.Trim(s, "0123456789") == "" {
		seconds, err := strconv.ParseInt(s, 10, 64)
		if err != nil || seconds > int64(maxDuration/time.Second) {
			return 0, fmt.Errorf("%q is more than %s", clip(s), span(maxDuration))
		}
		return time.Duration(seconds) * time.Second, nil
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%q is neither seconds nor a duration such as 90s, 15m or 1h30m", clip(s))
	case d < 0:
		return 0, fmt.Errorf("%q is negative", clip(s))
	case d > maxDuration:
		return 0, fmt.Errorf("%q is more than %s", clip(s), span(maxDuration))
	case d%time.Second != 0:
		return 0, fmt.Errorf("%q has a part of a second", clip(s))
	}
	return d, nil
}

// span writes a duration as a person would: 15m, 1h30m, 24h.
func span(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// parseBool is strict: whoever writes something else than a plain yes or no
// gets an error, never a no.
func parseBool(s string) (bool, error) {
	switch strings.ToLower(s) {
	case "true", "yes", "on", "1":
		return true, nil
	case "false", "no", "off", "0":
		return false, nil
	default:
		return false, fmt.Errorf("%q is neither true nor false", clip(s))
	}
}

// parseCount reads a number from 1 to a limit.
func parseCount(s string, limit int) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > limit {
		return 0, fmt.Errorf("%q is no number from 1 to %d", clip(s), limit)
	}
	return n, nil
}

// oneLine refuses texts that would break a line or hide in one.
func oneLine(s string) error {
	const limit = 1024
	switch {
	case strings.TrimSpace(s) == "":
		return errors.New("the text is empty")
	case len(s) > limit:
		return fmt.Errorf("the text is longer than %d bytes", limit)
	case strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return errors.New("the text holds a control character")
	}
	return nil
}

// text reads a text. A number or a date that YAML makes of an unquoted word is
// an error: a branch 1.10 must not become 1.1 anywhere.
func (r *reader) text(name string, n *yaml.Node) (string, bool) {
	n = r.of(yaml.ScalarNode, name, n)
	if n == nil {
		return "", false
	}
	if n.Tag != "!!str" {
		r.fail(n, fmt.Sprintf("put it in quotes: %q", clip(n.Value)), "%s must be text, not %s", name, clip(n.Value))
		return "", false
	}
	return n.Value, true
}

// line reads a text of one line.
func (r *reader) line(name string, n *yaml.Node, check func(string) error) string {
	s, ok := r.text(name, n)
	if !ok {
		return ""
	}
	if err := check(s); err != nil {
		r.fail(n, "", "%s: %v", name, err)
		return ""
	}
	return s
}

// choice reads one of a few words.
func (r *reader) choice(name string, n *yaml.Node, words ...string) string {
	s, ok := r.text(name, n)
	if !ok {
		return ""
	}
	if err := oneOf(s, words); err != nil {
		r.fail(n, "", "%s: %v", name, err)
		return ""
	}
	return s
}

func oneOf(s string, words []string) error {
	for _, w := range words {
		if s == w {
			return nil
		}
	}
	return fmt.Errorf("%q is not one of: %s", clip(s), strings.Join(words, ", "))
}

func (r *reader) bool(name string, n *yaml.Node) (value, ok bool) {
	n = r.of(yaml.ScalarNode, name, n)
	if n == nil {
		return false, false
	}
	if n.Tag != "!!bool" {
		r.fail(n, "write true or false, without quotes", "%s must be true or false, not %q", name, clip(n.Value))
		return false, false
	}
	v, err := parseBool(n.Value)
	if err != nil {
		r.fail(n, "write true or false", "%s: %v", name, err)
	}
	return v, err == nil
}

// duration sets a duration; on error it leaves what was there.
func (r *reader) duration(out *time.Duration) field {
	return func(name string, n *yaml.Node) {
		n = r.of(yaml.ScalarNode, name, n)
		if n == nil {
			return
		}
		d, err := parseDuration(n.Value)
		if err != nil {
			r.fail(n, "", "%s: %v", name, err)
			return
		}
		*out = d
	}
}

// count sets a number from 1 to a limit; on error it leaves what was there.
func (r *reader) count(out *int, limit int) field {
	return func(name string, n *yaml.Node) {
		n = r.of(yaml.ScalarNode, name, n)
		if n == nil {
			return
		}
		v, err := parseCount(n.Value, limit)
		if n.Tag != "!!int" {
			err = fmt.Errorf("%q is no number", clip(n.Value))
		}
		if err != nil {
			r.fail(n, "", "%s: %v", name, err)
			return
		}
		*out = v
	}
}

// version demands format 1.
func (r *reader) version(name string, n *yaml.Node) {
	n = r.of(yaml.ScalarNode, name, n)
	if n != nil && (n.Tag != "!!int" || n.Value != "1") {
		r.fail(n, "write version: 1", "%s: this program reads version 1, not %q", name, clip(n.Value))
	}
}
