package watchd_test

import (
	"bytes"
	"context"
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
}

func (c *telling) Changed() <-chan struct{} { return c.changed }

func (c *telling) Passed() []watchd.Snapshot {
	passed := c.passed
	c.passed = nil
	return passed
}

func (c *telling) List(context.Context, time.Time) (apps, between []watchd.Snapshot, err error) {
	c.lists++
	return slices.Clone(c.all), c.Passed(), nil
}

func (c *telling) Get(_ context.Context, app verdict.App, now time.Time) (watchd.Snapshot, error) {
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
