package watchd

import (
	"context"
	"fmt"

	"github.com/nav-watchdog/nav-watchdog/pkg/trailer"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// standing is what was found out about a commit at a tip.
type standing struct {
	tip   string
	taken verdict.Reason
}

// takenBack tells whether the branch no longer has what the commit did: a
// revert whose paths really changed, or a tree that was restored. When the tip
// moves, Git is asked about the new commits once for all watches, and only the
// watches whose paths they touch are looked at again.
func (a *asker) takenBack(ctx context.Context, commit, tip string) (verdict.Reason, error) {
	if tip == "" || tip == commit {
		return verdict.Reason{}, nil
	}
	if was, known := a.standing[commit]; known {
		if was.tip == tip {
			return was.taken, nil
		}
		if was.taken.IsZero() {
			touched, err := a.touched(ctx, was.tip, tip)
			if err != nil {
				return verdict.Reason{}, err
			}
			if !anyIn(a.paths[commit], touched) {
				a.standing[commit] = standing{tip: tip}
				return verdict.Reason{}, nil
			}
		}
	}
	taken, err := a.findTaken(ctx, commit, tip)
	if err == nil {
		a.standing[commit] = standing{tip, taken}
	}
	return taken, err
}

// survey asks at once what takenBack would ask for each commit, and settles those
// that nobody took back: nearly all. The commits come oldest first.
func (a *asker) survey(ctx context.Context, commits []string, tip string) error {
	var ask []string
	for _, c := range commits {
		if tip == c || a.contained(c, tip) != verdict.Yes {
			continue
		}
		if was, known := a.standing[c]; known {
			if was.tip == tip || !was.taken.IsZero() {
				continue
			}
			touched, err := a.touched(ctx, was.tip, tip)
			if err != nil {
				return err
			}
			if !anyIn(a.paths[c], touched) {
				continue
			}
		}
		ask = append(ask, c)
	}
	if len(ask) == 0 {
		return nil
	}
	gone, restored, err := a.git.Remain(ctx, ask, tip)
	if err != nil {
		return fmt.Errorf("looking for what watched commits left: %w", err)
	}
	var doubtful []string
	for _, c := range ask {
		if !gone[c] {
			a.standing[c] = standing{tip: tip}
		} else if !restored[c] {
			doubtful = append(doubtful, c)
		}
	}
	if len(doubtful) <= maxDoubtful {
		return nil
	}
	said, err := a.reverts(ctx, doubtful, tip)
	if err != nil {
		return fmt.Errorf("looking for reverts of watched commits: %w", err)
	}
	for _, c := range doubtful { // a later version took its place
		if !said[c] {
			a.standing[c] = standing{tip: tip}
		}
	}
	return nil
}

// maxDoubtful is for how many commits history is searched for each alone.
const maxDoubtful = 8

// reverts are the ids that commits at or below a tip say they revert. Whoever
// names a commit came after it, so that what the commits have in common need not
// be read: where all contain the first, that is the first.
func (a *asker) reverts(ctx context.Context, commits []string, tip string) (map[string]bool, error) {
	first := commits[0]
	in, err := a.git.Contains(ctx, map[string][]string{first: commits[1:]})
	if err != nil {
		return nil, err
	}
	common := []string{first}
	for _, c := range commits[1:] {
		if !in[first][c] {
			common = nil
		}
	}
	said := map[string]bool{}
	err = a.git.Walk(ctx, []string{tip}, common, func(c Commit) error {
		ids, _ := trailer.IsRevert(c.Message)
		for _, id := range ids {
			said[id] = true
		}
		return nil
	})
	return said, err
}

// findTaken looks at a commit and a tip. A branch that never had the commit took
// nothing back, though all its paths are what they were before it.
func (a *asker) findTaken(ctx context.Context, commit, tip string) (verdict.Reason, error) {
	on := a.contained(commit, tip)
	if on == verdict.Unknown {
		got, err := a.git.Contains(ctx, map[string][]string{commit: {tip}})
		if err != nil {
			return verdict.Reason{}, err
		}
		on = verdict.TriOf(got[commit][tip])
	}
	if on != verdict.Yes {
		return verdict.Reason{}, nil
	}
	st, err := a.git.Standing(ctx, commit, tip)
	if err != nil || st.Root || !st.Gone {
		return verdict.Reason{}, err
	}
	by, err := a.revertedBy(ctx, commit, tip)
	switch {
	case err != nil:
		return verdict.Reason{}, err
	case by != "":
		return verdict.Reason{Code: "reverted-by", Detail: by}, nil
	case st.Restored:
		return verdict.Reason{Code: "restored", Detail: "all its paths are what they were before it"}, nil
	}
	return verdict.Reason{}, nil
}

// touched lists the paths that commits between two tips changed; the last
// answer is kept, because every watch asks the same.
func (a *asker) touched(ctx context.Context, from, to string) (map[string]bool, error) {
	if a.between == [2]string{from, to} {
		return a.touchedPaths, nil
	}
	changes, err := a.git.Changes(ctx, []string{to}, []string{from})
	if err != nil {
		return nil, fmt.Errorf("listing what changed between two tips: %w", err)
	}
	paths := map[string]bool{}
	for _, c := range changes {
		for _, p := range c.Paths {
			paths[p] = true
		}
	}
	a.between, a.touchedPaths = [2]string{from, to}, paths
	return paths, nil
}

func anyIn(paths []string, set map[string]bool) bool {
	for _, p := range paths {
		if set[p] {
			return true
		}
	}
	return false
}
