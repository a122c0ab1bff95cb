package main

import (
	"strings"
	"testing"

	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// Argo CD deploys what a link in a folder of manifests points to. So before a
// revert it is not known what one takes away, nor what a commit changed, where a
// link lies: neither on the tip nor in what the revert would bring back.
func TestLinksAreNotKnown(t *testing.T) {
	r := navtest.Bare(t)
	image := func(tag string) navtest.Files {
		return navtest.Files{"apps/web/x.yaml": navtest.Text(deployment("web", "web:"+tag)), "shared/claim.yaml": navtest.Text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n")}
	}
	with := func(f navtest.Files, path string, file navtest.File) navtest.Files {
		f[path] = file
		return f
	}
	const claim = "apps/web/claim.yaml"
	r.Put("base", image("1"))
	plain := r.Put("plain", image("2"))
	linked := r.Put("linked", with(image("3"), claim, navtest.Link("../../shared/claim.yaml")))
	unlinked := r.Put("unlinked", with(image("4"), claim, navtest.Gone()))
	repo, err := gitstore.Open(t.Context(), r.Dir, gitstore.Options{Env: r.Env()})
	if err != nil {
		t.Fatal(err)
	}
	h := history{repo: repo}
	sources := []verdict.Source{{Path: "apps/web", Plain: true}}
	for _, c := range []struct {
		name, commit, tip string
		known             bool
	}{
		{"no link", plain, plain, true},
		{"a link on the tip", plain, linked, false},
		{"the commit adds a link", linked, linked, false},
		{"a revert brings a link back", unlinked, unlinked, false},
	} {
		got := h.Content(t.Context(), c.commit, c.tip, sources)
		if known := got.Unknown == ""; known != c.known || !known && !strings.Contains(got.Unknown, "symbolic link") {
			t.Errorf("%s: not known: %q", c.name, got.Unknown)
		}
	}
	for commit, known := range map[string]bool{plain: true, linked: false, unlinked: false} {
		if _, err := h.Manifests(t.Context(), commit, sources); (err == nil) != known {
			t.Errorf("what %s changed: %v", r.Git("log", "-1", "--format=%s", commit), err)
		}
	}
}
