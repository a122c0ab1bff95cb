package config

import (
	"fmt"
	"slices"
	"strings"
)

// Error is one thing that is wrong with a file, an environment variable or a
// flag, and what to do about it.
type Error struct {
	File      string // or "environment NAME", "flag --name"
	Line, Col int    // from 1, in characters; 0 where the place is no file
	Text      string
	Hint      string // may be empty
}

// Error gives "file:line:col: text", and the hint on a line of its own.
func (e *Error) Error() string {
	place := e.File
	if e.Line > 0 {
		place = fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Col)
	}
	if e.Hint == "" {
		return place + ": " + e.Text
	}
	return place + ": " + e.Text + "\nhint: " + e.Hint
}

// Errors is everything that is wrong, in the order of the file. errors.As
// finds *Error in it.
type Errors []*Error

func (es Errors) Error() string {
	texts := make([]string, len(es))
	for i, e := range es {
		texts[i] = e.Error()
	}
	return strings.Join(texts, "\n")
}

// Unwrap gives each error to errors.Is and errors.As.
func (es Errors) Unwrap() []error {
	errs := make([]error, len(es))
	for i, e := range es {
		errs[i] = e
	}
	return errs
}

// err is nil without errors: an empty Errors in an error would not be.
func (es Errors) err() error {
	if len(es) == 0 {
		return nil
	}
	slices.SortStableFunc(es, func(a, b *Error) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Col - b.Col
	})
	return es
}
