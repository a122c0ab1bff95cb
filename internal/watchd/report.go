package watchd

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"time"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// Report is what one pass came to, for metrics and whoever asks whether the
// daemon is alive.
type Report struct {
	At     time.Time // its end
	Took   time.Duration
	Err    error // the pass failed: nothing was decided
	Unread error // not every Application was seen

	Open         int            // watches
	Applications int            // seen, of whatever repository
	Ours         int            // of this one
	Moved        map[string]int // transitions written since the start, by verdict
	Frozen       bool           // all reverts are frozen
	DryRun       bool
	Sick         map[string]string // what cannot be read, and why
	Pending      int               // notices that are not known to be delivered
	Heartbeat    time.Time         // of the status as it was last written
}

// Good reports whether the pass saw everything and could write.
func (r Report) Good() bool { return r.Err == nil && r.Unread == nil }

// Report tells of the last pass, which ended in err after some time.
func (d *Daemon) Report(err error, took time.Duration) Report {
	now := d.cfg.Now()
	r := Report{
		At: now, Took: took, Err: err, Unread: d.Unread(), Open: d.openWatches(now), Applications: len(d.apps), Ours: len(d.inventory()),
		Moved: maps.Clone(d.moves), DryRun: d.cfg.DryRun, Sick: maps.Clone(d.sick), Pending: len(d.pending), Heartbeat: d.status.At,
	}
	if d.fetched {
		p := pass{Daemon: d}
		owner := d.policy[d.view.Branches[d.view.Default]].IsOwner
		r.Frozen = verdict.Frozen(p.all(), d.status.Freezes, d.people, owner, verdict.App{}) != ""
	}
	return r
}

func (d *Daemon) openWatches(now time.Time) int {
	open := 0
	for _, s := range d.watches.states {
		if !s.Final(now) {
			open++
		}
	}
	return open
}

// watcher is who writes, for notes, status and notices: the program and its
// settings, and the policy that stands.
func (d *Daemon) watcher() string {
	sum := d.policySums[d.view.Branches[d.view.Default]]
	if sum == "" {
		return d.cfg.Watcher
	}
	return d.cfg.Watcher + " policy=" + sum
}

func policySum(data []byte, there bool, err error) string {
	switch {
	case err != nil:
		return "unreadable"
	case !there:
		return "none"
	}
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// notesRefused calls a person when the server stops taking notes: at once where
// it says so, else, since a line may have broken, at the third time in a row.
func (d *Daemon) notesRefused(err error) {
	d.refusedNotes++
	if d.refusedNotes < maxRefusals && !errors.Is(err, ErrDeclined) || d.toldRefusal {
		return
	}
	d.toldRefusal = true
	d.tell(Notice{Kind: KindNotesRefused, Text: "the server refuses the watcher's notes: " + d.clean(err)}, d.view.Verdicts)
}

// clean is an error's text without secrets.
func (d *Daemon) clean(err error) string {
	if d.cfg.Clean == nil {
		return err.Error()
	}
	return d.cfg.Clean(err.Error())
}
