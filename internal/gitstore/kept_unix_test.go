//go:build unix

package gitstore

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
)

// A process that is kept and hangs, on a disk that does not answer say, keeps
// neither a question beyond its context nor Close.
func TestKeptHangs(t *testing.T) {
	t.Parallel()
	r := navtest.Bare(t)
	c := r.Put("one", navtest.Files{"a": navtest.Text("a")})
	g, err := Open(t.Context(), r.Dir, Options{Env: r.Env(), Keep: true, Timeout: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(ctx context.Context) error {
		_, err := g.Resolve(ctx, []string{c})
		return err
	}
	hang := func() {
		t.Helper()
		if err := ask(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(g.kept.Load().p.cmd.Process.Pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	}
	hang()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := ask(over); !errors.Is(err, context.Canceled) {
		t.Errorf("its context was over: %v", err)
	}
	hang()
	g.kept.Load().p.timeout *= 2 // more than half of its time is over, so another is started
	if err := ask(over); !errors.Is(err, context.Canceled) {
		t.Errorf("its context was over, and the process too old: %v", err)
	}
	hang()
	g.Close()
	if err := ask(t.Context()); err != nil {
		t.Errorf("after Close: %v", err)
	}
	g.Close()

	// Who starts it does not end it for those who ask later.
	first, cancel := context.WithCancel(t.Context())
	if err := ask(first); err != nil {
		t.Fatal(err)
	}
	kept := g.kept.Load()
	cancel()
	if err := ask(t.Context()); err != nil || g.kept.Load() != kept {
		t.Errorf("after the context of the first question: %v, the same process: %v", err, g.kept.Load() == kept)
	}
	g.Close()
}
