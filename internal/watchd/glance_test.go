package watchd_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/watchd"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// telling is a cluster that tells of changes. Its first Application comes later.
type telling struct {
	changed chan struct{}
	mu      sync.Mutex // of what follows
	passed  []watchd.Snapshot
	all     []watchd.Snapshot
	lists   int
	refresh func() watchd.Snapshot // the only Application, as it is now
}

func (c *telling) Changed() <-chan struct{} { return c.changed }

func (c *telling) Passed() []watchd.Snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.take()
}

func (c *telling) take() []watchd.Snapshot {
	passed := c.passed
	c.passed = nil
	return passed
}

// now is all that there is, as it is now.
func (c *telling) now() []watchd.Snapshot {
	if c.refresh != nil {
		c.all = []watchd.Snapshot{c.refresh()}
	}
	return slices.Clone(c.all)
}

func (c *telling) List(context.Context, time.Time) (apps, between []watchd.Snapshot, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lists++
	return c.now(), c.take(), nil
}

func (c *telling) Get(_ context.Context, app verdict.App, now time.Time) (watchd.Snapshot, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.now() {
		if app.Matches(s.Look.App) {
			s.Look.At, s.Look.Direct = now, true
			return s, nil
		}
	}
	return watchd.Snapshot{Look: verdict.Look{App: app, At: now, Absent: true, Direct: true}}, nil
}

// put shows an Application that deploys a chart: one that cannot be watched.
func (c *telling) put(name string) {
	s := watchd.Snapshot{Look: verdict.Look{
		App: verdict.App{Namespace: "argocd", Name: name}, UID: "u", At: time.Now(), HasStatus: true,
		Spec: []verdict.Source{{Kind: verdict.SourceChart, RepoURL: "https://charts.example.com"}},
	}}
	c.mu.Lock()
	c.all = append(c.all, s)
	c.mu.Unlock()
	c.deliver(s)
}

// deliver tells of a look.
func (c *telling) deliver(s watchd.Snapshot) {
	c.mu.Lock()
	c.passed = append(c.passed, s)
	c.mu.Unlock()
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// TestGlance: what an Application shows is judged when it comes. For one that
// nobody watches nothing is fetched, and the passes go on as they would.
func TestGlance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, log, c, start := &memory{}, &bytes.Buffer{}, &telling{changed: make(chan struct{}, 1)}, time.Now()
		conf := settings(m, log)
		conf.Cluster = c
		end := begin(t, conf)
		time.Sleep(2 * time.Second)
		c.put("other")
		time.Sleep(time.Second)
		synctest.Wait()
		if note := string(m.notes[commit]); strings.Contains(note, "ERROR_UNWATCHABLE") {
			t.Fatalf("judged too soon:\n%s", note)
		}
		c.put("web")
		synctest.Wait()
		if note := string(m.notes[commit]); !strings.Contains(note, "Nav-Verdict: ERROR_UNWATCHABLE") {
			t.Errorf("not judged when it came:\n%s\n%s", note, log)
		}
		time.Sleep(18 * time.Second)
		synctest.Wait()
		var fetches []time.Duration
		for _, at := range m.fetches {
			fetches = append(fetches, at.Sub(start))
		}
		if want := seconds(0, 3, 10, 20); !slices.Equal(fetches, want) {
			t.Errorf("fetched at %v, want %v", fetches, want)
		}
		if c.lists != 3 {
			t.Errorf("listed %d times, want 3", c.lists)
		}
		if err := end(); err != nil {
			t.Errorf("Run ended in %v", err)
		}
	})
}

// later is a commit after the watched one. What is known of it has to be asked.
const later = "2222222222222222222222222222222222222222"

// faltering is a history that also knows later, and cannot be read while down is
// set.
type faltering struct {
	history
	down *atomic.Bool
}

func (f faltering) Resolve(ctx context.Context, revs []string) (map[string]string, error) {
	if f.down.Load() {
		return nil, errors.New("no memory left")
	}
	out, err := f.history.Resolve(ctx, revs)
	if slices.Contains(revs, later) {
		out[later] = later
	}
	return out, err
}

func (faltering) Contains(context.Context, map[string][]string) (map[string]map[string]bool, error) {
	return map[string]map[string]bool{commit: {commit: true, later: true}}, nil
}

// deployed is web as it was synced with later, and as it is compared since.
func deployed(since time.Time, sync string) watchd.Snapshot {
	src := verdict.Source{RepoURL: "https://git.example.com/deploy.git", Path: "apps/web", TargetRevision: "main"}
	revs := []verdict.Revision{{Source: src, Rev: later}}
	return watchd.Snapshot{Look: verdict.Look{
		App: verdict.App{Namespace: "argocd", Name: "web"}, UID: "u", At: time.Now(), HasStatus: true, AutoSync: true,
		Spec: []verdict.Source{src}, SyncStatus: sync, Compared: revs, Health: verdict.Healthy, HealthSince: since,
		ReconciledAt: time.Now(),
		Operation: verdict.Operation{
			Present: true, Phase: verdict.PhaseSucceeded, StartedAt: since, FinishedAt: since.Add(time.Second),
			Revisions: revs, HasResult: true, Automated: true,
		},
	}}
}

// TestLooksOutliveFailures: what only a look between two passes shows, here that
// web was Synced before it drifted, counts though a glance and a pass failed on it.
func TestLooksOutliveFailures(t *testing.T) {
	for name, fails := range map[string]time.Duration{"nothing": 0, "a glance": 2 * time.Second, "a glance and a pass": 5 * time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, log, c := &memory{}, &bytes.Buffer{}, &telling{changed: make(chan struct{}, 1)}
				var down atomic.Bool
				conf := settings(m, log)
				conf.Cluster, conf.Git, conf.Names = c, faltering{down: &down}, []string{"https://git.example.com/deploy.git"}
				end := begin(t, conf)
				time.Sleep(2 * time.Second)
				synced := time.Now()
				time.Sleep(5 * time.Second)
				down.Store(fails > 0)
				c.mu.Lock()
				c.passed = []watchd.Snapshot{deployed(synced, verdict.Synced), deployed(synced, verdict.OutOfSync)}
				c.refresh = func() watchd.Snapshot { return deployed(synced, verdict.OutOfSync) }
				c.mu.Unlock()
				c.changed <- struct{}{}
				time.Sleep(fails)
				synctest.Wait()
				down.Store(false)
				time.Sleep(time.Hour)
				synctest.Wait()
				if note := string(m.notes[commit]); !strings.Contains(note, "Nav-Verdict: INCONCLUSIVE") || !strings.Contains(note, "Nav-Reason: drift synced once") {
					t.Errorf("want INCONCLUSIVE, synced once:\n%s\n%s", note, log)
				}
				if err := end(); err != nil {
					t.Errorf("Run ended in %v", err)
				}
			})
		})
	}
}

// many watches six Applications, of which web is the last.
type many struct{ history }

func (many) Commits(_ context.Context, ids []string) ([]watchd.Commit, error) {
	message := "subject\n\n"
	for _, app := range []string{"a", "b", "c", "d", "e", "web"} {
		message += "Nav-Watchdog: app=" + app + " reach=3600\n"
	}
	return []watchd.Commit{{ID: ids[0], Message: []byte(message)}}, nil
}

// between delivers a look while a pass goes on: just after it has listed.
type between struct {
	*telling
	at int // the list, from 1
}

func (c *between) List(ctx context.Context, now time.Time) (apps, looks []watchd.Snapshot, err error) {
	apps, looks, err = c.telling.List(ctx, now)
	c.mu.Lock()
	due := c.lists == c.at
	c.mu.Unlock()
	if due {
		c.put("web")
	}
	return apps, looks, err
}

// TestSweep: where there are many watches, what an Application shows while a pass
// goes on is judged by that pass, none of the others is passed over, and none is
// stepped twice.
func TestSweep(t *testing.T) {
	for name, part := range map[string]int{"at once": 0, "one by one": 1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, log := &memory{}, &bytes.Buffer{}
				conf := settings(m, log)
				conf.Git, conf.Part = many{}, part
				conf.Cluster = &between{&telling{changed: make(chan struct{}, 1)}, 3}
				var reports []string
				conf.Passed = func(watchd.Report) {
					ended := strings.Contains(string(m.notes[commit]), "web: ERROR_UNWATCHABLE")
					reports = append(reports, map[bool]string{true: "ended", false: "open"}[ended])
				}
				end := begin(t, conf)
				time.Sleep(25 * time.Second) // passes at 0, 10 and 20
				synctest.Wait()
				third := map[string]string{"at once": "open", "one by one": "ended"}[name]
				if want := []string{"open", "open", third}; !slices.Equal(reports, want) {
					t.Errorf("after the passes the watch of web was %q, want %q", reports, want)
				}
				if note := string(m.notes[commit]); !strings.Contains(note, "web: ERROR_UNWATCHABLE") {
					t.Errorf("not judged in the end:\n%s", note)
				}
				if err := end(); err != nil {
					t.Errorf("Run ended in %v", err)
				}
				for app, used := range m.used(t) {
					if used != 20 {
						t.Errorf("%s used %ds of reach, want 20", app, used)
					}
				}
				if n := len(m.used(t)); n != 5 {
					t.Errorf("%d budgets are stored, want those of five watches", n)
				}
			})
		})
	}
}

// early tells what of web was judged when each pass lists.
type early struct {
	*telling
	m      *memory
	judged []bool
}

func (e *early) List(ctx context.Context, now time.Time) (apps, looks []watchd.Snapshot, err error) {
	e.judged = append(e.judged, strings.Contains(e.m.note(), "web: ERROR_UNWATCHABLE"))
	return e.telling.List(ctx, now)
}

// TestSweepYields: an event that comes while a pass fetches does not wait for the
// list of all Applications either, and the pass goes on upon what that wrote.
func TestSweepYields(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, log := &memory{}, &bytes.Buffer{}
		e := &early{telling: &telling{changed: make(chan struct{}, 1)}, m: m}
		m.fetch = func(context.Context) error {
			if len(m.fetches) == 3 {
				e.put("web")
			}
			return nil
		}
		conf := settings(m, log)
		conf.Cluster, conf.Git, conf.Part = e, many{}, 1
		end := begin(t, conf)
		time.Sleep(25 * time.Second) // passes at 0, 10 and 20
		synctest.Wait()
		if err := end(); err != nil {
			t.Errorf("Run ended in %v", err)
		}
		if want := []bool{false, false, true}; !slices.Equal(e.judged, want) {
			t.Errorf("when a pass listed, web was judged: %v, want %v\n%s", e.judged, want, log)
		}
		for app, used := range m.used(t) {
			if used != 20 {
				t.Errorf("%s used %ds of reach, want 20", app, used)
			}
		}
	})
}

// used is what the status last written says of reach, by Application.
func (m *memory) used(t *testing.T) map[string]int64 {
	t.Helper()
	var s struct {
		Budgets []struct {
			App   string
			Reach int64
		}
	}
	if err := json.Unmarshal(m.status, &s); err != nil {
		t.Fatalf("%v in %q", err, m.status)
	}
	out := map[string]int64{}
	for _, b := range s.Budgets {
		out[b.App] = b.Reach
	}
	return out
}
