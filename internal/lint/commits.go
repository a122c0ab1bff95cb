package lint

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/pkg/trailer"
)

// Revs is what is to be linted: the commits that Tips reach and Exclude does
// not, as git log takes them.
type Revs struct{ Tips, Exclude []string }

// ParseRange reads A..B, ..B, A.., or one revision, as git does. Three dots are
// refused: what both sides share is no start of a range.
func ParseRange(s string) (Revs, error) {
	if strings.Contains(s, "...") {
		return Revs{}, exit.Hint(exit.Usagef("%q: a range with three dots has two starts", s), "use two dots: BASE..HEAD")
	}
	from, to, ranged := strings.Cut(s, "..")
	revs := Revs{Tips: []string{to}, Exclude: []string{from}}
	if !ranged {
		revs = Revs{Tips: []string{s}}
	}
	for _, list := range [][]string{revs.Tips, revs.Exclude} {
		for i, rev := range list {
			if rev == "" && ranged {
				list[i] = localHead
			}
			if err := checkRev(list[i]); err != nil {
				return Revs{}, err
			}
		}
	}
	return revs, nil
}

func checkRev(rev string) error {
	if rev == "" || strings.HasPrefix(rev, "-") || strings.ContainsAny(rev, "\n\x00") {
		return exit.Usagef("%q is not a revision", rev)
	}
	return nil
}

// maxRevs bounds a list of revisions.
const maxRevs = 1 << 20

// ReadRevs reads a list of commits, one a line. They alone are linted, not
// their ancestors.
func ReadRevs(r io.Reader) ([]string, error) {
	var revs []string
	sc := bufio.NewScanner(r)
	for n := 1; sc.Scan(); n++ {
		rev := strings.TrimSpace(sc.Text())
		if rev == "" {
			continue
		}
		if err := checkRev(rev); err != nil {
			return nil, fmt.Errorf("stdin:%d: %w", n, err)
		}
		if revs = append(revs, rev); len(revs) > maxRevs {
			return nil, exit.Usagef("more than %d revisions", maxRevs)
		}
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("reading the list of commits: %w", err)
	}
	return revs, nil
}

// Range lints what a range holds, under the policy that counts in this clone as
// of the start of the range: where the range itself is part of the branch with
// the policy, that of before counts, so that no push loosens its own rules.
func (c Config) Range(ctx context.Context, r Repo, revs Revs) error {
	ids, err := resolve(ctx, r, append(append([]string{}, revs.Tips...), revs.Exclude...))
	if err != nil {
		return err
	}
	tips, exclude := ids[:len(revs.Tips)], ids[len(revs.Tips):]
	policy, err := policyBefore(ctx, r, tips, exclude)
	if err != nil {
		return err
	}
	cut, err := r.Cut(ctx)
	if err != nil {
		return err
	}
	broken, why, err := c.brokenAt(ctx, r, tips[0], exclude)
	if err != nil {
		return err
	}
	return c.commits(ctx, r, policy, map[string][]Finding{broken: why}, func(fn func(Commit) error) error {
		return r.Log(ctx, tips, exclude, func(commit Commit) error {
			if cut[commit.ID] {
				return exit.Hint(exit.Unclear(fmt.Errorf("the history is cut off at %s, which is in the range: what comes before it cannot be read", commit.ID)), wholeHistory)
			}
			return fn(commit)
		})
	})
}

// List lints the given commits and no others.
func (c Config) List(ctx context.Context, r Repo, revs []string) error {
	ids, err := resolve(ctx, r, revs)
	if err != nil {
		return err
	}
	policy, err := ClonePolicy(ctx, r)
	if err != nil {
		return err
	}
	return c.commits(ctx, r, policy, nil, func(fn func(Commit) error) error {
		return r.Each(ctx, ids, fn)
	})
}

const wholeHistory = "in CI, fetch the whole history (fetch-depth: 0)"

func resolve(ctx context.Context, r Clone, revs []string) ([]string, error) {
	names := make([]string, len(revs))
	for i, rev := range revs {
		names[i] = rev + "^{commit}"
	}
	found, err := r.IDs(ctx, names)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(revs))
	for i, name := range names {
		if ids[i] = found[name]; ids[i] == "" {
			return nil, exit.Hint(exit.Unclear(fmt.Errorf("there is no commit %q here", revs[i])),
				wholeHistory+"; a name of a remote needs a fetch first")
		}
	}
	return ids, nil
}

// policyBefore is ClonePolicy, but for a range that is part of the history
// which holds that policy.
func policyBefore(ctx context.Context, r Repo, tips, exclude []string) (Policy, error) {
	rev, err := policyRev(ctx, r)
	if err != nil {
		return Policy{}, err
	}
	if len(exclude) == 0 || rev == "" || rev == exclude[0] {
		return PolicyAt(ctx, r, rev)
	}
	start, tip := exclude[0], tips[0]
	in, err := r.Contains(ctx, []string{rev, tip}, []string{rev, start, tip})
	if err != nil {
		return Policy{}, err
	}
	inside := in[rev][tip] && !in[rev][start] // the policy's commit is of the range
	behind := in[tip][rev]                    // the range is of the policy's history
	if inside || behind {
		rev = start
	}
	return PolicyAt(ctx, r, rev)
}

// pending is a commit with something to say about.
type pending struct {
	commit Commit
	ws     []trailer.Watch
	fs     []Finding
}

// withWatch are the commits with a watch.
func withWatch(found []pending) []Commit {
	var commits []Commit
	for _, p := range found {
		if len(p.ws) > 0 {
			commits = append(commits, p.commit)
		}
	}
	return commits
}

// commits lints what each hands over; also is what else was found, by commit. What
// commits with a watch changed is asked for at the end, in one go. Commits of a
// topic branch are taken to land on the default branch, by a merge, unless it is
// said where.
func (c Config) commits(ctx context.Context, r Repo, policy Policy, also map[string][]Finding, each func(func(Commit) error) error) error {
	c.warnPolicy(policy)
	var found []pending
	var watched []string
	watches := map[string][]trailer.Watch{}
	checked := 0
	err := each(func(commit Commit) error {
		checked++
		if commit.Truncated {
			found = append(found, pending{commit: commit, fs: append(commit.TooLong(), also[commit.ID]...)})
			return nil
		}
		fs := append(Message(commit.Message, policy.Trailer, nil), also[commit.ID]...)
		ws, _ := trailer.Decode(commit.Message, policy.Trailer.Unlimited())
		if len(ws) > 0 {
			watched, watches[commit.ID] = append(watched, commit.ID), ws
		}
		if len(fs)+len(ws) > 0 {
			found = append(found, pending{commit, ws, fs})
		}
		return nil
	})
	if err != nil {
		return err
	}
	paths, err := r.Paths(ctx, watched)
	if err != nil {
		return err
	}
	def := ""
	if len(watched) > 0 && c.Known != nil {
		if def, err = r.Landing(ctx); err != nil {
			return err
		}
		if err := c.Known.Ahead(ctx, policy.Policy, withWatch(found), paths, watches); err != nil {
			return err
		}
	}
	tally := &Tally{Handler: c.Handler}
	tally.Checked = checked - len(found)
	for _, p := range found {
		request := arming.Request{
			Commit: p.commit.ID, Vouched: arming.VouchNotAssessed, Paths: paths[p.commit.ID], Branch: def, DefaultBranch: def,
			Policies: []arming.NamedPolicy{{When: "before the range", Policy: policy.Policy}},
		}
		if c.Branch != "" {
			request.Branch = c.Branch
		}
		_, request.Named = Names(p.ws)
		var facts *CommitFacts
		if c.Known != nil && len(p.ws) > 0 {
			if facts, err = c.Known.Of(ctx, p.commit, request.Paths, policy.Policy, p.ws); err != nil {
				return err
			}
		}
		if err := tally.Add(p.commit.Place(), append(p.fs, Arming(ctx, p.ws, request, facts, nil)...)); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
	}
	return tally.Close(c.Strict)
}
