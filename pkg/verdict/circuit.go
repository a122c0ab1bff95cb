package verdict

import (
	"fmt"
	"time"
)

// CircuitLimits are the policy's: after how many reverts a person must look.
type CircuitLimits struct {
	Consecutive       int // of one Application since its last CONFIRMED
	PerDay            int // of one Application within 24 h
	RepositoryReverts int
	RepositoryWithin  time.Duration
}

// Circuit tells why no revert of the Application is allowed now; empty: it is.
// It is derived from the verdicts and the people's lines alone, so it survives
// every restart (design, section 6). A reset counts from its moment on.
func Circuit(states []State, people []PeopleLine, l CircuitLimits, app App, now time.Time) string {
	appReset, repoReset := lastReset(people, app)
	var confirmed time.Time
	for _, s := range states {
		if s.Verdict == Confirmed && s.Track.Deployed && app.Matches(s.Watch.App) {
			confirmed = later(confirmed, s.Decided)
		}
	}
	since, day, repo := 0, 0, 0
	for _, s := range states {
		if s.Verdict != Reverted {
			continue
		}
		if now.Sub(s.RevertedAt) < l.RepositoryWithin && s.RevertedAt.After(repoReset) {
			repo++
		}
		if !app.Matches(s.Watch.App) || !s.RevertedAt.After(appReset) {
			continue
		}
		if s.RevertedAt.After(confirmed) {
			since++
		}
		if now.Sub(s.RevertedAt) < 24*time.Hour {
			day++
		}
	}
	switch {
	case l.RepositoryReverts > 0 && repo >= l.RepositoryReverts:
		return fmt.Sprintf("%d reverts in the repository within %s: a person must look (circuit reset --repository)", repo, l.RepositoryWithin)
	case l.Consecutive > 0 && since >= l.Consecutive:
		return fmt.Sprintf("%d reverts of %s since it was last CONFIRMED: a person must look (circuit reset %s)", since, app, app)
	case l.PerDay > 0 && day >= l.PerDay:
		return fmt.Sprintf("%d reverts of %s within 24h: a person must look (circuit reset %s)", day, app, app)
	}
	return ""
}

// lastReset finds when a person last reset the circuit of the Application, and
// that of the repository.
func lastReset(people []PeopleLine, app App) (ofApp, ofRepo time.Time) {
	for _, p := range people {
		switch {
		case p.Kind != PeopleReset:
		case p.App == "":
			ofRepo = later(ofRepo, p.At)
		default:
			if a, err := ParseApp(p.App); err == nil && a.Matches(app) {
				ofApp = later(ofApp, p.At)
			}
		}
	}
	return ofApp, ofRepo
}

// Freeze is an automatic stop of all reverts, kept in `status`.
type Freeze struct {
	At     time.Time `json:"at"`
	Reason string    `json:"reason"`
}

// Frozen tells why reverts of the Application are frozen; empty: they are not.
// Anybody may freeze, only an owner's thaw ends it, a person's or an automatic
// one (design, sections 3 and 5).
func Frozen(states []State, status []Freeze, people []PeopleLine, isOwner func(by string) bool, app App) string {
	var thawed time.Time
	for _, p := range people {
		if p.Kind == PeopleThaw && isOwner(p.By) && (p.App == "" || matchesApp(p.App, app)) {
			thawed = later(thawed, p.At)
		}
	}
	for _, f := range status {
		if f.At.After(thawed) {
			return f.Reason
		}
	}
	for _, s := range states {
		if !s.Frozen.IsZero() && s.FrozenAt.After(thawed) {
			return s.Watch.App.String() + ": " + s.Frozen.Detail
		}
	}
	for _, p := range people {
		if p.Kind == PeopleFreeze && p.At.After(thawed) && (p.App == "" || matchesApp(p.App, app)) {
			return "by " + clip(p.By) + ": " + clip(p.Reason)
		}
	}
	return ""
}

func matchesApp(written string, app App) bool {
	a, err := ParseApp(written)
	return err == nil && a.Matches(app)
}
