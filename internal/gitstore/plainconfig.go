package gitstore

import "strings"

// plainConfig reads a configuration file that has the very form in which `git
// config` writes it, so that a hook need not start git for two values. It gives
// up (false) on anything else that could matter: an include, a quote, an
// escape or a continued line anywhere, and whatever mentions a section that is
// asked for in another form. keys are "section.key", in lower case.
func plainConfig(data []byte, keys []string) (map[string][]string, bool) {
	text := string(data)
	if strings.ContainsAny(text, "\\\"\r\x00") || strings.Contains(strings.ToLower(text), "include") {
		return nil, false
	}
	found := map[string][]string{}
	for _, k := range keys {
		section, name, two := strings.Cut(k, ".")
		if !two || strings.Contains(name, ".") || strings.ToLower(k) != k {
			return nil, false
		}
		values, ok := plainValues(text, section, name)
		if !ok {
			return nil, false
		}
		if len(values) > 0 {
			found[k] = values
		}
	}
	return found, true
}

// plainValues lists the values of one key of a section without a subsection.
func plainValues(text, section, key string) (values []string, ok bool) {
	in := false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "["+section+"]":
			in = true
			continue
		case strings.HasPrefix(strings.TrimLeft(line, " \t"), "["):
			if strings.Contains(strings.ToLower(line), section) {
				return nil, false
			}
			in = false
		}
		if !in {
			continue
		}
		name, value, set := strings.Cut(line, " = ")
		if !set || !strings.HasPrefix(name, "\t") || !plainWord(name[1:]) || !plainWord(value) {
			return nil, false
		}
		if strings.EqualFold(name[1:], key) {
			values = append(values, value)
		}
	}
	return values, true
}

// plainWord is what git takes as it stands, and most names of users are.
func plainWord(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && c != '-' && c != '_' && c != '.' && c != '@' && c != '+' {
			return false
		}
	}
	return s != ""
}
