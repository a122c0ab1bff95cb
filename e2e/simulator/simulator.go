// Package simulator lets the product's simulated Argo CD deploy from a real
// repository in real time, and writes its Applications into a folder, which
// navwatchd reads.
package simulator

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/argosim"
	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
)

// Simulator is one simulated Argo CD.
type Simulator struct {
	Folder string // of the Applications

	mu     sync.Mutex
	sim    *argosim.Sim
	tree   tree
	tip    string
	failed error
	stop   context.CancelFunc
	done   chan struct{}
}

// Start lets a simulated Argo CD deploy apps, which follow main, from the
// folders apps/NAME of a bare repository that it knows as url.
func Start(ctx context.Context, dir, bare, url string, apps ...string) (*Simulator, error) {
	repo, err := gitstore.Open(ctx, bare, gitstore.Options{Env: os.Environ(), Timeout: time.Minute})
	if err != nil {
		return nil, err
	}
	s := &Simulator{Folder: filepath.Join(dir, "applications"), tree: tree{repo}, done: make(chan struct{})}
	for _, d := range []string{s.Folder, filepath.Join(dir, "new")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return nil, err
		}
	}
	s.sim = argosim.New(s.tree, argosim.Options{RepoURL: url, Poll: 10 * time.Second, Rollout: time.Second})
	if err := s.add(apps...); err != nil {
		return nil, err
	}
	if err := s.tick(ctx); err != nil {
		return nil, err
	}
	ctx, s.stop = context.WithCancel(ctx)
	go s.run(ctx)
	return s, nil
}

// Add adds Applications.
func (s *Simulator) Add(apps ...string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.add(apps...)
}

func (s *Simulator) add(apps ...string) error {
	for _, name := range apps {
		err := s.sim.AddApp(argosim.AppSpec{
			Name: name, Automated: &argosim.Automated{SelfHeal: true},
			Sources: []argosim.Source{{Path: "apps/" + name, TargetRevision: "main"}},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Await waits until an Application shows a sync status and a health.
func (s *Simulator) Await(ctx context.Context, app, sync, health string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		s.mu.Lock()
		state, err := s.sim.State(app)
		s.mu.Unlock()
		if err != nil {
			return err
		}
		if state.Sync == sync && state.Health == health {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is %s and %s, not %s and %s", app, state.Sync, state.Health, sync, health)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// Stop ends it and says what went wrong.
func (s *Simulator) Stop() error {
	s.stop()
	<-s.done
	return s.failed
}

func (s *Simulator) run(ctx context.Context) {
	defer close(s.done)
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(200 * time.Millisecond):
		}
		if err := s.tick(ctx); err != nil && ctx.Err() == nil {
			s.failed = err
		}
	}
}

// tick tells it of a push, as a webhook does, moves it to now and writes what
// it shows.
func (s *Simulator) tick(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	tip, err := s.tree.Resolve(ctx, "main")
	if err != nil {
		return err
	}
	if tip != s.tip {
		s.sim.Webhook("main")
		s.tip = tip
	}
	if err := s.sim.Tick(ctx, time.Now().UTC()); err != nil {
		return err
	}
	for i, object := range s.sim.Applications() {
		name := fmt.Sprintf("%04d.json", i)
		fresh := filepath.Join(filepath.Dir(s.Folder), "new", name)
		if err := os.WriteFile(fresh, object, 0o644); err != nil {
			return err
		}
		if err := os.Rename(fresh, filepath.Join(s.Folder, name)); err != nil {
			return err
		}
	}
	return nil
}

// tree reads the repository that is deployed from.
type tree struct{ repo *gitstore.Repo }

func (t tree) Resolve(ctx context.Context, rev string) (string, error) {
	names := []string{"refs/heads/" + rev + "^{commit}", rev + "^{commit}"}
	got, err := t.repo.Resolve(ctx, names)
	if err != nil {
		return "", err
	}
	for _, n := range names {
		if !got[n].Missing {
			return got[n].ID, nil
		}
	}
	return "", fmt.Errorf("resolving %q: %w", rev, argosim.ErrUnknownRevision)
}

func (t tree) Files(ctx context.Context, commit, dir string) (map[string][]byte, error) {
	return t.repo.ReadFiles(ctx, commit, dir)
}

// Deployment is the manifest of an app; an image whose tag is does-not-exist
// is never pulled.
func Deployment(app, image string) string {
	return fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s}
spec:
  replicas: 1
  progressDeadlineSeconds: 15
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec: {nodeName: kwok-node-0, containers: [{name: main, image: %[2]q}]}
`, app, image)
}
