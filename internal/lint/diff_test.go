package lint

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
)

// git apply makes b of a by our diff, whatever they are.
func TestDiffApplies(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x\ny\nz\nw\n", 8)
	repo := navtest.New(t)
	for i, c := range [][2]string{
		{"a\n", "b\n"}, {"a\n", "a\nb\n"}, {"a\nb\n", "b\n"}, {"a", "a\n"}, {"a\n", "a"}, {"a\nb", "a\nb\n\nc\n"}, {"a\nb\nc\n", "c\nb\na\n"},
		{long + "q\n", "p\n" + long + "q\n"}, {long, long + "q"}, {"p\n" + long + "q\n", long}, {"1\n2\n3\n4\n5\n6\n7\n8\n9\n", "2\n3\n4\n5\n6\n7\n8\nX\n9\n"},
		{"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n", "2\n3\n4\n5\n6\n7\n8\n9\n10\n"}, {"a\n\n\nb\n", "a\n\nb\n\n"},
	} {
		var b bytes.Buffer
		if err := diff(&b, "msg", c[0], c[1]); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(repo.Dir, "msg")
		if err := os.WriteFile(file, []byte(c[0]), 0o666); err != nil {
			t.Fatal(err)
		}
		repo.GitIn(b.Bytes(), "apply", "-")
		if got, err := os.ReadFile(file); err != nil || string(got) != c[1] {
			t.Errorf("%d: %q and\n%s\ngive %q, want %q, %v", i, c[0], b.String(), got, c[1], err)
		}
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := diff(&b, "m\x1b", "1\n2\n3\n4\n5\nx\x1b\n7\n8\n9\n", "1\n2\n3\n4\n5\ny\n7\n8\n9\n"); err != nil {
		t.Fatal(err)
	}
	want := "--- a/m\\x1b\n+++ b/m\\x1b\n@@ -3,7 +3,7 @@\n 3\n 4\n 5\n-x\\x1b\n+y\n 7\n 8\n 9\n"
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	b.Reset()
	if err := diff(&b, "m", "same\n", "same\n"); err != nil || b.Len() > 0 {
		t.Errorf("%v %q", err, b.String())
	}
	many := strings.Repeat("a\n", 3000)
	if err := diff(&b, "m", "x\n"+many+"y\n", strings.Repeat("b\n", 3000)); err != nil || strings.Count(b.String(), "\n") != 3+3002+3000 {
		t.Errorf("%v, %d lines", err, strings.Count(b.String(), "\n"))
	}
}
