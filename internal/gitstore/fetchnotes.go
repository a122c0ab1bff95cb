package gitstore

import (
	"context"
	"fmt"
	"strings"
)

// FetchVerdicts brings refs/notes/nav/verdicts of a remote into a clone: by its
// name or by an address, with the user's configuration. A remote without
// verdicts is no error, and what was fetched before stays then.
func (r *Repo) FetchVerdicts(ctx context.Context, remote string) error {
	if remote == "" || remote[0] == '-' || strings.ContainsAny(remote, "\x00\n") {
		return fmt.Errorf("%q is no remote", remote)
	}
	shown := r.Remote(remote) // knows what of an address must not be shown
	// A pattern, because git fails for a name that is not there; with +, because
	// the ref may have been made anew.
	const verdicts = "+refs/notes/nav/verdicts*:refs/notes/nav/verdicts*"
	c := command{args: []string{
		"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules",
		"--end-of-options", remote, verdicts,
	}, own: true, hide: shown.hide}
	if _, err := r.output(ctx, c); err != nil {
		return fmt.Errorf("fetching verdicts from %q: %w", blank(remote, shown.hide), err)
	}
	return nil
}
