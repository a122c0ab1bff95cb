package navtest

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// Schema is a JSON Schema, of as much of drafts 4 to 7 as our schemas and
// those of the formats that we write use. A keyword that is not understood is
// an error, never a pass.
type Schema struct{ root map[string]any }

// ReadSchema reads a schema from a file.
func ReadSchema(t testing.TB, file string) Schema {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var s Schema
	if err := json.Unmarshal(text, &s.root); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return s
}

// Validate gives everything that a value breaks, "at PATH: what" each. The value
// is what encoding/json makes of a text.
func (s Schema) Validate(value any) []string { return s.check("$", s.root, value) }

func (s Schema) check(at string, schema map[string]any, v any) []string {
	var out []string
	for _, keyword := range sorted(schema) {
		arg := schema[keyword]
		switch keyword {
		case "$schema", "$id", "id", "$comment", "title", "description", "default", "examples", "definitions":
		case "$ref", "allOf", "anyOf", "oneOf", "not":
			out = append(out, s.combine(at, keyword, arg, v)...)
		case "properties", "patternProperties", "additionalProperties", "required", "propertyNames", "minProperties":
			if o, ok := v.(map[string]any); ok {
				out = append(out, s.object(at, keyword, schema, o)...)
			}
		case "items", "minItems", "maxItems", "uniqueItems":
			if list, ok := v.([]any); ok {
				out = append(out, s.array(at, keyword, arg, list)...)
			}
		default:
			if why := scalar(keyword, arg, v); why != "" {
				out = append(out, "at "+at+": "+why)
			}
		}
	}
	return out
}

func (s Schema) combine(at, keyword string, arg, v any) []string {
	if keyword == "$ref" {
		name, local := strings.CutPrefix(fmt.Sprint(arg), "#/definitions/")
		definitions, _ := s.root["definitions"].(map[string]any)
		target, known := definitions[name].(map[string]any)
		if !local || !known {
			return []string{fmt.Sprintf("at %s: the schema refers to %v, which is not there", at, arg)}
		}
		return s.check(at, target, v)
	}
	if keyword == "not" {
		if len(s.check(at, schemaOf(arg), v)) == 0 {
			return []string{"at " + at + ": is what it must not be"}
		}
		return nil
	}
	var all []string
	passed := 0
	for _, one := range arg.([]any) {
		why := s.check(at, schemaOf(one), v)
		if len(why) == 0 {
			passed++
		}
		all = append(all, why...)
	}
	switch {
	case keyword == "allOf", keyword == "anyOf" && passed == 0:
		return all
	case keyword == "oneOf" && passed != 1:
		return append(all, fmt.Sprintf("at %s: %d of oneOf fit", at, passed))
	}
	return nil
}

func (s Schema) object(at, keyword string, schema, o map[string]any) []string {
	var out []string
	named, _ := schema["properties"].(map[string]any)
	patterns, _ := schema["patternProperties"].(map[string]any)
	if keyword == "required" {
		for _, name := range schema["required"].([]any) {
			if _, there := o[name.(string)]; !there {
				out = append(out, fmt.Sprintf("at %s: %v is missing", at, name))
			}
		}
	}
	if keyword == "minProperties" && float64(len(o)) < schema[keyword].(float64) {
		out = append(out, "at "+at+": has too few properties")
	}
	for _, name := range sorted(o) {
		below, other := at+"."+name, true
		if one, ok := named[name]; ok {
			if other = false; keyword == "properties" {
				out = append(out, s.check(below, schemaOf(one), o[name])...)
			}
		}
		for pattern, one := range patterns {
			if regexp.MustCompile(pattern).MatchString(name) {
				if other = false; keyword == "patternProperties" {
					out = append(out, s.check(below, schemaOf(one), o[name])...)
				}
			}
		}
		switch keyword {
		case "additionalProperties":
			if other {
				out = append(out, s.check(below, schemaOf(schema[keyword]), o[name])...)
			}
		case "propertyNames":
			out = append(out, s.check(below, schemaOf(schema[keyword]), name)...)
		}
	}
	return out
}

func (s Schema) array(at, keyword string, arg any, list []any) []string {
	var out []string
	switch keyword {
	case "items":
		for i, item := range list {
			out = append(out, s.check(fmt.Sprintf("%s[%d]", at, i), schemaOf(arg), item)...)
		}
	case "minItems":
		if float64(len(list)) < arg.(float64) {
			out = append(out, "at "+at+": has too few items")
		}
	case "maxItems":
		if float64(len(list)) > arg.(float64) {
			out = append(out, "at "+at+": has too many items")
		}
	case "uniqueItems":
		for i := range list {
			if arg == true && slices.ContainsFunc(list[:i], func(x any) bool { return reflect.DeepEqual(x, list[i]) }) {
				out = append(out, fmt.Sprintf("at %s[%d]: is there twice", at, i))
			}
		}
	}
	return out
}

// scalar is what one keyword says of a value itself; "" if it fits.
func scalar(keyword string, arg, v any) string {
	text, isText := v.(string)
	number, isNumber := v.(float64)
	bad := false
	switch keyword {
	case "type":
		types, several := arg.([]any)
		if !several {
			types = []any{arg}
		}
		bad = !slices.ContainsFunc(types, func(t any) bool { return hasType(t.(string), v) })
	case "enum":
		bad = !slices.ContainsFunc(arg.([]any), func(x any) bool { return reflect.DeepEqual(x, v) })
	case "const":
		bad = !reflect.DeepEqual(arg, v)
	case "pattern":
		bad = isText && !regexp.MustCompile(arg.(string)).MatchString(text)
	case "minLength":
		bad = isText && float64(utf8.RuneCountInString(text)) < arg.(float64)
	case "maxLength":
		bad = isText && float64(utf8.RuneCountInString(text)) > arg.(float64)
	case "minimum":
		bad = isNumber && number < arg.(float64)
	case "maximum":
		bad = isNumber && number > arg.(float64)
	case "format":
		bad = isText && !hasFormat(arg.(string), text)
	default:
		return fmt.Sprintf("the schema has the keyword %q, which is not understood", keyword)
	}
	if bad {
		return fmt.Sprintf("%s %v: not %.80q", keyword, arg, fmt.Sprint(v))
	}
	return ""
}

func hasType(name string, v any) bool {
	switch v := v.(type) {
	case nil:
		return name == "null"
	case bool:
		return name == "boolean"
	case string:
		return name == "string"
	case float64:
		return name == "number" || name == "integer" && v == float64(int64(v))
	case []any:
		return name == "array"
	default:
		return name == "object"
	}
}

func hasFormat(format, s string) bool {
	switch format {
	case "uri", "uri-reference":
		u, err := url.Parse(s)
		return err == nil && (format == "uri-reference" || u.IsAbs()) && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`"<>\^{|}`+"`", r) })
	case "date-time":
		return regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$`).MatchString(s)
	}
	return false
}

// schemaOf reads true and false as the schemas that they stand for.
func schemaOf(v any) map[string]any {
	switch v {
	case true:
		return map[string]any{}
	case false:
		return map[string]any{"not": map[string]any{}}
	}
	return v.(map[string]any)
}

func sorted(m map[string]any) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
