package trailer

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	id40 = "1234567890abcdef1234567890abcdef12345678"
	id64 = "1234567890abcdef1234567890abcdef1234567890abcdef1234567890abcdef"
)

func TestIsRevert(t *testing.T) {
	for _, c := range []struct {
		name, msg string
		commits   []string
		ok        bool
	}{
		{"none", "T\n\nbody\n", nil, false},
		{"git's own", "Revert \"T\"\n\nThis reverts commit " + id40 + ".\n", []string{id40}, true},
		{"SHA-256", "Revert \"T\"\n\nThis reverts commit " + id64 + ".\n", []string{id64}, true},
		{"a merge", "Revert \"M\"\n\nThis reverts commit " + id40 + ", reversing\nchanges made to " + id40[1:] + "0.\n", []string{id40}, true},
		{"upper case", "T\n\nThis reverts commit " + strings.ToUpper(id40) + ".\n", []string{id40}, true},
		{"two, one of them twice", "T\n\nThis reverts commit " + id40 + ".\nThis reverts commit " + id64 + ".\nThis reverts commit " + id40 + ".\n", []string{id40, id64}, true},
		{"no full stop", "T\n\nThis reverts commit " + id40, []string{id40}, true},
		{"CRLF", "T\r\n\r\nThis reverts commit " + id40 + "\r\n", []string{id40}, true},
		{"subject only", "Revert \"T\"\n\nfor a reason\n", nil, true},
		{"reapply", "Reapply \"T\"\n\nThis reverts commit " + id40 + ".\n", []string{id40}, true},
		{"below a blank line", "\nRevert \"T\"\n", nil, true},
		{"by reference", "why\n\nThis reverts commit 1234567 (T, 2026-01-01).\n", nil, true},
		{"glued to the subject", "T\nThis reverts commit " + id40 + ".\n", []string{id40}, true},
		{"41 digits", "T\n\nThis reverts commit " + id40 + "1.\n", nil, false},
		{"65 digits", "T\n\nThis reverts commit " + id64 + "1.\n", nil, false},
		{"in the subject", "This reverts commit " + id40 + ".\n", nil, false},
		{"indented", "T\n\n    This reverts commit " + id40 + ".\n", nil, false},
		{"in a line", "T\n\nbecause This reverts commit " + id40 + ".\n", nil, false},
		{"prose", "T\n\nThis reverts commit feedbacks to\nThis reverts commit and more\n", nil, false},
		{"below NUL", "T\n\n\x00\nThis reverts commit " + id40 + ".\n", nil, false},
		{"subject without a quote", "Revert T\n", nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			commits, ok := IsRevert([]byte(c.msg))
			if diff := cmp.Diff(c.commits, commits); diff != "" || ok != c.ok {
				t.Errorf("ok = %v, want %v; commits (-want +got):\n%s", ok, c.ok, diff)
			}
		})
	}
}

func TestIsReapply(t *testing.T) {
	for subject, want := range map[string]bool{
		`T`:                        false,
		`Revert "T"`:               false,
		`Revert "Revert "T""`:      true,
		`Reapply "T"`:              true,
		`Revert "Reapply "T""`:     false,
		`Reapply "Reapply "T""`:    true,
		`Revert "Reapply a thing"`: false,
		`Reapply T`:                false,
	} {
		if got := IsReapply([]byte(subject + "\n\nbody\n")); got != want {
			t.Errorf("IsReapply(%s) = %v", subject, got)
		}
	}
}

// TestIsRevertGit reads what `git revert` writes: of a commit, of a revert, of a
// merge, and by reference.
func TestIsRevertGit(t *testing.T) {
	dir := newRepo(t)
	rev := func(name string) string { return strings.TrimSpace(string(git(t, dir, nil, nil, "rev-parse", name))) }
	tree := func(content string) {
		blob := strings.TrimSpace(string(git(t, dir, nil, []byte(content), "hash-object", "-w", "--stdin")))
		git(t, dir, nil, nil, "update-index", "--add", "--cacheinfo", "100644,"+blob+",f")
		git(t, dir, nil, nil, "checkout-index", "-f", "-a")
	}
	tree("one\n")
	git(t, dir, nil, nil, "commit", "-q", "-m", "one")
	tree("two\n")
	git(t, dir, nil, nil, "commit", "-q", "-m", "two", "-m", strings.TrimSpace(ours))
	two := rev("HEAD")
	check := func(name string, commits []string, reapply bool) {
		t.Helper()
		msg := message(t, dir, "HEAD")
		got, ok := IsRevert(msg)
		if diff := cmp.Diff(commits, got); !ok || diff != "" || IsReapply(msg) != reapply {
			t.Errorf("%s: %q: ok %v, reapply %v, commits (-want +got):\n%s", name, msg, ok, IsReapply(msg), diff)
		}
		if watches, fs := Decode(msg, DefaultPolicy()); len(watches)+len(fs) > 0 {
			t.Errorf("%s: git's revert has a watch: %q", name, msg)
		}
	}
	git(t, dir, nil, nil, "revert", "--no-edit", two)
	first := rev("HEAD")
	check("revert", []string{two}, false)
	git(t, dir, nil, nil, "revert", "--no-edit", first)
	check("revert of a revert", []string{first}, true)
	git(t, dir, nil, nil, "revert", "--no-edit", "--reference", "HEAD")
	check("reference", nil, false)

	git(t, dir, nil, nil, "checkout", "-q", "-b", "side", two)
	git(t, dir, nil, nil, "commit", "-q", "--allow-empty", "-m", "side")
	git(t, dir, nil, nil, "checkout", "-q", "--detach", two+"^")
	git(t, dir, nil, nil, "merge", "-q", "--no-ff", "-m", "merge", "side")
	merge := rev("HEAD")
	git(t, dir, nil, nil, "revert", "--no-edit", "-m", "1", merge)
	check("merge", []string{merge}, false)
}
