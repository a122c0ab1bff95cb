package gitstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// StatusRef is the one ref that is replaced, not moved forward (design,
// section 3).
const StatusRef = "refs/notes/nav/status"

// PushError is a push that did not do what was asked. errors.Is tells which of
// ErrRefused, ErrStale, ErrUnknown and ErrNoAtomic it is; ErrNoAtomic is
// ErrRefused too.
type PushError struct {
	Kind   error
	Cause  error
	Stderr string   // of git and of the server's hooks, for people; at most 8 KiB, not escaped
	Status []string // the refs that git reports as not pushed, one line each, for people
}

func (e *PushError) Error() string { return fmt.Sprintf("%v: %v", e.Kind, e.Cause) }

// Unwrap gives the kind and the cause.
func (e *PushError) Unwrap() []error {
	if errors.Is(e.Kind, ErrNoAtomic) {
		return []error{e.Kind, ErrRefused, e.Cause}
	}
	return []error{e.Kind, e.Cause}
}

// Push moves refs of the remote, all or none, each from the value that was read
// to a new one. Every ref but StatusRef moves only forward. What became of a
// push that failed is found out by looking at the remote: all refs as asked for
// is success; all where they were is ErrRefused (ErrNoAtomic where the server
// cannot do it); anything else is ErrStale. When the look fails too, or the push
// was cut off while the server may still be at it, it is ErrUnknown.
func (m *Remote) Push(ctx context.Context, ups []RefUpdate) error {
	if len(ups) == 0 {
		return nil
	}
	if err := m.push(ctx, ups); err != nil {
		return fmt.Errorf("pushing to %q: %w%s", m.shown(), err, rightsHint(err))
	}
	m.follow(ctx, ups)
	return nil
}

// follow moves the notes refs of a mirror to where they were pushed, so that the
// next Fetch finds nothing to do. Where that fails, it fetches.
func (m *Remote) follow(ctx context.Context, ups []RefUpdate) {
	notes := slices.DeleteFunc(slices.Clone(ups), func(u RefUpdate) bool { return !strings.HasPrefix(u.Ref, "refs/notes/nav/") })
	_ = m.repo.UpdateRefs(ctx, notes...)
}

func (m *Remote) push(ctx context.Context, ups []RefUpdate) error {
	if m.err != nil {
		return m.err
	}
	if err := m.repo.checkUpdates(ups); err != nil {
		return err
	}
	if err := m.repo.checkForward(ctx, ups); err != nil {
		return err
	}
	option := "--atomic"
	if len(ups) == 1 { // one ref moves or does not, on any server
		option = "--no-atomic"
	}
	status, err := m.send(ctx, ups, option)
	if err == nil {
		return nil
	}
	failed := &PushError{Cause: err, Status: status}
	var process *Error
	if errors.As(err, &process) {
		failed.Stderr = process.Stderr
	}
	failed.Kind = m.whatBecame(ctx, ups, err, len(status) > 0)
	if failed.Kind == nil {
		return nil
	}
	return failed
}

// send runs `git push` and gives the lines of refs that were not pushed.
func (m *Remote) send(ctx context.Context, ups []RefUpdate, options ...string) (status []string, err error) {
	args := append([]string{
		"push", "--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no", "--no-force-if-includes",
	}, options...)
	for _, u := range ups {
		// With an explicit value a lease is a compare-and-swap; an empty one: must
		// not exist. The server gets it as the old value.
		args = append(args, "--force-with-lease="+u.Ref+":"+u.Old)
	}
	args = append(args, "--end-of-options", m.url)
	for _, u := range ups {
		args = append(args, u.New+":"+u.Ref)
	}
	out, err := m.repo.output(ctx, m.command(args...))
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "!\t") {
			status = append(status, blank(strings.TrimSpace(line[2:]), m.hide))
		}
	}
	return status, err
}

// whatBecame looks at the remote after a push that failed; nil: it happened.
// reported says that the server spoke of single refs, so it took the push up.
func (m *Remote) whatBecame(ctx context.Context, ups []RefUpdate, pushErr error, reported bool) error {
	names := make([]string, len(ups))
	for i, u := range ups {
		names[i] = u.Ref
	}
	now, _, err := m.list(ctx, names...)
	if err != nil {
		return ErrUnknown
	}
	kind := classify(ups, now)
	switch {
	case !errors.Is(kind, ErrRefused):
		return kind
	case errors.Is(pushErr, context.DeadlineExceeded), errors.Is(pushErr, context.Canceled):
		return ErrUnknown // the server may not be done yet
	case !reported && len(ups) > 1 && m.lacksAtomic(ctx, ups):
		return ErrNoAtomic
	default:
		return ErrRefused
	}
}

// lacksAtomic tries the same push twice without doing it: if it would go
// through only without --atomic, then that is what the server cannot do.
func (m *Remote) lacksAtomic(ctx context.Context, ups []RefUpdate) bool {
	if _, err := m.send(ctx, ups, "--dry-run", "--atomic"); err == nil {
		return false
	}
	_, err := m.send(ctx, ups, "--dry-run", "--no-atomic")
	return err == nil
}

// Atomic says whether the remote takes atomic pushes, by trying one that would
// change nothing. The remote must have a branch that this repository has too.
func (m *Remote) Atomic(ctx context.Context) (bool, error) {
	ok, err := m.atomic(ctx)
	if err != nil {
		return false, fmt.Errorf("asking %q about atomic pushes: %w", m.shown(), err)
	}
	return ok, nil
}

func (m *Remote) atomic(ctx context.Context) (bool, error) {
	refs, err := m.repo.Refs(ctx, "refs/heads/")
	if err != nil {
		return false, err
	}
	var names []string
	for name := range refs {
		names = append(names, name)
	}
	there, _, err := m.list(ctx, names...)
	if err != nil {
		return false, err
	}
	for name, id := range there {
		if refs[name] != id {
			continue
		}
		ups := []RefUpdate{{Ref: name, Old: id, New: id}}
		if _, err := m.send(ctx, ups, "--dry-run", "--atomic"); err == nil {
			return true, nil
		}
		if _, err := m.send(ctx, ups, "--dry-run", "--no-atomic"); err != nil {
			return false, err
		}
		return false, nil
	}
	return false, errors.New("no branch is the same on both sides")
}

var errNoForward = errors.New("not a fast-forward")

// checkForward refuses what a lease would force: a ref other than StatusRef
// whose new value does not contain the old one.
func (r *Repo) checkForward(ctx context.Context, ups []RefUpdate) error {
	var olds, news []string
	for _, u := range ups {
		if u.Ref != StatusRef && u.Old != "" && u.New != "" {
			olds, news = append(olds, u.Old), append(news, u.New)
		}
	}
	contains, err := r.Contains(ctx, olds, news)
	if err != nil {
		return err
	}
	for _, u := range ups {
		if u.Ref != StatusRef && u.Old != "" && u.New != "" && !contains[u.Old][u.New] {
			return &PushError{Kind: ErrRefused, Cause: fmt.Errorf("%q: %w", u.Ref, errNoForward)}
		}
	}
	return nil
}
