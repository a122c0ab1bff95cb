package lint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// JSONVersion is the version of what --format json prints. It grows when a
// field is removed or changes its meaning; fields may be added at any time.
const JSONVersion = 1

// JSON shows a report to programs: one object, written by Done, of the form
// that docs/navlint.md describes.
type JSON struct {
	W       io.Writer
	Command string // "message", "commits"

	findings []jsonFinding
}

type jsonReport struct {
	Version  int           `json:"version"`
	Command  string        `json:"command"`
	Checked  int           `json:"checked"`
	Errors   int           `json:"errors"`
	Warnings int           `json:"warnings"`
	Findings []jsonFinding `json:"findings"`
}

type jsonFinding struct {
	File     string   `json:"file,omitempty"`
	Commit   string   `json:"commit,omitempty"`
	Subject  string   `json:"subject,omitempty"`
	Branches []string `json:"branches,omitempty"`
	Line     int      `json:"line"`
	Column   int      `json:"column"`
	Severity Severity `json:"severity"`
	Rule     string   `json:"rule"`
	Message  string   `json:"message"`
	Hint     string   `json:"hint,omitempty"`
}

// Report keeps the findings of one message.
func (j *JSON) Report(p Place, fs []Finding) error {
	for _, f := range fs {
		j.findings = append(j.findings, jsonFinding{
			File: p.File, Commit: p.Commit, Subject: p.Subject, Branches: p.Branches,
			Line: f.Line, Column: f.Col, Severity: f.Severity, Rule: f.Rule, Message: f.Message, Hint: f.Hint,
		})
	}
	return nil
}

// Done writes the object.
func (j *JSON) Done(s Summary) error {
	if j.findings == nil {
		j.findings = []jsonFinding{}
	}
	return encode(j.W, jsonReport{JSONVersion, j.Command, s.Checked, s.Errors, s.Warnings, j.findings})
}

// encode writes one value. JSON escapes what a terminal would obey below
// U+0020; Go's encoder leaves U+007F to U+009F as they are, and a terminal that
// takes those for commands is shown bytes that no program had to read.
func encode(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(escapeControls(b.Bytes()))
	return err
}

func escapeControls(b []byte) []byte {
	if !bytes.ContainsFunc(b, hides) {
		return b
	}
	out := make([]byte, 0, len(b)+16)
	for _, r := range string(b) {
		switch {
		case !hides(r):
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, hi, lo)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

func hides(r rune) bool { return r >= 0x7f && !unicode.IsPrint(r) }
