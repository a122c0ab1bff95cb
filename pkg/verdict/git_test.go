package verdict_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/pkg/trailer"
)

// asGitReads checks that git and our own parser read a stanza's trailers as
// they are written, all of them and nothing else.
func asGitReads(t *testing.T, name string, stanza []byte) {
	t.Helper()
	want := block(stanza)
	if got := gitTrailers(t, stanza); got != want {
		t.Errorf("%s: git reads\n%s\nwritten is\n%s", name, got, want)
	}
	var own bytes.Buffer
	for _, tr := range trailer.Parse(stanza).Trailers {
		own.WriteString(tr.Key + ": " + tr.Value + "\n")
	}
	if own.String() != want {
		t.Errorf("%s: pkg/trailer reads\n%s\nwritten is\n%s", name, own.String(), want)
	}
}

// gitTrailers asks git, without anybody's configuration. Without --no-divider:
// a note that holds a divider would be cut there by whoever reads it.
func gitTrailers(t *testing.T, message []byte) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	dir := t.TempDir()
	cmd := exec.CommandContext(ctx, "git", "interpret-trailers", "--parse")
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C.UTF-8",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CEILING_DIRECTORIES=" + dir,
	}
	cmd.Stdin = bytes.NewReader(message)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git interpret-trailers: %v", err)
	}
	return string(out)
}
