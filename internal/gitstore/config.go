package gitstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Config reads values of the repository's own configuration, all of each key
// and in git's order, in one process; in a hook in none, if the file is plain. System and user configuration are left
// out: nothing that a pusher's account says reaches it. Keys are compared as git
// does, the part between the dots exactly, the rest without regard to case.
func (r *Repo) Config(ctx context.Context, keys ...string) (map[string][]string, error) {
	if r.hook {
		if data, err := os.ReadFile(filepath.Join(r.gitDir, "config")); err == nil {
			if found, plain := plainConfig(data, keys); plain {
				return found, nil
			}
		}
	}
	return r.config(ctx, command{args: []string{"config", "--local", "--includes", "--null", "--list"}}, keys)
}

// UserConfig is Config with the user's and the system's configuration, and what
// a calling git was given with -c, as git itself reads it for this user.
func (r *Repo) UserConfig(ctx context.Context, keys ...string) (map[string][]string, error) {
	listed, err := r.userList(ctx)
	if err != nil {
		return nil, err
	}
	found := pick(listed, keys)
	// What every command of ours is given with -c comes last, and is no
	// setting of the user's.
	for _, arg := range baseArgs() {
		key, _, set := strings.Cut(arg, "=")
		for _, k := range keys {
			if n := len(found[k]); set && n > 0 && canonicalKey(k) == canonicalKey(key) {
				found[k] = found[k][:n-1]
			}
		}
	}
	return found, nil
}

func (r *Repo) config(ctx context.Context, c command, keys []string) (map[string][]string, error) {
	out, err := r.output(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	return pick(out, keys), nil
}

// userList is all that UserConfig can say. A Repo of OpenHook, which is for one
// run, reads it once.
func (r *Repo) userList(ctx context.Context) ([]byte, error) {
	if r.listed != nil {
		return r.listed, nil
	}
	out, err := r.output(ctx, command{own: true, args: []string{"config", "--null", "--list"}})
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	if r.hook {
		r.listed = out
	}
	return out, nil
}

// pick finds the values of keys in what git config --list printed.
func pick(listed []byte, keys []string) map[string][]string {
	asked := make(map[string]string, len(keys))
	for _, k := range keys {
		asked[canonicalKey(k)] = k
	}
	found := map[string][]string{}
	for entry := range strings.SplitSeq(string(listed), "\x00") {
		key, value, _ := strings.Cut(entry, "\n") // no line break: set without a value, which means true
		if k, ok := asked[key]; ok {
			found[k] = append(found[k], value)
		}
	}
	return found
}

// canonicalKey is a key as `git config --list` prints it.
func canonicalKey(key string) string {
	first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
	if first < 0 {
		return strings.ToLower(key)
	}
	return strings.ToLower(key[:first]) + key[first:last] + strings.ToLower(key[last:])
}

// SetConfig gives a key one value in the repository's own configuration.
func (r *Repo) SetConfig(ctx context.Context, key, value string) error {
	return r.writeConfig(ctx, "--replace-all", key, value)
}

// AddConfig adds a value to a key in the repository's own configuration.
func (r *Repo) AddConfig(ctx context.Context, key, value string) error {
	return r.writeConfig(ctx, "--add", key, value)
}

func (r *Repo) writeConfig(ctx context.Context, how, key, value string) error {
	if key == "" || key[0] == '-' || strings.ContainsRune(key+value, 0) {
		return fmt.Errorf("setting %q: not a key and a value of a configuration", key)
	}
	_, err := r.output(ctx, command{args: []string{"config", "--local", how, "--end-of-options", key, value}})
	if err != nil {
		return fmt.Errorf("setting %q: %w", key, err)
	}
	return nil
}

// UnsetConfig removes one value of a key, however often it stands in the
// repository's own configuration. A value that is not there is no error.
func (r *Repo) UnsetConfig(ctx context.Context, key, value string) error {
	if key == "" || key[0] == '-' || strings.ContainsRune(key+value, 0) {
		return fmt.Errorf("removing %q: not a key and a value of a configuration", key)
	}
	_, err := r.output(ctx, command{args: []string{"config", "--local", "--fixed-value", "--unset-all", "--end-of-options", key, value}})
	var failed *Error
	if errors.As(err, &failed) && failed.Code == 5 { // git-config(1): it is not there
		return nil
	}
	if err != nil {
		return fmt.Errorf("removing %q: %w", key, err)
	}
	return nil
}

// Bare reports whether the repository has no work tree.
func (r *Repo) Bare(ctx context.Context) (bool, error) {
	out, err := r.output(ctx, command{args: []string{"config", "--type=bool", "--get", "core.bare"}})
	var failed *Error
	if errors.As(err, &failed) && failed.Code == 1 { // not set: git guesses by the folder's name
		return filepath.Base(r.gitDir) != ".git", nil
	}
	if err != nil {
		return false, fmt.Errorf("asking whether the repository is bare: %w", err)
	}
	return strings.TrimSpace(string(out)) == "true", nil
}

// HooksDir is where git looks for hooks, absolute. core.hooksPath counts, from
// wherever the user's git takes it. A relative one is relative to where hooks
// run (git-config(1)): those of a push in the git directory, those of a commit
// (atWorkTree) at the top of the work tree.
func (r *Repo) HooksDir(ctx context.Context, atWorkTree bool) (string, error) {
	path, err := r.hooksPath(ctx)
	if err != nil {
		return "", fmt.Errorf("asking where hooks are: %w", err)
	}
	switch {
	case filepath.IsAbs(path):
		return path, nil
	case !atWorkTree:
		return filepath.Join(r.gitDir, path), nil
	case filepath.Base(r.gitDir) == ".git":
		return filepath.Join(filepath.Dir(r.gitDir), path), nil
	}
	return "", fmt.Errorf("core.hooksPath %q is relative to a work tree that is elsewhere\nhint: make it absolute", path)
}

// hooksPath is core.hooksPath, or else the folder of the repository itself.
func (r *Repo) hooksPath(ctx context.Context) (string, error) {
	out, err := r.output(ctx, command{own: true, args: []string{"config", "--type=path", "--get", "core.hooksPath"}})
	var failed *Error
	if errors.As(err, &failed) && failed.Code == 1 { // not set
		out, err = r.output(ctx, command{args: []string{"rev-parse", "--path-format=absolute", "--git-path", "hooks"}})
	}
	return strings.TrimSuffix(string(out), "\n"), err
}
