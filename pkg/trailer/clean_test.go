package trailer

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// edited is what a commit-msg hook may find: a template with a diff below it.
const edited = "\n\n# mine\nT  \n\n\n; semi\nbody\t\r\n# in the body\n\n  # indented\n" + ours + "\n\n" +
	"# Please enter the commit message\n#\n# On branch main\n" + cutLine + "# Do not modify\ndiff --git a/f b/f\n+Nav-Watchdog: app=diff\n"

// commitMessage lets git commit with this as the edited file, and returns what
// it makes of it.
func commitMessage(t *testing.T, dir string, file []byte, args ...string) []byte {
	t.Helper()
	name := filepath.Join(dir, ".git", "edited")
	if err := os.WriteFile(name, file, 0o600); err != nil {
		t.Fatal(err)
	}
	args = append(args, "--allow-empty", "--allow-empty-message", "-q")
	git(t, dir, []string{"GIT_EDITOR=cp .git/edited"}, nil, args...)
	return message(t, dir, "HEAD")
}

// TestCleanCommit asks `git commit` with an editor, in each mode, with and
// without -v.
func TestCleanCommit(t *testing.T) {
	dir := newRepo(t)
	semi := strings.ReplaceAll(edited, "\n# ", "\n; ")
	for _, c := range []struct {
		name, file, comment string
		args                []string
		clean               Cleanup
	}{
		{"default", edited, "", nil, Cleanup{KeepCut: true}},
		{"default -v", edited, "", []string{"-v"}, Cleanup{}},
		{"strip", edited, "", []string{"--cleanup=strip"}, Cleanup{Mode: Strip, KeepCut: true}},
		{"strip -v", edited, "", []string{"--cleanup=strip", "-v"}, Cleanup{Mode: Strip}},
		{"whitespace", edited, "", []string{"--cleanup=whitespace"}, Cleanup{Mode: Whitespace, KeepCut: true}},
		{"whitespace -v", edited, "", []string{"--cleanup=whitespace", "-v"}, Cleanup{Mode: Whitespace}},
		{"scissors", edited, "", []string{"--cleanup=scissors"}, Cleanup{Mode: Scissors}},
		{"scissors, kept", edited, "", []string{"--cleanup=scissors"}, Cleanup{Mode: Scissors, KeepCut: true}},
		{"verbatim", edited, "", []string{"--cleanup=verbatim"}, Cleanup{Mode: Verbatim, KeepCut: true}},
		{"verbatim -v", edited, "", []string{"--cleanup=verbatim", "-v"}, Cleanup{Mode: Verbatim}},
		{"semicolon -v", semi, ";", []string{"-v"}, Cleanup{Comment: ";"}},
		{"semicolon, scissors", semi, ";", []string{"--cleanup=scissors"}, Cleanup{Comment: ";", Mode: Scissors}},
		{"semicolon, cut line with #", edited, ";", []string{"-v"}, Cleanup{Comment: ";"}},
		{"cut line first", cutLine + edited, "", []string{"-v"}, Cleanup{}},
		{"two cut lines", "T\n" + cutLine + "x\n" + cutLine, "", []string{"-v"}, Cleanup{}},
		{"cut line without end", "T\n" + strings.TrimSuffix(cutLine, "\n"), "", []string{"-v"}, Cleanup{}},
		{"cut line in CRLF", strings.ReplaceAll(edited, "\n", "\r\n"), "", []string{"-v"}, Cleanup{}},
		{"no newline at the end", "T\n\n" + strings.TrimSpace(ours), "", nil, Cleanup{}},
		{"empty", "", "", nil, Cleanup{}},
		{"blank", " \n\n\t\n", "", nil, Cleanup{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := append([]string{"commit"}, c.args...)
			if c.comment != "" {
				args = append([]string{"-c", "core.commentChar=" + c.comment}, args...)
			}
			want := commitMessage(t, dir, []byte(c.file), args...)
			if diff := cmp.Diff(string(want), string(Clean([]byte(c.file), c.clean))); diff != "" {
				t.Errorf("(-git +ours):\n%s", diff)
			}
		})
	}
}

// TestCleanTemplate takes the file as git itself writes it for the editor.
func TestCleanTemplate(t *testing.T) {
	dir := newRepo(t)
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("# not a comment\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, dir, nil, nil, "add", "f")
	hook := "#!/bin/sh\ncp \"$1\" .git/seen\n"
	if err := os.WriteFile(filepath.Join(dir, ".git", "hooks", "commit-msg"), []byte(hook), 0o700); err != nil {
		t.Fatal(err)
	}
	editor := `GIT_EDITOR=f() { printf 'T\n\nNav-Watchdog: app=web\n' | cat - "$1" >.git/tmp && cp .git/tmp "$1"; }; f`
	git(t, dir, []string{editor}, nil, "-c", "core.commentChar=auto", "commit", "-q", "-v")
	seen := readFile(t, filepath.Join(dir, ".git", "seen"))
	if !bytes.Contains(seen, []byte("diff --git")) {
		t.Fatalf("the hook saw no diff:\n%s", seen)
	}
	got := Clean(seen, Cleanup{Comment: AutoComment(seen)})
	if diff := cmp.Diff(string(message(t, dir, "HEAD")), string(got)); diff != "" {
		t.Errorf("(-git +ours):\n%s", diff)
	}
}

// TestCleanStripspace asks `git stripspace`, which is what is left of the
// cleanup without the cut line.
func TestCleanStripspace(t *testing.T) {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(*randomSeed, 1))
	for range *randomMessages / 10 {
		msg := randomMessage(r)
		if got, want := Clean(msg, Cleanup{KeepCut: true}), git(t, dir, nil, msg, "stripspace", "-s"); !bytes.Equal(got, want) {
			t.Errorf("strip %q\n  git: %q\n ours: %q", msg, want, got)
		}
		if got, want := Clean(msg, Cleanup{Mode: Whitespace, KeepCut: true}), git(t, dir, nil, msg, "stripspace"); !bytes.Equal(got, want) {
			t.Errorf("whitespace %q\n  git: %q\n ours: %q", msg, want, got)
		}
	}
}

func TestCleanNUL(t *testing.T) {
	const msg = "T\x00\n" + cutLine + "x\n"
	if got := string(Clean([]byte(msg), Cleanup{Mode: Verbatim})); got != msg {
		t.Errorf("git does not see a cut line below a NUL, but got %q", got)
	}
}

// TestCleanString has a comment string, which git knows since 2.45.
func TestCleanString(t *testing.T) {
	msg := "T\n// c\n/ d\n// ------------------------ >8 ------------------------\nx\n"
	if got, want := string(Clean([]byte(msg), Cleanup{Comment: "//"})), "T\n/ d\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCleanLines(t *testing.T) {
	msg := "\n# c\nT\n\n\n\nbody\n# c\n\n" + ours + "# c\n"
	got, from := CleanLines([]byte(msg), Cleanup{})
	if want := "T\n\nbody\n\n" + ours; string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if diff := cmp.Diff([]int{3, 6, 7, 9, 10}, from); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestAutoComment(t *testing.T) {
	for _, c := range []struct{ msg, want string }{
		{"", "#"},
		{"T\n", "#"},
		{"# heading\n\nbody\n", "#"},
		{"# heading\n\n; Please enter\n;\n; On branch main\n", ";"},
		{"# heading\n\n@ Please enter\n@ ------------------------ >8 ------------------------\n@ Do not\ndiff\n;\n", "@"},
		{"T\n\n* list\n", "#"},
	} {
		if got := AutoComment([]byte(c.msg)); got != c.want {
			t.Errorf("AutoComment(%q) = %q, want %q", c.msg, got, c.want)
		}
	}
}
