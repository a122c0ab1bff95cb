package gitstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// OpenHook is Open for a hook of receive-pack, which has said in GIT_DIR what
// Open would ask git for, or of commit in a plain clone. It starts no process, because a hook's time is the
// pusher's, unless there is something it must ask: a linked worktree, another
// object format, a shallow repository.
//
// The Repo keeps one cat-file for all that it is asked (Options.Keep): a process
// costs more than most answers. It reads few objects itself instead of starting
// another, and the configuration once, so it is for one goroutine.
func OpenHook(ctx context.Context, dir string, o Options) (*Repo, error) {
	o.Keep = true
	r, err := openHook(ctx, dir, o)
	if r != nil {
		r.hook = true
	}
	return r, err
}

func openHook(ctx context.Context, dir string, o Options) (*Repo, error) {
	o.Hook = true
	gitDir := variable(o.Env, "GIT_DIR")
	if gitDir == "" { // git commit does not say it to its hooks
		gitDir = nearby(dir, o.Env)
	}
	if gitDir == "" || variable(o.Env, "GIT_COMMON_DIR") != "" {
		return Open(ctx, dir, o)
	}
	if !filepath.IsAbs(gitDir) {
		abs, err := filepath.Abs(filepath.Join(dir, gitDir))
		if err != nil {
			return Open(ctx, dir, o)
		}
		gitDir = abs
	}
	// Both are settings of this very file: git follows no include for them
	// (setup.c, read_repository_format).
	conf, err := os.ReadFile(filepath.Join(gitDir, "config"))
	if err != nil || bytes.Contains(bytes.ToLower(conf), []byte("objectformat")) ||
		exists(gitDir, "shallow") || exists(gitDir, "commondir") {
		return Open(ctx, dir, o)
	}
	r := newRepo(dir, o)
	r.format = "sha1"
	r.bind(gitDir, true)
	return r, nil
}

func exists(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return !os.IsNotExist(err)
}

// variable is the value that counts of an environment: the last one.
func variable(env []string, name string) string {
	value := ""
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = v
		}
	}
	return value
}

// HeadBranch is DefaultBranch without a process where HEAD can be read as what
// it is, a file that names a branch. Where refs are stored otherwise, git keeps
// a HEAD that names none (refs/heads/.invalid), and is asked. A linked worktree
// has a HEAD of its own, but a repository has one default branch, whichever of
// its worktrees is pushed to: that of the main one.
func (r *Repo) HeadBranch(ctx context.Context) (string, error) {
	head, err := os.ReadFile(filepath.Join(r.CommonDir(), "HEAD"))
	name, symbolic := strings.CutPrefix(strings.TrimRight(string(head), "\n"), "ref: ")
	if err != nil || !symbolic || !strings.HasPrefix(name, "refs/heads/") || name == "refs/heads/.invalid" || checkRef(name) != nil {
		return r.DefaultBranch(ctx)
	}
	return r.Target(ctx, name)
}

// CommonDir is what linked worktrees share (gitrepository-layout(5)); it is the
// git directory itself where there is no such file.
func (r *Repo) CommonDir() string {
	data, err := os.ReadFile(filepath.Join(r.gitDir, "commondir"))
	common := strings.TrimSuffix(string(data), "\n")
	switch {
	case err != nil || common == "":
		return r.gitDir
	case filepath.IsAbs(common):
		return common
	}
	return filepath.Join(r.gitDir, common)
}

// maxLinks is how many symbolic refs git follows (SYMREF_MAXDEPTH).
const maxLinks = 5

// Target is the ref that moves when ref is pushed to: ref itself, unless that is
// a symbolic one, such as the old name of a branch. Nobody can push one, but
// whoever runs the server can make one. It starts no process where refs are files.
func (r *Repo) Target(ctx context.Context, ref string) (string, error) {
	if err := checkRef(ref); err != nil {
		return "", fmt.Errorf("asking what a ref stands for: %w", err)
	}
	if exists(r.gitDir, "commondir") || exists(r.gitDir, "reftable") {
		return r.askTarget(ctx, ref)
	}
	for range maxLinks {
		next := linked(filepath.Join(r.gitDir, ref))
		if next == "" {
			return ref, nil
		}
		if err := checkRef(next); err != nil {
			return "", fmt.Errorf("asking what %q stands for: %w", ref, err)
		}
		ref = next
	}
	return "", fmt.Errorf("asking what %q stands for: more than %d symbolic refs", ref, maxLinks)
}

func (r *Repo) askTarget(ctx context.Context, ref string) (string, error) {
	out, err := r.output(ctx, command{args: []string{"symbolic-ref", "--quiet", "--end-of-options", ref}})
	var failed *Error
	if errors.As(err, &failed) && failed.Code == 1 { // not a symbolic ref
		return ref, nil
	}
	if err != nil {
		return "", fmt.Errorf("asking what %q stands for: %w", ref, err)
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}

// linked is what a file of a ref names, "" if it holds no name: `ref: NAME`, or,
// of old (core.preferSymlinkRefs), a symbolic link.
func linked(path string) string {
	if name, err := os.Readlink(path); err == nil {
		return name
	}
	// A ref that is packed only has no file, and one with refs below it is a folder.
	data, err := os.ReadFile(path)
	name, symbolic := strings.CutPrefix(string(data), "ref:")
	if err != nil || !symbolic {
		return ""
	}
	return strings.Trim(name, " \t\r\n")
}
