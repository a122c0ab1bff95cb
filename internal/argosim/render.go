package argosim

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// renderKey names a rendering, which never changes: it is of a commit.
type renderKey struct {
	repoURL, commit, dir, namespace string
	recurse                         bool
}

type rendering struct {
	manifests []manifest
	failed    error // a *renderError
}

// maxRendered bounds the cache of renderings, the repo-server's.
const maxRendered = 256

// render makes the manifests of all sources at the revisions asked for. An
// error that is no *renderError is the Tree's own.
func (s *Sim) render(ctx context.Context, sp spec, asked []string) ([]string, []manifest, error) {
	var revisions []string
	var all []manifest
	sources := sp.sources()
	if len(asked) != len(sources) {
		return nil, nil, renderErrorf("%d revisions for %d sources", len(asked), len(sources))
	}
	for i, src := range sources {
		revision, ms, err := s.renderSource(ctx, src, asked[i], sp.Destination.Namespace)
		var broken *renderError
		if errors.As(err, &broken) {
			return nil, nil, renderErrorf("failed to generate manifest for source %d of %d: %s", i+1, len(sources), broken.text)
		} else if err != nil {
			return nil, nil, err
		}
		revisions, all = append(revisions, revision), append(all, ms...)
	}
	return revisions, all, nil
}

func (s *Sim) renderSource(ctx context.Context, src Source, asked, namespace string) (string, []manifest, error) {
	if src.Chart != "" {
		return asked, renderChart(src, namespace), nil
	}
	if strings.HasPrefix(src.RepoURL, "oci://") {
		return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(src.RepoURL+asked))), renderChart(src, namespace), nil
	}
	tree := s.repos[src.RepoURL]
	if tree == nil {
		return "", nil, renderErrorf("rpc error: code = Unknown desc = failed to list refs: repository not found")
	}
	if src.Path == "" && src.Ref != "" {
		commit, err := s.resolve(ctx, tree, asked)
		return commit, nil, err
	}
	dir := strings.Trim(path.Clean("/"+src.Path), "/")
	if slices.Contains(strings.Split(src.Path, "/"), "..") {
		return "", nil, renderErrorf("rpc error: code = Unknown desc = %s: app path is outside root", src.Path)
	}
	key := renderKey{repoURL: src.RepoURL, commit: asked, dir: dir, namespace: namespace, recurse: src.Directory != nil && src.Directory.Recurse}
	if done, ok := s.rendered[key]; ok { // asked for by its id
		return asked, done.manifests, done.failed
	}
	commit, err := s.resolve(ctx, tree, asked)
	if err != nil {
		return "", nil, err
	}
	key.commit = commit
	ms, err := s.renderCommit(ctx, tree, key)
	return commit, ms, err
}

func (s *Sim) resolve(ctx context.Context, tree Tree, asked string) (string, error) {
	commit, err := tree.Resolve(ctx, orElse(asked, "HEAD"))
	if errors.Is(err, ErrUnknownRevision) {
		return "", renderErrorf("rpc error: code = Unknown desc = unable to resolve '%s' to a commit SHA", asked)
	} else if err != nil {
		return "", fmt.Errorf("resolving %q: %w", asked, err)
	}
	return commit, nil
}

// renderCommit renders a directory of a commit, or remembers that it did.
func (s *Sim) renderCommit(ctx context.Context, tree Tree, key renderKey) ([]manifest, error) {
	if done, ok := s.rendered[key]; ok {
		return done.manifests, done.failed
	}
	files, err := tree.Files(ctx, key.commit, key.dir)
	if err != nil {
		return nil, fmt.Errorf("reading %q of %s: %w", key.dir, key.commit, err)
	}
	ms, failed := renderDirectory(key.dir, files, key.recurse, key.namespace)
	if len(s.rendered) >= maxRendered {
		clear(s.rendered)
	}
	s.rendered[key] = rendering{manifests: ms, failed: failed}
	return ms, failed
}
