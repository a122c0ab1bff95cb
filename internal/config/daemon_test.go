package config

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func sample(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/navwatchd.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func ptr(b bool) *bool { return &b }

// The documented sample is read, is complete, and is what it says.
func TestSample(t *testing.T) {
	text := sample(t)
	got, err := ParseDaemon([]byte(text), "docs/navwatchd.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := DefaultDaemon() // the values shown are the defaults where there are any
	want.Repository = "https://git.example.com/team/deploy.git"
	want.Mirror = "/var/cache/nav-watchdog/deploy.git"
	want.Names = []string{"ssh://git@git.example.com/team/deploy.git"}
	want.Source = Source{InCluster: true, Namespaces: []string{"argocd"}}
	want.DryRun, want.Notes = ptr(true), NotesHook
	want.Watcher.Email = "nav-watchdog@example.com"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := got.Validate(); err != nil {
		t.Errorf("the sample does not do: %v", err)
	}
	for _, s := range Settings() {
		if !strings.Contains(text, "--"+s.Flag) || !regexp.MustCompile(`\b`+s.Env+`\b`).MatchString(text) {
			t.Errorf("the sample does not name --%s and %s", s.Flag, s.Env)
		}
		if key := s.Key[strings.LastIndexByte(s.Key, '.')+1:]; !regexp.MustCompile(`(?m)^ *(# )?` + key + `:`).MatchString(text) {
			t.Errorf("the sample does not show %s", s.Key)
		}
	}
}

// Each key that the sample shows commented out is one, too.
func TestSampleCommentedKeys(t *testing.T) {
	text := sample(t)
	for _, c := range []struct{ comment, without string }{
		{"  # folder: ", "  in-cluster: true"}, {"  # kubeconfig: ", "  in-cluster: true"}, {"  # signing-key: ", ""}, {"  # allowed-signers: ", ""}, {"# alive-url: ", ""}, {"# listen: ", ""},
	} {
		changed := strings.Replace(text, c.comment, strings.Replace(c.comment, "# ", "", 1), 1)
		if c.without != "" {
			changed = strings.Replace(changed, c.without, "", 1)
		}
		d, err := ParseDaemon([]byte(changed), "f")
		if err != nil || d.Validate() != nil || changed == text {
			t.Errorf("%q as a key: %v, %v", c.comment, err, d.Validate())
		}
	}
}

func TestParseDaemonErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"version: 2\n", `f:1:10: version: this program reads version 1, not "2"`},
		{"dryrun: true\n", `f:1:1: unknown key "dryrun"` + "\n" + `hint: did you mean "dry-run"?`},
		{"dry-run: yes please\n", `f:1:10: dry-run must be true or false, not "yes please"`},
		{"dry-run: \"false\"\n", `f:1:10: dry-run must be true or false, not "false"`},
		{"dry-run:\n", `f:1:9: dry-run has no value`},
		{"dry-run: 0\n", `f:1:10: dry-run must be true or false, not "0"`},
		{"interval: 0\n", "f:1:11: interval must be more than 0"},
		{"notes: none\n", `f:1:8: notes: "none" is not one of: hook, signed`},
		{"log: {level: loud}\n", `f:1:14: log.level: "loud" is not one of: debug, info, warn, error`},
		{"watcher: {name: \"a <b>\"}\n", "f:1:17: watcher.name: git has no < and > in names and addresses"},
		{"source: {namespaces: [Argo]}\n", `f:1:23: source.namespaces[0]: "Argo": "Argo" is no name of a namespace`},
		{"source: {folder: a, in-cluster: true}\n", "f:1:21: source: folder and in-cluster are places to read Applications from, and only one is used"},
		{"source: {folder: a, folder: b}\n", `f:1:21: the key "folder" is there twice`},
		{"on-update: reload\n", `f:1:12: on-update: "reload" is not one of: exec, exit, ignore`},
		{"notify: {webhook: hooks/t0ken}\n", "f:1:19: notify.webhook: it must be an address that begins with https://HOST/ or http://HOST/"},
		{"notify: {secret: s}\n", `f:1:10: unknown key "secret" in notify`},
		{"alive-url: https:///t0ken\n", "f:1:12: alive-url: it must be an address that begins with"},
		{"listen: 9095\n", `f:1:9: listen must be text, not 9095`},
		{"listen: localhost\n", "f:1:9: listen: it must be HOST:PORT, such as"},
		{"listen: \":99999\"\n", "f:1:9: listen: the port must be a number up to 65535"},
		{"repository: \"a\\nb\"\n", "f:1:13: repository: the text holds a control character"},
	} {
		d, err := ParseDaemon([]byte(c.text), "f")
		if !strings.HasPrefix(errText(err), c.want) {
			t.Errorf("%q: %s\nwant %s", c.text, errText(err), c.want)
		}
		if diff := cmp.Diff(DefaultDaemon(), d); diff != "" {
			t.Errorf("%q: settings of a broken file:\n%s", c.text, diff)
		}
	}
	if d, err := ParseDaemon(nil, "f"); err != nil || d.Interval != 10*time.Second {
		t.Errorf("empty file: %v", err)
	}
}

func getenv(vars ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(vars); i += 2 {
			if vars[i] == name {
				return vars[i+1]
			}
		}
		return ""
	}
}

func TestOverlayPrecedence(t *testing.T) {
	file, err := ParseDaemon([]byte("interval: 30s\ndry-run: true\nrepositories: [a]\n"), "f")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		env      func(string) string
		flags    map[string]string
		interval time.Duration
		dry      bool
	}{
		{"file", getenv(), nil, 30 * time.Second, true},
		{"environment over file", getenv("INTERVAL", "20", "DRY_RUN", "FALSE"), nil, 20 * time.Second, false},
		{"flag over both", getenv("INTERVAL", "20s", "DRY_RUN", "0"), map[string]string{"interval": "5s", "dry-run": "true"}, 5 * time.Second, true},
		{"empty variable is none", getenv("INTERVAL", "", "DRY_RUN", ""), nil, 30 * time.Second, true},
	} {
		d, err := Overlay(file, c.env, c.flags)
		if err != nil || d.Interval != c.interval || d.DryRun == nil || *d.DryRun != c.dry {
			t.Errorf("%s: %v, interval %s, dry run %v", c.name, err, d.Interval, d.DryRun)
		}
	}
	if d, err := Overlay(DefaultDaemon(), getenv(), nil); err != nil || d.Interval != 10*time.Second || d.DryRun != nil {
		t.Errorf("default: %v, %+v", err, d)
	}
	d, err := Overlay(file, getenv("REPOSITORIES", "x, y"), nil)
	if err != nil || !slices.Equal(d.Names, []string{"x", "y"}) || !slices.Equal(file.Names, []string{"a"}) {
		t.Errorf("lists: %v, %q, file has %q now", err, d.Names, file.Names)
	}
}

// Every setting can be given in each of the three ways, and means the same.
func TestOverlayEverySetting(t *testing.T) {
	values := map[string][2]string{ // flag -> value, line of YAML
		"repository": {"/srv/a.git", "repository: /srv/a.git"}, "mirror": {"/m", "mirror: /m"}, "repositories": {"a,b", "repositories: [a, b]"},
		"folder": {"/f", "source: {folder: /f}"}, "kubeconfig": {"/k", "source: {kubeconfig: /k}"}, "in-cluster": {"true", "source: {in-cluster: true}"},
		"namespaces": {"a,b", "source: {namespaces: [a, b]}"}, "interval": {"7s", "interval: 7"}, "reconciliation": {"15s", "refresh: {reconciliation: 15s}"},
		"jitter": {"0", "refresh: {jitter: 0}"}, "dry-run": {"false", "dry-run: false"}, "notes": {"signed", "notes: signed"},
		"watcher-name": {"n", "watcher: {name: n}"}, "watcher-email": {"e@x", "watcher: {email: e@x}"}, "signing-key": {"K", "watcher: {signing-key: K}"},
		"allowed-signers": {"F", "watcher: {allowed-signers: F}"},
		"log-format":      {"json", "log: {format: json}"}, "log-level": {"debug", "log: {level: debug}"}, "status-interval": {"1m", "status-interval: 1m"},
		"on-update": {"exit", "on-update: exit"}, "webhook": {"https://h/x", "notify: {webhook: https://h/x}"},
		"webhook-secret-file": {"/s", "notify: {secret-file: /s}"}, "alive-url": {"http://h", "alive-url: http://h"}, "listen": {":9095", "listen: \":9095\""},
	}
	for _, s := range Settings() {
		v, ok := values[s.Flag]
		if !ok {
			t.Errorf("no value for --%s", s.Flag)
			continue
		}
		byFile, err1 := ParseDaemon([]byte(v[1]), "f")
		byEnv, err2 := Overlay(DefaultDaemon(), getenv(s.Env, v[0]), nil)
		byFlag, err3 := Overlay(DefaultDaemon(), getenv(), map[string]string{s.Flag: v[0]})
		if err1 != nil || err2 != nil || err3 != nil {
			t.Errorf("%s: %v, %v, %v", s.Flag, err1, err2, err3)
		}
		if diff := cmp.Diff(byFile, byEnv) + cmp.Diff(byFile, byFlag); diff != "" {
			t.Errorf("%s: file, environment and flag differ:\n%s", s.Flag, diff)
		}
		if byFile.Digest() == DefaultDaemon().Digest() {
			t.Errorf("%s is not part of the digest", s.Flag)
		}
	}
}

func TestOverlayPlaces(t *testing.T) {
	folder := DefaultDaemon()
	folder.Source = Source{Folder: "/f", Namespaces: []string{"argocd"}}
	kube := DefaultDaemon()
	kube.Source.Kubeconfig = "/k"
	for _, c := range []struct {
		name  string
		d     Daemon
		env   func(string) string
		flags map[string]string
		want  Source
	}{
		{"KUBECONFIG does not touch a folder", folder, getenv("KUBECONFIG", "/x"), nil, folder.Source},
		{"KUBECONFIG goes before the file's kubeconfig", kube, getenv("KUBECONFIG", "/x"), nil, Source{Kubeconfig: "/x"}},
		{"KUBECONFIG alone", DefaultDaemon(), getenv("KUBECONFIG", "/x"), nil, Source{Kubeconfig: "/x"}},
		{"KUBECONFIG beside FOLDER", DefaultDaemon(), getenv("KUBECONFIG", "/x", "FOLDER", "/f"), nil, Source{Folder: "/f"}},
		{"KUBECONFIG beside IN_CLUSTER=no", DefaultDaemon(), getenv("KUBECONFIG", "/x", "IN_CLUSTER", "no"), nil, Source{Kubeconfig: "/x"}},
		{"KUBECONFIG beside IN_CLUSTER", DefaultDaemon(), getenv("KUBECONFIG", "/x", "IN_CLUSTER", "yes"), nil, Source{InCluster: true}},
		{"a flag replaces the file's place", folder, getenv(), map[string]string{"in-cluster": "true"}, Source{InCluster: true, Namespaces: []string{"argocd"}}},
		{"a flag replaces KUBECONFIG", DefaultDaemon(), getenv("KUBECONFIG", "/x"), map[string]string{"folder": "/f"}, Source{Folder: "/f"}},
		{"a kubeconfig flag goes before a folder", folder, getenv(), map[string]string{"kubeconfig": "/k"}, Source{Kubeconfig: "/k", Namespaces: []string{"argocd"}}},
	} {
		d, err := Overlay(c.d, c.env, c.flags)
		if diff := cmp.Diff(c.want, d.Source); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", c.name, err, diff)
		}
	}
}

func TestOverlayErrors(t *testing.T) {
	d, err := Overlay(DefaultDaemon(),
		getenv("DRY_RUN", "yes please", "INTERVAL", "often", "JITTER", "-1s", "NOTES", "some", "NAMESPACES", "a,,b", "REPOSITORIES", "https://me:hunter2@x/y"),
		map[string]string{"interval": "", "folder": "a", "kubeconfig": "b", "color": "red", "in-cluster": "perhaps"})
	want := []string{
		`flags: folder and kubeconfig and in-cluster are places`,
		`environment REPOSITORIES: "https://x/y": the address holds a password`,
		`environment NAMESPACES: "": "" is no name of a namespace`,
		`environment INTERVAL: "often" is neither seconds`,
		`environment JITTER: "-1s" is negative`,
		`environment DRY_RUN: "yes please" is neither true nor false`,
		`environment NOTES: "some" is not one of: hook, signed`,
		`flag --in-cluster: "perhaps" is neither true nor false`,
		`flag --interval: "" is neither seconds`,
		`flag --color: there is no such setting`,
	}
	var es Errors
	if !errors.As(err, &es) || len(es) != len(want) {
		t.Fatalf("%v", err)
	}
	for i, e := range es {
		if !strings.HasPrefix(e.Error(), want[i]) {
			t.Errorf("got  %s\nwant %s", e, want[i])
		}
	}
	if d.DryRun != nil {
		t.Error("a dry-run that is neither yes nor no was taken")
	}
	for _, v := range []string{" ", "tru", "yes please", "TRUE\n", "2", "-", "nein"} {
		if d, err := Overlay(DefaultDaemon(), getenv("DRY_RUN", v), nil); err == nil || d.DryRun != nil {
			t.Errorf("DRY_RUN=%q: %v, %v", v, err, d.DryRun)
		}
	}
}

func TestValidate(t *testing.T) {
	good := func() Daemon {
		d := DefaultDaemon()
		d.Repository, d.DryRun, d.Source.Folder = "/srv/a.git", ptr(false), "/f"
		return d
	}
	if err := good().Validate(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Daemon){
		"settings: repository: is not said":                                 func(d *Daemon) { d.Repository = "" },
		"settings: dry-run: is not said":                                    func(d *Daemon) { d.DryRun = nil },
		"settings: source: no place to read Applications from is said":      func(d *Daemon) { d.Source = Source{} },
		"settings: source: folder and in-cluster are said":                  func(d *Daemon) { d.Source.InCluster = true },
		"settings: notes: they cannot be signed without a key":              func(d *Daemon) { d.Notes = NotesSigned },
		"settings: interval: 2h is not within 1s to 1h":                     func(d *Daemon) { d.Interval = 2 * time.Hour },
		"settings: status-interval: 0s is not within 1s to 1h":              func(d *Daemon) { d.StatusInterval = 0 },
		"settings: refresh: the time between two comparisons must be known": func(d *Daemon) { d.Refresh.Reconciliation = 0 },
		"settings: watcher: name and email are needed for commits":          func(d *Daemon) { d.Watcher.Email = "" },
	} {
		d := good()
		change(&d)
		if got := errText(d.Validate()); !strings.HasPrefix(got, want) || strings.Count(got, "settings: ") != 1 {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	if got := strings.Count(errText((Daemon{}).Validate()), "settings: "); got != 7 {
		t.Errorf("an empty configuration has %d errors", got)
	}
}

func TestDigest(t *testing.T) {
	d := DefaultDaemon()
	d.Repository = "https://me:hunter2@git.example.com/x.git"
	d.Names = []string{"b", "a", "https://hunter2@x/y"}
	if strings.Contains(d.Effective(), "hunter2") {
		t.Errorf("a password:\n%s", d.Effective())
	}
	same := d
	same.Repository = "https://me:other@git.example.com/x.git"
	same.Names = []string{"a", "b", "a", "https://x/y"}
	if d.Digest() != same.Digest() || !regexp.MustCompile(`^sha256:[0-9a-f]{64}$`).MatchString(d.Digest()) {
		t.Errorf("%s and %s", d.Digest(), same.Digest())
	}
	dry := d
	dry.DryRun = ptr(true)
	if dry.Digest() == d.Digest() {
		t.Error("dry-run is not part of the digest")
	}
	if m := d.DefaultMirror("/c"); !strings.HasPrefix(m, "/c/nav-watchdog/") || !strings.HasSuffix(m, ".git") || m == dry.DefaultMirror("/d") {
		t.Errorf("mirror %s", m)
	}
}

// What a webhook's address holds behind its host is never shown, wherever the
// address comes from and whatever is wrong with it.
func TestWebhookIsASecret(t *testing.T) {
	const secret = "t0ken"
	for _, address := range []string{
		"https://hooks.example.com/" + secret, "https://u:" + secret + "@hooks.example.com", "HTTPS://" + secret + "@h/x", "https://h?" + secret, "https://h#" + secret,
	} {
		for _, flag := range []string{"webhook", "alive-url"} {
			d, err := Overlay(DefaultDaemon(), getenv(), map[string]string{flag: address})
			if err != nil {
				t.Errorf("%s: %v", address, err)
			}
			if shown := d.Effective(); strings.Contains(shown, secret) || !strings.Contains(shown, "://h") {
				t.Errorf("%s: shown as\n%s", address, shown)
			}
		}
	}
	for _, address := range []string{"ftp://h/" + secret, "https:///" + secret, "https://h/ " + secret, secret, "https://:80/" + secret, "https://h/\n" + secret} {
		for _, flag := range []string{"webhook", "alive-url"} {
			if _, err := Overlay(DefaultDaemon(), getenv(), map[string]string{flag: address}); err == nil || strings.Contains(err.Error(), secret) {
				t.Errorf("%q: %v", address, err)
			}
		}
	}
}
