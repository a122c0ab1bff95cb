// Package hooks holds the shims that git runs: tiny shell scripts which start
// navhook, or whatever else they are told to, and the hook that was there
// before them. `navhook install` writes them.
package hooks

import (
	"embed"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed pre-receive post-receive commit-msg
var scripts embed.FS

// Server and Clone name the hooks of a repository that is pushed to, and of a
// developer's clone.
func Server() []string { return []string{"pre-receive", "post-receive"} }

// Clone names the hooks of a developer's clone; see Server.
func Clone() []string { return []string{"commit-msg"} }

// Chained is what is added to the name of the hook that was there before.
const Chained = ".chained"

const (
	placeholder = "@COMMAND@"
	marker      = "#!/bin/sh\n# nav-watchdog shim: "
	setWords    = "\nset -- "
)

// Shim is the script for the named hook. It runs command, an absolute path and
// arguments, with the hook's name and then the options added. The same command
// gives the same bytes.
func Shim(name string, command []string, options ...string) ([]byte, error) {
	if len(command) == 0 || !filepath.IsAbs(command[0]) {
		return nil, errors.New("a shim needs the absolute path of its program")
	}
	script, err := scripts.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading the shim of %q: %w", name, err)
	}
	words := slices.Concat(command, []string{name}, options)
	for i, w := range words {
		if strings.ContainsRune(w, 0) {
			return nil, fmt.Errorf("the command of the shim holds a NUL: %q", w)
		}
		words[i] = quote(w)
	}
	return []byte(strings.Replace(string(script), placeholder, strings.Join(words, " "), 1)), nil
}

// Ours reports whether a hook's content is a shim, of whatever version.
func Ours(content []byte) bool { return strings.HasPrefix(string(content), marker) }

// Words are what a shim of the named hook runs: its program and arguments, and
// the options behind the hook's name. false: content is no shim of this version.
func Words(name string, content []byte) (command, options []string, ok bool) {
	_, rest, found := strings.Cut(string(content), setWords)
	if !Ours(content) || !found {
		return nil, nil, false
	}
	var words []string
	for strings.HasPrefix(rest, "'") {
		var w string
		if w, rest, found = unquote(rest); !found {
			return nil, nil, false
		}
		words = append(words, w)
		rest = strings.TrimPrefix(rest, " ")
	}
	at := slices.Index(words, name)
	if at < 1 {
		return nil, nil, false
	}
	command, options = words[:at:at], words[at+1:]
	again, err := Shim(name, command, options...)
	return command, options, err == nil && string(again) == string(content)
}

// unquote undoes quote at the beginning of s.
func unquote(s string) (word, rest string, ok bool) {
	for {
		part, after, closed := strings.Cut(strings.TrimPrefix(s, "'"), "'")
		if !closed {
			return "", "", false
		}
		word += part
		if s, ok = strings.CutPrefix(after, `\'`); !ok {
			return word, after, true
		}
		word += "'"
	}
}

// quote makes s one word of a POSIX shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
