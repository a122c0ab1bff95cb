package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd/manifest"
	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/watchd"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// policyFile is where a repository keeps its policy.
const policyFile = ".nav-watchdog.yaml"

// history lets the daemon read commits through gitstore.
type history struct{ repo *gitstore.Repo }

func (h history) Resolve(ctx context.Context, revs []string) (map[string]string, error) {
	names := make([]string, len(revs))
	for i, r := range revs {
		names[i] = r + "^{commit}"
	}
	got, err := h.repo.Resolve(ctx, names)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for i, r := range revs {
		if o := got[names[i]]; !o.Missing {
			out[r] = o.ID
		}
	}
	return out, nil
}

func (h history) Contains(ctx context.Context, asked map[string][]string) (map[string]map[string]bool, error) {
	return h.repo.ContainsEach(ctx, asked)
}

func (h history) Remain(ctx context.Context, commits []string, tip string) (gone, restored map[string]bool, err error) {
	got, err := h.repo.Remain(ctx, commits, tip)
	gone, restored = map[string]bool{}, map[string]bool{}
	for c, r := range got {
		gone[c], restored[c] = r.Gone, r.Restored
	}
	return gone, restored, err
}

func (h history) Commits(ctx context.Context, ids []string) ([]watchd.Commit, error) {
	cs, err := h.repo.Commits(ctx, ids)
	out := make([]watchd.Commit, len(cs))
	for i, c := range cs {
		out[i] = watchd.Commit{ID: c.ID, Parents: c.Parents, Message: c.Message}
	}
	return out, err
}

func (h history) Walk(ctx context.Context, tips, exclude []string, fn func(watchd.Commit) error) error {
	return h.repo.Ordered(ctx, tips, exclude, func(c gitstore.Commit) error {
		return fn(watchd.Commit{ID: c.ID, Parents: c.Parents, Message: c.Message})
	})
}

func (h history) Paths(ctx context.Context, ids []string) (map[string][]string, error) {
	return h.repo.Paths(ctx, ids)
}

func (h history) Changes(ctx context.Context, tips, exclude []string) ([]watchd.Change, error) {
	cs, err := h.repo.OwnPaths(ctx, tips, exclude)
	out := make([]watchd.Change, len(cs))
	for i, c := range cs {
		out[i] = watchd.Change{Commit: c.Commit, Paths: c.Paths}
	}
	return out, err
}

func (h history) Standing(ctx context.Context, commit, tip string) (watchd.Standing, error) {
	changes, err := h.repo.Changes(ctx, commit)
	if errors.Is(err, gitstore.ErrRoot) {
		return watchd.Standing{Root: true}, nil
	}
	if err != nil {
		return watchd.Standing{}, err
	}
	st := watchd.Standing{Paths: len(changes)}
	if st.Changed, err = h.repo.ChangedSince(ctx, commit, tip); err != nil || len(changes) == 0 {
		return st, err
	}
	paths := make([]string, len(changes))
	for i, c := range changes {
		paths[i] = c.Path
	}
	now, err := h.repo.Entries(ctx, tip, paths)
	if err != nil {
		return st, err
	}
	st.Gone, st.Restored = true, true
	for _, c := range changes {
		st.Gone = st.Gone && now[c.Path] != c.After
		st.Restored = st.Restored && now[c.Path] == c.Before
	}
	return st, nil
}

func (h history) Policy(ctx context.Context, rev string) ([]byte, bool, error) {
	return h.repo.Blob(ctx, rev, policyFile)
}

// Manifests compares the plain manifests of a commit with those of its first
// parent, below the sources that are plain.
func (h history) Manifests(ctx context.Context, commit string, sources []verdict.Source) (map[verdict.ObjectID]verdict.Tri, error) {
	cs, err := h.repo.Commits(ctx, []string{commit})
	if err != nil {
		return nil, err
	}
	if len(cs[0].Parents) == 0 {
		return nil, errors.New("the commit has no parent")
	}
	out := map[verdict.ObjectID]verdict.Tri{}
	for _, s := range sources {
		if !s.Plain {
			return nil, fmt.Errorf("the manifests below %q are not plain files", s.Path)
		}
		before, err := h.objects(ctx, cs[0].Parents[0], s)
		if err != nil {
			return nil, err
		}
		after, err := h.objects(ctx, commit, s)
		if err != nil {
			return nil, err
		}
		for id, differs := range manifest.Changed(before, after) {
			out[id] = differs
		}
	}
	return out, nil
}

// maxManifests bounds what is read of one source, in bytes.
const maxManifests = 64 << 20

func (h history) objects(ctx context.Context, rev string, s verdict.Source) (map[verdict.ObjectID]any, error) {
	files, err := h.repo.Files(ctx, rev, s.Path)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, f := range files {
		switch {
		case !manifest.IsManifest(f.Path):
		case f.Regular():
			ids = append(ids, f.ID)
		case f.Mode == "120000":
			return nil, fmt.Errorf("%q is a symbolic link: Argo CD reads what it points to", f.Path)
		}
	}
	out := map[verdict.ObjectID]any{}
	total := 0
	err = h.repo.BlobsByID(ctx, ids, func(_ string, data []byte) error {
		if total += len(data); total > maxManifests {
			return fmt.Errorf("the manifests below %q have more than %d bytes together", s.Path, maxManifests)
		}
		objects, err := manifest.Objects(data)
		for id, doc := range objects {
			if _, twice := out[id]; twice {
				return fmt.Errorf("%s stands twice", id)
			}
			out[id] = doc
		}
		return err
	})
	return out, err
}

// Content reads what a revert of a commit, put on a branch's tip, takes away:
// the tip's manifests with the commit's paths as its first parent had them.
func (h history) Content(ctx context.Context, commit, tip string, sources []verdict.Source) arming.Content {
	changes, err := h.repo.Changes(ctx, commit)
	if err != nil {
		return arming.Content{Unknown: err.Error()}
	}
	over := make(map[string]string, len(changes))
	for _, c := range changes {
		over[c.Path] = c.Before.FileID()
	}
	return manifest.NewReader(gitstore.NewFileTrees(h.repo)).Content(ctx, arming.ContentAsk{Sources: sources, At: tip, Over: over})
}
