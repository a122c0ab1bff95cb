package arming

import (
	"errors"
	"fmt"
	"strings"
)

// maxPattern bounds a pattern of a policy, in bytes.
const maxPattern = 256

// Patterns. "*" is any text within one segment (what stands between slashes),
// "?" one byte, "[a-z]", "[!a-z]" and "[^a-z]" one byte of a class, "\" takes
// the meaning from the next byte, and a segment that is "**" is any number of
// segments, none included, except at the end, where it is at least one.
//
// A name (branch, Application, user) must match as a whole. A path is matched
// as gitignore does it: see pathPattern.
//
// Matching costs at most len(pattern) * len(name) steps: a star is tried again
// from one place only, because what an earlier star could take, the latest can.

// CheckNamePattern says what is wrong with a pattern for branches,
// Applications or users; nil if nothing.
func CheckNamePattern(pattern string) error {
	if err := checkPattern(pattern); err != nil {
		return err
	}
	return checkSegments(strings.Split(pattern, "/"))
}

// CheckPathPattern says what is wrong with a pattern for paths (never-paths);
// nil if nothing.
func CheckPathPattern(pattern string) error {
	if err := checkPattern(pattern); err != nil {
		return err
	}
	if strings.HasPrefix(pattern, "!") {
		return errors.New("a leading ! (taking paths back) is not supported")
	}
	trimmed := strings.TrimSuffix(strings.TrimPrefix(pattern, "/"), "/")
	return checkSegments(strings.Split(trimmed, "/"))
}

func checkPattern(pattern string) error {
	switch {
	case pattern == "":
		return errors.New("the pattern is empty")
	case len(pattern) > maxPattern:
		return fmt.Errorf("the pattern is longer than %d bytes", maxPattern)
	case strings.ContainsFunc(pattern, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return errors.New("the pattern holds a control character")
	}
	return nil
}

func checkSegments(segments []string) error {
	for _, s := range segments {
		if s == "" || s == "." || s == ".." {
			return fmt.Errorf("the segment %q matches nothing", s)
		}
		for s != "" {
			n, err := element(s)
			if err != nil {
				return err
			}
			s = s[n:]
		}
	}
	return nil
}

// element gives the length of the first element of a segment's pattern.
func element(pattern string) (int, error) {
	switch pattern[0] {
	case '\\':
		if len(pattern) == 1 {
			return 0, errors.New(`a "\" has nothing after it`)
		}
		return 2, nil
	case '[':
		if strings.Contains(pattern, "[:") {
			return 0, errors.New("named classes such as [:alpha:] are not supported")
		}
		n, _ := matchClass(pattern, 0)
		if n == 0 {
			return 0, errors.New(`a "[" is not closed within its segment`)
		}
		return n, nil
	default:
		return 1, nil
	}
}

// matchName reports whether a pattern matches the whole of a name. What is no
// pattern matches nothing.
func matchName(pattern, name string) bool {
	if CheckNamePattern(pattern) != nil {
		return false
	}
	return matchSegments(open(strings.Split(pattern, "/")), strings.Split(name, "/"))
}

// open makes a "**" at the end stand for one segment at least.
func open(segments []string) []string {
	if segments[len(segments)-1] == "**" {
		return append(segments, "*")
	}
	return segments
}

// pathPattern is a pattern for paths, read as gitignore reads it: without a
// slash in it (but for one at the end) it matches at any depth, otherwise from
// the root; with a slash at the end it matches directories only; and what
// matches a directory matches everything below it.
type pathPattern struct {
	text     string
	segments []string
	bad      bool // matches every path: a guard that cannot be read is shut
}

func parsePath(pattern string) pathPattern {
	p := pathPattern{text: pattern}
	if CheckPathPattern(pattern) != nil {
		p.bad = true
		return p
	}
	rest, dirOnly := strings.CutSuffix(pattern, "/")
	rest, rooted := strings.CutPrefix(rest, "/")
	p.segments = strings.Split(rest, "/")
	if len(p.segments) == 1 && !rooted {
		p.segments = append([]string{"**"}, p.segments...)
	}
	p.segments = append(open(p.segments), "**")
	if dirOnly {
		p.segments = append(p.segments, "*")
	}
	return p
}

// match reports whether a path from the root, in its segments, matches. What is
// no pattern matches every path.
func (p pathPattern) match(path []string) bool {
	return p.bad || matchSegments(p.segments, path)
}

func matchSegments(pattern, name []string) bool {
	p, n := 0, 0
	star, mark := -1, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == "**":
			star, mark = p, n
			p++
		case p < len(pattern) && matchSegment(pattern[p], name[n]):
			p, n = p+1, n+1
		case star >= 0:
			mark++
			p, n = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == "**" {
		p++
	}
	return p == len(pattern)
}

func matchSegment(pattern, s string) bool {
	p, i := 0, 0
	star, mark := -1, 0
	for i < len(s) {
		if p < len(pattern) && pattern[p] == '*' {
			star, mark = p, i
			p++
			continue
		}
		if p < len(pattern) {
			if n, ok := matchByte(pattern[p:], s[i]); ok {
				p, i = p+n, i+1
				continue
			}
		}
		if star < 0 {
			return false
		}
		mark++
		p, i = star+1, mark
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// matchByte matches the first element of a pattern, which is no star, and
// gives that element's length.
func matchByte(pattern string, c byte) (int, bool) {
	switch {
	case pattern[0] == '?':
		return 1, true
	case pattern[0] == '[':
		return matchClass(pattern, c)
	case pattern[0] == '\\' && len(pattern) > 1:
		return 2, pattern[1] == c
	default:
		return 1, pattern[0] == c
	}
}

// matchClass matches a class; a length of 0 says that it is not closed. A "]"
// that comes first is an ordinary byte, as in git's wildmatch.
func matchClass(pattern string, c byte) (int, bool) {
	i := 1
	negate := i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^')
	if negate {
		i++
	}
	hit := false
	for first := true; ; first = false {
		if i >= len(pattern) {
			return 0, false
		}
		if pattern[i] == ']' && !first {
			return i + 1, hit != negate
		}
		low, next := classByte(pattern, i)
		high := low
		if next+1 < len(pattern) && pattern[next] == '-' && pattern[next+1] != ']' {
			high, next = classByte(pattern, next+1)
		}
		hit = hit || low <= c && c <= high
		i = next
	}
}

func classByte(pattern string, i int) (c byte, next int) {
	if pattern[i] == '\\' && i+1 < len(pattern) {
		i++
	}
	return pattern[i], i + 1
}

// PathSet are patterns for paths, read once.
type PathSet []pathPattern

// NewPathSet reads patterns as never-paths are read; one that cannot be read
// matches every path.
func NewPathSet(patterns []string) PathSet {
	set := make(PathSet, len(patterns))
	for i, text := range patterns {
		set[i] = parsePath(text)
	}
	return set
}

// Match reports whether any pattern matches a path from the root.
func (s PathSet) Match(path string) bool {
	segments := strings.Split(path, "/")
	for _, p := range s {
		if p.match(segments) {
			return true
		}
	}
	return false
}
