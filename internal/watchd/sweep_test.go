package watchd_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/watchd"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// failing is a cluster whose only Application shows the watched commit and is
// Degraded. A list and a direct look are as old as they are asked for.
type failing struct {
	*telling
	t     *testing.T
	since time.Time
}

func (f failing) look(at time.Time) watchd.Snapshot {
	source := verdict.Source{RepoURL: deploys, Path: "apps/web", TargetRevision: "main"}
	revs := []verdict.Revision{{Source: source, Rev: commit}}
	return watchd.Snapshot{Look: verdict.Look{
		App: verdict.App{Namespace: "argocd", Name: "web"}, UID: "u", At: at, HasStatus: true, AutoSync: true,
		Spec: []verdict.Source{source}, SyncStatus: verdict.Synced, Compared: revs,
		Health: "Degraded", HealthSince: f.since, ReconciledAt: time.Now(),
		Operation: verdict.Operation{
			Present: true, Phase: verdict.PhaseSucceeded, StartedAt: f.since, FinishedAt: f.since.Add(time.Second),
			Revisions: revs, HasResult: true, Automated: true,
		},
	}}
}

func (f failing) List(_ context.Context, now time.Time) (apps, looks []watchd.Snapshot, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if age := time.Since(now); age > 0 {
		f.t.Errorf("a list of now is made as of %s ago", age)
	}
	return []watchd.Snapshot{f.look(now)}, f.take(), nil
}

func (f failing) Get(_ context.Context, _ verdict.App, now time.Time) (watchd.Snapshot, error) {
	s := f.look(now)
	s.Look.Direct = true
	return s, nil
}

// changes shows the Application as it is now.
func (f failing) changes() { f.deliver(f.look(time.Now())) }

const deploys = "https://git.example.com/deploy.git"

// standing is a history that has the commit, and its five other watches.
type standing struct{ many }

func (standing) Contains(context.Context, map[string][]string) (map[string]map[string]bool, error) {
	return map[string]map[string]bool{commit: {commit: true}}, nil
}

func (standing) Standing(context.Context, string, string) (watchd.Standing, error) {
	return watchd.Standing{Paths: 1}, nil
}

func (standing) Changes(context.Context, []string, []string) ([]watchd.Change, error) {
	return nil, nil
}

func (standing) Walk(context.Context, []string, []string, func(watchd.Commit) error) error {
	return nil
}

func (standing) Manifests(context.Context, string, []verdict.Source) (map[verdict.ObjectID]verdict.Tri, error) {
	return nil, nil
}

func (standing) Commits(_ context.Context, ids []string) ([]watchd.Commit, error) {
	message := "subject\n\n"
	for _, app := range []string{"a", "b", "c", "d", "e", "web"} {
		message += "Nav-Watchdog: app=" + app + " reach=86400 deadline=1200 stable=60\n"
	}
	return []watchd.Commit{{ID: ids[0], Message: []byte(message)}}, nil
}

// TestSweepCountsOnce: what an Application shows while a pass fetches is judged
// then, and what the pass lists after it is not older: no time counts twice, or a
// deadline of 20 minutes would be over before.
func TestSweepCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, log, began := &memory{}, &bytes.Buffer{}, time.Now()
		c := failing{&telling{changed: make(chan struct{}, 1)}, t, began.Add(time.Second)}
		m.fetch = func(context.Context) error {
			time.Sleep(4 * time.Second)
			c.changes()
			return nil
		}
		conf := settings(m, log)
		conf.Names, conf.Cluster, conf.Git, conf.Part = []string{deploys}, c, standing{}, 1
		end := begin(t, conf)
		for !strings.Contains(m.note(), "web: FAIL") {
			if time.Since(began) > time.Hour {
				t.Fatalf("not decided:\n%s\n%s", m.note(), log)
			}
			time.Sleep(time.Second)
			synctest.Wait()
		}
		if took := time.Since(began); took < 20*time.Minute {
			t.Errorf("20 minutes of the deadline were over after %s:\n%s", took, m.note())
		}
		if err := end(); err != nil {
			t.Errorf("Run ended in %v", err)
		}
	})
}
