package gitstore_test

import (
	"context"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
)

func open(t testing.TB, r *navtest.Repo) *gitstore.Repo {
	t.Helper()
	g, err := gitstore.Open(context.Background(), r.Dir, gitstore.Options{Env: r.Env()})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func who() gitstore.Identity {
	return gitstore.Identity{Name: "watcher", Email: "watcher@example.com", When: navtest.Start().Add(time.Hour)}
}

// must gives the value of a call that must succeed: must[T](t)(call()).
func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
