package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/nav-watchdog/nav-watchdog/internal/argosim"
	"github.com/nav-watchdog/nav-watchdog/internal/config"
	"github.com/nav-watchdog/nav-watchdog/internal/drill"
	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/watchd"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// drillCluster is the simulated Argo CD under the drill's clock.
type drillCluster struct {
	reader *simReader
	tree   *stillTree
	clock  *drill.Clock
	tip    string // that it was last told of
}

// newDrillCluster makes an empty cluster that deploys from a repository.
func newDrillCluster(repo *gitstore.Repo, clock *drill.Clock, image func(string) argosim.Image) *drillCluster {
	c := &drillCluster{reader: &simReader{}, tree: &stillTree{tree: simTree{repo}}, clock: clock}
	c.reader.sim = argosim.New(c.tree, argosim.Options{RepoURL: drill.Deploy, Image: image, OnChange: c.reader.delivered})
	return c
}

// Add adds an Application; the chart's is from another address.
func (c *drillCluster) Add(app drill.App) error {
	w := argosim.AppSpec{Name: app.Name, Automated: &argosim.Automated{SelfHeal: true}}
	if app.Chart != "" {
		w.Sources = []argosim.Source{{RepoURL: "https://charts.example.com", Chart: app.Chart, TargetRevision: "1.0.0"}}
	} else {
		w.Sources = []argosim.Source{{Path: app.Path, TargetRevision: "main"}}
	}
	return c.reader.do(func(s *argosim.Sim) error { return s.AddApp(w) })
}

// Advance moves the cluster to now. A push since the last time is told to it
// first, as by the webhook of a Git server.
func (c *drillCluster) Advance(ctx context.Context) error {
	c.tree.forget()
	tip, err := c.tree.Resolve(ctx, "main")
	if err != nil {
		return err
	}
	return c.reader.do(func(s *argosim.Sim) error {
		if tip != c.tip {
			s.Webhook("main")
			c.tip = tip
		}
		return s.Tick(ctx, c.clock.Now())
	})
}

// Show is one Application at a glance.
func (c *drillCluster) Show(app string) (drill.Health, error) {
	var h drill.Health
	err := c.reader.do(func(s *argosim.Sim) error {
		st, err := s.State(app)
		h = drill.Health{Sync: st.Sync, Health: st.Health}
		if len(st.Revisions) == 1 {
			h.Revision = st.Revisions[0]
		}
		return err
	})
	return h, err
}

// Degrade breaks the Deployment of an app, which has its name.
func (c *drillCluster) Degrade(app string) error {
	return c.reader.do(func(s *argosim.Sim) error { return s.Degrade(app, "Deployment/"+app) })
}

// Repair ends Degrade.
func (c *drillCluster) Repair(app string) error {
	return c.reader.do(func(s *argosim.Sim) error { return s.Repair(app, "Deployment/"+app) })
}

// CloseWindow closes a sync window for an app.
func (c *drillCluster) CloseWindow(app string) error {
	return c.reader.do(func(s *argosim.Sim) error { return s.Window(app, true) })
}

// stillTree remembers what a name stands for as long as nobody pushes: while
// the cluster moves, nobody does.
type stillTree struct {
	tree  argosim.Tree
	known map[string]string
}

func (t *stillTree) forget() { t.known = map[string]string{} }

func (t *stillTree) Resolve(ctx context.Context, rev string) (string, error) {
	if id, ok := t.known[rev]; ok {
		return id, nil
	}
	id, err := t.tree.Resolve(ctx, rev)
	if err == nil {
		t.known[rev] = id
	}
	return id, err
}

func (t *stillTree) Files(ctx context.Context, commit, dir string) (map[string][]byte, error) {
	return t.tree.Files(ctx, commit, dir)
}

// drillWatcher is the daemon as navwatchd run makes it, on the drill's clock.
type drillWatcher struct {
	*watchd.Daemon
	e       env
	set     config.Daemon
	repo    *gitstore.Repo
	remote  *gitstore.Remote
	cluster *drillCluster
	log     *os.File
}

func newDrillWatcher(ctx context.Context, dir string, e env, clock *drill.Clock, repo *drillRepo, c *drillCluster) (*drillWatcher, error) {
	e.now, e.environ = clock.Now, drillEnv(e.environ, dir, drillName, clock)
	set := config.DefaultDaemon()
	set.Repository, set.Mirror = repo.server.Dir(), filepath.Join(dir, mirrorDir)
	set.Names, set.Interval, set.Notes = []string{drill.Deploy}, drill.Interval, config.NotesHook
	set.Watcher.Name, set.Watcher.Email = drillName, drillName+"@example.com"
	log, err := os.Create(filepath.Join(dir, logFile))
	if err != nil {
		return nil, err
	}
	w := &drillWatcher{e: e, set: set, cluster: c, log: log}
	if w.repo, w.remote, err = openMirror(ctx, e, set); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return w, nil
}

func (w *drillWatcher) close() {
	w.repo.Close()
	_ = w.log.Close() // it is lost with the folder anyway
}

// Restart makes a daemon that knows only what is in the repository. Whether it
// may revert comes the way in which an operator says it.
func (w *drillWatcher) Restart(dryRun bool) error {
	set, err := config.Overlay(w.set, getenv([]string{fmt.Sprintf("DRY_RUN=%t", dryRun)}), nil)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(w.log, nil))
	w.Daemon, err = watchd.New(daemonConfig(w.e, set, w.repo, w.remote, cluster{"drill", w.cluster.reader}, log))
	return err
}

// ResetCircuit is what navwatchd circuit reset does.
func (w *drillWatcher) ResetCircuit(ctx context.Context, app, reason string) (string, error) {
	line := verdict.PeopleLine{Kind: verdict.PeopleReset, App: app, Reason: reason, At: w.e.now(), By: w.set.Watcher.Name}
	s := &store{repo: w.repo, remote: w.remote, watcher: w.set.Watcher}
	if err := appendPeople(ctx, s, line); err != nil {
		return "", err
	}
	return fmt.Sprintf("circuit of %s reset by %s", whose(line), line.By), nil
}
