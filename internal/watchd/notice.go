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
	KindFrozen       = "frozen"        // reverts are frozen, by the watcher or by a person
	KindNotesRefused = "notes-refused" // the server takes no notes of the watcher
	KindOthers       = "other-writers" // somebody else writes verdicts
	KindForeign      = "foreign-notes" // notes that the watcher did not sign
)

// Notice is told to a person. Until it is delivered it stands in the status, too,
// which is pushed together with the verdict that it is about: whenever the daemon
// ends, the next one sends it again.
type Notice struct {
	// ID is made of what stands in the notes, so that it is the same after a
	// restart: who gets it twice can drop it.
	ID   string    `json:"id"`
	Kind string    `json:"kind"`
	At   time.Time `json:"at"`   // of the first attempt
	Text string    `json:"text"` // one line

	// Where it is about a watch.
	Commit   string `json:"commit,omitempty"`
	Branch   string `json:"branch,omitempty"`
	App      string `json:"app,omitempty"`
	Verdict  string `json:"verdict,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Recovery string `json:"recovery,omitempty"`
	Revert   string `json:"revert,omitempty"`

	Watcher string `json:"-"` // who sends it
}

// Notifier takes notices.
type Notifier interface {
	// Notify returns at once, whatever becomes of the notice.
	Notify(n Notice)
	// Outcomes are those of notices that were taken, by id, each once: nil where
	// it was delivered.
	Outcomes() map[string]error
}

// about makes a notice. What it is about makes it what it is: the id is made of
// it, so it must be the same after a restart.
func (d *Daemon) about(n Notice, what ...string) Notice {
	sum := sha256.Sum256([]byte(strings.Join(append([]string{n.Kind}, what...), "\x00")))
	n.ID, n.At = hex.EncodeToString(sum[:16]), d.cfg.Now().UTC().Truncate(time.Second)
	if d.cfg.Clean != nil { // it stands in the status
		n.Text, n.Reason = d.cfg.Clean(n.Text), d.cfg.Clean(n.Reason)
	}
	return n
}

// tell calls a person, in the log and by a notice.
func (d *Daemon) tell(n Notice, what ...string) {
	n = d.about(n, what...)
	d.await(n)
	d.say(n)
}

// say logs a notice and sends it.
func (d *Daemon) say(n Notice) {
	args := []any{"kind", n.Kind}
	if n.App != "" {
		args = append(args, "commit", n.Commit, "app", n.App)
	}
	d.cfg.Log.Error("a person is needed: "+n.Text, args...)
	d.send(n)
}

func (d *Daemon) send(n Notice) {
	if d.cfg.Notifier != nil {
		n.Watcher = d.watcher()
		d.cfg.Notifier.Notify(n)
	}
}

// calls are the notices of what a pass is about to write. Because only a
// transition is written, each comes once.
func (p *pass) calls() []Notice {
	var out []Notice
	for _, k := range p.moving() {
		if why := p.persons[k]; why != "" {
			out = append(out, p.callOf(p.next[k], why))
		}
	}
	r := p.revert
	if r == nil {
		return out
	}
	limit := limits(p.policy[p.view.Branches[p.view.Default]])
	if open := verdict.Circuit(p.all(), p.people, limit, r.key.app, p.now); open != "" {
		n := Notice{Kind: KindCircuit, Text: "the circuit is open: " + open, Commit: r.key.commit, App: r.key.app.String(), Revert: r.commit}
		out = append(out, p.about(n, n.Commit, n.App, n.Revert))
	}
	return out
}

// callOf calls a person for a watch.
func (d *Daemon) callOf(s verdict.State, why string) Notice {
	n := Notice{
		Kind: kindOf(s), Text: s.Watch.App.String() + ": " + why,
		Commit: s.Watch.Commit, Branch: s.Branch, App: s.Watch.App.String(), Verdict: string(s.Verdict),
		Reason: s.Reason.String(), Recovery: string(s.Recovery), Revert: s.Revert,
	}
	at := s.Decided
	if s.Recovery != "" {
		at, n.Reason = s.RecoveryAt, s.RecoveryWhy.String()
	}
	return d.about(n, n.Commit, n.App, n.Verdict, n.Recovery, n.Revert, at.UTC().Format(time.RFC3339))
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
