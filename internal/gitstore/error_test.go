package gitstore_test

import (
	"errors"
	"testing"

	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
)

// What git said is one line of an error: without what it pads the words of a
// server with, and without empty lines.
func TestErrorText(t *testing.T) {
	t.Parallel()
	err := &gitstore.Error{Args: []string{"-c", "a=b", "push"}, Err: errors.New("exit status 1"), Stderr: "remote: refused        \n\nerror: failed\n"}
	if got, want := err.Error(), "git push: exit status 1: remote: refused; error: failed"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	err.Stderr = " \n"
	if got, want := err.Error(), "git push: exit status 1"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
