package verdict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Kinds of a people's line.
const (
	PeopleFreeze = "freeze"
	PeopleThaw   = "thaw"
	PeopleReset  = "reset"
	PeopleJudge  = "judge"
)

// PeopleLine is one line of `people`: what a person said. One JSON object a
// line, self-contained, so that git's own note merges lose nothing.
type PeopleLine struct {
	V      int       `json:"v"`
	Kind   string    `json:"kind"`
	App    string    `json:"app,omitempty"` // empty: the repository
	By     string    `json:"by"`
	At     time.Time `json:"at"`
	Reason string    `json:"reason"`
}

// Arrival is one line of `watches`: this commit arrived on this branch, by
// this person. Apps is for the reader and never believed.
type Arrival struct {
	V      int       `json:"v"`
	Commit string    `json:"commit"`
	Branch string    `json:"branch"` // short name
	Apps   []string  `json:"apps"`
	By     string    `json:"by"` // empty: nobody was vouched for
	Host   string    `json:"host"`
	At     time.Time `json:"at"`
}

// LineError is a line of a note that cannot be read. It is reported, never
// skipped, and the note is left as it is.
type LineError struct {
	Line int // from 1
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }
func (e *LineError) Unwrap() error { return e.Err }

// maxLine bounds one line of JSON, in bytes.
const maxLine = 16 << 10

// ParseArrivals reads a note of `watches`. The lines that can be read come
// back together with the errors of those that cannot.
func ParseArrivals(note []byte) ([]Arrival, error) {
	return parseLines(note, func(a Arrival) error {
		switch {
		case a.V != 1:
			return fmt.Errorf("version %d is not known", a.V)
		case !fullRevision.MatchString(a.Commit):
			return fmt.Errorf("commit %q is no object id", a.Commit)
		case a.Branch == "":
			return errors.New("branch is missing")
		}
		return nil
	})
}

// ParsePeople reads a note of `people`, likewise.
func ParsePeople(note []byte) ([]PeopleLine, error) {
	return parseLines(note, func(p PeopleLine) error {
		switch {
		case p.V != 1:
			return fmt.Errorf("version %d is not known", p.V)
		case p.Kind == "" || p.By == "" || p.At.IsZero():
			return errors.New("kind, by or at is missing")
		}
		return nil
	})
}

func parseLines[T any](note []byte, check func(T) error) ([]T, error) {
	var out []T
	var errs []error
	for i, line := range bytes.Split(note, []byte("\n")) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		var v T
		err := error(nil)
		if len(line) > maxLine {
			err = fmt.Errorf("longer than %d bytes", maxLine)
		} else if err = json.Unmarshal(line, &v); err == nil {
			err = check(v)
		}
		if err != nil {
			errs = append(errs, &LineError{Line: i + 1, Err: err})
			continue
		}
		out = append(out, v)
	}
	return out, errors.Join(errs...)
}

// Line is the arrival as one line of JSON, without a newline.
func (a Arrival) Line() string {
	a.V, a.At = 1, a.At.UTC().Truncate(time.Second)
	return jsonLine(a)
}

// Line is the person's line as one line of JSON, without a newline.
func (p PeopleLine) Line() string {
	p.V, p.At = 1, p.At.UTC().Truncate(time.Second)
	return jsonLine(p)
}

func jsonLine(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "" // strings and times of our own always encode
	}
	return string(bytes.TrimRight(b.Bytes(), "\n"))
}
