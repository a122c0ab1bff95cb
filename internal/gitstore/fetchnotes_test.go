package gitstore_test

import (
	"context"
	"strings"
	"testing"

	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
)

// Verdicts come by the remote's name and by its address, replaced ones too, and
// nothing else comes with them.
func TestFetchVerdicts(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	server := navtest.Bare(t)
	id := server.Put("one", navtest.Files{"a": navtest.Text("a")})
	clone := server.Clone()
	g := open(t, clone)
	tip := func() string { return clone.Git("for-each-ref", "--format=%(refname) %(objectname)", "refs/notes") }

	check(t, g.FetchVerdicts(ctx, "origin"))
	if refs := tip(); refs != "" {
		t.Errorf("a remote without notes gave %s", refs)
	}
	for i, remote := range []string{"origin", server.Dir, "origin"} {
		for _, ref := range []string{"nav/verdicts", "nav/people", "commits"} {
			server.Git("update-ref", "-d", "refs/notes/"+ref) // each is made anew: no fast-forward
			server.Git("notes", "--ref="+ref, "add", "-m", strings.Repeat("x", i+1), id)
		}
		server.Git("tag", "-f", "t", id)
		check(t, g.FetchVerdicts(ctx, remote))
		if refs, want := tip(), "refs/notes/nav/verdicts "+server.Git("rev-parse", "refs/notes/nav/verdicts"); refs != want {
			t.Errorf("%s: have %s, want %s", remote, refs, want)
		}
	}
	if tags := clone.Git("tag"); tags != "" {
		t.Errorf("fetched tags %s", tags)
	}
	for _, remote := range []string{"", "--upload-pack=x", "a\nb", "nosuch", "https://u:hunter2@127.0.0.1:1/x"} {
		err := g.FetchVerdicts(ctx, remote)
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", remote, err)
		}
	}
}
