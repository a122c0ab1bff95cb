package argosim

import (
	"context"
	"errors"
)

// Tree is a repository as the simulated repo-server reads it.
//
// What it promises: Resolve turns a branch name, HEAD or a commit id into a
// full commit id, and answers with an error that wraps ErrUnknownRevision when
// the repository has no such thing; the simulator then shows what Argo CD
// shows, a ComparisonError. Every other error of either method stops Tick and
// is returned by it, so that trouble of the test's own is never mistaken for
// an event in the cluster. Files holds the regular files below dir ("" is the
// root), keyed by their slash-separated path relative to dir; a directory that
// does not exist has no files, which is no error.
type Tree interface {
	Resolve(ctx context.Context, rev string) (commit string, err error)
	Files(ctx context.Context, commit, dir string) (map[string][]byte, error)
}

// ErrUnknownRevision says that the repository has no such branch or commit.
var ErrUnknownRevision = errors.New("unknown revision")

// Errors of the switches.
var (
	// ErrNoApp says that there is no Application of that name.
	ErrNoApp = errors.New("no such application")
	// ErrNoObject says that the Application has no such live object.
	ErrNoObject = errors.New("no such live object")
	// ErrRefused is what List answers while reads are refused.
	ErrRefused = errors.New("applications.argoproj.io is forbidden: reads are refused")
	// ErrAutoSync is Argo CD's own refusal: it does not roll back, nor sync to
	// another revision, while auto-sync is on.
	ErrAutoSync = errors.New("rollback cannot be initiated when auto-sync is enabled")
)
