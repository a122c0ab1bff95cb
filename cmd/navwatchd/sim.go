package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd"
	"github.com/nav-watchdog/nav-watchdog/internal/argosim"
	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// simTree lets the simulated Argo CD read the repository that is deployed from.
type simTree struct{ repo *gitstore.Repo }

func (t simTree) Resolve(ctx context.Context, rev string) (string, error) {
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

func (t simTree) Files(ctx context.Context, commit, dir string) (map[string][]byte, error) {
	return t.repo.ReadFiles(ctx, commit, dir)
}

// simReader is a simulated cluster as a source of Applications. Every state
// that a watch would have delivered is kept for the next pass.
type simReader struct {
	mu     sync.Mutex
	sim    *argosim.Sim
	passed []argocd.Delivery
	// partial is why a list is not whole, as of one namespace that may not be
	// read; a single Application still can be.
	partial error
	around  arming.Place // what stands around the Applications
	// reshape changes how an Application is shown; nil: as it is.
	reshape func(object []byte) []byte
}

func (r *simReader) decode(object []byte) (*argocd.Application, error) {
	if r.reshape != nil {
		object = r.reshape(object)
	}
	return argocd.Decode(object)
}

func (r *simReader) Around(context.Context, time.Time, bool) (arming.Place, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.around, nil
}

// delivered is the simulator's OnChange.
func (r *simReader) delivered(at time.Time, object []byte) {
	if a, err := r.decode(object); err == nil { // what it makes always decodes
		r.passed = append(r.passed, argocd.Delivery{App: a, At: at})
	}
}

// do runs something on the simulator, which is not safe from two goroutines.
func (r *simReader) do(f func(*argosim.Sim) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return f(r.sim)
}

func (r *simReader) Between() []argocd.Delivery {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.passed
	r.passed = nil
	return out
}

func (r *simReader) List(context.Context, time.Time) ([]*argocd.Application, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	list, err := r.list()
	return list, errors.Join(err, r.partial)
}

func (r *simReader) list() ([]*argocd.Application, error) {
	objects, err := r.sim.List()
	if err != nil {
		return nil, err
	}
	out := make([]*argocd.Application, 0, len(objects))
	for _, o := range objects {
		a, err := r.decode(o)
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

func (r *simReader) Get(_ context.Context, app verdict.App, _ time.Time) (*argocd.Application, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	list, err := r.list()
	if err != nil {
		return nil, err
	}
	for _, a := range list {
		if app.Matches(a.App()) {
			return a, nil
		}
	}
	return nil, argocd.ErrNotFound
}
