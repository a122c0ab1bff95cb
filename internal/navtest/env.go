package navtest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Author of everything that the builder commits.
const (
	Name  = "Nav Test"
	Email = "nav@example.com"
)

// Start is the date of the first commit of every repository.
func Start() time.Time { return time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC) }

// Env is an environment in which git sees nothing of the developer's or the
// host's settings. home becomes HOME; a .gitconfig there is in force.
func Env(home string) []string {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "GIT_") && name != "GIT_EXEC_PATH" {
			continue
		}
		switch name {
		case "HOME", "XDG_CONFIG_HOME", "LANG", "LANGUAGE", "SSH_ASKPASS", "EMAIL", "TZ":
		default:
			if !strings.HasPrefix(name, "LC_") {
				env = append(env, kv)
			}
		}
	}
	return append(env, vars(home, Start())...)
}

func vars(home string, now time.Time) []string {
	date := now.Format("2006-01-02T15:04:05Z")
	return []string{
		"HOME=" + home, "XDG_CONFIG_HOME=" + filepath.Join(home, ".config"), "LC_ALL=C", "TZ=UTC",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=true",
		"GIT_AUTHOR_NAME=" + Name, "GIT_AUTHOR_EMAIL=" + Email, "GIT_AUTHOR_DATE=" + date,
		"GIT_COMMITTER_NAME=" + Name, "GIT_COMMITTER_EMAIL=" + Email, "GIT_COMMITTER_DATE=" + date,
		// Settings that tests rely on, whatever git's defaults are.
		"GIT_CONFIG_COUNT=3",
		"GIT_CONFIG_KEY_0=init.defaultBranch", "GIT_CONFIG_VALUE_0=main",
		"GIT_CONFIG_KEY_1=gc.auto", "GIT_CONFIG_VALUE_1=0",
		"GIT_CONFIG_KEY_2=protocol.file.allow", "GIT_CONFIG_VALUE_2=always",
	}
}

// Git runs git in dir and gives what it printed, without the last line end.
func Git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	return run(t, dir, Env(t.TempDir()), nil, args)
}

// GitIn is Git with standard input.
func GitIn(t testing.TB, dir string, stdin []byte, args ...string) string {
	t.Helper()
	return run(t, dir, Env(t.TempDir()), stdin, args)
}

// TryGit runs git where it may fail, and gives all that it printed.
func TryGit(t testing.TB, dir string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, Env(t.TempDir())
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func run(t testing.TB, dir string, env []string, stdin []byte, args []string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, env, bytes.NewReader(stdin)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("git %s: %v\n%s%s", strings.Join(args, " "), err, out.String(), stderr.String())
	}
	return strings.TrimSuffix(out.String(), "\n")
}
