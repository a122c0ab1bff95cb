package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Setting is one setting that can be given by flag and by environment as well.
type Setting struct {
	Flag  string // "dry-run", for --dry-run
	Env   string // "DRY_RUN"
	Key   string // "dry-run", in the file; with dots: source.folder
	Usage string
	Bool  bool // the flag needs no value

	apply func(d *Daemon, value string) error
}

// Settings lists every setting, in the order of docs/navwatchd.yaml. Commands
// make their flags of it.
func Settings() []Setting {
	return []Setting{
		{"repository", "REPOSITORY", "repository", "`URL or PATH` of the repository", false, line(func(d *Daemon) *string { return &d.Repository }, oneLine)},
		{"mirror", "MIRROR", "mirror", "`PATH` of the daemon's own copy", false, line(func(d *Daemon) *string { return &d.Mirror }, oneLine)},
		{"repositories", "REPOSITORIES", "repositories", "further `NAMES` by which Argo CD knows it, comma-separated", false, items(func(d *Daemon) *[]string { return &d.Names }, repositoryName)},
		{"folder", "FOLDER", "source.folder", "read Applications from the files in `PATH`", false, place(func(s *Source, v string) error { s.Folder = v; return oneLine(v) })},
		{"kubeconfig", "KUBECONFIG", "source.kubeconfig", "read Applications from the cluster that `PATH` names", false, place(func(s *Source, v string) error { s.Kubeconfig = v; return oneLine(v) })},
		{"in-cluster", "IN_CLUSTER", "source.in-cluster", "read Applications from the cluster in which navwatchd runs", true, inCluster},
		{"namespaces", "NAMESPACES", "source.namespaces", "`NAMESPACES` of Applications, comma-separated", false, items(func(d *Daemon) *[]string { return &d.Source.Namespaces }, namespace)},
		{"interval", "INTERVAL", "interval", "`TIME` between passes", false, seconds(func(d *Daemon) *time.Duration { return &d.Interval }, 1)},
		{"reconciliation", "RECONCILIATION", "refresh.reconciliation", "Argo CD's timeout.reconciliation, a `TIME`", false, seconds(func(d *Daemon) *time.Duration { return &d.Refresh.Reconciliation }, 1)},
		{"jitter", "JITTER", "refresh.jitter", "Argo CD's timeout.reconciliation.jitter, a `TIME`", false, seconds(func(d *Daemon) *time.Duration { return &d.Refresh.Jitter }, 0)},
		{"dry-run", "DRY_RUN", "dry-run", "judge and write verdicts, but revert nothing", true, dryRun},
		{"notes", "NOTES", "notes", "how notes are guarded: `hook or signed`", false, words(func(d *Daemon) *string { return &d.Notes }, NotesHook, NotesSigned)},
		{"watcher-name", "WATCHER_NAME", "watcher.name", "`NAME` in commits of the watcher", false, line(func(d *Daemon) *string { return &d.Watcher.Name }, identity)},
		{"watcher-email", "WATCHER_EMAIL", "watcher.email", "`ADDRESS` in commits of the watcher", false, line(func(d *Daemon) *string { return &d.Watcher.Email }, identity)},
		{"signing-key", "SIGNING_KEY", "watcher.signing-key", "`KEY` with which git signs them", false, line(func(d *Daemon) *string { return &d.Watcher.SigningKey }, oneLine)},
		{"allowed-signers", "ALLOWED_SIGNERS", "watcher.allowed-signers", "`FILE` of those whose signed notes count", false, line(func(d *Daemon) *string { return &d.Watcher.AllowedSigners }, oneLine)},
		{"log-format", "LOG_FORMAT", "log.format", "`text or json`", false, words(func(d *Daemon) *string { return &d.Log.Format }, logFormats()...)},
		{"log-level", "LOG_LEVEL", "log.level", "`debug, info, warn or error`", false, words(func(d *Daemon) *string { return &d.Log.Level }, logLevels()...)},
		{"status-interval", "STATUS_INTERVAL", "status-interval", "`TIME` between two heartbeats at least", false, seconds(func(d *Daemon) *time.Duration { return &d.StatusInterval }, 1)},
		{"on-update", "ON_UPDATE", "on-update", "when this program's file changes: `exec, exit or ignore`", false, words(func(d *Daemon) *string { return &d.OnUpdate }, onUpdates()...)},
		{"webhook", "WEBHOOK", "notify.webhook", "`URL` that notices to people are sent to", false, line(func(d *Daemon) *string { return &d.Notify.Webhook }, webAddress)},
		{"webhook-secret-file", "WEBHOOK_SECRET_FILE", "notify.secret-file", "`FILE` with the key that signs notices", false, line(func(d *Daemon) *string { return &d.Notify.SecretFile }, oneLine)},
		{"alive-url", "ALIVE_URL", "alive-url", "`URL` that is called after each good pass", false, line(func(d *Daemon) *string { return &d.AliveURL }, webAddress)},
		{"listen", "LISTEN", "listen", "`HOST:PORT` of /metrics, /healthz and /readyz", false, line(func(d *Daemon) *string { return &d.Listen }, listenAddress)},
	}
}

// Overlay puts the environment over the settings of the file, and the flags
// that were set (by name, "dry-run") over both. An empty variable is none; an
// empty flag is an error. The error is Errors, all of them.
//
// A place to read Applications from replaces the one that was said before.
// KUBECONFIG is the exception: it is there for other programs too, so it
// counts only where no folder and no in-cluster is said.
func Overlay(d Daemon, getenv func(string) string, flags map[string]string) (Daemon, error) {
	d.Names, d.Source.Namespaces = slices.Clone(d.Names), slices.Clone(d.Source.Namespaces)
	var errs Errors
	apply := func(s Setting, place, value string) {
		if err := s.apply(&d, value); err != nil {
			errs = append(errs, &Error{File: place, Text: err.Error()})
		}
	}
	env := map[string]string{}
	for _, s := range Settings() {
		if v := getenv(s.Env); v != "" {
			env[s.Flag] = v
		}
	}
	inClusterSaid := d.Source.InCluster
	if v, said := env["in-cluster"]; said {
		inClusterSaid = v != "" && !isNo(v)
	}
	if d.Source.Folder != "" || env["folder"] != "" || inClusterSaid {
		delete(env, "kubeconfig")
	}
	errs = append(errs, onePlace("environment", env)...)
	errs = append(errs, onePlace("flags", flags)...)
	for _, s := range Settings() {
		if v, set := env[s.Flag]; set {
			apply(s, "environment "+s.Env, v)
		}
	}
	known := map[string]bool{}
	for _, s := range Settings() {
		known[s.Flag] = true
		if v, set := flags[s.Flag]; set {
			apply(s, "flag --"+s.Flag, v)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		if !known[name] {
			errs = append(errs, &Error{File: "flag --" + name, Text: "there is no such setting"})
		}
	}
	if len(errs) > 0 {
		return DefaultDaemon(), errs.err()
	}
	return d, nil
}

func isNo(s string) bool {
	v, err := parseBool(s)
	return err == nil && !v
}

// onePlace refuses two places to read Applications from that are said at once.
func onePlace(where string, said map[string]string) Errors {
	var places []string
	for _, name := range []string{"folder", "kubeconfig", "in-cluster"} {
		if v, set := said[name]; set && (name != "in-cluster" || !isNo(v)) {
			places = append(places, name)
		}
	}
	if len(places) < 2 {
		return nil
	}
	return Errors{{File: where, Text: fmt.Sprintf("%s are places to read Applications from, and only one is used", strings.Join(places, " and ")), Hint: "keep one"}}
}

func line(of func(*Daemon) *string, check func(string) error) func(*Daemon, string) error {
	return func(d *Daemon, v string) error {
		*of(d) = v
		return check(v)
	}
}

func items(of func(*Daemon) *[]string, check func(string) error) func(*Daemon, string) error {
	return func(d *Daemon, v string) error {
		var out []string
		for item := range strings.SplitSeq(v, ",") {
			item = strings.TrimSpace(item)
			if err := check(item); err != nil {
				return fmt.Errorf("%q: %w", clip(withoutPassword(item)), err)
			}
			out = append(out, item)
		}
		*of(d) = out
		return nil
	}
}

func words(of func(*Daemon) *string, allowed ...string) func(*Daemon, string) error {
	return func(d *Daemon, v string) error {
		*of(d) = v
		return oneOf(v, allowed)
	}
}

func seconds(of func(*Daemon) *time.Duration, atLeast time.Duration) func(*Daemon, string) error {
	return func(d *Daemon, v string) error {
		t, err := parseDuration(v)
		if err == nil && t < atLeast {
			err = errors.New("it must be more than 0")
		}
		*of(d) = t
		return err
	}
}

func place(set func(*Source, string) error) func(*Daemon, string) error {
	return func(d *Daemon, v string) error {
		d.Source = Source{Namespaces: d.Source.Namespaces}
		return set(&d.Source, v)
	}
}

func inCluster(d *Daemon, v string) error {
	yes, err := parseBool(v)
	if err != nil {
		return err
	}
	if yes {
		d.Source = Source{Namespaces: d.Source.Namespaces}
	}
	d.Source.InCluster = yes
	return nil
}

func dryRun(d *Daemon, v string) error {
	yes, err := parseBool(v)
	if err != nil {
		return err // never taken for a no
	}
	d.DryRun = &yes
	return nil
}
