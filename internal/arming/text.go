package arming

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	maxText  = 120 // bytes of an untrusted text in a message
	maxItems = 5   // of a list in a message
)

// clip bounds an untrusted text; the message quotes it with %q.
func clip(s string) string {
	if len(s) <= maxText {
		return s
	}
	cut := maxText
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "..."
}

// list writes untrusted texts, the first few of them.
func list(items []string) string { return quoted("%q", items) }

// listPeople is list in ASCII: a name with a letter that looks like another is
// another person's.
func listPeople(names []string) string { return quoted("%+q", names) }

func quoted(verb string, items []string) string {
	shown := items[:min(len(items), maxItems)]
	each := make([]string, len(shown))
	for i, s := range shown {
		each[i] = fmt.Sprintf(verb, clip(s))
	}
	text := strings.Join(each, ", ")
	if more := len(items) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// bare is an address without what somebody may have written into it to log in,
// and without a query.
func bare(address string) string {
	address, _, _ = strings.Cut(address, "?")
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		return address // an scp-like address has no place for a password
	}
	host, p, slash := strings.Cut(rest, "/")
	host = host[strings.LastIndexByte(host, '@')+1:]
	if slash {
		host += "/"
	}
	return scheme + "://" + host + p
}
