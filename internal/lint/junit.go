package lint

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/internal/exit"
)

// JUnit shows a report as JUnit XML, written by Done: a test case for each
// message in which something was found, and one for all the others together.
// A case fails for what fails the lint, and only for that; the rest of its
// findings is its output.
type JUnit struct {
	W       io.Writer
	Command string
	What    string // is checked; empty: messages
	Strict  bool   // warnings fail

	cases    []junitCase
	failures int
}

type junitSuites struct {
	XMLName xml.Name   `xml:"testsuites"`
	Suite   junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Failure *junitFailure `xml:"failure,omitempty"`
	Output  string        `xml:"system-out,omitempty"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// Report keeps the findings of one message.
func (j *JUnit) Report(p Place, fs []Finding) error {
	c := junitCase{Class: j.class(), Name: exit.Line(p.File, 0)}
	place := c.Name
	if p.Commit != "" {
		place = p.Commit[:min(len(p.Commit), shortID)]
		c.Name = place + " " + exit.Line(p.Subject, maxSubject)
	}
	var failing, other strings.Builder
	for _, f := range fs {
		at, to := place, &other
		if s := f.at(); s != "" {
			at += ":" + s
		}
		if f.Severity == Error || j.Strict && f.Severity == Warning {
			to = &failing
			if c.Failure == nil {
				c.Failure = &junitFailure{Message: exit.Line(f.Message, 0), Type: f.Rule}
			}
		}
		fmt.Fprintf(to, "%s: %s: %s [%s]\n", at, f.Severity, exit.Printable(joinHint(f)), f.Rule)
	}
	if c.Failure != nil {
		c.Failure.Text = failing.String()
		j.failures++
	}
	c.Output = other.String()
	j.cases = append(j.cases, c)
	return nil
}

// Done writes the suite. There is always a case, because servers take a report
// without any for a broken one.
func (j *JUnit) Done(s Summary) error {
	if clean := s.Checked - len(j.cases); clean > 0 || len(j.cases) == 0 {
		j.cases = append(j.cases, junitCase{Class: j.class(), Name: count(max(clean, 0), cmp.Or(j.What, "message")) + " without findings"})
	}
	out, err := xml.MarshalIndent(junitSuites{Suite: junitSuite{
		Name: "navlint " + j.Command, Tests: len(j.cases), Failures: j.failures, Cases: j.cases,
	}}, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(j.W, "%s%s\n", xml.Header, out)
	return err
}

func (j *JUnit) class() string { return "navlint." + j.Command }
