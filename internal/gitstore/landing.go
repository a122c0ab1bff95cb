package gitstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Landing names the branch that origin/HEAD names in a clone, without refs/;
// empty: it names none, as in many a CI. HEAD would be the topic branch.
func (r *Repo) Landing(ctx context.Context) (string, error) {
	const prefix = "refs/remotes/origin/"
	out, err := r.output(ctx, command{args: []string{"symbolic-ref", "-q", prefix + "HEAD"}})
	var failed *Error
	if errors.As(err, &failed) && failed.Code == 1 { // no symbolic ref, or none at all
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("asking what origin/HEAD names: %w", err)
	}
	name, _ := strings.CutPrefix(strings.TrimSpace(string(out)), prefix)
	return name, nil
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
