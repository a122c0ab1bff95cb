package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd/manifest"
	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/lint"
)

// worktree reads files around the working directory.
type worktree struct {
	root string // of the repository; "": there is none
	in   io.Reader
	// ignored gives those of some paths in the repository that git ignores; nil:
	// there is no repository.
	ignored func(root string, paths []string) (map[string]bool, error)
}

// maxWalked bounds the files that a walk looks at.
const maxWalked = 1_000_000

// rootOf looks for the folder of the repository around dir.
func rootOf(dir string) string {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// newWorktree is the one around the working directory; repo is nil outside of a
// repository.
func newWorktree(ctx context.Context, in io.Reader, repo *gitstore.Repo) (worktree, error) {
	here, err := os.Getwd()
	if err != nil {
		return worktree{}, fmt.Errorf("asking for the working directory: %w", err)
	}
	if here, err = filepath.EvalSymlinks(here); err != nil {
		return worktree{}, fmt.Errorf("asking for the working directory: %w", err)
	}
	w := worktree{in: in}
	if repo != nil {
		if w.root = rootOf(here); w.root != "" {
			w.ignored = func(root string, paths []string) (map[string]bool, error) { return repo.Ignored(ctx, root, paths) }
		}
	}
	return w, nil
}

func (worktree) Declares(data []byte) bool { return manifest.Declares(data) }

func (worktree) Declared(data []byte) ([]arming.Declared, []arming.FileFinding, string) {
	return manifest.Declared(data)
}

// Files walks folders and reads the files; "-" is standard input. A walk leaves
// out symbolic links, repositories within this one, and what git ignores.
func (w worktree) Files(paths, globs []string, fn func(lint.File) error) error {
	set := arming.NewPathSet(globs)
	all := len(paths) == 0
	if all {
		paths = []string{w.start()}
	}
	once := map[string]bool{} // files that several paths hold
	fresh := func(file string) bool {
		key := filepath.Clean(file)
		if once[key] {
			return false
		}
		once[key] = true
		return true
	}
	for _, name := range paths {
		if name == "-" {
			if err := w.hand(name, w.in, fn); err != nil {
				return err
			}
			continue
		}
		info, err := os.Stat(name)
		if err != nil {
			return exit.Misused(err)
		}
		if !info.IsDir() {
			if fresh(name) {
				err = w.file(name, info, fn)
			}
			if err != nil {
				return err
			}
			continue
		}
		found, err := walk(name)
		if err != nil {
			return err
		}
		found = slices.DeleteFunc(found, func(file string) bool {
			return all && len(globs) > 0 && !set.Match(w.path(file)) || !fresh(file)
		})
		if err := w.each(found, fn); err != nil {
			return err
		}
	}
	return nil
}

// walk lists the files below a folder that may be manifests.
func walk(dir string) (found []string, err error) {
	dir = strings.TrimSuffix(dir, string(filepath.Separator)) + string(filepath.Separator) // through a link that was named
	err = filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("looking for manifests: %w", err)
		case e.IsDir() && (e.Name() == ".git" || file != dir && isRepository(file)):
			return filepath.SkipDir
		case !e.Type().IsRegular() || !manifest.IsManifest(file):
			return nil
		}
		if found = append(found, file); len(found) > maxWalked {
			return exit.Unclear(fmt.Errorf("there are more than %d files below %q", maxWalked, dir))
		}
		return nil
	})
	return found, err
}

// each reads files that git does not ignore.
func (w worktree) each(files []string, fn func(lint.File) error) error {
	var paths []string
	for _, file := range files {
		if p := w.path(file); p != "" {
			paths = append(paths, p)
		}
	}
	ignored := map[string]bool{}
	if w.ignored != nil && len(paths) > 0 {
		var err error
		if ignored, err = w.ignored(w.root, paths); err != nil {
			return err
		}
	}
	for _, file := range files {
		if ignored[w.path(file)] {
			continue
		}
		info, err := os.Lstat(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue // gone since it was listed
		}
		if err == nil {
			err = w.file(file, info, fn)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// start is the worktree's own folder, relative to here where that is short.
func (w worktree) start() string {
	here, err := os.Getwd()
	if err != nil || w.root == "" {
		return "."
	}
	if here, err = filepath.EvalSymlinks(here); err != nil {
		return "."
	}
	rel, err := filepath.Rel(here, w.root)
	if err != nil {
		return "."
	}
	return rel
}

func isRepository(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil
}

func (w worktree) file(name string, info fs.FileInfo, fn func(lint.File) error) error {
	if !info.Mode().IsRegular() {
		return exit.Hint(exit.Usagef("%q is neither a file nor a folder", name), "- reads standard input")
	}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // gone since it was listed
	}
	if err != nil {
		return fmt.Errorf("reading a manifest: %w", err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	return w.hand(name, f, fn)
}

func (w worktree) hand(name string, from io.Reader, fn func(lint.File) error) error {
	data, err := io.ReadAll(io.LimitReader(from, manifest.MaxFile+1))
	if err != nil {
		return fmt.Errorf("reading a manifest: %w", err)
	}
	f := lint.File{Name: filepath.ToSlash(name), Data: data[:min(len(data), manifest.MaxFile)], Large: len(data) > manifest.MaxFile}
	if name == "-" {
		f.Name = "stdin"
	} else {
		f.Path, f.Chart = w.path(name), inChart(name)
	}
	return fn(f)
}

// path is the path of a file in the repository; "": it is in none.
func (w worktree) path(name string) string {
	if w.root == "" {
		return ""
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return ""
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
		abs = filepath.Join(dir, filepath.Base(abs))
	}
	rel, err := filepath.Rel(w.root, abs)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return ""
	}
	return filepath.ToSlash(rel)
}

// inChart reports whether a file is among the templates of a Helm chart.
func inChart(name string) bool {
	abs, err := filepath.Abs(name)
	if err != nil {
		return false
	}
	for dir := filepath.Dir(abs); ; dir = filepath.Dir(dir) {
		if filepath.Base(dir) == "templates" {
			if _, err := os.Stat(filepath.Join(filepath.Dir(dir), "Chart.yaml")); err == nil {
				return true
			}
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}
