package gitstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Entry is what a path names: a file, link or submodule.
type Entry struct {
	Mode string // canonical, six digits; "" = nothing
	ID   string
}

// PathChange is one path that a commit changed.
type PathChange struct {
	Path          string // bytes
	Before, After Entry
}

// Changes lists what a commit changed against its first parent, without
// detection of renames: a rename is a deletion and an addition. A root commit is
// a *RootError.
func (r *Repo) Changes(ctx context.Context, commit string) ([]PathChange, error) {
	commits, err := r.Commits(ctx, []string{commit})
	if err != nil {
		return nil, fmt.Errorf("listing changes: %w", err)
	}
	if len(commits[0].Parents) == 0 {
		return nil, &RootError{Commit: commit}
	}
	changes, err := r.between(ctx, commits[0].Parents[0], commit)
	if err != nil {
		return nil, fmt.Errorf("listing changes of %s: %w", commit, err)
	}
	return changes, nil
}

// ChangedSince lists the paths that stand against an exact revert of commit on
// tip: those that are not what the commit left, and those that cannot be put
// back because a later file or folder has their name. Sorted; nil: none.
func (r *Repo) ChangedSince(ctx context.Context, commit, tip string) ([]string, error) {
	plan, err := r.planRevert(ctx, commit, tip)
	if err != nil {
		return nil, err
	}
	return plan.against, nil
}

// BuildRevert writes the commit on tip that puts back, for each path that commit
// changed, what its first parent had, and moves no ref. Refused: a root commit
// (ErrRoot), a path that changed since (*ExactError), a revert that changes
// nothing (ErrEmpty). Signed with signKey if there is one, by the signing
// settings of the user's git configuration. The message is taken as it is.
func (r *Repo) BuildRevert(ctx context.Context, commit, tip string, message []byte, author, committer Identity, signKey string) (id string, err error) {
	plan, err := r.planRevert(ctx, commit, tip)
	switch {
	case err != nil:
		return "", err
	case plan.empty:
		return "", fmt.Errorf("reverting %s: %w", commit, ErrEmpty)
	case len(plan.against) > 0:
		return "", fmt.Errorf("reverting %s: %w", commit, &ExactError{Paths: plan.against})
	}
	if err := plan.pack.write(ctx); err != nil {
		return "", fmt.Errorf("reverting %s: %w", commit, err)
	}
	id, err = r.commitTree(ctx, plan.tree, []string{tip}, message, author, committer, signKey)
	if err != nil {
		return "", fmt.Errorf("reverting %s: %w", commit, err)
	}
	return id, nil
}

// revertPlan is the tree of a revert, not written yet.
type revertPlan struct {
	tree    string
	pack    *pack
	against []string
	empty   bool
}

func (r *Repo) planRevert(ctx context.Context, commit, tip string) (*revertPlan, error) {
	if err := r.checkIDs([]string{commit, tip}); err != nil {
		return nil, fmt.Errorf("planning a revert: %w", err)
	}
	changes, err := r.Changes(ctx, commit)
	if err != nil {
		return nil, fmt.Errorf("planning a revert: %w", err)
	}
	b, err := r.openBatch(ctx)
	if err != nil {
		return nil, fmt.Errorf("planning a revert: %w", err)
	}
	plan := &revertPlan{pack: r.newPack()}
	if err := b.close(plan.build(b, changes, tip)); err != nil {
		return nil, fmt.Errorf("planning the revert of %s on %s: %w", commit, tip, err)
	}
	return plan, nil
}

func (p *revertPlan) build(b *batch, changes []PathChange, tip string) error {
	root, err := b.commitTree(tip)
	if err != nil {
		return err
	}
	t := &trees{batch: b, known: map[string][]treeEntry{}}
	paths := make(map[string]Entry, len(changes))
	done := 0 // paths that are already what they were before the commit
	for _, ch := range changes {
		now, err := t.entry(root, ch.Path)
		if err != nil {
			return err
		}
		if now != ch.After {
			p.against = append(p.against, ch.Path)
		}
		if now == ch.Before {
			done++
		}
		paths[ch.Path] = ch.Before
	}
	if done == len(changes) {
		p.empty = true
		slices.Sort(p.against)
		return nil
	}
	ed := &editor{trees: t, pack: p.pack}
	if p.tree, err = ed.apply(root, newEdit(paths), ""); err != nil {
		return err
	}
	p.against = append(p.against, ed.conflicts...)
	slices.Sort(p.against)
	p.against = slices.Compact(p.against)
	if p.tree == "" {
		p.tree = p.pack.add("tree", nil)
	}
	p.empty = p.tree == root && len(p.against) == 0
	return nil
}

// entry gives what a path names as git's index would: a folder is nothing.
func (t *trees) entry(root, path string) (Entry, error) {
	e, err := t.lookup(root, path)
	if err != nil || e.mode == "" || e.isTree() {
		return Entry{}, err
	}
	return Entry{Mode: e.canonical(), ID: e.id}, nil
}

// commitTree writes a commit with `git commit-tree`, which knows how to sign.
func (r *Repo) commitTree(ctx context.Context, tree string, parents []string, message []byte, author, committer Identity, signKey string) (string, error) {
	if err := errors.Join(author.check(), committer.check()); err != nil {
		return "", err
	}
	if bytes.IndexByte(message, 0) >= 0 {
		return "", errors.New("a commit message cannot hold a NUL")
	}
	sign := "--no-gpg-sign"
	if signKey != "" {
		sign = "--gpg-sign=" + signKey
	}
	args := []string{"-c", "i18n.commitEncoding=UTF-8"}
	if r.ssh {
		args = append(args, "-c", "gpg.format=ssh")
	}
	args = append(args, "commit-tree", sign)
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	out, err := r.output(ctx, command{
		args:  append(args, "-F", "-", "--end-of-options", tree),
		stdin: bytes.NewReader(message),
		own:   signKey != "",
		env: []string{
			"GIT_AUTHOR_NAME=" + author.Name, "GIT_AUTHOR_EMAIL=" + author.Email,
			fmt.Sprintf("GIT_AUTHOR_DATE=@%d +0000", author.When.Unix()),
			"GIT_COMMITTER_NAME=" + committer.Name, "GIT_COMMITTER_EMAIL=" + committer.Email,
			fmt.Sprintf("GIT_COMMITTER_DATE=@%d +0000", committer.When.Unix()),
		},
	})
	if err != nil {
		return "", err
	}
	id := strings.TrimSuffix(string(out), "\n")
	return id, r.checkID(id)
}
