package main

import (
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/internal/config"
)

// redactor takes secrets out of what is shown. Whoever makes a text leaves them
// out already; this is for texts of others: a library, git, a server.
type redactor struct{ replace *strings.Replacer }

// tooShort to be a secret: replacing it would make texts unreadable.
const tooShort = 4

// secretNames: values of variables that are named so are never shown.
var secretNames = []string{"TOKEN", "PASSW", "SECRET", "CREDENTIAL"}

func redact(set config.Daemon, environ []string, more ...string) redactor {
	var all []string
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if slices.ContainsFunc(secretNames, func(s string) bool { return strings.Contains(strings.ToUpper(name), s) }) && !strings.HasPrefix(value, "/") {
			more = append(more, value) // a path names the file of one
		}
	}
	for _, s := range append(set.Secrets(), more...) {
		all = append(all, s, url.QueryEscape(s), url.PathEscape(s))
		if plain, err := url.PathUnescape(s); err == nil {
			all = append(all, plain)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) }) // the longest first
	var pairs []string
	for _, s := range slices.Compact(all) {
		if len(s) >= tooShort {
			pairs = append(pairs, s, "***")
		}
	}
	return redactor{strings.NewReplacer(pairs...)}
}

func (r redactor) text(s string) string { return r.replace.Replace(s) }

// attr is slog's ReplaceAttr.
func (r redactor) attr(_ []string, a slog.Attr) slog.Attr {
	switch a.Value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(r.text(a.Value.String()))
	case slog.KindAny:
		if err, ok := a.Value.Any().(error); ok {
			a.Value = slog.StringValue(r.text(fmt.Sprint(err)))
		}
	}
	return a
}
