package gitstore

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
)

// Remote is another repository, by its address.
type Remote struct {
	repo *Repo
	url  string
	hide []string // the password in the address
	err  error

	head atomic.Pointer[string] // what Fetch set HEAD to last
}

// Remote names another repository: anything `git fetch` takes as an address. A
// relative path is taken from the working directory of this process, and a name
// of a configured remote is none.
func (r *Repo) Remote(address string) *Remote {
	m := &Remote{repo: r, url: address}
	switch {
	case address == "" || address[0] == '-' || strings.ContainsAny(address, "\x00\n"):
		m.err = fmt.Errorf("%q is not the address of a repository", address)
	case isPath(address):
		m.url, m.err = filepath.Abs(address)
	default:
		if u, err := url.Parse(address); err == nil && u.User != nil {
			if secret, ok := u.User.Password(); ok && secret != "" {
				m.hide = append(m.hide, secret, url.QueryEscape(secret), url.PathEscape(secret))
			} else if strings.HasPrefix(u.Scheme, "http") && u.User.Username() != "" {
				m.hide = append(m.hide, u.User.Username()) // a token alone
			}
		}
	}
	return m
}

// isPath is git's url_is_local_not_ssh.
func isPath(address string) bool {
	colon, slash := strings.IndexByte(address, ':'), strings.IndexByte(address, '/')
	return colon < 0 || (slash >= 0 && slash < colon)
}

// RemoteRefs is what a remote had at one moment.
type RemoteRefs struct {
	Refs map[string]string // branches, tags and refs/notes/nav/*, by full name
	HEAD string            // the branch that HEAD names ("refs/heads/main"); "" when it names none that exists
}

// The namespaces that a mirror holds, under the same names as the remote.
func mirrored() []string { return []string{"refs/heads/", "refs/tags/", "refs/notes/nav/"} }

// Fetch makes the repository a mirror of the remote's branches, tags and
// refs/notes/nav/*: what was rewritten there is rewritten here, what was deleted
// is deleted. All refs come from one advertisement and move in one transaction.
// HEAD is set to what the remote's names.
func (m *Remote) Fetch(ctx context.Context) (RemoteRefs, error) {
	refs, err := m.fetch(ctx)
	if err != nil {
		return RemoteRefs{}, fmt.Errorf("fetching from %q: %w%s", m.shown(), err, rightsHint(err))
	}
	return refs, nil
}

func (m *Remote) fetch(ctx context.Context) (RemoteRefs, error) {
	there, head, err := m.list(ctx)
	if err != nil {
		return RemoteRefs{}, err
	}
	refs, err := m.repo.Refs(ctx, mirrored()...)
	if err != nil {
		return RemoteRefs{}, err
	}
	if !mirrors(refs, there) { // mostly nothing moved: two processes, not five
		if refs, err = m.bring(ctx, head); err != nil {
			return RemoteRefs{}, err
		}
	}
	if was := m.head.Load(); head != "" && (was == nil || *was != head) {
		if _, err := m.repo.output(ctx, command{args: []string{"symbolic-ref", "HEAD", head}}); err != nil {
			return RemoteRefs{}, fmt.Errorf("setting HEAD: %w", err)
		}
		m.head.Store(&head)
	}
	return RemoteRefs{Refs: refs, HEAD: head}, nil
}

// mirrors reports whether refs are those that a mirror of an advertisement holds.
func mirrors(refs, there map[string]string) bool {
	n := 0
	for name, id := range there {
		if strings.HasSuffix(name, "^{}") || !slices.ContainsFunc(mirrored(), func(space string) bool { return strings.HasPrefix(name, space) }) {
			continue
		}
		if refs[name] != id {
			return false
		}
		n++
	}
	return n > 0 && n == len(refs) // none at all may be a repository that is cut off
}

// bring fetches, and gives the refs that are here then. Head is the branch of the
// remote's HEAD.
func (m *Remote) bring(ctx context.Context, head string) (map[string]string, error) {
	defer m.repo.Close() // a process that is kept would hold files that were replaced
	if err := m.fetchAll(ctx); err != nil {
		// One transaction cannot make dev/x while dev still is there, so what is
		// gone goes first.
		gone, lookErr := m.dropGone(ctx)
		switch {
		case errors.Is(lookErr, ErrFormat): // it says what to do
			return nil, lookErr
		case lookErr != nil || !gone:
			return nil, err
		}
		if err := m.fetchAll(ctx); err != nil {
			return nil, err
		}
	}
	refs, err := m.repo.Refs(ctx, mirrored()...)
	if err != nil {
		return nil, err
	}
	return refs, m.cutOff(ctx, refs, head)
}

// cutOff refuses a remote whose refs git passed over without a word, because they
// are shallow (fetch-pack.c, update_shallow): they would look deleted.
func (m *Remote) cutOff(ctx context.Context, refs map[string]string, head string) error {
	missing := ""
	if _, ok := refs[head]; !ok {
		missing = head
	}
	branches := 0
	for name := range refs {
		if strings.HasPrefix(name, "refs/heads/") {
			branches++
		}
	}
	if missing == "" && branches == 0 {
		there, _, err := m.list(ctx)
		if err != nil {
			return err
		}
		for name := range there {
			if strings.HasPrefix(name, "refs/heads/") {
				missing = name
			}
		}
	}
	if missing == "" {
		return nil
	}
	return fmt.Errorf("%s is there and did not come: the repository is shallow, or it was deleted just now\nhint: name a repository with its whole history", missing)
}

func (m *Remote) fetchAll(ctx context.Context) error {
	// With the graph, what contains a commit is found without reading the commits
	// in between. Git writes only what a fetch brought.
	args := []string{
		"-c", "fetch.writeCommitGraph=true", "fetch", "--quiet", "--force", "--prune", "--no-tags", "--atomic", "--no-write-fetch-head",
		"--no-auto-maintenance", "--no-recurse-submodules", "--end-of-options", m.url,
	}
	for _, space := range mirrored() {
		args = append(args, "+"+space+"*:"+space+"*")
	}
	_, err := m.repo.output(ctx, m.command(args...))
	return err
}

// FetchRefs brings a few refs, by full name, and nothing else: under the same
// names, as the remote has them now. One that the remote does not have is deleted
// here, and left out of the answer.
func (m *Remote) FetchRefs(ctx context.Context, names ...string) (map[string]string, error) {
	refs, err := m.fetchRefs(ctx, names)
	if err != nil {
		return nil, fmt.Errorf("fetching from %q: %w%s", m.shown(), err, rightsHint(err))
	}
	return refs, nil
}

func (m *Remote) fetchRefs(ctx context.Context, names []string) (map[string]string, error) {
	for _, name := range names {
		if err := checkRef(name); err != nil {
			return nil, err
		}
	}
	there, _, err := m.list(ctx, names...)
	if err != nil {
		return nil, err
	}
	args := []string{
		"fetch", "--quiet", "--force", "--no-tags", "--atomic", "--no-write-fetch-head",
		"--no-auto-maintenance", "--no-recurse-submodules", "--end-of-options", m.url,
	}
	for name := range there {
		args = append(args, "+"+name+":"+name)
	}
	if len(there) > 0 {
		if _, err := m.repo.output(ctx, m.command(args...)); err != nil {
			return nil, err
		}
	}
	here, err := m.repo.Refs(ctx, names...)
	if err != nil {
		return nil, err
	}
	var gone []RefUpdate
	for name, id := range here {
		if _, ok := there[name]; !ok {
			gone = append(gone, RefUpdate{Ref: name, Old: id})
			delete(here, name)
		}
	}
	return here, m.repo.UpdateRefs(ctx, gone...)
}

// dropGone deletes what the remote does not have any more, and says whether
// there was something.
func (m *Remote) dropGone(ctx context.Context) (bool, error) {
	there, _, err := m.list(ctx)
	if err != nil {
		return false, err
	}
	here, err := m.repo.Refs(ctx, mirrored()...)
	if err != nil {
		return false, err
	}
	var ups []RefUpdate
	for name, id := range here {
		if there[name] == "" {
			ups = append(ups, RefUpdate{Ref: name, Old: id})
		}
	}
	return len(ups) > 0, m.repo.UpdateRefs(ctx, ups...)
}

// list asks for refs of the remote by name (without names: for all), and for the
// branch of HEAD if that is asked for too.
func (m *Remote) list(ctx context.Context, names ...string) (refs map[string]string, head string, err error) {
	if m.err != nil {
		return nil, "", m.err
	}
	// No --exit-code: that the remote has none of them is an answer.
	args := append([]string{"ls-remote", "--quiet", "--symref", "--end-of-options", m.url}, names...)
	out, err := m.repo.output(ctx, m.command(args...))
	if err != nil {
		return nil, "", err
	}
	refs = map[string]string{}
	for line := range strings.Lines(string(out)) {
		id, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		target, symbolic := strings.CutPrefix(id, "ref: ")
		switch {
		case !ok:
			return nil, "", fmt.Errorf("git ls-remote answered %q", line)
		case symbolic && name == "HEAD":
			head = target
		case symbolic:
		case len(id) != m.repo.hexLen():
			return nil, "", fmt.Errorf("its ids have %d digits, and those of %q have %d: %w", len(id), m.repo.Dir(), m.repo.hexLen(), ErrFormat)
		case len(names) == 0, contains(names, name): // git takes names as the ends of names
			refs[name] = id
		}
	}
	return refs, head, nil
}

func (m *Remote) command(args ...string) command {
	return command{args: args, own: true, hide: m.hide}
}

// shown is the address as people may see it.
func (m *Remote) shown() string { return blank(m.url, m.hide) }

// Maintain lets git pack what piled up in the repository, if it is much. A
// long-lived mirror needs it from time to time, because every other command
// here leaves that alone.
func (r *Repo) Maintain(ctx context.Context) error {
	defer r.Close() // as after a fetch
	if _, err := r.output(ctx, command{args: []string{"-c", "gc.auto=6700", "-c", "gc.autoDetach=false", "gc", "--auto", "--quiet"}}); err != nil {
		return fmt.Errorf("maintaining the repository: %w", err)
	}
	return nil
}
