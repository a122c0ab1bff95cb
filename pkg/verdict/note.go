package verdict

import (
	"bytes"
	"errors"
	"fmt"
	"sort"
	"strings"
)

// maxNote bounds a note that is read, in bytes.
const maxNote = 4 << 20

// FormatNote writes the stanzas of one commit, sorted by Application: a
// headline, an empty line, and a block of trailers that git and any trailer
// parser can read. Stanzas are separated by an empty line.
func FormatNote(states []State) []byte {
	sorted := byApp(states)
	heads := make([]string, len(sorted))
	for i, s := range sorted {
		heads[i] = clip(s.Headline())
	}
	return formatNote(sorted, heads)
}

func byApp(states []State) []State {
	sorted := append([]State(nil), states...)
	sort.SliceStable(sorted, func(i, j int) bool {
		return sorted[i].Watch.App.String() < sorted[j].Watch.App.String()
	})
	return sorted
}

func formatNote(states []State, heads []string) []byte {
	var b bytes.Buffer
	writeNote(&b, states, heads)
	return b.Bytes()
}

func writeNote(b *bytes.Buffer, states []State, heads []string) {
	for i := range states {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(heads[i])
		b.WriteString("\n\n")
		for _, f := range fields {
			f.write(&states[i], line{b, f.key})
		}
	}
}

// Fold makes the states of a commit again from its note, after a restart or
// when another watcher wrote it (design, section 5). They are stepped on as if
// nothing had happened, but that `stable` begins anew (R25). The error is that
// of ParseNote.
func Fold(commit string, note []byte) ([]State, error) {
	states, err := ParseNote(note)
	for i := range states {
		states[i].Watch.Commit = commit
	}
	return states, err
}

// ParseNote reads the stanzas of a note of `verdicts`. It never skips a line:
// the first line that it cannot read is a *LineError, and no stanza comes back.
// There is one way to write a stanza: what is not as FormatNote writes it, but
// for the words of a headline, is an error, so that nothing in a note is passed
// over. The commit is not in the note: [Fold] takes it from the caller.
func ParseNote(note []byte) ([]State, error) {
	if len(note) > maxNote {
		return nil, fmt.Errorf("note has %d bytes, more than %d", len(note), maxNote)
	}
	lines := strings.Split(strings.TrimRight(string(note), "\n"), "\n")
	var states []State
	var heads []string
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
		states, heads = append(states, s), append(heads, lines[i])
		i = next
	}
	if len(states) == 0 {
		return nil, &LineError{Line: 1, Err: errors.New("the note is empty")}
	}
	if err := canonical(note, states, heads); err != nil {
		return nil, err
	}
	return states, nil
}

// canonical finds the first line that FormatNote would have written otherwise.
func canonical(note []byte, states []State, heads []string) error {
	for i := range heads {
		if heads[i] != clip(heads[i]) {
			return &LineError{Line: 1, Err: fmt.Errorf("headline %q is not one plain line", clip(heads[i]))}
		}
		if i > 0 && states[i-1].Watch.App.String() > states[i].Watch.App.String() {
			return &LineError{Line: 1, Err: fmt.Errorf("the stanza for %s stands after that for %s", states[i].Watch.App, states[i-1].Watch.App)}
		}
	}
	var b bytes.Buffer
	b.Grow(len(note) + bytes.MinRead)
	writeNote(&b, states, heads)
	want := b.Bytes()
	if bytes.Equal(note, want) {
		return nil
	}
	got, lines := bytes.Split(note, []byte("\n")), bytes.Split(want, []byte("\n"))
	n := 0
	for n < len(got) && n < len(lines) && bytes.Equal(got[n], lines[n]) {
		n++
	}
	return &LineError{Line: n + 1, Err: errors.New("it is not written as this version writes it")}
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
	}
	if err := s.complete(); err != nil {
		return s, 0, &LineError{Line: head + 1, Err: err}
	}
	return s, i, nil
}

// complete refuses a stanza that lacks what a verdict must come with: without
// its time a revert would not count for the circuit.
func (s State) complete() error {
	switch {
	case s.Watch.App.Name == "" || s.Verdict == "":
		return errors.New("stanza has no Nav-Watch or no Nav-Verdict")
	case s.Verdict == Reverted && (s.Revert == "" || s.RevertedAt.IsZero()):
		return errors.New("stanza is REVERTED and has no Nav-Revert or no Nav-Reverted")
	case s.Verdict != Waiting && s.Decided.IsZero():
		return fmt.Errorf("stanza is %s and has no Nav-Decided", s.Verdict)
	}
	return nil
}

func fieldOf(key string) *field {
	for i := range fields {
		if fields[i].key == key {
			return &fields[i]
		}
	}
	return nil
}
