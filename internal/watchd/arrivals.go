package watchd

import (
	"context"
	"fmt"
	"sort"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/pkg/trailer"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// youngEnough is how old a line of `watches` may be to be adopted at the first
// start, when no tip has been stored yet. History is never judged.
const youngEnough = 24 * time.Hour

// adopt opens watches for what arrived since the tips stored last, by walking
// each watched branch; a lost hook run is so only a delay. Lines of `watches`
// say who pushed and when, and at the first start what arrived just before.
func (d *Daemon) adopt(ctx context.Context, now time.Time) error {
	policy := d.policyOf(ctx, d.view.Branches[d.view.Default])
	first := d.status.Tips == nil
	if !first && !d.moved(policy) {
		return nil
	}
	walked := map[string]string{}
	var before []string // what the watched branches held
	for b, tip := range d.status.Tips {
		walked[b] = tip
		before = append(before, tip)
	}
	sort.Strings(before)
	known, err := d.cfg.Git.Resolve(ctx, before)
	if err != nil {
		return fmt.Errorf("resolving the tips stored last: %w", err)
	}
	branches := keys(d.view.Branches)
	for _, b := range branches {
		if !policy.WatchesBranch(b, d.view.Default) {
			continue
		}
		tip := d.view.Branches[b]
		if first {
			walked[b] = tip
			continue
		}
		if walked[b] == tip {
			continue
		}
		if err := d.walk(ctx, b, tip, exclude(walked[b], known), now); err != nil {
			return err
		}
		walked[b] = tip
	}
	for b := range walked {
		if _, there := d.view.Branches[b]; !there {
			delete(walked, b)
		}
	}
	if first {
		if err := d.adoptLines(ctx, now); err != nil {
			return err
		}
		d.status.At = time.Time{} // the tips must be stored now
	}
	d.status.Tips = walked
	return nil
}

// moved reports whether there is anything to walk: a process less for most
// passes.
func (d *Daemon) moved(policy arming.Policy) bool {
	for b, tip := range d.view.Branches {
		if d.status.Tips[b] != tip && policy.WatchesBranch(b, d.view.Default) {
			return true
		}
	}
	for b := range d.status.Tips {
		if _, there := d.view.Branches[b]; !there {
			return true
		}
	}
	return false
}

// exclude is what is not new to a branch: what it held, or, for a branch that
// is new, what the other watched branches held before (the hook's rule).
func exclude(old string, known map[string]string) []string {
	if c := known[old]; old != "" && c != "" {
		return []string{c}
	}
	var out []string
	for _, c := range known {
		out = append(out, c)
	}
	sort.Strings(out)
	return out
}

// walk adopts what is new to a branch.
func (d *Daemon) walk(ctx context.Context, branch, tip string, old []string, now time.Time) error {
	policyAt := d.status.Tips[d.view.Default] // stood before the walk
	limits := d.policyOf(ctx, d.view.Branches[d.view.Default]).Trailer
	var again []Commit
	err := d.cfg.Git.Walk(ctx, []string{tip}, old, func(c Commit) error {
		if _, ended := d.past.ended[c.ID]; ended {
			again = append(again, c)
			return nil
		}
		d.open(c, limits, branch, policyAt, now)
		return nil
	})
	if err == nil {
		err = d.recall(ctx, ids(again))
	}
	if err != nil {
		return fmt.Errorf("walking %s: %w", branch, err)
	}
	for _, c := range again {
		d.open(c, limits, branch, policyAt, now)
	}
	return nil
}

func ids(commits []Commit) []string {
	out := make([]string, len(commits))
	for i, c := range commits {
		out[i] = c.ID
	}
	return out
}

// open opens the watches that a commit's message asks for. A watch that is
// there already stays as it is; one that ended because the commit was not on
// its branch opens anew (design, section 3).
func (d *Daemon) open(c Commit, limits trailer.Policy, branch, policyAt string, now time.Time) {
	watches, findings := trailer.Decode(c.Message, limits)
	for _, f := range findings {
		d.cfg.Log.Warn("trailer is not watched", "commit", c.ID, "line", f.Pos.Line, "rule", string(f.Rule), "finding", f.Message)
	}
	for _, t := range watches {
		w, err := watchOf(t, c.ID)
		if err != nil {
			d.cfg.Log.Warn("trailer is not watched", "commit", c.ID, "error", err)
			continue
		}
		k := key{c.ID, w.App}
		if _, broken := d.broken[c.ID]; broken {
			continue
		}
		if _, there := d.watches.get(k); there {
			continue
		}
		w.Queued = d.queued(c.ID, now)
		s := verdict.New(w, d.by(c.ID, branch))
		s.Policy = policyAt
		d.watches.put(k, s)
		d.cfg.Log.Info("watch opened", "commit", c.ID, "app", w.App.String(), "branch", branch, "mode", string(w.Mode))
	}
}

// queued is when a commit was first seen: by the hook, if a line says so and is
// not from the future, else now.
func (d *Daemon) queued(commit string, now time.Time) time.Time {
	at := now
	for _, a := range d.arrived[commit] {
		if a.At.Before(at) && now.Sub(a.At) < 30*24*time.Hour {
			at = a.At
		}
	}
	return at.UTC().Truncate(time.Second)
}

// by is the person who brought a commit to a branch, as the host vouched for;
// empty: nobody did. The first line for the branch counts.
func (d *Daemon) by(commit, branch string) string {
	if d.view.Unsigned["watches"] != "" { // anybody may have written it
		return ""
	}
	var first verdict.Arrival
	for _, a := range d.arrived[commit] {
		if a.Branch == branch && (first.V == 0 || a.At.Before(first.At)) {
			first = a
		}
	}
	return first.By
}

// adoptLines opens, at the first start, what hooks queued within the last day:
// somebody who installs the hooks first and the daemon then loses nothing. A
// line is a hint: what it asks for is read from the commit, which must be there.
func (d *Daemon) adoptLines(ctx context.Context, now time.Time) error {
	young := map[string]string{} // commit -> branch
	for commit, lines := range d.arrived {
		for _, a := range lines {
			if now.Sub(a.At) < youngEnough && a.Commit == commit {
				young[commit] = a.Branch
			}
		}
	}
	there, err := d.cfg.Git.Resolve(ctx, keys(young))
	if err != nil {
		return fmt.Errorf("resolving queued commits: %w", err)
	}
	found := map[string]bool{}
	var again []string
	for commit := range young {
		if there[commit] == commit {
			found[commit] = true
			if _, ended := d.past.ended[commit]; ended {
				again = append(again, commit)
			}
		}
	}
	if len(found) == 0 {
		return nil
	}
	if err := d.recall(ctx, again); err != nil {
		return err
	}
	commits, err := d.cfg.Git.Commits(ctx, keys(found))
	if err != nil {
		return fmt.Errorf("reading queued commits: %w", err)
	}
	limits := d.policyOf(ctx, d.view.Branches[d.view.Default]).Trailer
	for _, c := range commits {
		policyAt := ""
		if len(c.Parents) > 0 {
			policyAt = c.Parents[0]
		}
		d.open(c, limits, young[c.ID], policyAt, now)
	}
	return nil
}
