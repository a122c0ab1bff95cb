package verdict_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

var limits = verdict.CircuitLimits{Consecutive: 2, PerDay: 4, RepositoryReverts: 3, RepositoryWithin: 24 * time.Hour}

// past makes verdicts: `web:REVERTED@-3600` is of an hour before the start.
func past(t *testing.T, text string) []verdict.State {
	t.Helper()
	var out []verdict.State
	for _, word := range strings.Fields(text) {
		app, rest, _ := strings.Cut(word, ":")
		v, at, _ := strings.Cut(rest, "@")
		sc := parseScript(t, at+" x")
		w := watch()
		w.App, _ = verdict.ParseApp(app)
		s := verdict.State{Watch: w, Verdict: verdict.Verdict(v), Decided: clock(sc.at[0])}
		switch s.Verdict {
		case verdict.Reverted:
			s.RevertedAt, s.Revert = s.Decided, revertCommit
		case verdict.Confirmed:
			s.Track.Deployed = true
		case "NOTHING":
			s.Verdict = verdict.Confirmed
		}
		out = append(out, s)
	}
	return out
}

// The circuit (design, section 6): two reverts of the app since its last
// CONFIRMED that an operation carried, its daily cap, or three in the
// repository within 24 h; a person resets it.
func TestCircuit(t *testing.T) {
	day := itoa(-24 * 3600)
	for _, tt := range []struct {
		what, past string
		people     []verdict.PeopleLine
		limits     verdict.CircuitLimits
		open       string // in the reason; empty: closed
	}{
		{what: "nothing happened"},
		{what: "one revert", past: "web:REVERTED@-100"},
		{what: "two reverts", past: "web:REVERTED@-100 web:REVERTED@-50", open: "2 reverts of argocd/web since it was last CONFIRMED"},
		{what: "two reverts, a week apart", past: "web:REVERTED@-604800 web:REVERTED@-50", open: "2 reverts of argocd/web"},
		{what: "of another app", past: "api:REVERTED@-100 api:REVERTED@-50"},
		{what: "named with its namespace", past: "argocd/web:REVERTED@-100 web:REVERTED@-50", open: "2 reverts"},
		{what: "of the same name elsewhere", past: "other/web:REVERTED@-100 other/web:REVERTED@-50"},
		{what: "CONFIRMED between", past: "web:REVERTED@-100 web:CONFIRMED@-80 web:REVERTED@-50"},
		{what: "CONFIRMED after both", past: "web:REVERTED@-100 web:REVERTED@-80 web:CONFIRMED@-50"},
		{what: "nothing-to-deploy counts for nothing", past: "web:REVERTED@-100 web:NOTHING@-80 web:REVERTED@-50", open: "2 reverts"},
		{what: "FAIL counts for nothing", past: "web:FAIL@-100 web:REVERTED@-50"},
		{what: "the daily cap", limits: verdict.CircuitLimits{Consecutive: 2, PerDay: 2}, past: "web:REVERTED@-100 web:CONFIRMED@-80 web:REVERTED@-50 web:CONFIRMED@-40", open: "2 reverts of argocd/web within 24h"},
		{what: "the daily cap, a day later", limits: verdict.CircuitLimits{Consecutive: 2, PerDay: 2}, past: "web:REVERTED@" + day + " web:CONFIRMED@-80 web:REVERTED@-50 web:CONFIRMED@-40"},
		{what: "three in the repository", past: "a:REVERTED@-100 b:REVERTED@-90 c:REVERTED@-80", open: "3 reverts in the repository within 24h"},
		{what: "three in the repository, one long ago", past: "a:REVERTED@" + day + " b:REVERTED@-90 c:REVERTED@-80"},
		{what: "reset", past: "web:REVERTED@-100 web:REVERTED@-50", people: reset("web", -40)},
		{what: "reset with its namespace", past: "web:REVERTED@-100 web:REVERTED@-50", people: reset("argocd/web", -40)},
		{what: "reset before the last", past: "web:REVERTED@-604800 web:REVERTED@-50 web:REVERTED@-40", people: reset("web", -60), open: "2 reverts"},
		{what: "reset of another app", past: "web:REVERTED@-100 web:REVERTED@-50", people: reset("api", -40), open: "2 reverts"},
		{what: "a reset of the repository does not reset an app", past: "web:REVERTED@-100 web:REVERTED@-50", people: reset("", -40), open: "2 reverts"},
		{what: "reset of the repository", past: "a:REVERTED@-100 b:REVERTED@-90 c:REVERTED@-80", people: reset("", -40)},
		{what: "a reset of an app does not reset the repository", past: "a:REVERTED@-100 b:REVERTED@-90 web:REVERTED@-80", people: reset("web", -40), open: "in the repository"},
		{what: "a freeze is no reset", past: "web:REVERTED@-100 web:REVERTED@-50", people: []verdict.PeopleLine{{Kind: verdict.PeopleThaw, App: "web", By: "bob", At: clock(-40)}}, open: "2 reverts"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			l := limits
			if tt.limits != (verdict.CircuitLimits{}) {
				l = tt.limits
			}
			got := verdict.Circuit(past(t, tt.past), tt.people, l, verdict.App{Namespace: "argocd", Name: "web"}, start)
			if (got == "") != (tt.open == "") || !strings.Contains(got, tt.open) {
				t.Errorf("got %q, want %q", got, tt.open)
			}
		})
	}
}

func reset(app string, at int) []verdict.PeopleLine {
	return []verdict.PeopleLine{{V: 1, Kind: verdict.PeopleReset, App: app, By: "bob", At: clock(at), Reason: "looked"}}
}

// Anybody freezes, only an owner thaws, and an automatic freeze ends in no
// other way (design, sections 3 and 5).
func TestFrozen(t *testing.T) {
	line := func(kind, app, by string, at int) verdict.PeopleLine {
		return verdict.PeopleLine{V: 1, Kind: kind, App: app, By: by, At: clock(at), Reason: "why"}
	}
	backwards := verdict.State{Watch: watch(), Frozen: verdict.Reason{Code: "backwards", Detail: "it went backwards"}, FrozenAt: clock(-100)}
	for _, tt := range []struct {
		what   string
		states []verdict.State
		status []verdict.Freeze
		people []verdict.PeopleLine
		want   string
	}{
		{what: "nobody"},
		{what: "a person", people: []verdict.PeopleLine{line("freeze", "", "bob", -100)}, want: "by bob: why"},
		{what: "this app", people: []verdict.PeopleLine{line("freeze", "web", "bob", -100)}, want: "by bob"},
		{what: "another app", people: []verdict.PeopleLine{line("freeze", "api", "bob", -100)}},
		{what: "thawed by an owner", people: []verdict.PeopleLine{line("freeze", "", "bob", -100), line("thaw", "", "owner", -50)}},
		{what: "thawed by anybody", people: []verdict.PeopleLine{line("freeze", "", "bob", -100), line("thaw", "", "bob", -50)}, want: "by bob"},
		{what: "frozen again", people: []verdict.PeopleLine{line("thaw", "", "owner", -50), line("freeze", "", "bob", -20)}, want: "by bob"},
		{what: "the lines stand in any order", people: []verdict.PeopleLine{line("thaw", "", "owner", -50), line("freeze", "", "bob", -100)}},
		{what: "thawed for another app", people: []verdict.PeopleLine{line("freeze", "", "bob", -100), line("thaw", "api", "owner", -50)}, want: "by bob"},
		{what: "thawed for this app", people: []verdict.PeopleLine{line("freeze", "", "bob", -100), line("thaw", "argocd/web", "owner", -50)}},
		{what: "an automatic one", states: []verdict.State{backwards}, want: "web: it went backwards"},
		{what: "an automatic one, thawed", states: []verdict.State{backwards}, people: []verdict.PeopleLine{line("thaw", "", "owner", -50)}},
		{what: "an automatic one after the thaw", states: []verdict.State{backwards}, people: []verdict.PeopleLine{line("thaw", "", "owner", -200)}, want: "backwards"},
		{what: "verdicts are gone", status: []verdict.Freeze{{At: clock(-100), Reason: "verdicts is gone"}}, want: "verdicts is gone"},
		{what: "verdicts are gone, thawed", status: []verdict.Freeze{{At: clock(-100), Reason: "verdicts is gone"}}, people: []verdict.PeopleLine{line("thaw", "", "owner", -50)}},
	} {
		t.Run(tt.what, func(t *testing.T) {
			got := verdict.Frozen(tt.states, tt.status, tt.people, func(by string) bool { return by == "owner" }, verdict.App{Namespace: "argocd", Name: "web"})
			if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
