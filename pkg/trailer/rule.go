package trailer

import (
	"slices"
	"strconv"
	"strings"
)

// Rule is the id of a lint rule. Ids are stable: they are never given to
// another rule.
type Rule string

// The rules. docs/rules.md has a failing and a mended message for each.
const (
	OutsideBlock  Rule = "nav-outside-block"
	SquashLost    Rule = "nav-squash-lost"
	KeyNearMiss   Rule = "nav-key-near-miss"
	FieldSyntax   Rule = "nav-field-syntax"
	FieldUnknown  Rule = "nav-field-unknown"
	FieldTwice    Rule = "nav-field-twice"
	AppMissing    Rule = "nav-app-missing"
	AppName       Rule = "nav-app-name"
	AppAndAppSet  Rule = "nav-app-and-appset"
	AppTwice      Rule = "nav-app-twice"
	TimeSyntax    Rule = "nav-time-syntax"
	TimeLimit     Rule = "nav-time-limit"
	ModeUnknown   Rule = "nav-mode-unknown"
	ModeMixed     Rule = "nav-mode-mixed"
	ExpectUnknown Rule = "nav-expect-unknown"
	TooMany       Rule = "nav-too-many-watches"
	RevertWatch   Rule = "nav-revert-watch"
	NotSupported  Rule = "nav-not-supported"
)

// Severity says whether a finding refuses a message.
type Severity int

// The severities. The zero value is none of them.
const (
	Warning Severity = iota + 1 // printed; refuses only where a lint is strict
	Error                       // refuses
)

// String is "warning" or "error".
func (s Severity) String() string {
	switch s {
	case Warning:
		return "warning"
	case Error:
		return "error"
	default:
		return "severity " + strconv.Itoa(int(s))
	}
}

// Finding is one thing that is wrong with a message. Message and Hint are one
// line each, lower case, no full stop; what they quote of the message is cut
// and escaped. Pos is in the message as it was given.
type Finding struct {
	Rule          Rule
	Severity      Severity
	Pos           Pos
	Message, Hint string // Hint says how to mend it
}

// RuleInfo describes a rule. Severity is the highest that it gives.
type RuleInfo struct {
	Rule     Rule
	Severity Severity
	Summary  string
}

// Rules lists all rules in the order of docs/rules.md.
func Rules() []RuleInfo {
	return []RuleInfo{
		{OutsideBlock, Error, "a line that looks like a Nav-Watchdog trailer stands where git reads no trailer"},
		{SquashLost, Error, "the trailer of a squashed commit stands in the list of what was squashed"},
		{KeyNearMiss, Error, "the key is almost Nav-Watchdog"},
		{FieldSyntax, Error, "a field is not key=value, or the value of the trailer is too long"},
		{FieldUnknown, Error, "there is no such field"},
		{FieldTwice, Error, "a field is given twice"},
		{AppMissing, Error, "no application is named"},
		{AppName, Error, "the name of an application or ApplicationSet cannot exist"},
		{AppAndAppSet, Error, "both app and appset are given"},
		{AppTwice, Error, "two trailers name the same application"},
		{TimeSyntax, Error, "a time is neither whole seconds nor a Go duration"},
		{TimeLimit, Error, "a time is outside the limits of the policy"},
		{ModeUnknown, Error, "the mode is none of shadow, propose, arm"},
		{ModeMixed, Error, "the trailers of one commit have different modes"},
		{ExpectUnknown, Error, "the expected health is neither Healthy nor Suspended"},
		{TooMany, Error, "the commit has more watches than the policy allows"},
		{RevertWatch, Error, "the commit is a revert; a warning in mode shadow"},
		{NotSupported, Error, "the trailer asks for what this version does not do yet"},
	}
}

// maxFindings bounds what one message can give.
const maxFindings = 64

// inOrder sorts findings by place and cuts them down to the bound. The last one
// then says how many there are beyond it, and is as severe as any of those.
func inOrder(fs []Finding) []Finding {
	slices.SortStableFunc(fs, func(a, b Finding) int {
		switch {
		case a.Pos.before(b.Pos):
			return -1
		case b.Pos.before(a.Pos):
			return 1
		default:
			return 0
		}
	})
	if len(fs) <= maxFindings {
		return fs
	}
	last := &fs[maxFindings-1]
	for _, f := range fs[maxFindings:] {
		last.Severity = max(last.Severity, f.Severity)
	}
	last.Message += " (and more: the findings after the first " + strconv.Itoa(maxFindings) + " are not shown)"
	return fs[:maxFindings]
}

// quote makes a piece of a message fit to print: escaped, and cut at 60 bytes.
// The cut is marked outside the quotes.
func quote(s string) string { return cutQuote(s, strconv.Quote) }

// quoteASCII is quote for what may hold letters that only look like others.
func quoteASCII(s string) string { return cutQuote(s, strconv.QuoteToASCII) }

func cutQuote(s string, q func(string) string) string {
	const most = 60
	if len(s) <= most {
		return q(s)
	}
	return q(strings.ToValidUTF8(s[:most], "")) + "..."
}
