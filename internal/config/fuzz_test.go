package config

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
)

// FuzzParsePolicy holds: no panic; on error nothing of the file counts and
// every place lies inside it; what is read keeps the bounds that were checked.
func FuzzParsePolicy(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte(strings.ReplaceAll(full, "\n", "\r\n")))
	f.Add([]byte("\ufeffversion: 2\nx: &a [*a]\n---\n"))
	f.Add([]byte("version: 1\ngroups: {a: &a [b], <<: *a}\nowners: *a\narm: {allow: [{}, 1, {apps: *a, by: [\"@c\"]}]}"))
	f.Add([]byte("version: 1\nlimits: {deadline: {min: 1h, max: 1m}}\ndefaults: {reach: 1}\n"))
	f.Add([]byte("a:\n\t- b\n"))
	f.Add([]byte("? [a]\n: |\n  b\n- c: !!map {}\n"))
	f.Add([]byte("version: \n  # c\n\n? \n"))
	if text, err := os.ReadFile("../../docs/navwatchd.yaml"); err == nil {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ParsePolicy(data, "f")
		_, derr := ParseDaemon(data, "f")
		for _, err := range []error{err, derr} {
			if err == nil {
				continue
			}
			var es Errors
			if !errors.As(err, &es) || len(es) == 0 || len(es) > maxErrors+1 {
				t.Fatalf("%T: %v", err, err)
			}
			for _, e := range es {
				if !insideFile(data, e) {
					t.Errorf("%v is outside of the file, %q", e, data)
				}
				if len(e.Text) > 1000 || strings.ContainsAny(e.Text, "\x1b\x00\r") {
					t.Errorf("unbounded or unescaped: %q", e.Text)
				}
			}
		}
		if err != nil {
			if diff := cmp.Diff(arming.Default(), p); diff != "" {
				t.Errorf("a broken file counts:\n%s", diff)
			}
			return
		}
		l := p.Trailer
		if !p.Exists || l.Deadline < l.DeadlineLimit.Min || l.Deadline > l.DeadlineLimit.Max || l.Reach < l.ReachLimit.Min || l.Reach > l.ReachLimit.Max ||
			l.Stable < l.StableLimit.Min || l.Stable > l.StableLimit.Max || l.WatchesPerCommit < 1 {
			t.Errorf("limits %+v", l)
		}
		for _, a := range p.Arm.Accept {
			if a.Reason == "" || len(a.Apps) == 0 || waivable(a.Rule) != nil {
				t.Errorf("accept %+v", a)
			}
		}
		for _, a := range p.Arm.Allow {
			if len(a.Apps) == 0 || len(a.By) == 0 {
				t.Errorf("allow %+v", a)
			}
		}
	})
}

func insideFile(data []byte, e *Error) bool {
	lines := bytes.Split(data, []byte("\n"))
	if e.Line < 1 || e.Line > len(lines) {
		return false
	}
	return e.Col >= 1 && e.Col <= utf8.RuneCount(lines[e.Line-1])+1
}
