package lint

import (
	"context"
	"fmt"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/internal/config"
)

// PolicyFile is where a repository's policy is.
const PolicyFile = ".nav-watchdog.yaml"

// Clone is what a lint of one message asks of the repository around it.
type Clone interface {
	// IDs resolves names (`REV:PATH` too) in one process; a name that stands
	// for nothing is left out.
	IDs(ctx context.Context, names []string) (map[string]string, error)
	// FileAt reads a file of a commit, given by id. nil data: it is not there,
	// or odd says why what is there cannot be read as a file.
	FileAt(ctx context.Context, commit, path string) (data []byte, odd string, err error)
	// Landing names the branch that origin/HEAD names, without refs/; empty: it
	// names none.
	Landing(ctx context.Context) (string, error)
	// UserConfig reads configuration as the user's own git does, all scopes.
	UserConfig(ctx context.Context, keys ...string) (map[string][]string, error)
}

// Repo is what the lint of commits asks as well.
type Repo interface {
	Clone
	History
	// Ordered is Log, parents before their children.
	Ordered(ctx context.Context, tips, exclude []string, fn func(Commit) error) error
	// Cut has the commits behind which the history is not here (a shallow clone).
	Cut(ctx context.Context) (map[string]bool, error)
	// Each hands over the given commits, by id, and no others.
	Each(ctx context.Context, ids []string, fn func(Commit) error) error
	// Paths are those that each commit changed against its first parent.
	Paths(ctx context.Context, commits []string) (map[string][]string, error)
	// Contains answers [commit][rev]: does rev contain commit? All are ids.
	Contains(ctx context.Context, commits, revs []string) (map[string]map[string]bool, error)
	// Note is the note of an object; false: there is none.
	Note(ctx context.Context, ref, object string) ([]byte, bool, error)
}

// Policy is a policy and where it came from.
type Policy struct {
	arming.Policy
	Rev    string // id of the commit that it was read from; "" if there is none
	Broken error  // why it could not be read and counts as none
}

// The revisions whose policy counts in a clone, best first (design, section 7).
const (
	originHead = "refs/remotes/origin/HEAD"
	localHead  = "HEAD"
)

// ClonePolicy is the policy that counts in a clone: that of origin/HEAD, else
// of HEAD. Outside of a repository (nil) there is none.
func ClonePolicy(ctx context.Context, r Clone) (Policy, error) {
	if r == nil {
		return Policy{Policy: arming.Default()}, nil
	}
	rev, err := policyRev(ctx, r)
	if err != nil {
		return Policy{}, err
	}
	return PolicyAt(ctx, r, rev)
}

func policyRev(ctx context.Context, r Clone) (string, error) {
	ids, err := r.IDs(ctx, []string{originHead + "^{commit}", localHead + "^{commit}"})
	if err != nil {
		return "", err
	}
	if id := ids[originHead+"^{commit}"]; id != "" {
		return id, nil
	}
	return ids[localHead+"^{commit}"], nil
}

// PolicyAt is the policy of one commit; "" has none.
func PolicyAt(ctx context.Context, r Clone, rev string) (Policy, error) {
	p := Policy{Policy: arming.Default(), Rev: rev}
	if rev == "" {
		return p, nil
	}
	data, odd, err := r.FileAt(ctx, rev, PolicyFile)
	switch {
	case err != nil:
		return p, err
	case odd != "":
		p.Broken = fmt.Errorf("%s: %s", PolicyFile, odd)
		return p, nil
	case data == nil:
		return p, nil
	}
	read, err := config.ParsePolicy(data, PolicyFile)
	if err != nil {
		p.Broken = err
		return p, nil
	}
	p.Policy = read
	return p, nil
}
