package trailer

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// git runs git in dir, without the developer's configuration, and returns what
// it prints. It never waits longer than a minute: git 2.39 can loop for ever on
// messages such as ours where --no-divider is forgotten.
func git(t testing.TB, dir string, env []string, stdin []byte, args ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C.UTF-8",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CEILING_DIRECTORIES=" + filepath.Dir(dir),
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_AUTHOR_DATE=1700000000 +0000",
		"GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_COMMITTER_DATE=1700000000 +0000",
	}, env...)
	cmd.Stdin = bytes.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return out
}

// gitParse asks git for the trailers of many messages, by one process for each
// thousand of them: with --in-place, each file becomes what would be printed.
func gitParse(t testing.TB, msgs [][]byte) [][]byte {
	t.Helper()
	dir := t.TempDir()
	out := make([][]byte, len(msgs))
	for from := 0; from < len(msgs); from += 1000 {
		batch := msgs[from:min(from+1000, len(msgs))]
		args := []string{"interpret-trailers", "--parse", "--no-divider", "--in-place"}
		for i, msg := range batch {
			name := fmt.Sprintf("m%d", i)
			if err := os.WriteFile(filepath.Join(dir, name), msg, 0o600); err != nil {
				t.Fatal(err)
			}
			args = append(args, name)
		}
		git(t, dir, nil, nil, args...)
		for i := range batch {
			got, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("m%d", i)))
			if err != nil {
				t.Fatal(err)
			}
			out[from+i] = got
		}
	}
	return out
}

// printed is what git would print of our parse.
func printed(msg []byte) []byte {
	var b bytes.Buffer
	for _, t := range Parse(msg).Trailers {
		b.WriteString(t.Key + ": " + t.Value + "\n")
	}
	return b.Bytes()
}

// newRepo makes an empty repository.
func newRepo(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, nil, nil, "init", "-q")
	return dir
}

// message reads the message of a commit, as it is stored.
func message(t testing.TB, dir, rev string) []byte {
	t.Helper()
	_, msg, _ := bytes.Cut(git(t, dir, nil, nil, "cat-file", "commit", rev), []byte("\n\n"))
	return msg
}
