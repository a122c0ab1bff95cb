// Package watchd carries out what pkg/verdict decides: one pass over the open
// watches, and the loop around it; and it judges recordings.
//
// # A pass, in its order
//
//  1. Fetch. It fixes the tip of every branch and the base of every
//     compare-and-swap. Without it nothing is decided and nothing is written.
//  2. Read what changed in `verdicts`, `watches` and `people`, adopt what
//     arrived: by walking each watched branch from the tip stored last.
//  3. List the Applications, ask Git everything at once, step every watch.
//  4. For what is about to be decided: read that Application directly, step
//     again (R26). For a FAIL: ask everything that the gates need, anew.
//  5. One push, atomic: the notes, at most one revert, and the status if it is
//     due. A crash before it leaves nothing; after it everything is there.
//  6. Only then is the new state the daemon's own. A push that was lost, refused
//     or not heard of leaves the old one, and the next pass reads what is true.
package watchd

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// Config is what a daemon is made of. All fields of the first two blocks but
// Names are required.
type Config struct {
	Store   Store
	Git     History
	Cluster Cluster
	Now     func() time.Time
	Log     *slog.Logger

	Names          []string // addresses by which Argo CD may know this repository
	Interval       time.Duration
	Refresh        time.Duration // reconciliation and jitter of Argo CD; 0: it does not poll
	StatusInterval time.Duration
	DryRun         bool
	Guard          string // why notes are not guarded against others; empty: they are
	Signs          bool   // its reverts are signed
	Watcher        string // version and digests, for notes and the status
	WatcherName    string // by which the watcher pushes; it may reset a circuit
	ParsePolicy    func(data []byte, file string) (arming.Policy, error)

	Part int // how many watches a pass goes through at once where there are many; 0: 500

	Notifier Notifier            // nil: a person is only called in the log
	Passed   func(Report)        // is told of each pass that Run made; nil: nobody. It must not block
	Renew    func(*Daemon) error // see Run; nil: nothing ever changes
	Look     time.Duration       // how often Renew is called at least; not 0 where there is one
	Clean    func(string) string // takes secrets out of what others say; nil: nothing is taken out
}

// Daemon judges the watches of one repository. It is not safe for concurrent
// use.
type Daemon struct {
	cfg   Config
	asker *asker

	view     View
	fetched  bool // view is of a fetch
	watches  *watches
	past     past                 // of commits that have ended
	loaded   bool                 // verdicts were read once
	foreign  string               // why verdicts is not believed; empty: it is
	sums     map[string][32]byte  // digest of the note as it was last read
	unread   map[string]bool      // written, and not read again yet
	written  map[key]writing      // when this daemon last wrote a stanza
	wrote    map[string][32]byte  // digest of the note that it last wrote
	tried    map[string][32]byte  // the same of a push that may have arrived
	triedBy  time.Time            // the newest look in between that such a push was judged by
	judgedBy map[string]time.Time // the same of one that had arrived, by commit
	broken   map[string]error     // commits whose note cannot be read
	arrived  map[string][]verdict.Arrival
	people   []verdict.PeopleLine
	memory   map[verdict.App]verdict.Memory
	status   status
	said     string // the tip of verdicts that the stored status names
	started  bool   // the status was read
	policy   map[string]arming.Policy
	refused  map[key]int // refused pushes of a revert
	apps     []Snapshot
	named    map[string][]int // where in apps a name stands
	awaiting []Snapshot       // looks that came and that no watch was stepped by yet, oldest first
	around   arming.Place     // what stands around them
	blind    string           // why some of that cannot be read
	listErr  error
	sick     map[string]string // what cannot be seen, for the status
	greeted  bool              // the first pass that arrived was told of

	pending      []pending           // notices that are not known to be delivered
	untold       map[string][]Notice // those of the last push that was not heard of, by commit
	told         []string            // ids of notices about freezes of people that stand
	policySums   map[string]string   // digests of the policies read, by commit
	moves        map[string]int      // transitions written so far, by verdict
	failure      *failure            // the last pass that failed; nil: none within a day
	inRow        int                 // passes that failed, up to the last one
	statusDue    bool                // the status must be written in the next pass
	refusedNotes int                 // pushes of notes that were refused, up to the last one
	toldRefusal  bool                // a person was called for that
}

// key names a watch.
type key struct {
	commit string
	app    verdict.App
}

// writing is when a stanza was written, and with which reason.
type writing struct {
	at   time.Time
	code string
}

// New checks a configuration.
func New(c Config) (*Daemon, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	return &Daemon{
		cfg: c, asker: newAsker(c.Git, c.Names),
		watches: newWatches(), past: newPast(), sums: map[string][32]byte{}, unread: map[string]bool{}, written: map[key]writing{}, wrote: map[string][32]byte{}, tried: map[string][32]byte{}, judgedBy: map[string]time.Time{}, broken: map[string]error{},
		arrived: map[string][]verdict.Arrival{}, memory: map[verdict.App]verdict.Memory{},
		policy: map[string]arming.Policy{}, refused: map[key]int{}, sick: map[string]string{},
		policySums: map[string]string{}, moves: map[string]int{}, untold: map[string][]Notice{},
	}, nil
}

func (c Config) check() error {
	switch {
	case c.Store == nil || c.Git == nil || c.Cluster == nil || c.Now == nil || c.Log == nil || c.ParsePolicy == nil:
		return errors.New("configuring the daemon: a part is missing")
	case c.Interval <= 0 || c.Renew != nil && c.Look <= 0:
		return errors.New("configuring the daemon: the interval must be positive")
	}
	return nil
}

// Configure changes what a daemon was made of, between two passes: what it knows
// stays. The repository and the cluster must be the ones that it had.
func (d *Daemon) Configure(c Config) error {
	if err := c.check(); err != nil {
		return err
	}
	d.cfg = c
	return nil
}

// Complain says once, in log and status, that something of the daemon's own is
// not as it should be, until that is taken back with nil.
func (d *Daemon) Complain(what string, err error) {
	text := ""
	if err != nil {
		text = d.clean(err)
	}
	switch text {
	case d.sick[what]:
		return
	case "":
		d.cfg.Log.Info("in order again", "what", what)
		delete(d.sick, what)
	default:
		d.cfg.Log.Warn("not in order", "what", what, "error", text)
		d.sick[what] = text
	}
	d.statusDue = true
}

// Unread is why the last pass did not see every Application; nil: it did. A pass
// goes on without them, so this is no error of it.
func (d *Daemon) Unread() error {
	if d.listErr == nil {
		return nil
	}
	return fmt.Errorf("reading the Applications: %w", d.listErr)
}
