package trailer

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFormatSignoff asks `git commit --signoff` where it puts a trailer. Git
// leaves the message as it is in mode verbatim.
func TestFormatSignoff(t *testing.T) {
	dir := newRepo(t)
	for _, msg := range []string{
		"T\n",
		"T",
		"T\n\nbody\n",
		"T\n\nbody\n\n",
		"T\n\n" + ours,
		"T\n\n" + strings.TrimSpace(ours),
		"T\n" + ours,
		"T\n\n" + ours + "words\n",
		"T\n\nwords\n" + ours + "Signed-off-by: B <b@example.com>\n",
		"T\n\n" + picked,
		"T\n\n" + ours + "\n# comment\n",
		"T\n\n# comment\n",
		"T\n\nbody\n\n" + cutLine + "x\n",
		"T\n\n" + ours + "\nConflicts:\n\ta\n",
		"T\n\nA: b\n c\n",
		"T\n---\nx\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, ".git", "msg"), []byte(msg), 0o600); err != nil {
			t.Fatal(err)
		}
		git(t, dir, nil, nil, "commit", "-q", "--allow-empty", "--signoff", "--cleanup=verbatim", "-F", ".git/msg")
		got := Format([]byte(msg), Trailer{Key: "Signed-off-by", Value: "A <a@example.com>"})
		if want := message(t, dir, "HEAD"); !bytes.Equal(got, want) {
			t.Errorf("message %q\n  git: %q\n ours: %q", msg, want, got)
		}
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		name, msg, want string
		ts              []Trailer
	}{
		{"nothing to add", "T", "T", nil},
		{"two", "T\n", "T\n\nA: b\nC: d\n", []Trailer{{Key: "A", Value: "b"}, {Key: "C", Value: "d"}}},
		{"no message", "", "\n\nA: b\n", []Trailer{{Key: "A", Value: "b"}}},
		{"one newline", "\n", "\n\nA: b\n", []Trailer{{Key: "A", Value: "b"}}},
		{"blank lines in the block", "T\n\nA: b\n \n", "T\n\nA: b\nC: d\n \n", []Trailer{{Key: "C", Value: "d"}}},
		{"NUL", "T\x00rest", "T\n\nA: b\n\x00rest", []Trailer{{Key: "A", Value: "b"}}},
		{"a second trailer in a value", "T\n", "T\n\nA: b Nav-Watchdog: app=x\n", []Trailer{{Key: "A", Value: "b\nNav-Watchdog: app=x\n"}}},
		{"a paragraph in a value", "T\n", "T\n\nA: b  x\n", []Trailer{{Key: "A", Value: "b\n\nx\x00"}}},
		{"a cut line without its line feed", cutLine[:len(cutLine)-1], "\n\nA: b\n" + cutLine[:len(cutLine)-1], []Trailer{{Key: "A", Value: "b"}}},
		{"bad keys", "T\n", "T\n\nA---B: b\n-: \n", []Trailer{{Key: "A\n: B", Value: "b"}, {}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := string(Format([]byte(c.msg), c.ts...)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestFormatOldConflicts has the case in which a trailer, by being there, makes
// lines below it count: it must go below them.
func TestFormatOldConflicts(t *testing.T) {
	got := Format([]byte("Conflicts:\nx\n\n\tbar\n"), Trailer{Key: "A", Value: "b"})
	if want := "Conflicts:\nx\n\n\tbar\n\nA: b\n"; string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if asked := gitParse(t, [][]byte{got}); string(asked[0]) != "A: b\n" {
		t.Errorf("git reads %q", asked[0])
	}
}

// TestRandomFormat asks git whether it reads what Format added.
func TestRandomFormat(t *testing.T) {
	msgs := randomMessagesOf(*randomMessages / 3)
	for i, msg := range msgs {
		msgs[i] = Format(msg, Trailer{Key: Key, Value: "app=last"}, Trailer{Key: "A", Value: ""})
	}
	for i, got := range gitParse(t, msgs) {
		if !bytes.HasSuffix(got, []byte("Nav-Watchdog: app=last\nA: \n")) {
			t.Errorf("message %q: git reads %q", msgs[i], got)
		}
	}
}
