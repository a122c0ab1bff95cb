package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// binary is the file of this program, and whether it still is what runs.
type binary struct {
	path   string
	digest string      // of what runs
	known  os.FileInfo // of what runs, or of a copy of it
	fresh  os.FileInfo // another file, seen once: it may still be being written
	bad    os.FileInfo // one that does not start
	why    error       // why it does not
}

// running is how Linux names what runs, even if its file is gone.
const running = "/proc/self/exe"

// openBinary looks at this program. Executable is what the system says that it
// is; arg0 how it was started, which may be a symbolic link that is set to
// another program later.
func openBinary(executable, arg0 string) (*binary, error) {
	b := &binary{path: executable}
	if found, err := exec.LookPath(arg0); err == nil {
		if found, err = filepath.Abs(found); err == nil && sameContent(found, executable) {
			b.path = found
		}
	}
	image := running
	fi, err := os.Stat(image)
	if err != nil {
		image = b.path
		fi, err = os.Stat(image)
	}
	if err == nil {
		b.digest, err = digestOf(image)
	}
	if err != nil {
		return nil, fmt.Errorf("reading this program: %w", err)
	}
	b.known = fi
	return b, nil
}

func sameContent(a, b string) bool {
	fa, errA := os.Stat(a)
	fb, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(fa, fb)
}

func digestOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it was only read
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}

// same compares device, inode, size and time of change.
func same(a, b os.FileInfo) bool {
	return a != nil && b != nil && os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// changed reports whether the file is another program, which starts. It must be
// the same at two looks in a row, so that a copy under way is none. An error
// says why the old code runs though the file is not what it was.
func (b *binary) changed(ctx context.Context, environ []string) (bool, error) {
	fi, err := os.Stat(b.path)
	switch {
	case err != nil:
		return false, fmt.Errorf("the file of this program: %w", err)
	case same(fi, b.known):
		b.fresh, b.bad = nil, nil
		return false, nil
	case same(fi, b.bad):
		return false, b.why
	case !same(fi, b.fresh):
		b.fresh = fi
		return false, nil
	}
	digest, err := digestOf(b.path)
	if err != nil {
		return false, fmt.Errorf("reading the new file of this program: %w", err)
	}
	if digest == b.digest {
		b.known, b.fresh = fi, nil
		return false, nil
	}
	if err := starts(ctx, b.path, environ); err != nil {
		b.bad, b.why = fi, fmt.Errorf("the file of this program was replaced by one that does not start, so the old code still runs: %w", err)
		return false, b.why
	}
	return true, nil
}

// startTimeout is how long a new program may take to say its version.
const startTimeout = 10 * time.Second

// starts tries a program out: what cannot even say its version must not replace
// a watcher that works.
func starts(ctx context.Context, path string, environ []string) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Env, cmd.WaitDelay = environ, time.Second
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s --version: %w", path, err)
	}
	return nil
}

var errUpdated = errors.New("the file of this program was updated")
