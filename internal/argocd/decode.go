package argocd

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// MaxApplication is how many bytes of JSON are decoded at most.
const MaxApplication = 4 << 20

// ErrNotFound says that a source of Applications was read and has none of the
// name. It is the only error that means "there is none"; every other means
// "not known". Absent makes a Look of it.
var ErrNotFound = errors.New("there is no such Application")

// ErrAmbiguous says that a name without a namespace fits several Applications.
var ErrAmbiguous = errors.New("several Applications have this name")

// ErrOtherKind says that an object is not an Application.
var ErrOtherKind = errors.New("not an Application of argoproj.io")

// Application is one decoded Application. It is never modified.
type Application struct {
	look  verdict.Look
	facts arming.Facts
}

// App is its qualified name.
func (a *Application) App() verdict.App { return a.look.App }

// ByName orders Applications by namespace, then name, as all readers list them.
func ByName(a, b *Application) int {
	x, y := a.App(), b.App()
	return cmp.Or(strings.Compare(x.Namespace, y.Namespace), strings.Compare(x.Name, y.Name))
}

// Look is what the Application said when it was decoded; at is when it was
// fetched, by the daemon's clock, and direct says that it came from the API
// server itself and not from a cache. The caller must not modify the slices
// in it: all Looks of an Application share them.
func (a *Application) Look(at time.Time, direct bool) verdict.Look {
	l := a.look
	l.At, l.Direct = at, direct
	return l
}

// Facts is what the Application is, for the arming rules; from names the place
// that said so, for people, and at is how old that is.
func (a *Application) Facts(from string, at time.Time) arming.Facts {
	f := a.facts
	f.From, f.At = from, at
	if a.look.HasStatus {
		f.State = &arming.State{Sync: a.look.SyncStatus, Health: a.look.Health, AppOfApps: a.look.AppOfApps || len(a.look.Children) > 0}
		look := a.look
		look.At = at
		f.State.Settled = verdict.SettledGood(look, staleAfter)
	}
	return f
}

// staleAfter is how long Argo CD takes at most to look at an Application again,
// by default (R5).
const staleAfter = 180 * time.Second

// Absent is the look at an Application that is not there (ErrNotFound).
func Absent(app verdict.App, at time.Time) verdict.Look {
	return verdict.Look{App: app, At: at, Absent: true}
}

// Decode reads the JSON of one Application.
func Decode(raw []byte) (*Application, error) {
	if len(raw) > MaxApplication {
		return nil, fmt.Errorf("reading an Application: %d bytes are more than %d", len(raw), MaxApplication)
	}
	fields, err := parse(raw)
	if err != nil {
		return nil, fmt.Errorf("reading an Application: %w", err)
	}
	return FromObject(fields)
}

// IsList reports whether kind is that of a list which can hold Applications.
func IsList(kind string) bool { return kind == "List" || kind == "ApplicationList" }

// parse reads one JSON object and nothing after it.
func parse(raw []byte) (map[string]any, error) {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			line := 1 + bytes.Count(raw[:min(int(syntax.Offset), len(raw))], []byte("\n"))
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		return nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("it is %s, want an object", describe(v))
	}
	return m, nil
}

// FromObject reads an Application that is decoded already, as encoding/json,
// client-go and a YAML decoder do it: map[string]any, []any, string, bool,
// numbers, nil. An object of another kind is ErrOtherKind. The map is not
// kept.
func FromObject(fields map[string]any) (*Application, error) {
	var bad error
	top := root(fields, &bad)
	kind, version := top.text("kind"), top.text("apiVersion")
	if bad == nil && (kind != "Application" || !strings.HasPrefix(version, group+"/")) {
		return nil, fmt.Errorf("reading an object of kind %q, apiVersion %q: %w", kind, version, ErrOtherKind)
	}
	meta := top.object("metadata")
	name, namespace := meta.text("name"), meta.text("namespace")
	if bad == nil && (!plainName(name) || namespace != "" && !plainName(namespace)) {
		return nil, fmt.Errorf("reading an Application: metadata has no usable name: namespace %.80q, name %.80q", namespace, name)
	}
	app := read(top, verdict.App{Namespace: namespace, Name: name})
	if bad != nil {
		return nil, fmt.Errorf("reading Application %.200q: %w", app.look.App, bad)
	}
	return app, nil
}

// group is the API group of Argo CD's kinds.
const group = "argoproj.io"

// plainName admits what the API server admits as a name, and a little more.
// Names are printed and written into notes.
func plainName(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("-._", rune(c)) {
			return false
		}
	}
	return true
}
