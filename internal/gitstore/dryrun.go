package gitstore

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// DryPush is Push without the last step: it logs in for writing, compares what
// the remote has with the old values, and asks for --atomic, but changes
// nothing. The server's hooks and its protection of branches are not asked, so
// nil does not say that it would take them.
func (m *Remote) DryPush(ctx context.Context, ups []RefUpdate) error {
	if len(ups) == 0 {
		return nil
	}
	err := m.err
	if err == nil {
		err = m.repo.checkUpdates(ups)
	}
	if err == nil {
		err = m.repo.checkForward(ctx, ups)
	}
	if err == nil {
		option := "--atomic"
		if len(ups) == 1 {
			option = "--no-atomic"
		}
		_, err = m.send(ctx, ups, "--dry-run", option)
	}
	if err != nil {
		return fmt.Errorf("pushing to %q without effect: %w%s", m.shown(), err, rightsHint(err))
	}
	return nil
}

// CommitTime is when a commit was made, as its committer's clock had it.
func (r *Repo) CommitTime(ctx context.Context, id string) (time.Time, error) {
	out, err := r.output(ctx, command{args: []string{"log", "-1", "--no-show-signature", "--format=%ct", "--end-of-options", id, "--"}})
	if err != nil {
		return time.Time{}, fmt.Errorf("reading the date of %q: %w", id, err)
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("reading the date of %q: %w", id, err)
	}
	return time.Unix(seconds, 0), nil
}
