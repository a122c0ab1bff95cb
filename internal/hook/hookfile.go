package hook

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/nav-watchdog/nav-watchdog/hooks"
	"github.com/nav-watchdog/nav-watchdog/internal/exit"
)

// hookFile is one hook as it is and as it shall be.
type hookFile struct {
	place
	shim    []byte
	foreign bool // somebody else's hook is there and moves aside
	same    bool // nothing to do
	linked  bool // a link to a hook of ours elsewhere
}

func inspect(p place, shim []byte) (hookFile, error) {
	f := hookFile{place: p, shim: shim}
	info, err := os.Lstat(p.path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, fmt.Errorf("looking at the hook that is there: %w", err)
	}
	if info.IsDir() {
		return f, exit.Usagef("%s is a directory", p.path)
	}
	if f.linked = linkToOurs(p.path, info); f.linked {
		return f, nil
	}
	if info.Mode().IsRegular() {
		old, err := os.ReadFile(p.path)
		if err != nil {
			return f, fmt.Errorf("reading the hook that is there: %w", err)
		}
		f.same = bytes.Equal(old, shim) && info.Mode().Perm()&0o111 != 0
		if f.same || hooks.Ours(old) {
			return f, nil
		}
	}
	if p.crowd {
		return f, exit.Hint(exit.Usagef("%s is there and not ours", p.path), "give it another name: every hook of that folder runs")
	}
	f.foreign = true
	if _, err := os.Lstat(p.path + hooks.Chained); !errors.Is(err, fs.ErrNotExist) {
		return f, exit.Hint(exit.Usagef("%s is not ours, and %s%s is there already", p.path, filepath.Base(p.path), hooks.Chained),
			"make one hook of the two, as %s, and install again", p.path)
	}
	return f, nil
}

// linkToOurs tells a link to a shim, as gitolite makes them from its common
// hooks. Kept as somebody else's and run first, it would run twice.
func linkToOurs(path string, info fs.FileInfo) bool {
	if info.Mode()&fs.ModeSymlink == 0 {
		return false
	}
	content, err := os.ReadFile(path)
	return err == nil && hooks.Ours(content)
}

// install writes the shim beside its place and renames it there, so that there
// is no moment without a hook: a push in between meets the old one or both.
func (f hookFile) install() (did string, err error) {
	switch {
	case f.linked:
		return "as it was, a link to a hook of ours: install --global changes that one", nil
	case f.same:
		return "as it was", nil
	}
	beside := filepath.Dir(f.path)
	if f.crowd { // where a host would run it
		beside = filepath.Dir(beside)
	}
	tmp, err := os.CreateTemp(beside, "."+f.hook+".*")
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
