package manifest

import (
	"path"
	"strings"
)

// brief is a manifest of which every line has so plain a form that it need not
// be parsed to tell what it is about: most of a thousand Applications have
// nothing to do with a push, and parsing them would cost more than the rest of it.
type brief struct {
	text  string
	paths []string // values of the key path, cleaned
}

// plainly reads a file that way; false: it must be parsed, because a line has
// another form, because it is no Application, or because nothing says where its
// sources are.
func plainly(data []byte) (brief, bool) {
	b := brief{text: string(data)}
	apps, in := 0, source{}
	for line := range strings.SplitSeq(b.text, "\n") {
		key, value, ok := plainLine(line)
		if !ok {
			return brief{}, false
		}
		mark := strings.HasPrefix(line, "---")
		if key == "" && value == "" && !mark {
			continue
		}
		raw := len(line) - len(strings.TrimLeft(line, " "))
		if in.open() && (mark || raw+1 < in.column) { // the mapping ends, or its next sibling begins
			if !in.whole() {
				return brief{}, false
			}
			in = source{}
		}
		switch key {
		case "kind":
			if value != "Application" {
				return brief{}, false
			}
			apps++
		case "ref", "sourceHydrator", "generators", "items":
			return brief{}, false
		case "repoURL", "path":
			if value == "" || !in.take(key, raw+len(line[raw:])-len(strings.TrimLeft(line[raw:], "- "))) {
				return brief{}, false
			}
			if key == "path" {
				b.paths = append(b.paths, strings.TrimPrefix(path.Clean("/"+value), "/"))
			}
		}
	}
	return b, apps > 0 && (!in.open() || in.whole())
}

// source is a mapping with an address and a path, both of which it must have:
// one without a path may be the whole repository.
type source struct {
	column     int // of its keys, from 1; 0: none is open
	repo, path bool
}

func (s source) open() bool  { return s.column > 0 }
func (s source) whole() bool { return s.repo && s.path }

// take notes a key at a column from 0; false: it is of another mapping, or
// there twice.
func (s *source) take(key string, column int) bool {
	column++
	if s.open() && s.column != column || key == "repoURL" && s.repo || key == "path" && s.path {
		return false
	}
	s.column, s.repo, s.path = column, s.repo || key == "repoURL", s.path || key == "path"
	return true
}

// plainLine reads `key: value`, `- key: value`, `- value`, a comment, a mark
// between documents or an empty line, in ASCII, without quotes, anchors, tags,
// escapes, templates and blocks. A flow value has no nested one and no path.
func plainLine(line string) (key, value string, ok bool) {
	line = strings.TrimRight(line, " \r")
	text := strings.TrimLeft(line, " ")
	if text == "" || text[0] == '#' || line == "---" {
		return "", "", true
	}
	for _, c := range []byte(text) {
		if c < ' ' || c > '~' || c == '\\' || c == '"' || c == '\'' || c == '`' {
			return "", "", false
		}
	}
	if strings.Contains(text, "{{") || strings.Contains(text, " #") {
		return "", "", false
	}
	item := false
	for strings.HasPrefix(text, "- ") {
		text, item = strings.TrimLeft(text[2:], " "), true
	}
	key, value, pair := strings.Cut(text, ":")
	switch {
	case text == "" || !plainWord(text[0]):
		return "", "", false
	case !pair:
		// Elsewhere than in a list, it goes on with the value of the line before.
		return "", text, item && !strings.ContainsAny(text, "{}[]&*!|>%@,?")
	case strings.ContainsAny(key, " {}[]&*!|>%@,?#") || value != "" && value[0] != ' ':
		return "", "", false
	}
	value = strings.TrimSpace(value)
	switch {
	case value == "" || plainWord(value[0]) || value[0] == '/' || value[0] == '.':
		return key, value, !strings.Contains(value, ": ") && !strings.HasSuffix(value, ":")
	case value[0] == '{' && value[len(value)-1] == '}', value[0] == '[' && value[len(value)-1] == ']':
		inner := value[1 : len(value)-1]
		return key, value, !strings.ContainsAny(inner, "{}[]&*!|>%@?#") && !tells(inner)
	}
	return "", "", false
}

// tells reports whether a flow mapping has a key by which a file is found.
func tells(inner string) bool {
	for entry := range strings.SplitSeq(inner, ",") {
		key, _, _ := strings.Cut(entry, ":")
		switch strings.TrimSpace(key) {
		case "path", "ref", "kind", "repoURL", "sourceHydrator", "items", "generators":
			return true
		}
	}
	return false
}

func plainWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// concerns reports whether a file may be about an app, or about a folder that a
// changed path lies in.
func (b brief) concerns(apps []string, folders map[string]bool) bool {
	for _, a := range apps {
		if strings.Contains(b.text, a) {
			return true
		}
	}
	for _, p := range b.paths {
		if folders[p] {
			return true
		}
	}
	return false
}

// foldersOf are the paths themselves and all folders above them.
func foldersOf(paths []string) map[string]bool {
	out := map[string]bool{"": true}
	for _, p := range paths {
		for dir := p; dir != "." && dir != "/" && dir != "" && !out[dir]; dir = path.Dir(dir) {
			out[dir] = true
		}
	}
	return out
}
