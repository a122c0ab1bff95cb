package watchd_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/watchd"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// telling is a cluster that tells of changes. Its first Application comes later.
type telling struct {
	changed chan struct{}
	passed  []watchd.Snapshot
	all     []watchd.Snapshot
	lists   int
	refresh func() watchd.Snapshot // the only Application, as it is now
}

func (c *telling) Changed() <-chan struct{} { return c.changed }

func (c *telling) Passed() []watchd.Snapshot {
	passed := c.passed
	c.passed = nil
	return passed
}

func (c *telling) List(context.Context, time.Time) (apps, between []watchd.Snapshot, err error) {
	c.lists++
	if c.refresh != nil {
		c.all = []watchd.Snapshot{c.refresh()}
	}
	return slices.Clone(c.all), c.Passed(), nil
}

func (c *telling) Get(_ context.Context, app verdict.App, now time.Time) (watchd.Snapshot, error) {
	if c.refresh != nil {
		c.all = []watchd.Snapshot{c.refresh()}
	}
	for _, s := range c.all {
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
	c.all, c.passed = append(c.all, s), append(c.passed, s)
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
	down *bool
}

func (f faltering) Resolve(ctx context.Context, revs []string) (map[string]string, error) {
	if *f.down {
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
				m, log, c, down := &memory{}, &bytes.Buffer{}, &telling{changed: make(chan struct{}, 1)}, false
				conf := settings(m, log)
				conf.Cluster, conf.Git, conf.Names = c, faltering{down: &down}, []string{"https://git.example.com/deploy.git"}
				end := begin(t, conf)
				time.Sleep(2 * time.Second)
				synced := time.Now()
				time.Sleep(5 * time.Second)
				down = fails > 0
				c.passed = []watchd.Snapshot{deployed(synced, verdict.Synced), deployed(synced, verdict.OutOfSync)}
				c.refresh = func() watchd.Snapshot { return deployed(synced, verdict.OutOfSync) }
				c.changed <- struct{}{}
				time.Sleep(fails)
				synctest.Wait()
				down = false
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
