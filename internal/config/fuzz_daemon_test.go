package config

import (
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
)

// FuzzParseDaemon: on an error nothing of the file counts, and no password that
// stands in it is shown; what is read is within its bounds.
func FuzzParseDaemon(f *testing.F) {
	text, err := os.ReadFile("../../docs/navwatchd.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	for _, s := range []string{
		"version: 1\nrepository: https://u:hunter2@h/r\nrepositories: [https://u:hunter2@h/r]\n",
		"source: {folder: a, kubeconfig: b}\n", "interval: 1e9\n", "dry-run: 'no'\n", "notify: {webhook: 'https://u:hunter2@h/?t=x', secret-file: x}\n",
		"watcher: {name: 'a<b', email: \"x\\ny\"}\n", "a: &a {b: *a}\n", "version: 1\n---\n", "listen: ':80'\nalive-url: file:///etc/passwd\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := ParseDaemon(data, "f")
		if err != nil {
			var es Errors
			if !errors.As(err, &es) || len(es) == 0 || len(es) > maxErrors+1 {
				t.Fatalf("%T: %v", err, err)
			}
			if !reflect.DeepEqual(d, DefaultDaemon()) {
				t.Fatalf("a broken file counts: %+v", d)
			}
			for _, e := range es {
				if !insideFile(data, e) || len(e.Text) > 2000 || strings.ContainsAny(e.Text, "\x1b\x00\r") {
					t.Fatalf("%+v of\n%s", e, data)
				}
			}
			return
		}
		if d.Interval <= 0 || d.StatusInterval <= 0 || d.Interval > maxDuration || d.Refresh.Reconciliation <= 0 || d.Refresh.Jitter < 0 || len(d.Source.kinds()) > 1 {
			t.Fatalf("%+v of\n%s", d, data)
		}
		for _, s := range []string{d.Repository, d.Mirror, d.Watcher.Name, d.Watcher.Email, d.Watcher.SigningKey, d.Notify.Webhook, d.Listen} {
			if strings.ContainsAny(s, "\n\x00\x1b") {
				t.Fatalf("%q is not one line", s)
			}
		}
	})
}

// FuzzOverlay: a variable of the environment and a flag are read as strictly as
// the file.
func FuzzOverlay(f *testing.F) {
	for i, s := range Settings() {
		f.Add(i, "1", s.Flag)
		f.Add(i, "x\ny", "yes")
	}
	f.Add(0, "https://u:hunter2@h/r", "")
	f.Fuzz(func(t *testing.T, which int, value, flag string) {
		all := Settings()
		s := all[int(uint(which)%uint(len(all)))]
		for _, flags := range []map[string]string{nil, {s.Flag: flag}} {
			d, err := Overlay(DefaultDaemon(), func(name string) string {
				if name == s.Env {
					return value
				}
				return ""
			}, flags)
			if err != nil {
				if !reflect.DeepEqual(d, DefaultDaemon()) {
					t.Fatalf("%s=%q does not count, and does: %+v", s.Env, value, d)
				}
				continue
			}
			if d.Interval <= 0 || d.Interval > maxDuration || d.Refresh.Reconciliation <= 0 || d.StatusInterval <= 0 {
				t.Fatalf("%s=%q: %+v", s.Env, value, d)
			}
			for _, text := range []string{d.Repository, d.Mirror, d.Watcher.Name, d.Watcher.Email, d.Notify.Webhook, d.Listen, d.Notes, d.OnUpdate} {
				if strings.ContainsAny(text, "\n\x00\x1b") {
					t.Fatalf("%s=%q, --%s=%q: %q is not one line", s.Env, value, s.Flag, flag, text)
				}
			}
		}
	})
}
