package hook

import (
	"slices"
	"strings"
	"testing"

	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
)

// Which refs a server hides is git's rule (refs.c, ref_is_hidden): git is asked.
func TestHiddenAsGit(t *testing.T) {
	refs := []string{"refs/notes/nav/status", "refs/notes/nav/verdicts", "refs/notes/navy/x"}
	for _, patterns := range [][]string{
		{"refs/notes"},
		{"refs/notes/"},
		{"refs/notes/nav/status"},
		{"refs/notes/na"},
		{"refs/notes", "!refs/notes/nav"},
		{"!refs/notes/nav", "refs/notes"},
		{"refs/notes", "!refs/notes/nav", "refs/notes/nav/status"},
		{"^refs/notes/nav"},
		{"refs/notes", "!^refs/notes/nav/"},
		{"^!refs/notes/nav"},
		{"refs/heads"},
	} {
		repo := navtest.Bare(t)
		tip := repo.Put("base", nil)
		for _, ref := range refs {
			repo.Git("update-ref", ref, tip)
		}
		for _, p := range patterns {
			repo.Git("config", "--add", "transfer.hideRefs", p)
		}
		shown := repo.Git("ls-remote", ".")
		for _, ref := range refs {
			seen := slices.Contains(strings.Fields(shown), ref)
			if got := hidden(patterns, ref); got == seen {
				t.Errorf("hidden(%q, %q) = %t; git shows:\n%s", patterns, ref, got, shown)
			}
		}
	}
}
