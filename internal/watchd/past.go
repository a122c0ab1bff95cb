package watchd

import (
	"context"
	"crypto/sha256"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// past is what is kept of commits whose watches have all ended: a repository
// has ever more of them, and none is looked at again but for what the circuit
// and the freezes ask.
type past struct {
	ended     map[string][32]byte // commit -> digest of its note
	counted   map[string][]verdict.State
	confirmed map[verdict.App]verdict.State // the last one of each that an operation carried
}

func newPast() past {
	return past{ended: map[string][32]byte{}, counted: map[string][]verdict.State{}, confirmed: map[verdict.App]verdict.State{}}
}

// rest takes in a commit whose stanzas are all final.
func (p past) rest(commit string, sum [32]byte, states []verdict.State) {
	p.ended[commit] = sum
	for _, s := range states {
		slim := verdict.State{
			Watch:   verdict.Watch{Commit: commit, App: s.Watch.App},
			Verdict: s.Verdict, Decided: s.Decided, Revert: s.Revert, RevertedAt: s.RevertedAt,
			Frozen: s.Frozen, FrozenAt: s.FrozenAt, Track: verdict.Track{Deployed: s.Track.Deployed},
		}
		switch {
		case s.Verdict == verdict.Reverted || !s.Frozen.IsZero():
			p.counted[commit] = append(p.counted[commit], slim)
		case s.Verdict == verdict.Confirmed && s.Track.Deployed:
			if last, ok := p.confirmed[s.Watch.App]; !ok || last.Decided.Before(s.Decided) {
				p.confirmed[s.Watch.App] = slim
			}
		}
	}
}

// wake forgets a commit that is looked at again.
func (p past) wake(commit string) {
	if _, ended := p.ended[commit]; !ended {
		return
	}
	delete(p.ended, commit)
	delete(p.counted, commit)
	for app, s := range p.confirmed {
		if s.Watch.Commit == commit {
			delete(p.confirmed, app)
		}
	}
}

// states are those that circuit and freezes ask for.
func (p past) states() []verdict.State {
	var out []verdict.State
	for _, s := range p.counted {
		out = append(out, s...)
	}
	for _, s := range p.confirmed {
		out = append(out, s)
	}
	return out
}

// folded is a note of `verdicts` and what it says.
type folded struct {
	commit string
	gone   bool
	sum    [32]byte
	states []verdict.State
	err    error
}

func foldNote(commit string, note []byte) folded {
	f := folded{commit: commit, gone: note == nil, sum: sha256.Sum256(note)}
	if !f.gone {
		f.states, f.err = verdict.Fold(commit, note)
	}
	return f
}

func allFinal(states []verdict.State, now time.Time) bool {
	for _, s := range states {
		if !s.Final(now) {
			return false
		}
	}
	return true
}

// readVerdicts takes in every note that differs. To read a note costs more than
// to fetch it, so several are read at a time; they are taken in one by one.
func (d *Daemon) readVerdicts(ctx context.Context, now time.Time) error {
	if !d.loaded { // an attempt before this one may have come half way
		d.watches.forget()
		d.past, d.broken = newPast(), map[string]error{}
	}
	type raw struct {
		commit string
		note   []byte
	}
	in, out := make(chan raw, 64), make(chan folded, 64)
	var readers, taker sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		readers.Go(func() {
			for r := range in {
				out <- foldNote(r.commit, r.note)
			}
		})
	}
	taker.Go(func() {
		for f := range out {
			d.adoptNote(f, !d.loaded, now)
		}
	})
	err := d.cfg.Store.Verdicts(ctx, func(commit string, note []byte) error {
		in <- raw{commit, note}
		return nil
	})
	close(in)
	readers.Wait()
	close(out)
	taker.Wait()
	if err != nil {
		return fmt.Errorf("reading verdicts: %w", err)
	}
	d.loaded = true
	return nil
}

// settle lets go of commits whose watches have all ended, and whose notes were
// read as they were written.
func (d *Daemon) settle(now time.Time) {
	final := map[string]bool{} // of commits: the others are nearly all
	for k, s := range d.watches.states {
		if s.Final(now) {
			final[k.commit] = d.watches.noted[k.commit] && !d.unread[k.commit] && d.broken[k.commit] == nil
		}
	}
	if len(final) == 0 {
		return
	}
	byCommit := map[string][]verdict.State{}
	for k, s := range d.watches.states {
		if !s.Final(now) {
			final[k.commit] = false
		} else if final[k.commit] {
			byCommit[k.commit] = append(byCommit[k.commit], s)
		}
	}
	for commit, states := range byCommit {
		sum, known := d.sums[commit]
		if !final[commit] || !known {
			continue
		}
		d.past.rest(commit, sum, states)
		for _, s := range states {
			k := key{commit, s.Watch.App}
			d.watches.drop(k)
			delete(d.written, k)
			delete(d.refused, k)
		}
		delete(d.sums, commit)
		delete(d.wrote, commit)
		delete(d.tried, commit)
		delete(d.judgedBy, commit)
		d.watches.note(commit, false)
		delete(d.asker.standing, commit)
	}
}

// recall brings back the stanzas of commits that had ended: a branch that holds
// them anew may ask for more of them, and their note is written as a whole.
func (d *Daemon) recall(ctx context.Context, commits []string) error {
	if len(commits) == 0 {
		return nil
	}
	notes, err := d.cfg.Store.VerdictsOf(ctx, commits)
	if err != nil {
		return fmt.Errorf("reading verdicts again: %w", err)
	}
	for _, c := range commits {
		f := foldNote(c, notes[c])
		d.past.wake(c)
		if f.err != nil {
			d.broken[c] = f.err
			continue
		}
		d.watches.note(c, !f.gone)
		d.sums[c] = f.sum
		for _, s := range f.states {
			d.watches.put(key{c, s.Watch.App}, s)
		}
	}
	return nil
}
