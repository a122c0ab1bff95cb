package gitstore

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

// Options say how git is started.
type Options struct {
	// Env is the environment to start from, usually the caller's os.Environ.
	Env []string
	// Hook keeps what receive-pack and commit say of the repository in the
	// environment (GIT_DIR, the quarantine); otherwise all of it is removed.
	// dir must then be the folder in which the hook was started, because these
	// variables may be relative to it.
	Hook bool
	// Timeout is the limit of one git process; 0 is two minutes.
	Timeout time.Duration
	// Keep lets one `git cat-file` go on running for the next question, until
	// Close. It sees what other processes write meanwhile.
	Keep bool
	// SSH: signatures are made with SSH keys, whatever the configuration says.
	SSH bool
}

const defaultTimeout = 2 * time.Minute

// Repo is one repository. Its methods may be called from several goroutines, but
// for one of OpenHook. Without Options.Keep it holds no process and no file open.
type Repo struct {
	gitDir  string   // absolute
	cwd     string   // where git is started
	neutral []string // environment of commands that only concern this repository
	own     []string // environment of commands that need the user's configuration
	timeout time.Duration
	format  string // "sha1" or "sha256"
	shallow bool
	ssh     bool

	keep bool
	kept atomic.Pointer[batch] // the cat-file, while nobody asks; its answers were read to the end

	hook   bool   // it is of OpenHook
	listed []byte // the user's configuration, once it was asked for (OpenHook)
}

// Close ends the process that a Repo keeps, within seconds. The Repo is good for
// use afterwards.
func (r *Repo) Close() {
	if b := r.kept.Swap(nil); b != nil {
		hangs := time.AfterFunc(graceKill, b.p.cancel)
		defer hangs.Stop()
		_ = b.end(nil) // every answer was read
	}
}

// Open finds the repository at or above dir: a bare one, a clone, a linked
// worktree. In a hook the environment's GIT_DIR decides.
func Open(ctx context.Context, dir string, o Options) (*Repo, error) {
	r := newRepo(dir, o)
	// The user's configuration is in force for this one command, because
	// safe.directory is honoured nowhere else. safe.bareRepository guards against
	// a repository that is met by accident; this one was named.
	out, err := r.output(ctx, command{own: true, args: []string{
		"-c", "safe.bareRepository=all", "rev-parse", "--absolute-git-dir", "--show-object-format", "--is-shallow-repository",
	}})
	if err != nil {
		var failed *Error
		hint := ""
		if errors.As(err, &failed) && strings.Contains(failed.Stderr, "unknown repository extension") {
			hint = "\nhint: this git is too old for the repository; reftable needs git 2.45 or newer"
		}
		return nil, fmt.Errorf("opening %q: not a usable git repository: %w%s", dir, err, hint)
	}
	fields := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(fields) != 3 || (fields[1] != "sha1" && fields[1] != "sha256") {
		return nil, fmt.Errorf("opening %q: git rev-parse answered %q", dir, out)
	}
	r.format, r.shallow = fields[1], fields[2] == "true"
	r.bind(fields[0], o.Hook)
	return r, nil
}

// Init makes a bare repository at dir, or takes the one that is there.
func Init(ctx context.Context, dir string, o Options) (*Repo, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("making a repository: %w", err)
	}
	r := newRepo(dir, o)
	// No template: its hooks are not ours to run.
	if _, err := r.output(ctx, command{args: []string{"init", "--quiet", "--bare", "--template=", "--initial-branch=main"}}); err != nil {
		return nil, fmt.Errorf("making a repository at %q: %w", dir, err)
	}
	return Open(ctx, dir, o)
}

func newRepo(dir string, o Options) *Repo {
	if dir == "" {
		dir = "."
	}
	r := &Repo{cwd: dir, timeout: o.Timeout, ssh: o.SSH, keep: o.Keep}
	if r.timeout <= 0 {
		r.timeout = defaultTimeout
	}
	r.neutral, r.own = environments(o.Env, o.Hook)
	return r
}

// bind fixes the repository that discovery found, so that no later command
// discovers anew (and perhaps another one).
func (r *Repo) bind(gitDir string, hook bool) {
	r.gitDir = filepath.Clean(gitDir)
	if !hook {
		r.cwd = r.gitDir
	}
	set := "GIT_DIR=" + r.gitDir
	r.neutral = append(without(r.neutral, "GIT_DIR"), set)
	r.own = append(without(r.own, "GIT_DIR"), set)
}

// Dir is the repository's git directory, absolute.
func (r *Repo) Dir() string { return r.gitDir }

// hexLen is the number of hex digits of an object id.
func (r *Repo) hexLen() int {
	if r.format == "sha256" {
		return 2 * sha256.Size
	}
	return 2 * sha1.Size
}

func (r *Repo) newHash() hash.Hash {
	if r.format == "sha256" {
		return sha256.New()
	}
	return sha1.New() // what git's default format is made of; no security rests on it here
}

// zero is the id that stands for "no object".
func (r *Repo) zero() string { return strings.Repeat("0", r.hexLen()) }

// checkID refuses what is not a full object id in lower case.
func (r *Repo) checkID(id string) error {
	if len(id) == r.hexLen() && isLowerHex(id) {
		return nil
	}
	return fmt.Errorf("%q is not a full object id", id)
}

func (r *Repo) checkIDs(lists ...[]string) error {
	for _, l := range lists {
		for _, id := range l {
			if err := r.checkID(id); err != nil {
				return err
			}
		}
	}
	return nil
}

func isLowerHex(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
