package lint

import (
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/internal/exit"
)

// SARIF shows a report as one SARIF 2.1.0 log (OASIS, sections 3.13 to 3.30),
// written by Done: what code scanning services read.
//
// A finding in a commit's message has "commit/ID" as its artifact, because such
// services refuse results without one, and the commit as logical location.
// Columns count characters; one that is not known in characters is left out.
type SARIF struct {
	W       io.Writer
	Version string // of navlint

	rules   []sarifRule
	results []sarifResult
	seen    fingerprints
}

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool       sarifTool     `json:"tool"`
	ColumnKind string        `json:"columnKind"`
	Results    []sarifResult `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name           string      `json:"name"`
	Version        string      `json:"version,omitempty"`
	InformationURI string      `json:"informationUri"`
	Rules          []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID    string     `json:"id"`
	Short *sarifText `json:"shortDescription,omitempty"`
	Help  string     `json:"helpUri,omitempty"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifResult struct {
	RuleID       string            `json:"ruleId"`
	RuleIndex    int               `json:"ruleIndex"`
	Level        string            `json:"level"`
	Message      sarifText         `json:"message"`
	Locations    []sarifLocation   `json:"locations"`
	Fingerprints map[string]string `json:"partialFingerprints"`
}

type sarifLocation struct {
	Physical sarifPhysical  `json:"physicalLocation"`
	Logical  []sarifLogical `json:"logicalLocations,omitempty"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   *sarifRegion  `json:"region,omitempty"`
}

type sarifArtifact struct {
	URI string `json:"uri"`
}

type sarifRegion struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn,omitempty"`
}

type sarifLogical struct {
	Name string `json:"name"`
	Full string `json:"fullyQualifiedName"`
	Kind string `json:"kind"`
}

// Report keeps the findings of one message.
func (s *SARIF) Report(p Place, fs []Finding) error {
	if s.seen == nil {
		s.seen = fingerprints{}
	}
	for _, f := range fs {
		at := sarifLocation{Physical: sarifPhysical{Artifact: sarifArtifact{uri(p.path())}}}
		if f.Line > 0 {
			at.Physical.Region = &sarifRegion{f.Line, f.char()}
		}
		if p.Commit != "" {
			at.Logical = []sarifLogical{{exit.Line(p.Subject, maxSubject), p.Commit, "commit"}}
		}
		s.results = append(s.results, sarifResult{
			RuleID: f.Rule, RuleIndex: s.rule(f.Rule), Level: string(f.Severity), // the same three words
			Message: sarifText{sarifEscape(joinHint(f))}, Locations: []sarifLocation{at},
			Fingerprints: map[string]string{"navlintFinding/v1": s.seen.of(p, f)},
		})
	}
	return nil
}

// rule is the index of a rule, which it adds when it is new.
func (s *SARIF) rule(id string) int {
	if i := slices.IndexFunc(s.rules, func(r sarifRule) bool { return r.ID == id }); i >= 0 {
		return i
	}
	r := sarifRule{ID: id}
	if summary, page := describe(id); summary != "" {
		r.Short, r.Help = &sarifText{summary}, page
	}
	s.rules = append(s.rules, r)
	return len(s.rules) - 1
}

// Done writes the log.
func (s *SARIF) Done(Summary) error {
	run := sarifRun{
		Tool: sarifTool{sarifDriver{
			Name: "navlint", Version: s.Version, InformationURI: docs + "navlint.md", Rules: append([]sarifRule{}, s.rules...),
		}},
		ColumnKind: "unicodeCodePoints", Results: append([]sarifResult{}, s.results...),
	}
	return encode(s.W, sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}

// sarifEscape makes a text a plain text message: braces, which would be
// placeholders, are doubled (3.11.5), and what reads as an embedded link
// (3.11.6) is none any more, so that no message of a commit links to anything.
func sarifEscape(s string) string {
	return strings.NewReplacer("{", "{{", "}", "}}", "](", "] (").Replace(exit.Printable(s))
}

// uri is a path as a relative reference (RFC 3986, section 4.2): a first
// segment with a colon would be a scheme. Git for Windows hands over back slashes.
func uri(path string) string {
	return (&url.URL{Path: strings.ReplaceAll(path, `\`, "/")}).String()
}
