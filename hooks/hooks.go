// Package hooks holds the shims that git runs: tiny shell scripts which start
// navhook, or whatever else they are told to, and the hook that was there
// before them. `navhook install` writes them.
package hooks

import (
	"embed"
	"errors"
	"fmt"
	"path/filepath"
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
)

// Shim is the script for the named hook. It runs command, an absolute path and
// arguments, with the hook's name added. The same command gives the same bytes.
func Shim(name string, command []string) ([]byte, error) {
	if len(command) == 0 || !filepath.IsAbs(command[0]) {
		return nil, errors.New("a shim needs the absolute path of its program")
	}
	script, err := scripts.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading the shim of %q: %w", name, err)
	}
	words := make([]string, len(command))
	for i, w := range command {
		if strings.ContainsRune(w, 0) {
			return nil, fmt.Errorf("the command of the shim holds a NUL: %q", w)
		}
		words[i] = quote(w)
	}
	return []byte(strings.Replace(string(script), placeholder, strings.Join(words, " "), 1)), nil
}

// Ours reports whether a hook's content is a shim, of whatever version.
func Ours(content []byte) bool { return strings.HasPrefix(string(content), marker) }

// quote makes s one word of a POSIX shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
