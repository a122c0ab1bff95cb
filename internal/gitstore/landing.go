package gitstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Landing names the branch that origin/HEAD names in a clone, else the one that
// HEAD names, both without refs/; empty: neither names one, as in many a CI.
func (r *Repo) Landing(ctx context.Context) (string, error) {
	for _, at := range []struct{ ref, prefix string }{{"refs/remotes/origin/HEAD", "refs/remotes/origin/"}, {"HEAD", "refs/heads/"}} {
		out, err := r.output(ctx, command{args: []string{"symbolic-ref", "-q", at.ref}})
		var failed *Error
		if errors.As(err, &failed) && failed.Code == 1 { // no symbolic ref, or none at all
			continue
		}
		if err != nil {
			return "", fmt.Errorf("asking what %s names: %w", at.ref, err)
		}
		if name, ok := strings.CutPrefix(strings.TrimSpace(string(out)), at.prefix); ok && name != "" {
			return name, nil
		}
	}
	return "", nil
}

// RemoteURLs lists the addresses of a clone's remotes, as the user's own
// configuration has them.
func (r *Repo) RemoteURLs(ctx context.Context) ([]string, error) {
	listed, err := r.userList(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the remotes: %w", err)
	}
	var urls []string
	for entry := range strings.SplitSeq(string(listed), "\x00") {
		key, url, _ := strings.Cut(entry, "\n")
		if strings.HasPrefix(key, "remote.") && (strings.HasSuffix(key, ".url") || strings.HasSuffix(key, ".pushurl")) && url != "" {
			urls = append(urls, url)
		}
	}
	return urls, nil
}
