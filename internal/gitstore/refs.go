package gitstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
)

// Refs lists refs with the ids that they name. A prefix is a whole ref name or
// its beginning up to a slash ("refs/heads/", "refs/notes/nav"); without any,
// all refs are listed.
func (r *Repo) Refs(ctx context.Context, prefixes ...string) (map[string]string, error) {
	args := []string{"for-each-ref", "--format=%(objectname) %(refname)", "--end-of-options"}
	for _, p := range prefixes {
		if !strings.HasPrefix(p, "refs/") {
			return nil, fmt.Errorf("listing refs: %q does not begin with refs/", p)
		}
		// A ref name never holds these; to git they would be a pattern.
		if strings.ContainsAny(p, "*?[\\\x00\n") {
			return nil, fmt.Errorf("listing refs: %q is not the beginning of a ref name", p)
		}
		args = append(args, p)
	}
	out, err := r.output(ctx, command{args: args})
	if err != nil {
		return nil, fmt.Errorf("listing refs: %w", err)
	}
	refs := map[string]string{}
	for line := range strings.Lines(string(out)) {
		id, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !ok || r.checkID(id) != nil {
			return nil, fmt.Errorf("listing refs: git answered %q", line)
		}
		refs[name] = id
	}
	return refs, nil
}

// DefaultBranch is the full name of the branch that HEAD names, also while
// that branch has no commit yet. ErrDetached when HEAD names none.
func (r *Repo) DefaultBranch(ctx context.Context) (string, error) {
	out, err := r.output(ctx, command{args: []string{"symbolic-ref", "--quiet", "HEAD"}})
	var failed *Error
	if errors.As(err, &failed) && failed.Code == 1 { // symbolic-ref --quiet: not a symbolic ref
		err = ErrDetached
	}
	if err != nil {
		return "", fmt.Errorf("asking for the default branch: %w", err)
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}

// RefUpdate moves one ref from the value that was read to a new one.
type RefUpdate struct {
	Ref string // full name
	Old string // what it must be now; "" = it must not exist
	New string // what it becomes; "" = it is deleted
}

// UpdateRefs moves all refs in one transaction, or none. A lost race is
// ErrStale; where nothing moved and nobody else moved anything (a hook, a lock,
// a quarantine), it is ErrRefused.
func (r *Repo) UpdateRefs(ctx context.Context, ups ...RefUpdate) error {
	if len(ups) == 0 {
		return nil
	}
	if err := r.checkUpdates(ups); err != nil {
		return fmt.Errorf("updating refs: %w", err)
	}
	var in bytes.Buffer
	in.WriteString("start\x00")
	for _, u := range ups {
		old, now := u.Old, u.New
		if old == "" {
			old = r.zero()
		}
		if now == "" {
			now = r.zero()
		}
		fmt.Fprintf(&in, "update %s\x00%s\x00%s\x00", u.Ref, now, old)
	}
	in.WriteString("prepare\x00commit\x00")
	_, err := r.output(ctx, command{
		args:  []string{"update-ref", "-m", "nav-watchdog", "-z", "--stdin"},
		stdin: &in,
	})
	if err == nil {
		return nil
	}
	names := make([]string, len(ups))
	for i, u := range ups {
		names[i] = u.Ref
	}
	now, lookErr := r.Refs(ctx, names...)
	if lookErr != nil {
		return fmt.Errorf("updating refs: %w: %w", ErrUnknown, errors.Join(err, lookErr))
	}
	if kind := classify(ups, now); kind != nil {
		return fmt.Errorf("updating refs: %w: %w", kind, err)
	}
	return nil
}

// classify tells from the refs as they are now what became of an update that
// failed: nil if it happened all the same.
func classify(ups []RefUpdate, now map[string]string) error {
	atOld, atNew := 0, 0
	for _, u := range ups {
		if now[u.Ref] == u.Old {
			atOld++
		}
		if now[u.Ref] == u.New {
			atNew++
		}
	}
	switch len(ups) {
	case atNew:
		return nil
	case atOld:
		return ErrRefused
	default:
		return ErrStale
	}
}

func (r *Repo) checkUpdates(ups []RefUpdate) error {
	seen := map[string]bool{}
	for _, u := range ups {
		if err := checkRef(u.Ref); err != nil {
			return err
		}
		if seen[u.Ref] {
			return fmt.Errorf("%q is named twice", u.Ref)
		}
		seen[u.Ref] = true
		if u.Old == "" && u.New == "" {
			return fmt.Errorf("%q has neither an old nor a new value", u.Ref)
		}
		for _, id := range []string{u.Old, u.New} {
			if id == "" {
				continue
			}
			if err := r.checkID(id); err != nil {
				return fmt.Errorf("%q: %w", u.Ref, err)
			}
			if id == r.zero() {
				return fmt.Errorf("%q: the zero id is written as an empty one", u.Ref)
			}
		}
	}
	return nil
}

// checkRef holds a name against git's check_refname_format, as far as anything
// else could be read as an option, a pattern or part of a refspec. Git itself
// judges the rest.
func checkRef(ref string) error {
	bad := !strings.HasPrefix(ref, "refs/") || strings.HasSuffix(ref, "/") || strings.HasSuffix(ref, ".lock") ||
		strings.Contains(ref, "..") || strings.Contains(ref, "//") || strings.Contains(ref, "@{") ||
		strings.ContainsAny(ref, " ~^:?*[\\\x7f")
	for i := 0; i < len(ref) && !bad; i++ {
		bad = ref[i] < 0x20
	}
	if bad {
		return fmt.Errorf("%q is not a full ref name", ref)
	}
	return nil
}
