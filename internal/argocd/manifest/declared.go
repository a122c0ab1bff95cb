package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd"
	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// lazy compiles an expression when it is first asked for: a hook's start counts.
func lazy(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// declares finds the kinds that the rules read, in YAML and JSON, before either
// is parsed.
var declares = lazy(`\bkind["']?\s*:\s*["']?(Application|ApplicationSet|AppProject|ImageUpdater)\b`)

// helm finds what only a Helm template says.
var helm = lazy(`\{\{-?\s*(\$?\.(Values|Release|Chart|Capabilities|Template)\b|include\b|template\b|(if|with|range)\b[^}]*\.(Values|Release|Chart)\b)`)

// Declares reports whether a file may declare an object that the rules about
// manifests read.
func Declares(data []byte) bool { return Mentions(data) && declares().Match(data) }

// Declared reads the objects of Argo CD and Image Updater that a file declares,
// with the places of their fields. What is wrong with the file itself comes as
// findings, and what could be read before it beside them. A file that is no
// manifest but a template for Helm is skipped, and so is one with YAML that is
// not read here; skipped then says why.
func Declared(data []byte) (objects []arming.Declared, wrong []arming.FileFinding, skipped string) {
	r := reading{data: data, seen: map[string]int{}}
	err := documents(data, func(n *yaml.Node) error {
		r.declare(n, true)
		return nil
	})
	switch {
	case errors.Is(err, ErrLarge):
		return nil, nil, err.Error()
	case err != nil && helm().Match(data):
		return nil, nil, "it is a template for Helm, not YAML"
	case err != nil:
		r.wrong = append(r.wrong, r.failure(err))
	case r.skipped != "":
		return nil, nil, r.skipped
	}
	return r.objects, r.wrong, ""
}

// reading is what was found in a file so far.
type reading struct {
	data    []byte
	objects []arming.Declared
	wrong   []arming.FileFinding
	seen    map[string]int // line of each object
	starts  []int
	ascii   bool
	skipped string
}

func (r *reading) declare(n *yaml.Node, top bool) {
	if n.Kind != yaml.MappingNode {
		return
	}
	if items, is := listed(n); top && is {
		for _, item := range items {
			if err := checkItem(item); err != nil {
				r.fail(item, err)
				return
			}
			r.declare(item, false)
		}
		return
	}
	version, kind := named(n)
	if !argocd.IsOurs(version, kind) {
		return
	}
	content, err := Object(n)
	if err == nil && kind != argocd.KindApplicationSet && holds(content) {
		r.skipped = "placeholders ({{ }}) stand in it: it is a template for another program"
		return
	}
	var d arming.Declared
	if err == nil {
		d, err = r.object(n, kind, content)
	}
	if err != nil {
		r.fail(n, err)
		return
	}
	name := kind + " " + d.App.String()
	if line := r.seen[name]; line > 0 {
		p, _ := d.At("metadata", "name")
		r.add(arming.RuleTwice, p, "%s stands here again: it is in line %d already", name, line)
	} else {
		r.seen[name] = n.Line
	}
	r.objects = append(r.objects, d)
}

// holds reports whether a placeholder stands in any text below.
func holds(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, "{{")
	case []any:
		for _, item := range v {
			if holds(item) {
				return true
			}
		}
	case map[string]any:
		for key, item := range v {
			if strings.Contains(key, "{{") || holds(item) {
				return true
			}
		}
	}
	return false
}

// object makes of one object what the rules ask.
func (r *reading) object(n *yaml.Node, kind string, content map[string]any) (arming.Declared, error) {
	d := arming.Declared{Kind: kind, At: r.at(n)}
	spec, _ := content["spec"].(map[string]any)
	if kind == argocd.KindApplicationSet {
		return r.set(d, content, spec)
	}
	var p arming.Place
	if err := argocd.Add(&p, content, false); err != nil {
		return d, err
	}
	switch kind {
	case argocd.KindApplication:
		d.App = p.Apps[0].App
		d.Apps = []arming.Planned{planned(p.Apps[0], content, spec)}
		d.Partial = len(p.Apps[0].Sources) == 0 && spec["source"] == nil && spec["sources"] == nil
	case argocd.KindAppProject:
		d.Project, d.App = &p.Projects[0], verdict.App{Namespace: p.Projects[0].Namespace, Name: p.Projects[0].Name}
	case argocd.KindImageUpdater:
		d.Updater, d.App = &p.Updaters[0], verdict.App{Namespace: p.Updaters[0].Namespace, Name: p.Updaters[0].Name}
	}
	return d, nil
}

// planned adds to the facts what the manifest says beside them.
func planned(f arming.Facts, content, spec map[string]any) arming.Planned {
	p := arming.Planned{Facts: f}
	sources, _ := spec["sources"].([]any)
	p.Multi = len(sources) > 0
	policy, _ := spec["syncPolicy"].(map[string]any)
	if automated, there := policy["automated"].(map[string]any); there {
		p.Automated = true
		p.SwitchedOff = automated["enabled"] == false
		p.SelfHeal, _ = automated["selfHeal"].(bool)
	}
	meta, _ := content["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	for key, v := range annotations {
		if holds(v) {
			p.Open = append(p.Open, key)
		}
	}
	return p
}

// yamlLine is how yaml.v3 says where it stopped.
var yamlLine = lazy(`^yaml: line (\d+): (.*)$`)

// yamlParser finds the messages of its parser, which counts lines from 0; its
// scanner counts from 1 (parserc.go, decode.go).
var yamlParser = lazy(`^did not find expected (<|node content|'-' indicator|key$|',' or)`)

func (r *reading) failure(err error) arming.FileFinding {
	reason, pos := err.Error(), arming.Pos{}
	var placed *placedError
	if errors.As(err, &placed) {
		reason, pos = placed.text, r.pos(placed.line, placed.column)
	} else if m := yamlLine().FindStringSubmatch(strings.TrimPrefix(reason, "reading YAML: ")); m != nil {
		line, _ := strconv.Atoi(m[1])
		if yamlParser().MatchString(m[2]) {
			line++
		}
		line = min(line, bytes.Count(r.data, []byte("\n"))+1)
		reason, pos = "it is not YAML: "+m[2], arming.Pos{Line: line, Col: 1, Char: 1}
	}
	return syntax(pos, "%s", reason)
}

func (r *reading) add(rule string, at arming.Pos, format string, args ...any) {
	f := syntax(at, format, args...)
	for _, known := range arming.FileRules() {
		if known.ID == rule {
			f.Rule, f.Hint = known.ID, known.Hint
		}
	}
	r.wrong = append(r.wrong, f)
}

func syntax(at arming.Pos, format string, args ...any) arming.FileFinding {
	f := arming.FileFinding{Pos: at, Own: true, Wrong: true}
	f.Rule, f.Message, f.Hint = arming.RuleSyntax, fmt.Sprintf(format, args...), arming.FileRules()[0].Hint
	return f
}

// fail says why an object cannot be read. What kubectl reads and we do not is
// no fault of the file.
func (r *reading) fail(n *yaml.Node, err error) {
	var wrongField *argocd.FieldError
	var placed *placedError
	switch {
	case errors.As(err, &placed) && placed.ours:
		r.skipped = fmt.Sprintf("line %d: %s", placed.line, placed.text)
	case errors.As(err, &placed):
		f := r.failure(err)
		if strings.HasPrefix(f.Message, keyMustBeText) && bytes.Contains(r.data, []byte("{{")) {
			f.Hint = "quote the placeholder: '{{name}}'"
		}
		r.wrong = append(r.wrong, f)
	case errors.As(err, &wrongField):
		at, _ := r.at(n)(splitField(wrongField.Field)...)
		r.wrong = append(r.wrong, syntax(at, "%v", wrongField))
	default:
		at, _ := r.at(n)("metadata", "name")
		r.wrong = append(r.wrong, syntax(at, "%v", err))
	}
}

// splitField takes the path of a FieldError apart: a.b[3]."c/d".
func splitField(s string) (keys []string) {
	for s != "" {
		switch s[0] {
		case '.':
			s = s[1:]
		case '[':
			number, rest, _ := strings.Cut(s[1:], "]")
			keys, s = append(keys, number), rest
		case '"':
			quoted, err := strconv.QuotedPrefix(s)
			if err != nil {
				return keys
			}
			key, _ := strconv.Unquote(quoted) // QuotedPrefix has checked it
			keys, s = append(keys, key), s[len(quoted):]
		default:
			end := strings.IndexAny(s, ".[")
			if end < 0 {
				end = len(s)
			}
			keys, s = append(keys, s[:end]), s[end:]
		}
	}
	return keys
}

// at finds fields below a node.
func (r *reading) at(n *yaml.Node) func(path ...string) (arming.Pos, bool) {
	return func(path ...string) (arming.Pos, bool) {
		at, in := n, n
		for _, key := range path {
			if in.Kind == yaml.AliasNode {
				in = in.Alias
			}
			name, value := entry(in, key)
			if value == nil {
				return r.pos(at.Line, at.Column), false
			}
			at, in = name, value
		}
		return r.pos(at.Line, at.Column), true
	}
}

// entry is a key and its value, or an item of a list as both.
func entry(n *yaml.Node, key string) (name, value *yaml.Node) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == key {
				return n.Content[i], n.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i], n.Content[i]
		}
	}
	return nil, nil
}

// maxCounted is the column, in characters, behind which bytes are not counted.
const maxCounted = 10_000

// pos counts the column in bytes, too: yaml.v3 counts characters.
func (r *reading) pos(line, char int) arming.Pos {
	if r.starts == nil { // of lines: a file may have many findings
		r.starts = []int{0}
		r.ascii = true
		for i, c := range r.data {
			if c == '\n' {
				r.starts = append(r.starts, i+1)
			}
			r.ascii = r.ascii && c < utf8.RuneSelf
		}
	}
	if line < 1 || line > len(r.starts) || r.ascii || char > maxCounted {
		return arming.Pos{Line: line, Col: char, Char: char}
	}
	rest, col := r.data[r.starts[line-1]:], 0
	for range char - 1 {
		_, size := utf8.DecodeRune(rest[min(col, len(rest)):])
		col += size
	}
	return arming.Pos{Line: line, Col: col + 1, Char: char}
}
