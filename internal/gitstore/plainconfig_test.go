package gitstore

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
)

// Where plainConfig answers, git answers the same.
func TestPlainConfig(t *testing.T) {
	const core = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
	for _, c := range []struct {
		name, text string
		plain      bool
	}{
		{"as install writes it", "[nav]\n\thost = plain\n\twatcher = nav-watchdog\n", true},
		{"nothing of ours", "", true},
		{"two sections", "[nav]\n\thost = a\n[receive]\n\tdenyDeletes = true\n[nav]\n\thost = b\n", true},
		{"another case of the key", "[nav]\n\tHost = plain\n", true},
		{"another section with the key", "[receive]\n\thost = x\n[nav]\n\twatcher = w\n", true},
		{"a comment that looks like a section", "# [nav]\n\tignorecase = true\n", true},
		{"another case of the section", "[NAV]\n\thost = plain\n", false},
		{"a section on the line of a key", "[nav] host = plain\n", false},
		{"an indented section", "  [nav]\n\thost = plain\n", false},
		{"a section with a comment", "[nav] # x\n\thost = plain\n", false},
		{"a key without a value", "[nav]\n\thost\n", false},
		{"a key without spaces", "[nav]\n\thost=plain\n", false},
		{"a value with a comment", "[nav]\n\thost = plain # or not\n", false},
		{"a comment in the section", "[nav]\n\t# host = x\n\thost = plain\n", false},
		{"a quoted value", "[nav]\n\thost = \"plain\"\n", false},
		{"an escape", "[nav]\n\thost = pl\\tain\n", false},
		{"a continued line hides a section", "[user]\n\tname = a \\\n[nav]\n\thost = plain\n", false},
		{"a subsection", "[nav \"x\"]\n\thost = plain\n", false},
		{"an old subsection", "[nav.x]\n\thost = plain\n", false},
		{"an include", "[include]\n\tpath = other\n", false},
		{"a conditional include", "[includeIf \"onbranch:main\"]\n\tpath = other\n", false},
		{"DOS line ends", "[nav]\r\n\thost = plain\r\n", false},
		{"no line end", "[nav]\n\thost = plain", true},
		{"a blank line", "[nav]\n\n\thost = plain\n", false},
		{"a space behind the value", "[nav]\n\thost = plain \n", false},
		{"an empty value", "[nav]\n\thost = \n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := navtest.Bare(t)
			if err := os.WriteFile(filepath.Join(r.Dir, "config"), []byte(core+c.text), 0o666); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(r.Dir, "other"), []byte("[nav]\n\thost = included\n"), 0o666); err != nil {
				t.Fatal(err)
			}
			keys := []string{"nav.host", "nav.watcher"}
			got, plain := plainConfig([]byte(core+c.text), keys)
			if plain != c.plain {
				t.Fatalf("plain = %t", plain)
			}
			g, err := Open(context.Background(), r.Dir, Options{Env: r.Env()})
			if err != nil {
				t.Fatal(err)
			}
			want, err := g.Config(context.Background(), keys...)
			if err != nil {
				t.Fatal(err)
			}
			if plain {
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("not as git (-git +ours):\n%s", diff)
				}
			}
			hook, err := OpenHook(context.Background(), r.Dir, Options{Env: append(r.Env(), "GIT_DIR=.")})
			if err != nil {
				t.Fatal(err)
			}
			defer hook.Close()
			if got, err := hook.Config(context.Background(), keys...); err != nil || !cmp.Equal(got, want) {
				t.Errorf("in a hook: %v, %v; git: %v", got, err, want)
			}
		})
	}
}
