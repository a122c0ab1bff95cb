// Package config turns bytes of YAML into a policy (`.nav-watchdog.yaml`) and
// into the settings of the daemon.
//
// Both files may come from somebody who means harm, so they are bounded before
// anything is expanded: 256 KiB, 16 levels, 20,000 nodes with all aliases
// followed, 50 errors. Every key must be known and be there once; every error
// has its place, and all are reported, not the first. On error nothing of the
// file counts.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

const (
	maxSize   = 256 << 10
	maxDepth  = 16
	maxNodes  = 20_000
	maxErrors = 50
)

// load reads the one document of a file; nil without errors is an empty file.
func load(data []byte, file string) (*yaml.Node, Errors) {
	at := func(line, col int, hint, format string, args ...any) Errors {
		return Errors{{File: file, Line: line, Col: col, Text: fmt.Sprintf(format, args...), Hint: hint}}
	}
	if len(data) > maxSize {
		return nil, at(1, 1, "", "the file is %d bytes long, more than %d", len(data), maxSize)
	}
	if line, col, what := badCharacter(data); what != "" {
		return nil, at(line, col, "write it as an escape in double quotes, or leave it out", "the file holds %s", what)
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	doc, err := next(dec)
	switch {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, Errors{syntaxError(err, data, file)}
	}
	switch second, err := next(dec); {
	case errors.Is(err, io.EOF):
	case err != nil:
		return nil, Errors{syntaxError(err, data, file)}
	default:
		return nil, at(second.Line, second.Column, "keep one document in a file", "a second document begins here")
	}
	root := doc.Content[0]
	m := measure{file: file, counted: map[*yaml.Node]int{}}
	if m.count(root, 1); m.err != nil {
		return nil, Errors{m.err}
	}
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		return nil, nil
	}
	return root, nil
}

// next decodes a document into nodes, aliases not followed. The parser is not
// ours and reads what anybody pushed: should it panic, that is an error of the
// file, and a hook refuses it instead of dying.
func next(dec *yaml.Decoder) (doc *yaml.Node, err error) {
	defer func() {
		if p := recover(); p != nil {
			doc, err = nil, fmt.Errorf("yaml: the parser gave up: %v", p)
		}
	}()
	doc = new(yaml.Node)
	if err := dec.Decode(doc); err != nil {
		return nil, err
	}
	return doc, nil
}

// badCharacter finds what may not be in a file: bytes that are not UTF-8, and
// characters by which a line looks other than YAML reads it (line breaks that
// editors don't show, changes of the writing direction).
func badCharacter(data []byte) (line, col int, what string) {
	line, col = 1, 1
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return line, col, fmt.Sprintf("the byte 0x%02x, which is not UTF-8", data[i])
		case r == '\r' && (i+1 == len(data) || data[i+1] != '\n'):
			return line, col, "a carriage return without a line feed"
		case r == 0x85 || r == 0x2028 || r == 0x2029:
			return line, col, fmt.Sprintf("the invisible line break %U", r)
		case r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069:
			return line, col, fmt.Sprintf("%U, which changes the writing direction", r)
		case r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0x7f:
			return line, col, fmt.Sprintf("the control character %U", r)
		case r == 0xfeff && i > 0:
			return line, col, "a byte order mark that is not at its beginning"
		}
		switch {
		case r == '\n':
			line, col = line+1, 1
		case r != 0xfeff:
			col++
		}
		i += size
	}
	return 0, 0, ""
}

// blockErrors are the parser's errors (not its scanner's); yaml.v3 counts
// their lines from 0.
var blockErrors = [...]string{
	"did not find expected key", "did not find expected '-' indicator", "did not find expected node content",
	"did not find expected ',' or ']'", "did not find expected ',' or '}'", "did not find expected <document start>",
}

// syntaxError gives an error of yaml.v3 its place. That knows the line only,
// sometimes where the collection begins that it could not end.
func syntaxError(err error, data []byte, file string) *Error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		number, rest, _ := strings.Cut(rest, ": ")
		if n, err := strconv.Atoi(number); err == nil {
			line, text = n, rest
			for _, e := range blockErrors {
				if text == e {
					line++
				}
			}
		}
	}
	lines := bytes.Split(data, []byte("\n"))
	line = max(1, min(line, len(lines)))
	at := string(bytes.TrimPrefix(lines[line-1], []byte("\ufeff")))
	body := strings.TrimLeft(at, " ")
	e := &Error{File: file, Line: line, Col: len(at) - len(body) + 1, Text: "this is not YAML: " + text}
	switch {
	case strings.HasPrefix(body, "\t"):
		e.Hint = "indent with spaces, never with tabs"
	case strings.Contains(body, "@"):
		e.Hint = `put a @group in quotes: "@sre"`
	case strings.Contains(body, "*"):
		e.Hint = `put a pattern that begins with * in quotes: "*.sql"`
	}
	return e
}

// measure bounds a document before anybody walks it.
type measure struct {
	file    string
	counted map[*yaml.Node]int // nodes below an anchor; -1 while it is counted
	err     *Error
}

// count gives the number of nodes below n, all aliases followed, and stops at
// the first thing that is too much.
func (m *measure) count(n *yaml.Node, depth int) int {
	fail := func(text, hint string) int {
		if m.err == nil {
			m.err = &Error{File: m.file, Line: n.Line, Col: n.Column, Text: text, Hint: hint}
		}
		return 0
	}
	if depth > maxDepth {
		return fail(fmt.Sprintf("the nesting is deeper than %d levels", maxDepth), "")
	}
	total := 1
	if n.Kind == yaml.AliasNode {
		below, seen := m.counted[n.Alias]
		if !seen {
			below = m.count(n.Alias, depth+1)
		}
		if below < 0 {
			return fail(fmt.Sprintf("the alias *%s is part of what it stands for", n.Value), "")
		}
		total += below
	}
	if n.Anchor != "" {
		m.counted[n] = -1
	}
	for _, c := range n.Content {
		if m.err != nil {
			return 0
		}
		total += m.count(c, depth+1)
		if total > maxNodes {
			return fail(fmt.Sprintf("the document has more than %d nodes, aliases followed", maxNodes), "")
		}
	}
	if n.Anchor != "" {
		m.counted[n] = total
	}
	return total
}
