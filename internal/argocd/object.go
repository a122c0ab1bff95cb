package argocd

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// FieldError says that a field of an Application has a type that it cannot
// have.
type FieldError struct {
	Field string // its path: status.resources[3].health.status
	Want  string // text, true or false, a whole number, a time, an object, a list
	Got   string
}

func (e *FieldError) Error() string {
	return fmt.Sprintf("field %s is %s, want %s", e.Field, e.Got, e.Want)
}

// object is one JSON object and where it stands. The first wrong field that
// is met anywhere in the tree is kept in bad; what is read there is the zero
// value, so that a whole Application can be read without a branch a field.
type object struct {
	fields map[string]any // nil: absent
	bad    *error
	up     *object
	key    string // under which it stands in up
	index  int    // in the list that stands there; -1: no list
}

func root(fields map[string]any, bad *error) *object {
	return &object{fields: fields, bad: bad, index: -1}
}

// there reports whether the object is in the JSON, be it empty.
func (o *object) there() bool { return o.fields != nil }

func (o *object) path() string {
	if o.up == nil {
		return ""
	}
	p := o.up.child(o.key)
	if o.index >= 0 {
		p += "[" + strconv.Itoa(o.index) + "]"
	}
	return p
}

func (o *object) child(key string) string {
	if strings.ContainsAny(key, "./") { // an annotation
		key = strconv.Quote(key)
	}
	if p := o.path(); p != "" {
		return p + "." + key
	}
	return key
}

func (o *object) wrong(field, want string, got any) {
	if *o.bad == nil {
		*o.bad = &FieldError{Field: field, Want: want, Got: describe(got)}
	}
}

func (o *object) text(key string) string {
	s, _ := o.optional(key)
	return s
}

// optional is text that also tells whether the field is there.
func (o *object) optional(key string) (string, bool) {
	v := o.fields[key]
	if v == nil {
		return "", false
	}
	s, ok := v.(string)
	if !ok {
		o.wrong(o.child(key), "text", v)
	}
	return s, ok
}

func (o *object) truth(key string) bool { return o.truthOr(key, false) }

func (o *object) truthOr(key string, absent bool) bool {
	v := o.fields[key]
	if v == nil {
		return absent
	}
	b, ok := v.(bool)
	if !ok {
		o.wrong(o.child(key), "true or false", v)
		return absent
	}
	return b
}

func (o *object) number(key string) int64 {
	v := o.fields[key]
	if v == nil {
		return 0
	}
	n, ok := whole(v)
	if !ok {
		o.wrong(o.child(key), "a whole number", v)
	}
	return n
}

// whole takes the forms in which the decoders that feed us hand over numbers.
func whole(v any) (int64, bool) {
	switch n := v.(type) {
	case int64:
		return n, true
	case int:
		return int64(n), true
	case float64:
		if n == math.Trunc(n) && math.Abs(n) < 1<<53 {
			return int64(n), true
		}
	case json.Number:
		i, err := n.Int64()
		return i, err == nil
	}
	return 0, false
}

// when reads a metav1.Time: RFC 3339, in UTC, the zero time when absent.
func (o *object) when(key string) time.Time {
	s, ok := o.optional(key)
	if !ok {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		o.wrong(o.child(key), "a time (RFC 3339)", s)
		return time.Time{}
	}
	return t.UTC()
}

// object is never nil; there tells whether it is in the JSON.
func (o *object) object(key string) *object {
	in := &object{bad: o.bad, up: o, key: key, index: -1}
	v := o.fields[key]
	if v == nil {
		return in
	}
	m, ok := v.(map[string]any)
	if !ok {
		o.wrong(o.child(key), "an object", v)
	}
	in.fields = m
	return in
}

func (o *object) list(key string) []any {
	v := o.fields[key]
	if v == nil {
		return nil
	}
	l, ok := v.([]any)
	if !ok {
		o.wrong(o.child(key), "a list", v)
	}
	return l
}

func (o *object) objects(key string) []object {
	l := o.list(key)
	if len(l) == 0 {
		return nil
	}
	in := make([]object, len(l))
	for i, v := range l {
		in[i] = object{bad: o.bad, up: o, key: key, index: i}
		m, ok := v.(map[string]any)
		if !ok {
			o.wrong(in[i].path(), "an object", v)
			continue
		}
		in[i].fields = m
	}
	return in
}

func (o *object) texts(key string) []string {
	l := o.list(key)
	if len(l) == 0 {
		return nil
	}
	in := make([]string, len(l))
	for i, v := range l {
		s, ok := v.(string)
		if !ok {
			o.wrong(o.child(key)+"["+strconv.Itoa(i)+"]", "text", v)
		}
		in[i] = s
	}
	return in
}

// labels is an object of texts.
func (o *object) labels(key string) map[string]string {
	in := o.object(key)
	if len(in.fields) == 0 {
		return nil
	}
	out := make(map[string]string, len(in.fields))
	for k := range in.fields {
		out[k] = in.text(k)
	}
	return out
}

// describe says what was found, without the value of what could be long or
// secret.
func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		if len(v) <= 40 {
			return "the text " + strconv.Quote(v)
		}
		return "a text"
	case bool:
		return strconv.FormatBool(v)
	case int, int64, float64, json.Number:
		return fmt.Sprintf("the number %v", v)
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	default:
		return fmt.Sprintf("a %T", v)
	}
}
