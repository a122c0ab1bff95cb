package hook

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/internal/config"
	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/internal/lint"
)

// Repo is what a hook asks of the repository that is pushed to. In pre-receive
// it must see the quarantined objects.
type Repo interface {
	lint.History
	Settings
	// Refs lists refs below the prefixes with their ids.
	Refs(ctx context.Context, prefixes ...string) (map[string]string, error)
	// Target is the ref that moves when ref is pushed to: another one, if ref is
	// symbolic.
	Target(ctx context.Context, ref string) (string, error)
	// DefaultBranch is the full name of the branch that HEAD names.
	DefaultBranch(ctx context.Context) (string, error)
	// IDs resolves names (`REV:PATH` too) in one process; a name that stands
	// for nothing is left out.
	IDs(ctx context.Context, names []string) (map[string]string, error)
	// FileAt reads a file of a commit, given by id. nil data: it is not there,
	// or odd says why what is there cannot be read as a file.
	FileAt(ctx context.Context, commit, path string) (data []byte, odd string, err error)
	// Paths are those that each commit changed against its first parent.
	Paths(ctx context.Context, commits []string) (map[string][]string, error)
	// Tree maps the paths of all regular files of a revision to the ids of
	// their contents, which Contents reads.
	Tree(ctx context.Context, rev string) (map[string]string, error)
	Contents(ctx context.Context, ids []string, fn func(id string, data []byte) error) error
	// Append adds lines to the notes of objects below ref, with a real
	// compare-and-swap; a line whose key is there already is left out. It says
	// how many were added. tip is what Refs has just said of ref.
	Append(ctx context.Context, ref, tip string, lines map[string][]string, key func(string) string, message string, at time.Time) (int, error)
}

// Config is everything a push needs from outside.
type Config struct {
	Stdin io.Reader // as git feeds a hook
	Out   io.Writer // what the pusher sees
	Repo  Repo
	// Manifests reads what the trees of a push say of Applications.
	Manifests lint.Manifests
	User      func() (string, error) // the operating system's user
	Now       func() time.Time
	// Getenv is the environment in which the host started the hook; nil: nothing
	// is set. Only the variable of the repository's host is asked.
	Getenv  func(name string) string
	Options Options // of a hook that serves many repositories
}

func (c Config) env(name string) string {
	if c.Getenv == nil {
		return ""
	}
	return c.Getenv(name)
}

// push is one run of a hook. What costs a process is asked once, and only if
// it matters.
type push struct {
	Config
	ups []Update

	defaultRef string
	noPolicy   bool // it is known that there was no policy file before the push
	policy     *arming.Policy
	base       string // the default branch before the push, as far as it was asked
	options    *Options
	identity   *Identity
	told       int // watches of which it was told that they are not queued
}

// open reads what the push moves. A branch that is another's second name is
// taken for that one: what is pushed to it moves the other.
func (p *push) open(ctx context.Context) error {
	ups, err := ReadUpdates(p.Stdin)
	if err != nil {
		return err
	}
	for i, u := range ups {
		if u.Branch() == "" && !strings.HasPrefix(u.Ref, "refs/notes/") {
			continue
		}
		if ups[i].Ref, err = p.Repo.Target(ctx, u.Ref); err != nil {
			return err
		}
	}
	p.ups = ups
	return nil
}

func (p *push) say(format string, args ...any) {
	// The pusher may be gone; that decides nothing.
	// What is quoted may have lines of its own, which must not look like ours.
	text := strings.ReplaceAll(exit.Printable(fmt.Sprintf(format, args...)), "\n", "\n    ")
	_, _ = fmt.Fprintf(p.Out, "nav-watchdog: %s\n", text)
}

func (p *push) defaultBranch(ctx context.Context) (string, error) {
	if p.defaultRef == "" {
		ref, err := p.Repo.DefaultBranch(ctx)
		if err != nil {
			return "", err
		}
		p.defaultRef = ref
	}
	return p.defaultRef, nil
}

// installed is what install wrote down for this repository.
func (p *push) installed(ctx context.Context) (Options, error) {
	if p.options == nil {
		o, err := p.Options.over(ctx, p.Repo)
		if err != nil {
			return Options{}, err
		}
		p.options = &o
	}
	return *p.options, nil
}

func (p *push) who(ctx context.Context) (Identity, error) {
	if p.identity == nil {
		o, err := p.installed(ctx)
		if err != nil {
			return Identity{}, err
		}
		user, err := vouched(o.Host, p.env, p.User)
		if err != nil {
			return Identity{}, err
		}
		p.identity = &Identity{Host: o.Host, User: user, Watcher: o.Watcher}
	}
	return *p.identity, nil
}

// before is the policy as it was before the push, on the default branch. One
// that cannot be read counts as none, so that its repair can get in, and the
// pusher is told.
func (p *push) before(ctx context.Context) (arming.Policy, error) {
	if p.policy != nil {
		return *p.policy, nil
	}
	if p.noPolicy {
		policy := arming.Default()
		p.policy = &policy
		return policy, nil
	}
	def, err := p.defaultBranch(ctx)
	if err != nil {
		return arming.Policy{}, err
	}
	rev, err := p.tipBefore(ctx, def)
	if err != nil {
		return arming.Policy{}, err
	}
	p.base = rev
	policy := arming.Default()
	if rev != "" {
		var broken error
		policy, broken, err = p.read(ctx, rev)
		if err != nil {
			return policy, err
		}
		if broken != nil {
			p.say("the policy on %s cannot be read and counts as none, so nobody may arm: %v", short(def), broken)
		}
	}
	p.policy = &policy
	return policy, nil
}

// tipBefore is what a branch held before the push, "" if it did not exist. It
// is an id, because a full name of a branch that is missing could still be
// taken for another ref (refs/heads/refs/heads/main).
func (p *push) tipBefore(ctx context.Context, ref string) (string, error) {
	for _, u := range p.ups {
		if u.Ref == ref {
			return u.Old, nil
		}
	}
	refs, err := p.Repo.Refs(ctx, ref)
	if err != nil {
		return "", err
	}
	return refs[ref], nil
}

// read reads the policy of a revision. broken says why it counts as none; err
// that it could not be found out.
func (p *push) read(ctx context.Context, rev string) (policy arming.Policy, broken, err error) {
	data, odd, err := p.Repo.FileAt(ctx, rev, lint.PolicyFile)
	switch {
	case err != nil:
		return arming.Default(), nil, err
	case odd != "":
		return arming.Default(), fmt.Errorf("%s: %s", lint.PolicyFile, odd), nil
	case data == nil:
		return arming.Default(), nil, nil
	}
	policy, broken = config.ParsePolicy(data, lint.PolicyFile)
	if broken != nil {
		return arming.Default(), broken, nil
	}
	return policy, nil, nil
}

// news is what the push brings to each branch. Where branches are made, that
// depends on the watched ones.
func (p *push) news(ctx context.Context) ([]Span, error) {
	made := false
	for _, u := range p.ups {
		made = made || (u.Branch() != "" && u.Old == "" && u.New != "")
	}
	if !made {
		return News(p.ups, nil), nil
	}
	policy, err := p.before(ctx)
	if err != nil {
		return nil, err
	}
	def, err := p.defaultBranch(ctx)
	if err != nil {
		return nil, err
	}
	now, err := p.Repo.Refs(ctx, heads)
	if err != nil {
		return nil, err
	}
	held := HeldBefore(p.ups, now, func(ref string) bool {
		return ref == def || policy.WatchesBranch(ref, def)
	})
	return News(p.ups, held), nil
}

// watched are those of the refs that the policy watches, without refs/heads/.
func (p *push) watched(ctx context.Context, refs []string) ([]string, error) {
	policy, err := p.before(ctx)
	if err != nil {
		return nil, err
	}
	def, err := p.defaultBranch(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, ref := range refs {
		if policy.WatchesBranch(ref, def) {
			names = append(names, short(ref))
		}
	}
	return names, nil
}
