package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/nav-watchdog/nav-watchdog/hooks"
	"github.com/nav-watchdog/nav-watchdog/internal/exit"
)

// What install --clone adds, so that verdicts come with a fetch and are shown
// by git log. The + lets a replaced ref (status) not fail the fetch.
const (
	notesRefspec = "+refs/notes/nav/*:refs/notes/nav/*"
	shownNotes   = "refs/notes/nav/verdicts"
)

// Home is the repository whose hooks are installed.
type Home interface {
	Bare(ctx context.Context) (bool, error)
	// HooksDir is absolute and is where git looks, so core.hooksPath counts: for
	// the hooks of a push, or for those that run in a work tree.
	HooksDir(ctx context.Context, atWorkTree bool) (string, error)
	// Config returns all values of the keys in the repository's own
	// configuration, system and user left out.
	Config(ctx context.Context, keys ...string) (map[string][]string, error)
	SetConfig(ctx context.Context, key, value string) error // replaces
	AddConfig(ctx context.Context, key, value string) error
}

// Install puts the shims in place. Doing it twice changes nothing.
type Install struct {
	Home    Home
	Out     io.Writer
	Command []string // what the shims run: an absolute path and leading arguments
	Clone   bool     // a developer's clone: commit-msg, and notes are fetched and shown
	Watcher string   // who may push refs/notes/nav/*; "": as it was, at first nobody
}

// Run installs. A hook that is there already is kept as NAME.chained and runs
// first; one that cannot be kept is an error and nothing is changed. The place
// for other hosts (--host), for taking all of this back (--uninstall) and for a
// doctor is here; so far the host is always plain.
func (in Install) Run(ctx context.Context) error {
	bare, err := in.Home.Bare(ctx)
	if err != nil {
		return err
	}
	if in.Clone && bare {
		return exit.Hint(exit.Usagef("--clone is for a clone, this is a bare repository"),
			"without --clone, the hooks of a server are installed")
	}
	if in.Clone && in.Watcher != "" {
		return exit.Usagef("--watcher belongs on the server, not in a clone")
	}
	dir, err := in.Home.HooksDir(ctx, in.Clone)
	if err != nil {
		return err
	}
	names := hooks.Server()
	if in.Clone {
		names = hooks.Clone()
	}
	if err := in.shims(dir, names); err != nil {
		return err
	}
	if in.Clone {
		return in.fetchNotes(ctx)
	}
	if !bare {
		in.say("this repository has a work tree; --clone would install the hook of a developer's clone")
	}
	return in.identity(ctx)
}

// shims checks every hook before it touches one.
func (in Install) shims(dir string, names []string) error {
	files := make([]hookFile, len(names))
	for i, name := range names {
		shim, err := hooks.Shim(name, in.Command)
		if err != nil {
			return fmt.Errorf("making the %s hook: %w", name, err)
		}
		if files[i], err = inspect(filepath.Join(dir, name), shim); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("making the hooks directory: %w", err)
	}
	for _, f := range files {
		did, err := f.install()
		if err != nil {
			return fmt.Errorf("installing %s: %w", f.path, err)
		}
		in.say("%s: %s", f.path, did)
	}
	return nil
}

func (in Install) identity(ctx context.Context) error {
	have, err := in.Home.Config(ctx, keyHost, keyWatcher)
	if err != nil {
		return err
	}
	want := map[string]string{keyHost: hostPlain}
	if in.Watcher != "" {
		want[keyWatcher] = in.Watcher
	}
	for _, key := range []string{keyHost, keyWatcher} {
		value, ok := want[key]
		if !ok || slices.Equal(have[key], []string{value}) {
			continue
		}
		if err := in.Home.SetConfig(ctx, key, value); err != nil {
			return err
		}
	}
	watcher := in.Watcher
	if watcher == "" {
		watcher = lastOf(have[keyWatcher])
	}
	if watcher == "" {
		in.say("no watcher is named, so nobody can push refs/notes/nav/verdicts: --watcher NAME names the user it runs as")
	} else {
		in.say("the watcher is %q, as user of this host (%s)", watcher, hostPlain)
	}
	return nil
}

func (in Install) fetchNotes(ctx context.Context) error {
	const url, fetch, display = "remote.origin.url", "remote.origin.fetch", "notes.displayRef"
	have, err := in.Home.Config(ctx, url, fetch, display)
	if err != nil {
		return err
	}
	if len(have[url]) == 0 {
		in.say("there is no remote \"origin\": verdicts come with a fetch after\n"+
			"  git config --add remote.NAME.fetch %q", notesRefspec)
	} else if !slices.Contains(have[fetch], notesRefspec) {
		if err := in.Home.AddConfig(ctx, fetch, notesRefspec); err != nil {
			return err
		}
		in.say("%s: %s", fetch, notesRefspec)
	}
	if !slices.Contains(have[display], shownNotes) {
		if err := in.Home.AddConfig(ctx, display, shownNotes); err != nil {
			return err
		}
		in.say("%s: %s", display, shownNotes)
	}
	return nil
}

func (in Install) say(format string, args ...any) {
	// What could not be printed does not undo what was installed.
	_, _ = fmt.Fprintln(in.Out, exit.Printable(fmt.Sprintf(format, args...)))
}

// hookFile is one hook as it is and as it shall be.
type hookFile struct {
	path    string
	shim    []byte
	foreign bool // somebody else's hook is there and moves aside
	same    bool // nothing to do
}

func inspect(path string, shim []byte) (hookFile, error) {
	f := hookFile{path: path, shim: shim}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, fmt.Errorf("looking at the hook that is there: %w", err)
	}
	if info.IsDir() {
		return f, exit.Usagef("%s is a directory", path)
	}
	if info.Mode().IsRegular() {
		old, err := os.ReadFile(path)
		if err != nil {
			return f, fmt.Errorf("reading the hook that is there: %w", err)
		}
		f.same = bytes.Equal(old, shim) && info.Mode().Perm()&0o111 != 0
		if f.same || hooks.Ours(old) {
			return f, nil
		}
	}
	f.foreign = true
	if _, err := os.Lstat(path + hooks.Chained); !errors.Is(err, fs.ErrNotExist) {
		return f, exit.Hint(exit.Usagef("%s is not ours, and %s%s is there already", path, filepath.Base(path), hooks.Chained),
			"make one hook of the two, as %s, and install again", path)
	}
	return f, nil
}

// install writes the shim beside its place and renames it there, so that there
// is no moment without a hook: a push in between meets the old one or both.
func (f hookFile) install() (did string, err error) {
	if f.same {
		return "as it was", nil
	}
	tmp, err := os.CreateTemp(filepath.Dir(f.path), "."+filepath.Base(f.path)+".*")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // gone already when all went well
	_, err = tmp.Write(f.shim)
	if err = errors.Join(err, tmp.Chmod(0o755), tmp.Close()); err != nil {
		return "", err
	}
	did = "installed"
	if f.foreign {
		// A symbolic link is linked itself, not what it points to.
		if err := os.Link(f.path, f.path+hooks.Chained); err != nil {
			return "", fmt.Errorf("keeping the hook that is there: %w", err)
		}
		did = "installed; the hook that was there is kept as " + filepath.Base(f.path) + hooks.Chained + " and runs first"
	}
	return did, os.Rename(tmp.Name(), f.path)
}
