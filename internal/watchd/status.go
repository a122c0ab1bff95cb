package watchd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// status is the content of refs/notes/nav/status: the heartbeat, and what a
// restart goes on from. docs/notes.md describes it.
type status struct {
	V        int               `json:"v"`
	At       time.Time         `json:"at"`
	Watcher  string            `json:"watcher"`
	Tips     map[string]string `json:"tips"` // walked, by branch
	Verdicts string            `json:"verdicts"`
	Freezes  []verdict.Freeze  `json:"freezes"`
	Budgets  []budget          `json:"budgets"`
	Apps     []inventory       `json:"apps"`
	Sick     map[string]string `json:"sick,omitempty"`    // what cannot be seen, and why
	Failed   *failure          `json:"failed,omitempty"`  // the last pass that failed
	Notices  []Notice          `json:"notices,omitempty"` // not known to be delivered
	Told     []string          `json:"told,omitempty"`    // ids of notices about freezes of people that stand

	used map[[2]string]budget // Budgets as they were read, by commit and Application
}

// budget is the observed time that a watch has used, in seconds.
type budget struct {
	Commit   string      `json:"commit"`
	App      string      `json:"app"`
	Reach    int64       `json:"reach"`
	Deadline int64       `json:"deadline"`
	Recovery *recoveries `json:"recovery,omitempty"`
}

type recoveries struct {
	Reach    int64 `json:"reach"`
	Deadline int64 `json:"deadline"`
}

// failure is the last pass that failed, for a status that could not be written
// just then.
type failure struct {
	At     time.Time `json:"at"`
	Reason string    `json:"reason"`
	Passes int       `json:"passes"` // in a row
}

// forgetFailure is how long a failure is told of after it.
const forgetFailure = 24 * time.Hour

// noteFailure keeps why a pass failed. A race that was lost is written with the next
// heartbeat: of two daemons each would make the other lose again.
func (d *Daemon) noteFailure(now time.Time, err error) {
	switch {
	case err == nil:
		d.inRow = 0
		return
	case errors.Is(err, context.Canceled):
		return
	}
	d.inRow++
	d.failure = &failure{At: now.UTC().Truncate(time.Second), Reason: clipped(d.clean(err)), Passes: d.inRow}
	d.statusDue = d.statusDue || !errors.Is(err, ErrStale)
}

// maxReason bounds the reason of a failure, in bytes.
const maxReason = 2000

func clipped(s string) string {
	if len(s) <= maxReason {
		return s
	}
	return strings.ToValidUTF8(s[:maxReason], "") + "..."
}

// inventory is what the cluster says of one Application of this repository.
type inventory struct {
	App       string    `json:"app"`
	At        time.Time `json:"at"`
	Sync      string    `json:"sync"`
	Health    string    `json:"health"`
	Revisions []string  `json:"revisions"`
	Sources   []string  `json:"sources"`
}

// maxInventory bounds the Applications that are listed.
const maxInventory = 5000

// statusHint: a status that cannot be read is never overwritten.
const statusHint = "the daemon judges nothing until refs/notes/nav/status can be read; delete that ref to start anew from today's tips"

// readStatus reads the status that a daemon wrote; nil: there is none.
func readStatus(data []byte) (status, error) {
	var s status
	if data == nil {
		return s, nil
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return status{}, fmt.Errorf("reading the status: %w\nhint: %s", err, statusHint)
	}
	if s.V != 1 {
		return status{}, fmt.Errorf("reading the status: version %d is not known\nhint: %s", s.V, statusHint)
	}
	s.used = map[[2]string]budget{}
	for _, b := range s.Budgets {
		s.used[[2]string{b.Commit, b.App}] = b
	}
	return s, nil
}

// statusBytes is the status as of now. Verdicts is the tip that it stands
// beside.
func (d *Daemon) statusBytes(now time.Time, verdicts string) []byte {
	if d.foreign != "" {
		verdicts = d.status.Verdicts // the last one that was believed
	}
	s := status{
		V: 1, At: now.UTC().Truncate(time.Second), Watcher: d.watcher(),
		Tips: d.status.Tips, Verdicts: verdicts, Freezes: d.status.Freezes,
		Budgets: []budget{}, Apps: d.inventory(), Sick: d.sick, Notices: d.undelivered(), Told: d.status.Told,
	}
	if d.failure != nil && now.Sub(d.failure.At) < forgetFailure {
		s.Failed = d.failure
	}
	if s.Freezes == nil {
		s.Freezes = []verdict.Freeze{}
	}
	if !d.loaded { // nothing is known of the watches yet: theirs stay
		s.Budgets = append(s.Budgets, d.status.Budgets...)
	}
	for k, st := range d.watches.states {
		if st.Final(now) {
			continue
		}
		b := budget{Commit: k.commit, App: k.app.String(), Reach: secs(st.Track.ReachUsed), Deadline: secs(st.Track.DeadlineUsed)}
		if st.Revert != "" {
			b.Recovery = &recoveries{secs(st.RecoveryTrack.ReachUsed), secs(st.RecoveryTrack.DeadlineUsed)}
		}
		s.Budgets = append(s.Budgets, b)
	}
	sort.Slice(s.Budgets, func(i, j int) bool {
		a, b := s.Budgets[i], s.Budgets[j]
		return a.Commit < b.Commit || (a.Commit == b.Commit && a.App < b.App)
	})
	out, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return nil // strings, numbers and times of our own always encode
	}
	return append(out, '\n')
}

func secs(d time.Duration) int64 { return int64(d / time.Second) }

// restore gives a watch the observed time that the heartbeat knows of, where
// that is more than what its stanza says. A heartbeat from before the stanza's
// last event may speak of clocks that were set anew since.
func (s status) restore(k key, st verdict.State) verdict.State {
	if n := len(st.Events); n > 0 && s.At.Before(st.Events[n-1].At) {
		return st
	}
	if b, used := s.used[[2]string{k.commit, k.app.String()}]; used {
		st.Track.ReachUsed = max(st.Track.ReachUsed, time.Duration(b.Reach)*time.Second)
		st.Track.DeadlineUsed = max(st.Track.DeadlineUsed, time.Duration(b.Deadline)*time.Second)
		if b.Recovery != nil {
			st.RecoveryTrack.ReachUsed = max(st.RecoveryTrack.ReachUsed, time.Duration(b.Recovery.Reach)*time.Second)
			st.RecoveryTrack.DeadlineUsed = max(st.RecoveryTrack.DeadlineUsed, time.Duration(b.Recovery.Deadline)*time.Second)
		}
	}
	return st
}

// inventoryBytes is what hooks and lints know of the Applications of this
// repository (docs/notes.md): all facts that the arming rules ask.
func (d *Daemon) inventoryBytes(ctx context.Context, now time.Time) []byte {
	place := d.around
	place.Apps = nil
	place.Watcher = &arming.Watcher{Every: d.cfg.StatusInterval, Signs: verdict.TriOf(d.cfg.Signs), Circuits: map[string]string{}}
	policy := d.policyOf(ctx, d.view.Branches[d.view.Default])
	states := d.past.states()
	for _, s := range d.watches.states {
		states = append(states, s)
	}
	open := func(app verdict.App) string { return verdict.Circuit(states, d.people, limits(policy), app, now) }
	// One that was never reverted has only the repository's circuit.
	if why := open(verdict.App{Name: "*"}); why != "" {
		place.Watcher.Circuits["*"] = why
	}
	reverted := map[verdict.App]bool{}
	for _, s := range states {
		if s.Revert != "" {
			reverted[s.Watch.App] = true
		}
	}
	for _, a := range d.apps {
		place.Apps = append(place.Apps, a.Facts)
		if !reverted[a.Look.App] && !reverted[verdict.App{Name: a.Look.App.Name}] {
			continue
		}
		if why := open(a.Look.App); why != "" {
			place.Watcher.Circuits[a.Look.App.String()] = why
		}
	}
	return arming.FormatInventory(place, d.asker.isOurs)
}

// inventory lists the Applications that use this repository.
func (d *Daemon) inventory() []inventory {
	out := []inventory{}
	for _, a := range d.apps {
		var sources []string
		for _, src := range a.Look.Spec {
			if src.Kind == verdict.SourceGit && d.asker.isOurs(src.RepoURL) {
				sources = append(sources, src.Path+"@"+src.TargetRevision)
			}
		}
		if len(sources) == 0 || len(out) >= maxInventory {
			continue
		}
		revs := []string{}
		for _, r := range a.Look.Compared {
			revs = append(revs, r.Rev)
		}
		out = append(out, inventory{
			App: a.Look.App.String(), At: a.Look.At.UTC().Truncate(time.Second),
			Sync: a.Look.SyncStatus, Health: a.Look.Health, Revisions: revs, Sources: sources,
		})
	}
	return out
}
