package watchd_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/internal/watchd"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// commit is the only one that the fakes know: main holds it, and it was queued.
const commit = "1111111111111111111111111111111111111111"

// memory is a repository without git: what the loop needs, and no more.
type memory struct {
	watchd.Store
	fetch   func(context.Context) error
	write   func(context.Context) error
	fetches []time.Time
	status  []byte
	people  []string
	reads   bool       // the status that was written is there for the next daemon
	mu      sync.Mutex // of what follows
	notes   map[string][]byte
}

func (m *memory) Fetch(ctx context.Context) (watchd.View, error) {
	m.fetches = append(m.fetches, time.Now())
	if m.fetch != nil {
		if err := m.fetch(ctx); err != nil {
			return watchd.View{}, err
		}
	}
	return watchd.View{Branches: map[string]string{"main": commit}, Default: "main"}, nil
}

func (m *memory) Verdicts(context.Context, func(string, []byte) error) error { return nil }

func (m *memory) People(context.Context) ([][]byte, error) {
	return [][]byte{[]byte(strings.Join(m.people, "\n"))}, nil
}

func (m *memory) Status(context.Context) ([]byte, error) {
	if m.reads {
		return m.status, nil
	}
	return nil, nil
}

func (m *memory) Arrivals(context.Context) (map[string][]byte, error) {
	line := verdict.Arrival{Commit: commit, Branch: "main", By: "alice", At: time.Now()}.Line()
	return map[string][]byte{commit: []byte(line + "\n")}, nil
}

func (m *memory) Write(ctx context.Context, w watchd.Write) error {
	if m.write != nil {
		if err := m.write(ctx); err != nil {
			return err
		}
	}
	if w.Status != nil {
		m.status = w.Status("")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for c, note := range w.Verdicts {
		m.notes[c] = note
	}
	return nil
}

// note is the note of the commit, for who looks while the daemon goes on.
func (m *memory) note() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return string(m.notes[commit])
}

// history knows one commit, which watches an Application that is not there.
type history struct{ watchd.History }

func (history) Resolve(_ context.Context, revs []string) (map[string]string, error) {
	out := map[string]string{}
	for _, r := range revs {
		if r == commit {
			out[r] = r
		}
	}
	return out, nil
}

func (history) Commits(_ context.Context, ids []string) ([]watchd.Commit, error) {
	message := "subject\n\nNav-Watchdog: app=web reach=3600\n"
	return []watchd.Commit{{ID: ids[0], Message: []byte(message)}}, nil
}

func (history) Contains(context.Context, map[string][]string) (map[string]map[string]bool, error) {
	return map[string]map[string]bool{commit: {commit: true}}, nil
}

func (history) Remain(context.Context, []string, string) (gone, restored map[string]bool, err error) {
	return nil, nil, nil
}

func (history) Paths(context.Context, []string) (map[string][]string, error) {
	return map[string][]string{commit: {"apps/web/web.yaml"}}, nil
}

func (history) Policy(context.Context, string) ([]byte, bool, error) { return nil, false, nil }

type nothing struct{}

func (nothing) List(context.Context, time.Time) (apps, between []watchd.Snapshot, err error) {
	return nil, nil, nil
}

func (nothing) Get(_ context.Context, app verdict.App, now time.Time) (watchd.Snapshot, error) {
	return watchd.Snapshot{Look: verdict.Look{App: app, At: now, Absent: true, Direct: true}}, nil
}

// loop starts Run on the fakes; the function ends it and gives its error.
func loop(t *testing.T, m *memory) (end func() error) {
	t.Helper()
	m.notes = map[string][]byte{}
	d, err := watchd.New(watchd.Config{
		Store: m, Git: history{}, Cluster: nothing{}, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Interval: 10 * time.Second, Refresh: 3 * time.Minute, StatusInterval: time.Hour,
		ParsePolicy: func([]byte, string) (arming.Policy, error) { return arming.Default(), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	return func() error {
		cancel()
		return <-done
	}
}

// reach is the budget that the status last written holds.
func (m *memory) reach(t *testing.T) int64 {
	t.Helper()
	var s struct {
		Budgets []struct {
			Commit, App string
			Reach       int64
		}
	}
	if err := json.Unmarshal(m.status, &s); err != nil {
		t.Fatalf("%v in %q", err, m.status)
	}
	if len(s.Budgets) != 1 || s.Budgets[0].Commit != commit || s.Budgets[0].App != "web" {
		t.Fatalf("budgets %+v", s.Budgets)
	}
	return s.Budgets[0].Reach
}

// TestRunPolls: the first pass comes at once, then one an interval, whatever
// becomes of them; why one failed stands in the next status, and at the end the
// budgets are stored, though no status is due.
func TestRunPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("the line is down")
		m := &memory{}
		m.fetch = func(context.Context) error {
			if len(m.fetches) == 4 {
				return broken
			}
			return nil
		}
		start := time.Now()
		end := loop(t, m)
		time.Sleep(95 * time.Second)
		synctest.Wait()
		if len(m.fetches) != 10 {
			t.Errorf("%d passes within 95s, want 10", len(m.fetches))
		}
		for i, at := range m.fetches {
			if want := time.Duration(i) * 10 * time.Second; at.Sub(start) != want {
				t.Errorf("pass %d came after %s, want %s", i, at.Sub(start), want)
			}
		}
		// The first pass wrote a heartbeat, and the one after that which failed.
		if got := m.reach(t); got != 40 {
			t.Errorf("the last heartbeat says that %ds were observed, want 40", got)
		}
		if got := m.said(t, "failed"); !strings.Contains(got, "the line is down") || !strings.Contains(got, `"passes": 1`) {
			t.Errorf("of the pass that failed it says %s", got)
		}
		if err := end(); err != nil {
			t.Errorf("Run ended in %v", err)
		}
		if got := m.reach(t); got != 90 {
			t.Errorf("%ds of reach were stored, want 90", got)
		}
	})
}

// TestRunEndsWithinSeconds: neither a fetch nor the last write that hangs keeps
// the daemon from ending.
func TestRunEndsWithinSeconds(t *testing.T) {
	// hang is well for two passes, and later ends with its context only.
	hang := func() func(context.Context) error {
		start := time.Now()
		return func(ctx context.Context) error {
			if time.Since(start) < 20*time.Second {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		}
	}
	for name, prepare := range map[string]func(*memory){
		"fetch": func(m *memory) { m.fetch = hang() },
		"write": func(m *memory) { m.write = hang() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &memory{}
				prepare(m)
				end := loop(t, m)
				time.Sleep(30 * time.Second)
				asked := time.Now()
				if err := end(); err != nil {
					t.Errorf("Run ended in %v", err)
				}
				if took := time.Since(asked); took > 10*time.Second {
					t.Errorf("it took %s", took)
				}
				if name == "fetch" { // the cluster was looked at once more, at the end
					if got := m.reach(t); got != 30 {
						t.Errorf("%ds of reach were stored, want 30", got)
					}
					if strings.Contains(string(m.status), context.Canceled.Error()) {
						t.Errorf("the end of the daemon counts as trouble with the repository:\n%s", m.status)
					}
				}
			})
		})
	}
}

// TestRunBeforeFirstFetch: a daemon that never reached the repository has
// nothing to store.
func TestRunBeforeFirstFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{fetch: func(context.Context) error { return errors.New("no route") }}
		end := loop(t, m)
		time.Sleep(25 * time.Second)
		if err := end(); err != nil {
			t.Errorf("Run ended in %v", err)
		}
		if m.status != nil || len(m.fetches) != 3 {
			t.Errorf("status %q after %d passes", m.status, len(m.fetches))
		}
	})
}
