package gitstore_test

import (
	"errors"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
)

// TestDryPush: what would go through is nil, what would not is an error, and
// neither moves a ref.
func TestDryPush(t *testing.T) {
	srv := navtest.Bare(t)
	first := srv.Put("first", navtest.Files{"a": navtest.Text("1")})
	repo, err := gitstore.Init(t.Context(), t.TempDir(), gitstore.Options{Env: srv.Env()})
	if err != nil {
		t.Fatal(err)
	}
	rem := repo.Remote(srv.Dir)
	if _, err := rem.Fetch(t.Context()); err != nil {
		t.Fatal(err)
	}
	srv.Put("second", navtest.Files{"a": navtest.Text("2")}) // moved since
	before := srv.Git("for-each-ref")
	const ref = "refs/notes/nav/verdicts"
	if err := rem.DryPush(t.Context(), []gitstore.RefUpdate{{Ref: ref, New: first}, {Ref: gitstore.StatusRef, New: first}}); err != nil {
		t.Errorf("a push that would go through: %v", err)
	}
	stale := []gitstore.RefUpdate{{Ref: "refs/heads/main", Old: first, New: first}}
	if err := rem.DryPush(t.Context(), stale); err == nil {
		t.Error("a push that would be refused is not")
	}
	var git *gitstore.Error
	if err := repo.Remote(srv.Dir+"-gone").DryPush(t.Context(), []gitstore.RefUpdate{{Ref: ref, New: first}}); !errors.As(err, &git) {
		t.Errorf("a repository that is not there: %v", err)
	}
	if after := srv.Git("for-each-ref"); after != before {
		t.Errorf("refs moved:\n%s\nbefore:\n%s", after, before)
	}
}

func TestCommitTime(t *testing.T) {
	srv := navtest.Bare(t)
	first := srv.Put("first", navtest.Files{"a": navtest.Text("1")})
	repo, err := gitstore.Open(t.Context(), srv.Dir, gitstore.Options{Env: srv.Env()})
	if err != nil {
		t.Fatal(err)
	}
	at, err := repo.CommitTime(t.Context(), first)
	if want := srv.Git("log", "-1", "--format=%cI", first); err != nil || at.UTC().Format(time.RFC3339) != normal(t, want) {
		t.Errorf("%v, %v, git says %s", at.UTC(), err, want)
	}
	if _, err := repo.CommitTime(t.Context(), "--output=x"); err == nil {
		t.Error("a name that is none has a date")
	}
}

func normal(t *testing.T, stamp string) string {
	t.Helper()
	at, err := time.Parse(time.RFC3339, stamp)
	if err != nil {
		t.Fatal(err)
	}
	return at.UTC().Format(time.RFC3339)
}
