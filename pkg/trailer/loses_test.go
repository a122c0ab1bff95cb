package trailer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWhatLosesIt lets git do what docs/trailer.md has under that heading, as
// far as git does it alone: each message in history must have the watch, or a
// finding must say that it is lost.
func TestWhatLosesIt(t *testing.T) {
	dir, line := newRepo(t), strings.TrimSpace(ours)
	run := func(args ...string) { t.Helper(); git(t, dir, nil, nil, args...) }
	check := func(what string, watches int, findings string) {
		t.Helper()
		msg := message(t, dir, "HEAD")
		ws, _ := Decode(msg, DefaultPolicy())
		got := strings.Join(lines(Lint(msg, DefaultPolicy())), ", ")
		if len(ws) != watches || got != findings {
			t.Errorf("%s: %d watches, want %d; findings %q, want %q; message:\n%s", what, len(ws), watches, got, findings, msg)
		}
	}
	commit := func(file string, args ...string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, file), []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		run("add", file)
		run(append([]string{"commit", "-q"}, args...)...)
	}
	commit("base", "-m", "base")
	run("branch", "-M", "main")
	commit("a", "-m", "T", "-m", line)
	check("-m", 1, "")
	commit("b", "-m", "T", "-m", line, "-m", strings.TrimSpace(signed))
	check("-m for each trailer", 0, "3:1 outside-block")
	commit("c", "-m", "T", "-m", line+"\n"+signed)
	check("one -m for both", 1, "")
	commit("d", "-m", "T", "-m", "body", "--trailer", line, "--signoff")
	check("--trailer and --signoff", 1, "")
	commit("e", "--signoff", "-m", "T", "-m", line)
	check("--signoff", 1, "")
	run("commit", "-q", "--amend", "--no-edit", "--signoff")
	check("--amend", 1, "")

	run("revert", "--no-edit", "HEAD")
	check("revert", 0, "")

	run("checkout", "-q", "-b", "side", "main~3")
	run("cherry-pick", "-x", "main~1")
	check("cherry-pick -x", 1, "")
	commit("f", "-m", "F", "-m", "Nav-Watchdog: app=api")
	run("checkout", "-q", "main")
	run("merge", "-q", "--squash", "side")
	run("commit", "-q", "--no-edit")
	msg := message(t, dir, "HEAD")
	fs := Lint(msg, DefaultPolicy())
	if len(fs) != 2 || fs[0].Rule != SquashLost || fs[1].Rule != SquashLost {
		t.Errorf("merge --squash: findings %v in\n%s", lines(fs), msg)
	}

	run("reset", "-q", "--hard", "HEAD^")
	run("merge", "-q", "--no-ff", "--no-edit", "side")
	check("merge", 0, "")

	run("checkout", "-q", "side")
	commit("g", "-m", "G", "-m", line)
	git(t, dir, []string{"GIT_SEQUENCE_EDITOR=sed -i -e '2s/^pick/squash/'", "GIT_EDITOR=true"}, nil, "rebase", "-q", "-i", "HEAD~2")
	check("rebase -i, squash", 1, "3:1 outside-block")
}
