package trailer

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Bounds of what is read of one trailer.
const (
	maxValue  = 4096 // bytes
	maxFields = 32
	maxProbes = 16
)

// fieldNames are the fields, in the order of docs/trailer.md.
var fieldNames = [...]string{"app", "appset", "deadline", "reach", "stable", "mode", "expect"}

// synonyms are what people write who know other tools.
var synonyms = [...][2]string{
	{"application", "app"}, {"name", "app"}, {"applicationset", "appset"},
	{"timeout", "deadline"}, {"within", "deadline"}, {"wait", "reach"}, {"hold", "stable"},
	{"action", "mode"}, {"on-fail", "mode"}, {"health", "expect"},
}

// field is one word of a trailer's value, and where it stands.
type field struct {
	text string
	pos  Pos
}

// fields decodes the value of one trailer.
type fields struct {
	policy Policy
	watch  Watch
	limits bool
	named  bool // app or appset is there, or what is most likely meant for it
	seen   []string
	found  []Finding
}

// ParseFields decodes the value of one trailer, for example
// "app=web deadline=40", with the defaults of p. Its limits do not apply. The
// error is a *FieldsError; its columns count in value.
func ParseFields(value string, p Policy) (Watch, error) {
	d := fields{policy: p}
	d.decode([]byte(value), Pos{1, 1}, Pos{1, 1})
	if len(d.found) > 0 {
		return Watch{}, &FieldsError{Findings: inOrder(d.found)}
	}
	return d.watch, nil
}

// FieldsError is what [ParseFields] says of a value that is no watch: all that
// is wrong with it, at least one finding.
type FieldsError struct{ Findings []Finding }

// Error is one line for each finding, and a hint below it.
func (e *FieldsError) Error() string {
	var b strings.Builder
	for i, f := range e.Findings {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%d:%d: %s", f.Pos.Line, f.Pos.Col, f.Message)
		if f.Hint != "" {
			b.WriteString("\nhint: " + f.Hint)
		}
	}
	return b.String()
}

// words splits a raw value, which starts at the place at, at white space.
func words(raw []byte, at Pos) []field {
	var ws []field
	for len(raw) > 0 && len(ws) <= maxFields {
		n := 0
		for n < len(raw) && !isSpace(raw[n]) {
			n++
		}
		if n > 0 {
			ws = append(ws, field{text: string(raw[:n]), pos: at})
			at.Col += n
		} else {
			n = 1
			if at.Col++; raw[0] == '\n' {
				at = Pos{Line: at.Line + 1, Col: 1}
			}
		}
		raw = raw[n:]
	}
	return ws
}

// decode reads raw, which starts at the place at, into d.watch. What is wrong
// with the trailer as a whole is said of the place key.
func (d *fields) decode(raw []byte, at, key Pos) {
	d.watch = Watch{
		Deadline: d.policy.Deadline, Reach: d.policy.Reach, Stable: d.policy.Stable,
		Mode: Shadow, Expect: "Healthy", Pos: key,
	}
	if n := len(trim(raw)); n > maxValue {
		d.fail(FieldSyntax, key, fmt.Sprintf("the value has %d bytes; more than %d are not read", n, maxValue), "one trailer names one application: use several")
		return
	}
	ws := words(raw, at)
	if len(ws) > maxFields {
		d.fail(FieldSyntax, ws[maxFields].pos, fmt.Sprintf("more than %d fields", maxFields), "one trailer names one application: use several")
		return
	}
	for _, w := range ws {
		d.field(w)
	}
	if !d.named {
		d.fail(AppMissing, key, "no application is named", "add app=NAME, the name of the Argo CD Application, or app=NAMESPACE/NAME")
	}
	if slices.Contains(d.seen, "app") && slices.Contains(d.seen, "appset") {
		d.fail(AppAndAppSet, key, "both app and appset are given", "keep one of them; repeat the trailer to watch more")
	}
	d.watch.Unsupported = d.watch.unsupported()
}

func (d *fields) fail(r Rule, at Pos, message, hint string) {
	d.found = append(d.found, Finding{Rule: r, Severity: Error, Pos: at, Message: message, Hint: hint})
}

// field reads one field.
func (d *fields) field(f field) {
	key, value, ok := strings.Cut(f.text, "=")
	switch {
	case !ok:
		d.bare(f)
		return
	case key == "":
		d.fail(FieldSyntax, f.pos, quote(f.text)+" has no field name before the '='", "write key=value, without spaces around the '='")
		return
	case !slices.Contains(fieldNames[:], key):
		d.unknown(f, key)
		return
	}
	d.named = d.named || key == "app" || key == "appset"
	switch {
	case slices.Contains(d.seen, key):
		d.fail(FieldTwice, f.pos, key+" is given twice", twiceHint(key))
		return
	case value == "":
		d.fail(FieldSyntax, f.pos, key+"= has no value", "write key=value, without spaces around the '='")
		return
	}
	d.seen = append(d.seen, key)
	switch key {
	case "app":
		d.watch.App = d.name(f.pos, key, value)
	case "appset":
		d.watch.AppSet = d.name(f.pos, key, value)
	case "deadline":
		d.watch.Deadline = d.time(f.pos, key, value, d.policy.DeadlineLimit)
	case "reach":
		d.watch.Reach = d.time(f.pos, key, value, d.policy.ReachLimit)
	case "stable":
		d.watch.Stable = d.time(f.pos, key, value, d.policy.StableLimit)
	case "mode":
		d.mode(f.pos, value)
	case "expect":
		d.expect(f.pos, value)
	}
}

// bare reports a word without '='. If it could be an application, it is most
// likely meant to be one, and its absence is not reported again.
func (d *fields) bare(f field) {
	hint := "write key=value, with spaces only between fields"
	if checkName(f.text) == nil && !d.named && !slices.Contains(fieldNames[:], f.text) {
		hint = "did you mean app=" + f.text + "?"
		d.named = true
	}
	d.fail(FieldSyntax, f.pos, quote(f.text)+" is not key=value", hint)
}

func (d *fields) unknown(f field, key string) {
	hint := "the fields are " + strings.Join(fieldNames[:], ", ")
	if near := nearestField(key); near != "" {
		hint = "did you mean " + near + "=?"
		d.named = d.named || near == "app" || near == "appset"
	}
	d.fail(FieldUnknown, f.pos, "there is no field "+quoteASCII(key), hint)
}

func (d *fields) name(at Pos, key, value string) string {
	if err := checkName(value); err != nil {
		hint := "use the name of the Argo CD " + map[string]string{"app": "Application", "appset": "ApplicationSet"}[key] + ", or NAMESPACE/NAME"
		if strings.ContainsAny(value, ",;") {
			hint = "one trailer names one application: repeat the trailer, and put spaces between fields"
		}
		d.fail(AppName, at, fmt.Sprintf("%s=%s is no name: it %v", key, quoteASCII(value), err), hint)
	}
	return value
}

func (d *fields) time(at Pos, key, value string, limit Range) time.Duration {
	t, err := parseDuration(value)
	switch {
	case err != nil:
		d.fail(TimeSyntax, at, fmt.Sprintf("%s=%s %v", key, quoteValue(value), err), "use whole seconds (900) or a Go duration (15m, 1h30m)")
	case d.limits && !limit.holds(t):
		d.fail(TimeLimit, at, fmt.Sprintf("%s=%s is outside the limits, %v", key, quoteValue(value), limit), "use a time within the limits, or have the policy's limits changed")
	}
	return t
}

func (d *fields) mode(at Pos, value string) {
	switch d.watch.Mode = Mode(value); d.watch.Mode {
	case Shadow, Propose, Arm:
	default:
		hint := "the modes are shadow, propose and arm"
		if near := nearest(value, string(Shadow), string(Propose), string(Arm)); near != "" {
			hint = "did you mean mode=" + near + "?"
		}
		d.fail(ModeUnknown, at, "there is no mode "+quoteASCII(value), hint)
	}
}

func (d *fields) expect(at Pos, value string) {
	health := ""
	for item := range strings.SplitSeq(value, ",") {
		probe, isProbe := strings.CutPrefix(item, "probe:")
		switch {
		case isProbe && checkLabel(probe) != nil:
			d.fail(ExpectUnknown, at, "probe "+quoteASCII(probe)+" is no name", "a probe's name has a-z, 0-9 and '-'")
			return
		case isProbe && (len(d.watch.Probes) == maxProbes || slices.Contains(d.watch.Probes, probe)):
			d.fail(ExpectUnknown, at, fmt.Sprintf("probe %s is named twice, or is one of more than %d", quote(probe), maxProbes), "name each probe once")
			return
		case isProbe:
			d.watch.Probes = append(d.watch.Probes, probe)
		case item != "Healthy" && item != "Suspended":
			hint := "expect is Healthy or Suspended, and may name probes: expect=Healthy,probe:NAME"
			if near := nearest(item, "Healthy", "Suspended"); near != "" {
				hint = "did you mean expect=" + near + "?"
			}
			d.fail(ExpectUnknown, at, "there is nothing to expect that is called "+quoteASCII(item), hint)
			return
		case health != "":
			d.fail(ExpectUnknown, at, "expect names two healths, "+health+" and "+item, "an application has one health at a time: keep one")
			return
		default:
			health = item
		}
	}
	if health != "" {
		d.watch.Expect = health
	}
}

// unsupported names what of the watch this version does not do.
func (w Watch) unsupported() string {
	var what []string
	if w.AppSet != "" {
		what = append(what, "appset")
	}
	if len(w.Probes) > 0 {
		what = append(what, "probe")
	}
	if w.Mode == Propose {
		what = append(what, "mode=propose")
	}
	return strings.Join(what, ", ")
}

func twiceHint(key string) string {
	if key == "app" || key == "appset" {
		return "one trailer names one application: repeat the trailer for the other"
	}
	return "keep one of them"
}

// quoteValue leaves what is plainly printable as it is.
func quoteValue(s string) string {
	if q := quoteASCII(s); q != `"`+s+`"` {
		return q
	}
	return s
}

// mentions tells cheaply whether a message can hold a Nav-Watchdog trailer.
func mentions(msg []byte) bool {
	dash := strings.IndexByte(Key, '-')
	for i := 0; ; i++ {
		n := bytes.IndexByte(msg[i:], '-')
		if n < 0 {
			return false
		}
		i += n
		if from := i - dash; from >= 0 && from+len(Key) <= len(msg) && equalKey(string(msg[from:from+len(Key)]), Key) {
			return true
		}
	}
}
