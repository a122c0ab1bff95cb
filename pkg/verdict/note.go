package verdict

import (
	"bytes"
	"errors"
	"fmt"
	"sort"
	"strings"
)

// maxNote bounds a note that is read, in bytes.
const maxNote = 1 << 20

// FormatNote writes the stanzas of one commit, sorted by Application: a
// headline, an empty line, and a block of trailers that git and any trailer
// parser can read. Stanzas are separated by an empty line.
func FormatNote(states []State) []byte {
	sorted := append([]State(nil), states...)
	sort.SliceStable(sorted, func(i, j int) bool {
		return sorted[i].Watch.App.String() < sorted[j].Watch.App.String()
	})
	var b bytes.Buffer
	for i, s := range sorted {
		if i > 0 {
			b.WriteByte('\n')
		}
		s.format(&b)
	}
	return b.Bytes()
}

func (s State) format(b *bytes.Buffer) {
	fmt.Fprintf(b, "%s\n\n", clip(s.Headline()))
	for _, f := range fields {
		for _, v := range f.write(s) {
			if v != "" {
				fmt.Fprintf(b, "%s: %s\n", f.key, v)
			}
		}
	}
}

// ParseNote reads the stanzas of a note of `verdicts`. It never skips a line:
// the first line that it cannot read is a *LineError, and no stanza comes back.
// The commit is not in the note: the caller sets Watch.Commit.
func ParseNote(note []byte) ([]State, error) {
	if len(note) > maxNote {
		return nil, fmt.Errorf("note has %d bytes, more than %d", len(note), maxNote)
	}
	lines := strings.Split(strings.TrimRight(string(note), "\n"), "\n")
	var states []State
	for i := 0; i < len(lines); {
		if lines[i] == "" {
			i++
			continue
		}
		s, next, err := parseStanza(lines, i)
		if err != nil {
			return nil, err
		}
		for _, other := range states {
			if other.Watch.App == s.Watch.App {
				return nil, &LineError{Line: i + 1, Err: fmt.Errorf("a second stanza for %s", s.Watch.App)}
			}
		}
		states = append(states, s)
		i = next
	}
	if len(states) == 0 {
		return nil, &LineError{Line: 1, Err: errors.New("the note is empty")}
	}
	return states, nil
}

// parseStanza reads a headline, an empty line and the trailers up to the next
// empty line.
func parseStanza(lines []string, i int) (State, int, error) {
	var s State
	head := i
	if i+1 >= len(lines) || lines[i+1] != "" {
		return s, 0, &LineError{Line: i + 2, Err: errors.New("a headline must be followed by an empty line")}
	}
	version := false
	for i += 2; i < len(lines) && lines[i] != ""; i++ {
		key, value, ok := strings.Cut(lines[i], ": ")
		if !ok {
			return s, 0, &LineError{Line: i + 1, Err: fmt.Errorf("%q is no trailer", clip(lines[i]))}
		}
		f := fieldOf(key)
		if f == nil {
			return s, 0, &LineError{Line: i + 1, Err: fmt.Errorf("trailer %q is not known; a newer version may have written it", clip(key))}
		}
		if err := f.read(&s, value); err != nil {
			return s, 0, &LineError{Line: i + 1, Err: fmt.Errorf("%s: %w", key, err)}
		}
		version = version || key == formatKey
	}
	switch {
	case !version:
		return s, 0, &LineError{Line: head + 1, Err: fmt.Errorf("stanza has no %s", formatKey)}
	case s.Watch.App.Name == "" || s.Verdict == "":
		return s, 0, &LineError{Line: head + 1, Err: errors.New("stanza has no Nav-Watch or no Nav-Verdict")}
	}
	return s, i, nil
}

func fieldOf(key string) *field {
	for i := range fields {
		if fields[i].key == key {
			return &fields[i]
		}
	}
	return nil
}
