package lint

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/nav-watchdog/nav-watchdog/pkg/trailer"
)

// FuzzSquash: whatever title, description and commits a merge request has, a
// message is made by every host's templates, is linted to its end, and no watch
// comes out of it that nobody wrote.
func FuzzSquash(f *testing.F) {
	f.Add([]byte("Title\n\nText\n\nNav-Watchdog: app=web\n"), []byte("one\n\nNav-Watchdog: app=web\n"), []byte("two\n"))
	f.Add([]byte("Nav-Watchdog: app=a\n"), []byte(""), []byte("\x00Nav-Watchdog: app=b"))
	f.Add([]byte("T\r\n\r\n* Nav-Watchdog: app=a\r\n"), []byte("* x\n\nCo-authored-by: A <a@b>\n"), []byte("---\n# ------------------------ >8 ------------------------\n"))
	f.Fuzz(func(t *testing.T, text, first, second []byte) {
		all := string(text) + "\n" + string(first) + "\n" + string(second)
		for _, host := range SquashHosts() {
			for _, messages := range [][][]byte{nil, {first}, {first, second}} {
				for _, s := range squash(host, text, messages) {
					if s.name == "" || len(s.message) > len(all)*2+200 {
						t.Fatalf("%s makes %d bytes of %d", host, len(s.message), len(all))
					}
					Message(s.message, trailer.DefaultPolicy(), nil)
					ws, _ := trailer.Decode(s.message, trailer.DefaultPolicy().Unlimited())
					for _, w := range ws {
						if !strings.Contains(all, w.App) || !strings.Contains(all, w.AppSet) {
							t.Fatalf("%s: %+v was written by nobody in %q", s.name, w, s.message)
						}
					}
				}
			}
		}
	})
}

// FuzzFormats: whatever stands in a finding, each format stays what it is, and
// nothing of it is a command to whoever shows it.
func FuzzFormats(f *testing.F) {
	for _, s := range hostile() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ReplaceAll(s, "\t", " ") // a tab stays where a format has lines
		for _, format := range Formats() {
			out := written(t, format, s)
			switch format {
			case FormatJSON, FormatSARIF, FormatGitLab:
				if !json.Valid(out) {
					t.Fatalf("%s is no JSON:\n%s", format, out)
				}
			case FormatJUnit:
				d := xml.NewDecoder(bytes.NewReader(out))
				for {
					if _, err := d.Token(); errors.Is(err, io.EOF) {
						break
					} else if err != nil {
						t.Fatalf("%v:\n%s", err, out)
					}
				}
			case FormatGitHub:
				for line := range bytes.Lines(out) {
					if n := bytes.Count(line, []byte("::")); bytes.HasPrefix(line, []byte("::")) && (n < 2 || !known(string(line))) {
						t.Fatalf("a command of somebody else: %s", line)
					}
				}
			}
		}
	})
}

func known(line string) bool {
	for _, command := range []string{"::error ", "::warning ", "::notice "} {
		if strings.HasPrefix(line, command) {
			return true
		}
	}
	return false
}
