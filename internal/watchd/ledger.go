package watchd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// load takes in what the notes refs hold after a fetch.
func (d *Daemon) load(ctx context.Context, now time.Time) error {
	if !d.started {
		if why := d.view.Unsigned["status"]; why != "" {
			return d.unbelieved(why)
		}
		data, err := d.cfg.Store.Status(ctx)
		if err != nil {
			return fmt.Errorf("reading the status: %w", err)
		}
		if d.status, err = readStatus(data); err != nil {
			return err
		}
		d.started, d.said = true, d.status.Verdicts
		delete(d.sick, "status")
		d.policyOf(ctx, d.view.Branches[d.view.Default]) // notices say which one stands
		d.resume(d.status.Notices)
		d.told = d.status.Told
		if d.failure == nil {
			d.failure = d.status.Failed
		}
	}
	if d.believes(d.view.Unsigned["verdicts"]) {
		if err := d.checkVerdicts(ctx, now); err != nil {
			return err
		}
		if err := d.readVerdicts(ctx, now); err != nil {
			return err
		}
	}
	arrivals, err := d.cfg.Store.Arrivals(ctx)
	if err != nil {
		return fmt.Errorf("reading watches: %w", err)
	}
	for commit, note := range arrivals {
		lines, err := verdict.ParseArrivals(note)
		d.heard("watches "+commit, err)
		d.arrived[commit] = lines
	}
	return d.loadPeople(ctx)
}

func (d *Daemon) loadPeople(ctx context.Context) error {
	notes, err := d.cfg.Store.People(ctx)
	if err != nil {
		return fmt.Errorf("reading people: %w", err)
	}
	d.people = nil
	var unread error
	for _, note := range notes {
		lines, err := verdict.ParsePeople(note)
		unread = errors.Join(unread, err)
		d.people = append(d.people, lines...)
	}
	d.heard("people", unread)
	d.mayFree(d.view.Unsigned["people"])
	d.mayReset(ctx)
	d.tellFreezes(ctx)
	return nil
}

// checkVerdicts freezes all reverts when `verdicts` is gone or was rewritten:
// what was reverted before is then not known (design, section 3).
func (d *Daemon) checkVerdicts(ctx context.Context, now time.Time) error {
	last := d.status.Verdicts
	if last == "" || last == d.view.Verdicts {
		d.status.Verdicts = d.view.Verdicts
		return nil
	}
	why := ""
	if d.view.Verdicts == "" {
		why = "refs/notes/nav/verdicts is gone"
	} else {
		ok, err := d.cfg.Store.Descends(ctx, d.view.Verdicts, last)
		if err != nil {
			return fmt.Errorf("comparing verdicts with the tip stored last: %w", err)
		}
		if !ok {
			why = "refs/notes/nav/verdicts does not descend from " + last
		}
	}
	if why != "" {
		d.freeze(now, why)
	}
	d.status.Verdicts = d.view.Verdicts
	return nil
}

// freeze stops all reverts until an owner's thaw, and calls a person.
func (d *Daemon) freeze(now time.Time, why string) {
	d.status.Freezes = append(d.status.Freezes, verdict.Freeze{At: now.UTC().Truncate(time.Second), Reason: why})
	d.status.At = time.Time{} // write the status in this pass
	d.tell(Notice{Kind: KindFrozen, Text: "all reverts are frozen: " + why}, why)
}

// adoptNote takes a note for what is true, unless it is what this daemon wrote:
// its own state knows more than a note holds. First is the reading after a start.
func (d *Daemon) adoptNote(f folded, first bool, now time.Time) {
	commit := f.commit
	delete(d.unread, commit)
	if sum, ended := d.past.ended[commit]; ended && !f.gone && sum == f.sum {
		return
	}
	if wrote, ok := d.wrote[commit]; ok && !f.gone && f.sum == wrote {
		d.watches.note(commit, true)
		d.sums[commit] = f.sum
		return
	}
	delete(d.broken, commit)
	delete(d.sick, "verdicts "+commit)
	if f.gone { // removed; what is open is written again
		d.watches.note(commit, false)
		return
	}
	own := map[key]verdict.State{}
	if !first { // at first nothing is known yet
		for _, k := range slices.Clone(d.watches.of(commit)) {
			own[k], _ = d.watches.get(k)
			d.watches.drop(k)
		}
	}
	if f.err != nil {
		d.broken[commit] = f.err
		d.complain("verdicts "+commit, f.err)
		return
	}
	d.past.wake(commit)
	switch {
	case first:
	case f.sum == d.tried[commit]:
		d.arrivedAfterAll(commit)
		d.judgedBy[commit] = d.triedBy // its looks still wait, and are in the note
	default:
		d.notAlone(commit)
	}
	if len(own) == 0 && allFinal(f.states, now) {
		d.past.rest(commit, f.sum, f.states)
		return
	}
	d.watches.note(commit, true)
	d.sums[commit] = f.sum
	for _, s := range f.states {
		k := key{commit, s.Watch.App}
		if first { // what is adopted later was not counted by who wrote that status
			s = d.status.restore(k, s)
		}
		if o, ours := own[k]; ours {
			s = s.Resume(o, d.cfg.Now(), d.cfg.Interval)
		}
		d.watches.put(k, s)
	}
}

// notAlone says once that somebody else writes verdicts. Two daemons are safe:
// of two pushes one loses; but nobody meant to have them (design, section 8).
func (d *Daemon) notAlone(commit string) {
	const what = "other writers"
	if d.sick[what] == "" {
		d.tell(Notice{Kind: KindOthers, Text: "somebody else writes verdicts, such as the one of " + commit + "; does another daemon run?"}, commit)
	}
	d.sick[what] = "somebody else writes verdicts"
}

// policyOf reads the policy at a commit. One that is broken, or cannot be read,
// counts as none: nobody may arm.
func (d *Daemon) policyOf(ctx context.Context, commit string) arming.Policy {
	if commit == "" {
		return arming.Default()
	}
	if p, known := d.policy[commit]; known {
		return p
	}
	heard := d.heard
	if commit != d.view.Branches[d.view.Default] { // only the one that stands now can be mended
		heard = func(string, error) {}
	}
	data, there, err := d.cfg.Git.Policy(ctx, commit)
	d.policySums[commit] = policySum(data, there, err)
	if err != nil {
		heard(policyFile, err)
		return arming.Default() // a symbolic link, a submodule, too large
	}
	p := arming.Default()
	if there {
		if p, err = d.cfg.ParsePolicy(data, policyFile); err != nil {
			p = arming.Default()
		}
	}
	heard(policyFile, err)
	if len(d.policy) > maxPolicies {
		d.policy, d.policySums = map[string]arming.Policy{}, map[string]string{commit: d.policySums[commit]}
	}
	d.policy[commit] = p
	return p
}

// maxPolicies bounds how many parsed policies are kept.
const maxPolicies = 1000

// heard complains, or takes a complaint back.
func (d *Daemon) heard(what string, err error) {
	if err != nil {
		d.complain(what, err)
	} else {
		delete(d.sick, what)
	}
}

// complain says once that something cannot be read, and keeps it for the
// status until it is well again. What ends because the daemon ends is well.
func (d *Daemon) complain(what string, err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	text := d.clean(err)
	if d.sick[what] != text {
		d.cfg.Log.Warn("cannot be read", "what", what, "error", text)
	}
	d.sick[what] = text
}
