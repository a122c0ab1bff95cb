package lint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// awaitedRepo is a repository with one commit, whose note changes by the clock
// of the bubble. The notes are real ones.
type awaitedRepo struct {
	Clone
	message string
	notes   func(passed time.Duration) []byte
	fetch   func(passed time.Duration) error
	start   time.Time
	looks   int
}

var awaitedID = strings.Repeat("c", 40)

func (r *awaitedRepo) IDs(_ context.Context, names []string) (map[string]string, error) {
	return map[string]string{"HEAD^{commit}": awaitedID}, nil
}

func (r *awaitedRepo) Each(_ context.Context, _ []string, fn func(Commit) error) error {
	return fn(Commit{ID: awaitedID, Message: []byte(r.message)})
}

func (r *awaitedRepo) Note(_ context.Context, ref, object string) ([]byte, bool, error) {
	r.looks++
	if ref != verdictsRef || object != awaitedID {
		return nil, false, fmt.Errorf("asked for the note of %s in %s", object, ref)
	}
	note := r.notes(time.Since(r.start))
	return note, note != nil, nil
}

func (r *awaitedRepo) FetchVerdicts(ctx context.Context, remote string) error {
	if remote != "origin" {
		return fmt.Errorf("fetched from %q", remote)
	}
	if r.fetch == nil {
		return nil
	}
	return r.fetch(time.Since(r.start))
}

// noteOf is a note with a stanza for each app, "app VERDICT" each.
func noteOf(stanzas ...string) []byte {
	var states []verdict.State
	at := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	for _, text := range stanzas {
		name, v, _ := strings.Cut(text, " ")
		app, _ := verdict.ParseApp(name)
		s := verdict.New(verdict.Watch{
			Commit: awaitedID, App: app, Mode: "arm", Expect: "Healthy",
			Deadline: 15 * time.Minute, Reach: 15 * time.Minute, Stable: 2 * time.Minute, Queued: at,
		}, "navhook")
		s.Branch, s.Verdict = "main", verdict.Verdict(v)
		if s.Verdict != verdict.Waiting {
			s.Decided, s.Reason = at.Add(time.Hour), verdict.Reason{Code: "because"}
		}
		if s.Verdict == verdict.Reverted {
			s.Revert, s.RevertedAt = strings.Repeat("d", 40), s.Decided
		}
		states = append(states, s)
	}
	return verdict.FormatNote(states)
}

// from gives the last of the notes whose time has come.
func from(notes map[time.Duration][]byte) func(time.Duration) []byte {
	return func(passed time.Duration) []byte {
		var best []byte
		last := time.Duration(-1)
		for at, note := range notes {
			if at <= passed && at > last {
				best, last = note, at
			}
		}
		return best
	}
}

const twoApps = "bump\n\nNav-Watchdog: app=web mode=arm\nNav-Watchdog: app=argocd/api mode=arm\n"

func TestWait(t *testing.T) {
	t.Parallel()
	const m = time.Minute
	for name, tt := range map[string]struct {
		message string
		how     Waiting
		notes   map[time.Duration][]byte
		code    int
		after   time.Duration
		out     string
		err     string
	}{
		"both confirmed, one after the other": {
			notes: map[time.Duration][]byte{m: noteOf("web WAITING", "argocd/api CONFIRMED"), 5*m + 5*time.Second: noteOf("web CONFIRMED", "argocd/api CONFIRMED")},
			code:  exit.Clean, after: 5*m + 10*time.Second,
			out: "web: no verdict yet\nargocd/api: no verdict yet\nweb: WAITING: queued\nargocd/api: CONFIRMED: Healthy and stable for 120s\nweb: CONFIRMED: Healthy and stable for 120s\n",
		},
		"there already": {notes: map[time.Duration][]byte{0: noteOf("web CONFIRMED", "argocd/api CONFIRMED")}, code: exit.Clean},
		"one failed: nothing is worse, so the other is not awaited": {
			notes: map[time.Duration][]byte{m: noteOf("web WAITING", "argocd/api FAIL")}, code: exit.Findings, after: m,
		},
		"reverted": {notes: map[time.Duration][]byte{0: noteOf("web REVERTED", "argocd/api CONFIRMED")}, code: exit.Findings},
		"proposed": {notes: map[time.Duration][]byte{0: noteOf("web PROPOSED", "argocd/api CONFIRMED")}, code: exit.Findings},
		"unclear, and then worse": {
			notes: map[time.Duration][]byte{0: noteOf("web INCONCLUSIVE", "argocd/api WAITING"), m: noteOf("web INCONCLUSIVE", "argocd/api FAIL")},
			code:  exit.Findings, after: m,
		},
		"superseded":  {notes: map[time.Duration][]byte{0: noteOf("web SUPERSEDED", "argocd/api CONFIRMED")}, code: exit.Undecided},
		"not reached": {notes: map[time.Duration][]byte{0: noteOf("web NOT_REACHED", "argocd/api CONFIRMED")}, code: exit.Undecided},
		"unwatchable": {notes: map[time.Duration][]byte{0: noteOf("web ERROR_UNWATCHABLE", "argocd/api CONFIRMED")}, code: exit.Undecided},
		"timeout, nothing written": {
			code: exit.Undecided, after: 10 * m, out: "web: no verdict yet\nargocd/api: no verdict yet\n",
			err: "error: no verdict within 10m0s: web, argocd/api\nhint: nothing was fetched; --remote origin does\n",
		},
		"timeout, one open": {
			notes: map[time.Duration][]byte{0: noteOf("web CONFIRMED", "argocd/api WAITING")}, code: exit.Undecided, after: 10 * m,
			err: "error: no verdict within 10m0s: argocd/api\n",
		},
		"only one of them": {
			how:   Waiting{Apps: []string{"api"}},
			notes: map[time.Duration][]byte{0: noteOf("web FAIL", "argocd/api WAITING"), m: noteOf("web FAIL", "argocd/api CONFIRMED")}, code: exit.Clean, after: m,
		},
		"one that is not named": {
			how: Waiting{Apps: []string{"shop"}}, code: exit.Undecided,
			err: "error: " + awaitedID + " carries no watch of shop, so there will be no verdict\nhint: it watches web, argocd/api\n",
		},
		"no name": {how: Waiting{Apps: []string{"a/b/c"}}, code: exit.Usage, err: "error: application name \"a/b/c\" is neither NAME nor NAMESPACE/NAME\n"},
		"no watch": {
			message: "bump\n\nNav-Watch: app=web\n", code: exit.Undecided,
			err: "error: " + awaitedID + " carries no watch, so there will be no verdict\nhint: a watch is a trailer, Nav-Watchdog: app=NAME; navlint commits says what is wrong with one that is not read\n",
		},
		"a note that is none": {
			notes: map[time.Duration][]byte{0: []byte("nothing\n")}, code: exit.Undecided,
		},
		"a note that breaks, and is mended": {
			notes: map[time.Duration][]byte{0: noteOf("web WAITING"), m: []byte("nothing\n"), 2 * m: noteOf("web CONFIRMED", "argocd/api CONFIRMED")},
			code:  exit.Clean, after: 2 * m,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &awaitedRepo{message: twoApps, notes: from(tt.notes), start: time.Now()}
				if tt.message != "" {
					r.message = tt.message
				}
				how := tt.how
				how.Timeout, how.Interval, how.Now = 10*m, 10*time.Second, time.Now
				var out, note bytes.Buffer
				err := Config{Note: &note}.Wait(t.Context(), r, &out, "HEAD", how)
				if got := exit.Code(err); got != tt.code {
					t.Errorf("exit code %d, want %d (%v)", got, tt.code, err)
				}
				if passed := time.Since(r.start); passed != tt.after {
					t.Errorf("after %s, want %s", passed, tt.after)
				}
				if tt.out != "" {
					if diff := cmp.Diff(tt.out, out.String()); diff != "" {
						t.Errorf("out (-want +got):\n%s", diff)
					}
				}
				var said bytes.Buffer
				exit.Report(&said, "n", err)
				if got := strings.TrimPrefix(said.String(), "n: "); tt.err != "" && got != tt.err {
					t.Errorf("error %q, want %q", got, tt.err)
				}
			})
		})
	}
}

// On a terminal, what is open is one line that is replaced, and what is decided
// stays.
func TestWaitTerminal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &awaitedRepo{message: twoApps, start: time.Now(), notes: from(map[time.Duration][]byte{
			10 * time.Second: noteOf("web WAITING", "argocd/api CONFIRMED"), 20 * time.Second: noteOf("web CONFIRMED", "argocd/api CONFIRMED"),
		})}
		var out bytes.Buffer
		err := Config{Note: &out}.Wait(t.Context(), r, &out, "HEAD", Waiting{Timeout: time.Minute, Interval: 10 * time.Second, Now: time.Now, Terminal: true})
		want := "0s of 1m0s  web: no verdict yet  argocd/api: no verdict yet" +
			"\r\x1b[Kargocd/api: CONFIRMED: Healthy and stable for 120s\n10s of 1m0s  web: WAITING: queued" +
			"\r\x1b[Kweb: CONFIRMED: Healthy and stable for 120s\n"
		if diff := cmp.Diff(want, out.String()); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	})
}

// A remote that never answered ends the wait at once; one that did and fails is
// asked again, and said once.
func TestWaitRemote(t *testing.T) {
	t.Parallel()
	broken := errors.New("no route to host\x1b[2J")
	synctest.Test(t, func(t *testing.T) {
		r := &awaitedRepo{message: twoApps, start: time.Now(), notes: from(nil), fetch: func(time.Duration) error { return broken }}
		how := Waiting{Timeout: time.Hour, Interval: 10 * time.Second, Now: time.Now, Remote: "origin"}
		var out, note bytes.Buffer
		if err := (Config{Note: &note}).Wait(t.Context(), r, &out, "HEAD", how); !errors.Is(err, broken) || exit.Code(err) != exit.Undecided || time.Since(r.start) != 0 {
			t.Errorf("after %s: %v", time.Since(r.start), err)
		}
		r.start = time.Now()
		r.fetch = func(passed time.Duration) error {
			if passed > 0 && passed < time.Minute {
				return broken
			}
			return nil
		}
		r.notes = from(map[time.Duration][]byte{30 * time.Second: noteOf("web CONFIRMED", "argocd/api CONFIRMED")})
		if err := (Config{Note: &note}).Wait(t.Context(), r, &out, "HEAD", how); err != nil || time.Since(r.start) != time.Minute {
			t.Errorf("after %s: %v", time.Since(r.start), err)
		}
		if note.String() != "no route to host\\x1b[2J\n" {
			t.Errorf("said %q", note.String())
		}
	})
}

// Who stops it gets no answer, and no timeout either.
func TestWaitStopped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 25*time.Second)
		defer cancel()
		r := &awaitedRepo{message: twoApps, start: time.Now(), notes: from(nil)}
		var out bytes.Buffer
		err := Config{Note: &out}.Wait(ctx, r, &out, "HEAD", Waiting{Timeout: time.Hour, Interval: 10 * time.Second, Now: time.Now})
		if exit.Code(err) != exit.Undecided || !errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "no verdict within") || r.looks != 3 {
			t.Errorf("%d looks: %v", r.looks, err)
		}
	})
}

func TestWaitJSON(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &awaitedRepo{message: twoApps, start: time.Now(), notes: from(map[time.Duration][]byte{time.Minute: noteOf("web FAIL", "argocd/api WAITING")})}
		var out bytes.Buffer
		err := Config{Note: &out}.Wait(t.Context(), r, &out, "HEAD", Waiting{Timeout: time.Hour, Interval: 10 * time.Second, Now: time.Now, Format: FormatJSON})
		var got jsonShow
		if exit.Code(err) != exit.Findings || json.Unmarshal(out.Bytes(), &got) != nil || got.Command != "wait" || len(got.Verdicts) != 2 || got.Verdicts[0].Verdict != "FAIL" {
			t.Errorf("%v: %s", err, out.String())
		}
	})
}
