package config

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// Daemon is what an operator tells navwatchd. docs/navwatchd.yaml explains
// every key.
type Daemon struct {
	Repository string   // URL or path of the one repository that is served
	Mirror     string   // bare repository in which the daemon keeps its copy; "" is DefaultMirror
	Names      []string // further names by which Argo CD knows the repository
	Source     Source
	Interval   time.Duration // between passes
	Refresh    Refresh
	DryRun     *bool  // nil: not said, which Validate refuses
	Notes      string // how notes are guarded: "hook", "signed", or "" (every revert is held)
	Watcher    Watcher
	Log        Log
	// StatusInterval is how often refs/notes/nav/status is written at most.
	StatusInterval time.Duration
	OnUpdate       string // what to do when the program's own file has changed: one of Update*
	Notify         Notify
	AliveURL       string // called after each good pass; "" none
	Listen         string // HOST:PORT of metrics and health; "" none
}

// Notify is whom notices go to.
type Notify struct {
	Webhook    string // "" none
	SecretFile string // holds the key that signs them
}

// What to do when the program's own file has changed. The old code never goes
// on unsaid.
const (
	UpdateExec   = "exec"   // start anew, in place
	UpdateExit   = "exit"   // end with a code of its own; a supervisor starts it
	UpdateIgnore = "ignore" // go on, and say so in log and status
)

func onUpdates() []string { return []string{UpdateExec, UpdateExit, UpdateIgnore} }

// Source says where Applications are read: exactly one of Folder, Kubeconfig
// and InCluster.
type Source struct {
	Folder     string
	Kubeconfig string // a path, or several as in $KUBECONFIG
	InCluster  bool
	Namespaces []string // of Applications; empty: every namespace
}

// Refresh is how often Argo CD compares: timeout.reconciliation and its jitter.
type Refresh struct{ Reconciliation, Jitter time.Duration }

// Total is the longest time between two comparisons.
func (r Refresh) Total() time.Duration { return r.Reconciliation + r.Jitter }

// Watcher is whom commits of the watcher name: reverts and notes.
type Watcher struct {
	Name, Email string
	SigningKey  string // as git's user.signingKey; "" leaves commits unsigned
	// AllowedSigners is a file, as of ssh-keygen, of those whose notes count with
	// notes: signed; "" is the signing key alone.
	AllowedSigners string
}

// Log is how the daemon logs.
type Log struct {
	Format string // "text" or "json"
	Level  string // "debug", "info", "warn" or "error"
}

// How notes may be guarded (design, section 8).
const (
	NotesHook   = "hook"
	NotesSigned = "signed"
)

// DefaultDaemon holds what counts where nothing is said.
func DefaultDaemon() Daemon {
	return Daemon{
		Interval:       10 * time.Second,
		Refresh:        Refresh{Reconciliation: 120 * time.Second, Jitter: 60 * time.Second},
		Watcher:        Watcher{Name: "nav-watchdog", Email: "nav-watchdog@localhost"},
		Log:            Log{Format: "text", Level: "info"},
		StatusInterval: 5 * time.Minute,
		OnUpdate:       UpdateExec,
	}
}

// ParseDaemon reads the daemon's settings over DefaultDaemon. An empty file is
// none. The error is Errors. What is missing, or does not go together, is
// found by Validate, after Overlay.
func ParseDaemon(data []byte, file string) (Daemon, error) {
	root, errs := load(data, file)
	if errs != nil || root == nil {
		return DefaultDaemon(), errs.err()
	}
	r := &daemonReader{reader: reader{file: file}, d: DefaultDaemon()}
	r.read(root)
	if err := r.errs.err(); err != nil {
		return DefaultDaemon(), err
	}
	return r.d, nil
}

type daemonReader struct {
	reader
	d Daemon
}

func (r *daemonReader) read(root *yaml.Node) {
	d := &r.d
	r.mapping("", root, map[string]field{
		"version":      r.version,
		"repository":   r.set(&d.Repository, oneLine),
		"mirror":       r.set(&d.Mirror, oneLine),
		"repositories": func(name string, n *yaml.Node) { d.Names = r.texts(name, n, repositoryName) },
		"source":       r.source,
		"interval":     r.positive(&d.Interval),
		"refresh": func(name string, n *yaml.Node) {
			r.mapping(name, n, map[string]field{
				"reconciliation": r.positive(&d.Refresh.Reconciliation), "jitter": r.duration(&d.Refresh.Jitter),
			})
		},
		"dry-run": func(name string, n *yaml.Node) {
			if v, ok := r.bool(name, n); ok {
				d.DryRun = &v
			}
		},
		"notes": func(name string, n *yaml.Node) { d.Notes = r.choice(name, n, NotesHook, NotesSigned) },
		"watcher": func(name string, n *yaml.Node) {
			r.mapping(name, n, map[string]field{
				"name": r.set(&d.Watcher.Name, identity), "email": r.set(&d.Watcher.Email, identity),
				"signing-key": r.set(&d.Watcher.SigningKey, oneLine), "allowed-signers": r.set(&d.Watcher.AllowedSigners, oneLine),
			})
		},
		"log": func(name string, n *yaml.Node) {
			r.mapping(name, n, map[string]field{
				"format": func(name string, n *yaml.Node) { d.Log.Format = r.choice(name, n, logFormats()...) },
				"level":  func(name string, n *yaml.Node) { d.Log.Level = r.choice(name, n, logLevels()...) },
			})
		},
		"status-interval": r.positive(&d.StatusInterval),
		"on-update":       func(name string, n *yaml.Node) { d.OnUpdate = r.choice(name, n, onUpdates()...) },
		"notify": func(name string, n *yaml.Node) {
			r.mapping(name, n, map[string]field{
				"webhook": r.set(&d.Notify.Webhook, webAddress), "secret-file": r.set(&d.Notify.SecretFile, oneLine),
			})
		},
		"alive-url": r.set(&d.AliveURL, webAddress),
		"listen":    r.set(&d.Listen, listenAddress),
	})
}

func (r *daemonReader) source(name string, n *yaml.Node) {
	s := &r.d.Source
	seen := r.mapping(name, n, map[string]field{
		"folder":     r.set(&s.Folder, oneLine),
		"kubeconfig": r.set(&s.Kubeconfig, oneLine),
		"in-cluster": func(name string, n *yaml.Node) { s.InCluster, _ = r.bool(name, n) },
		"namespaces": func(name string, n *yaml.Node) { s.Namespaces = r.texts(name, n, namespace) },
	})
	if kinds := s.kinds(); len(kinds) > 1 {
		r.fail(seen[kinds[1]], "keep one", "%s: %s are places to read Applications from, and only one is used", name, strings.Join(kinds, " and "))
	}
}

// kinds names which places the source says, by their keys.
func (s Source) kinds() []string {
	var kinds []string
	if s.Folder != "" {
		kinds = append(kinds, "folder")
	}
	if s.Kubeconfig != "" {
		kinds = append(kinds, "kubeconfig")
	}
	if s.InCluster {
		kinds = append(kinds, "in-cluster")
	}
	return kinds
}

// set reads a text of one line.
func (r *reader) set(out *string, check func(string) error) field {
	return func(name string, n *yaml.Node) { *out = r.line(name, n, check) }
}

func logFormats() []string { return []string{"text", "json"} }
func logLevels() []string  { return []string{"debug", "info", "warn", "error"} }

// identity is what git takes into a commit as it is: it drops < and > silently.
func identity(s string) error {
	if strings.ContainsAny(s, "<>") {
		return errors.New("git has no < and > in names and addresses")
	}
	return oneLine(s)
}

func namespace(s string) error {
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || s == "" || len(s) > 63 {
		return fmt.Errorf("%q is no name of a namespace", clip(s))
	}
	return nil
}
