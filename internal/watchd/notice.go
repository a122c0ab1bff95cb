package watchd

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// What a notice is about.
const (
	KindPerson       = "person"        // a verdict that a person must look at
	KindNotRecovered = "not-recovered" // a revert that did not help, or did not arrive
	KindTooOld       = "too-old"       // a watch that could not be observed for too long
	KindCircuit      = "circuit-open"  // nothing of the Application, or at all, is reverted any more
	KindFrozen       = "frozen"        // all reverts are frozen
	KindNotesRefused = "notes-refused" // the server takes no notes of the watcher
	KindOthers       = "other-writers" // somebody else writes verdicts
	KindForeign      = "foreign-notes" // notes that the watcher did not sign
)

// Notice is told to a person. What it says stands in the repository, too, but
// for KindNotesRefused: it may be lost.
type Notice struct {
	// ID is made of what stands in the notes, so that it is the same after a
	// restart: who gets it twice can drop it.
	ID   string
	Kind string
	At   time.Time
	Text string // one line

	Commit, Branch, App, Verdict, Reason, Recovery, Revert string // where it is about a watch
	Watcher                                                string
}

// Notifier takes notices. It returns at once, whatever becomes of them.
type Notifier interface{ Notify(n Notice) }

// tell calls a person, in the log and by a notice. About is what makes this call
// what it is: the id is made of it, so it must be the same after a restart.
func (d *Daemon) tell(n Notice, about ...string) {
	args := []any{"kind", n.Kind}
	if n.App != "" {
		args = append(args, "commit", n.Commit, "app", n.App)
	}
	d.cfg.Log.Error("a person is needed: "+n.Text, args...)
	if d.cfg.Notifier == nil {
		return
	}
	sum := sha256.Sum256([]byte(strings.Join(append([]string{n.Kind}, about...), "\x00")))
	n.ID, n.At, n.Watcher = hex.EncodeToString(sum[:16]), d.cfg.Now(), d.watcher()
	d.cfg.Notifier.Notify(n)
}

// tellOf calls a person for a watch whose verdict has just been written. Because
// only a transition is written, it comes once for each, also after a restart.
func (d *Daemon) tellOf(s verdict.State, why string) {
	n := Notice{
		Kind: kindOf(s), Text: s.Watch.App.String() + ": " + why,
		Commit: s.Watch.Commit, Branch: s.Branch, App: s.Watch.App.String(), Verdict: string(s.Verdict),
		Reason: s.Reason.String(), Recovery: string(s.Recovery), Revert: s.Revert,
	}
	at := s.Decided
	if s.Recovery != "" {
		at, n.Reason = s.RecoveryAt, s.RecoveryWhy.String()
	}
	d.tell(n, n.Commit, n.App, n.Verdict, n.Recovery, n.Revert, at.UTC().Format(time.RFC3339))
}

func kindOf(s verdict.State) string {
	switch {
	case s.Recovery != "":
		return KindNotRecovered
	case !s.Frozen.IsZero():
		return KindFrozen
	case s.Reason.Code == "too-old":
		return KindTooOld
	}
	return KindPerson
}
