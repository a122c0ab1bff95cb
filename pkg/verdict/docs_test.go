package verdict_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

func notesDoc(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/notes.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// section is what stands below a heading, up to the next one.
func section(t *testing.T, doc, heading string) string {
	t.Helper()
	_, rest, ok := strings.Cut(doc, "\n"+heading+"\n")
	if !ok {
		t.Fatalf("docs/notes.md has no %q", heading)
	}
	if i := strings.Index(rest, "\n#"); i >= 0 {
		rest = rest[:i]
	}
	return rest
}

// firstColumn lists the `words` in the first column of the tables of a text.
func firstColumn(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if cell, ok := strings.CutPrefix(line, "| "); ok {
			cell, _, _ = strings.Cut(cell, " | ")
			for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cell, -1) {
				out = append(out, m[1])
			}
		}
	}
	return out
}

// Every code, key, verdict, gate and kind of event in the source is documented,
// and nothing else is.
func TestDocsAreComplete(t *testing.T) {
	doc := notesDoc(t)
	same := func(what string, source, documented []string) {
		slices.Sort(source)
		slices.Sort(documented)
		if source, documented = slices.Compact(source), slices.Compact(documented); !slices.Equal(source, documented) {
			t.Errorf("%s: the source has\n%v\ndocs/notes.md has\n%v", what, source, documented)
		}
	}
	var verdicts []string
	for _, v := range verdict.Verdicts() {
		verdicts = append(verdicts, string(v))
	}
	said := read(t, ".", "../../internal/watchd", "../../cmd/navwatchd")
	same("reasons", slices.Collect(maps.Keys(said.codes)), firstColumn(section(t, doc, "### Reasons")))
	same("events", slices.Collect(maps.Keys(said.events)), firstColumn(section(t, doc, "### Events")))
	same("fields", slices.Collect(maps.Keys(said.keys)), firstColumn(section(t, doc, "### Fields")))
	same("verdicts", verdicts, firstColumn(section(t, doc, "### Verdicts")))
	gates, _, _ := strings.Cut(section(t, doc, "### Gates"), ", always")
	var names []string
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(gates, -1) {
		names = append(names, m[1])
	}
	if !slices.Equal(names, verdict.GateNames()) {
		t.Errorf("gates in docs/notes.md: %v, want %v", names, verdict.GateNames())
	}
}

// The examples are the goldens.
func TestDocsExamples(t *testing.T) {
	examples := regexp.MustCompile("(?s)<!-- (v1-[a-z-]+\\.note) -->\n```text\n(.*?)```\n").FindAllStringSubmatch(notesDoc(t), -1)
	if len(examples) < 3 {
		t.Fatalf("docs/notes.md has %d examples", len(examples))
	}
	for _, e := range examples {
		want, err := os.ReadFile(filepath.Join("testdata", "notes", e[1]))
		if err != nil {
			t.Error(err)
			continue
		}
		if e[2] != string(want) {
			t.Errorf("the example %s is not the golden", e[1])
		}
	}
	lines := regexp.MustCompile("(?s)```json\n(.*?)\n```").FindAllStringSubmatch(notesDoc(t), -1)
	if len(lines) != 2 {
		t.Fatalf("docs/notes.md has %d lines of JSON", len(lines))
	}
	if got, err := verdict.ParseArrivals([]byte(lines[0][1])); err != nil || got[0].Line() != lines[0][1] {
		t.Errorf("the line of watches: %v, %v", got, err)
	}
	if got, err := verdict.ParsePeople([]byte(lines[1][1])); err != nil || got[0].Line() != lines[1][1] {
		t.Errorf("the line of people: %v, %v", got, err)
	}
}

// source is what the code says in notes.
type sourceWords struct{ codes, events, keys map[string]bool }

// read collects the codes of reasons, the kinds of events and the keys of
// fields from the source of packages.
func read(t *testing.T, dirs ...string) sourceWords {
	t.Helper()
	s := sourceWords{map[string]bool{}, map[string]bool{}, map[string]bool{}}
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no source in %s: %v", dir, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, s.visit)
		}
	}
	return s
}

// named are words that a code is made with, as docs/notes.md has them.
var named = map[string]string{"health=": "health=STATE", "not-on-": "not-on-BRANCH"}

func (s sourceWords) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CompositeLit:
		name := n.Type
		if sel, ok := name.(*ast.SelectorExpr); ok {
			name = sel.Sel
		}
		if id, ok := name.(*ast.Ident); ok && id.Name == "Reason" && len(n.Elts) > 0 {
			s.add(s.codes, n.Elts[0])
		}
	case *ast.FuncDecl: // codes that a function picks
		if n.Name.Name == "conditionCode" || n.Name.Name == "sourceProblem" {
			ast.Inspect(n.Body, func(n ast.Node) bool {
				if r, ok := n.(*ast.ReturnStmt); ok {
					s.add(s.codes, r.Results[0])
				}
				return true
			})
		}
	case *ast.CallExpr:
		if sel, ok := n.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "event" && len(n.Args) == 3 {
			s.add(s.events, n.Args[1])
		}
	case *ast.BasicLit:
		if v, err := strconv.Unquote(n.Value); err == nil && regexp.MustCompile(`^Nav-[A-Z][A-Za-z-]+$`).MatchString(v) && v != "Nav-Watchdog" {
			s.keys[v] = true
		}
	}
	return true
}

func (s sourceWords) add(to map[string]bool, e ast.Expr) {
	if kv, ok := e.(*ast.KeyValueExpr); ok {
		e = kv.Value
	}
	if sum, ok := e.(*ast.BinaryExpr); ok {
		e = sum.X
	}
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return
	}
	if v, err := strconv.Unquote(lit.Value); err == nil {
		if n, ok := named[v]; ok {
			v = n
		}
		to[v] = true
	}
}
