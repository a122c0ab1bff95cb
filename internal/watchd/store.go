package watchd

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// reasonInterval is how often a changed reason alone is written at most.
const reasonInterval = 5 * time.Minute

// maxRefusals is after how many refusals of a revert, the branch unmoved, the
// refusal is the answer.
const maxRefusals = 3

// refusedHint: the server does not take notes of this user.
const refusedHint = "unless the server gives another reason, the watcher must push as the user whom `navhook install --watcher` named there; nothing is judged for good until refs/notes/nav/* can be pushed"

// store writes what this pass decided in one push, and only then makes it the
// daemon's own.
//
// A crash before the push leaves nothing: the watch is judged afresh. A crash
// after it leaves the note together with the revert, and with the notices that
// must be sent in the status. A push whose outcome is not known changes nothing
// here; the next fetch tells.
func (p *pass) store(ctx context.Context) error {
	p.mark()
	w := Write{Verdicts: p.notes(), At: p.now}
	calls, freezes, waiting := p.calls(), p.status.Freezes, p.pending
	p.await(calls...)
	// The first verdict of all must be known of at once: a status without its
	// tip could not tell that `verdicts` was deleted.
	due := p.freezeBackwards() || p.statusDue || p.status.Watcher != p.watcher() || p.now.Sub(p.status.At) >= p.cfg.StatusInterval || (len(w.Verdicts) > 0 && p.said == "")
	if len(w.Verdicts) == 0 && !due {
		p.merge()
		return nil
	}
	w.Message = p.message(w)
	if r := p.revert; r != nil {
		w.Branch, w.Tip, w.Revert = r.branch, r.tip, r.commit
	}
	said := p.said
	undo := p.merge() // the status tells of the new state
	if due {
		w.Inventory = p.inventoryBytes(ctx, p.now)
		w.Status = func(verdicts string) []byte {
			said = verdicts
			return p.statusBytes(p.now, verdicts)
		}
	}
	for commit, note := range w.Verdicts {
		p.tried[commit] = sha256.Sum256(note)
	}
	if p.judged > 0 {
		p.triedBy = p.awaiting[p.judged-1].Look.At
	}
	if err := p.cfg.Store.Write(ctx, w); err != nil {
		undo()
		p.status.Freezes, p.pending = freezes, waiting
		return p.failed(ctx, calls, err)
	}
	p.said, p.refusedNotes, p.toldRefusal = said, 0, false
	p.arrivedWrite(w, due)
	for _, n := range calls {
		p.say(n)
	}
	return nil
}

// merge makes what this pass decided the daemon's own; undo takes that back.
func (p *pass) merge() (undo func()) {
	old := make(map[key]verdict.State, len(p.next))
	for k, s := range p.next {
		old[k], _ = p.watches.get(k)
		p.watches.put(k, s)
	}
	return func() {
		for k, s := range old {
			p.watches.put(k, s)
		}
	}
}

// notes are those that must be written.
func (p *pass) notes() map[string][]byte {
	out := map[string][]byte{}
	for k, must := range p.write {
		if must && p.broken[k.commit] == nil && out[k.commit] == nil {
			out[k.commit] = p.note(p.watches.of(k.commit))
		}
	}
	return out
}

// freezeBackwards takes the freezes of this pass's verdicts into the status, so
// that they outlive the notes; it reports whether there were any. The person was
// called with the verdict.
func (p *pass) freezeBackwards() bool {
	freezes := slices.Clone(p.status.Freezes)
	var frozen []key
	for k, s := range p.next {
		if !s.Frozen.IsZero() && p.watches.states[k].Frozen.IsZero() {
			frozen = append(frozen, k)
		}
	}
	slices.SortFunc(frozen, byKey)
	for _, k := range frozen {
		s := p.next[k]
		freezes = append(freezes, verdict.Freeze{At: s.FrozenAt.UTC().Truncate(time.Second), Reason: k.app.String() + ": " + s.Frozen.Detail})
	}
	more := len(freezes) > len(p.status.Freezes)
	p.status.Freezes = freezes
	return more
}

// note formats the stanzas of a commit, and signs them with who wrote them.
func (p *pass) note(of []key) []byte {
	out := make([]verdict.State, 0, len(of))
	watcher := p.watcher()
	for _, k := range of {
		s := p.state(k)
		s.Watcher = watcher
		p.next[k] = s
		out = append(out, s)
	}
	return verdict.FormatNote(out)
}

// mark adds to what must be written: a stanza that was never written, and a
// reason that changed, at most every reasonInterval. Of a glance that is what it
// looks at.
func (p *pass) mark() {
	for commit := range p.watches.fresh {
		for _, k := range p.watches.of(commit) {
			p.write[k] = true
		}
	}
	if p.only != nil {
		for k := range p.next {
			p.markReason(k)
		}
		return
	}
	for k := range p.watches.states {
		p.markReason(k)
	}
}

func (p *pass) markReason(k key) {
	w := p.written[k]
	if w.at.IsZero() || p.now.Sub(w.at) < reasonInterval {
		return
	}
	if s := p.state(k); w.code != s.Reason.Code && !s.Final(p.now) {
		p.write[k] = true
	}
}

// moving are the watches that move with this write, in a stable order: few, of
// many that were stepped.
func (p *pass) moving() []key {
	var out []key
	for k, must := range p.write {
		if _, stepped := p.next[k]; must && stepped {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, byKey)
	return out
}

// message is the subject of the notes commit.
func (p *pass) message(w Write) string {
	if r := p.revert; r != nil {
		return fmt.Sprintf("nav: %s: %s reverted by %s", r.key.app, r.key.commit, r.commit)
	}
	if len(w.Verdicts) == 1 {
		if moving := p.moving(); len(moving) > 0 {
			k := moving[0]
			return "nav: " + p.now.UTC().Format(time.RFC3339) + ": " + string(p.state(k).Verdict) + " " + k.app.String()
		}
	}
	return fmt.Sprintf("nav: %d commits", len(w.Verdicts))
}

func (p *pass) state(k key) verdict.State {
	if s, moved := p.next[k]; moved {
		return s
	}
	s, _ := p.watches.get(k)
	return s
}

// arrivedWrite makes what was written the daemon's own, and tells.
func (p *pass) arrivedWrite(w Write, due bool) {
	for commit, note := range w.Verdicts {
		p.watches.note(commit, true)
		p.wrote[commit], p.unread[commit] = sha256.Sum256(note), true
		for _, k := range p.watches.of(commit) {
			p.written[k] = writing{p.now, p.state(k).Reason.Code}
		}
	}
	if due {
		p.status.At, p.status.Watcher, p.statusDue = p.now, p.watcher(), false
	}
	for _, k := range p.moving() {
		s := p.state(k)
		p.cfg.Log.Info("watch moved", "commit", k.commit, "app", k.app.String(), "verdict", string(s.Verdict),
			"reason", s.Reason.String(), "recovery", string(s.Recovery), "revert", s.Revert)
		p.moves[string(s.Verdict)]++
	}
	if r := p.revert; r != nil {
		delete(p.refused, r.key)
	}
}

// failed sorts out what a write that did not succeed means. Calls were to be
// made with it.
func (p *pass) failed(ctx context.Context, calls []Notice, err error) error {
	r := p.revert
	p.unheard(calls)
	switch {
	case !errors.Is(err, ErrRefused):
		return fmt.Errorf("writing verdicts: %w", err)
	case r == nil:
		p.notesRefused(err)
		return fmt.Errorf("writing verdicts: %w\nhint: %s", err, refusedHint)
	}
	p.refused[r.key]++
	if p.refused[r.key] < maxRefusals && !errors.Is(err, ErrNoAtomic) {
		return fmt.Errorf("pushing the revert of %s (attempt %d of %d): %w", r.key.commit, p.refused[r.key], maxRefusals, err)
	}
	// The branch does not take it: the verdict goes alone, and nothing is
	// reverted late.
	p.cfg.Log.Warn("the branch refused the revert", "commit", r.key.commit, "branch", r.branch, "error", err)
	p.next[r.key] = r.before.PushRefused(p.now, p.clean(err))
	p.persons[r.key] = "the branch refused the revert"
	for o := range p.next { // the others are not taken over
		if o.commit == r.key.commit && o != r.key {
			delete(p.next, o)
			delete(p.write, o)
		}
	}
	p.revert = nil
	return p.store(ctx)
}

func byKey(a, b key) int {
	switch {
	case a.commit != b.commit:
		if a.commit < b.commit {
			return -1
		}
		return 1
	case a.app.String() < b.app.String():
		return -1
	case a.app.String() > b.app.String():
		return 1
	}
	return 0
}
