package trailer

import (
	"bytes"
	"strings"
	"testing"
)

// FuzzGit: git reads the same trailers. A process an input makes it slow, and
// worth it: coverage leads to what a generator does not write.
func FuzzGit(f *testing.F) {
	seeds(f, func(msg []byte) { f.Add(msg) })
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, msg []byte) {
		if len(msg) > 4096 {
			return
		}
		if b := text(msg); bytes.HasSuffix(b, []byte("Conflicts:")) || bytes.HasSuffix(b, []byte(strings.TrimSuffix(cutLine, "\n"))) {
			msg = append(bytes.Clone(b), '\n') // as in randomMessage
		}
		want := git(t, dir, nil, msg, "interpret-trailers", "--parse", "--no-divider")
		if got := printed(msg); !bytes.Equal(got, want) {
			t.Fatalf("%q\n  git: %q\n ours: %q", msg, want, got)
		}
	})
}
