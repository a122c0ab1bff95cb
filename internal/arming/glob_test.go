package arming

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What gitignore does, git says: every pattern is held against every path.
func TestMatchPathConfirm(t *testing.T) {
	patterns := []string{
		"*.sql", "migrations", "migrations/", "/migrations", "/migrations/", "db/migrations", "db/migrations/",
		"**/migrations/**", "migrations/**", "**/migrations", "**/migrations/", "/**/migrations/**", "db/**", "db/**/*.sql",
		"**", "*", "/*", "*/", "**/*", "*/**", "/**", "db/*/x.sql", "db/**/x.sql", "a**b", "a**b/c", "x?.sql", "db/?/x.sql",
		"[a-c].sql", "[!a-c].sql", "[^a-c].sql", "[]x].sql", "[a-]b", "[\\]]b", "a[b-d]*", "\\*.sql", "\\?", "**/**/x.sql", "**/a/**/b/**",
		"db/**/migrations/**/x.sql", ".*", "*.*", "db/*", "README", "/README", "a*b*c*d", "*a*b", "a/**/a/**/b", "[z-a]", "é", "?",
	}
	paths := []string{
		"x.sql", "a.sql", "*.sql", "].sql", "db/x.sql", "db/a/x.sql", "db/a/b/x.sql", "migrations", "migrations/1.sql", "db/migrations",
		"db/migrations/1", "db/migrations/a/x.sql", "db/x/migrations/y/x.sql", "x/db/migrations/1", "README", "docs/README", "README/x",
		"ab", "axxb", "a/b", "axb/c", "a/x/b", "a/x/a/y/b", "a/a/b", "a/b/a/c", "]b", "-b", "ab/c", ".hidden", "a/.hidden/b", "xa.sql", "x/xa.sql", "?", "é",
		"abcd", "a1b2c3d", "abc", "b", "a", "c/a/x/b/d", "migrationsx/1", "xmigrations/1",
	}
	dir := t.TempDir()
	git := func(stdin string, args ...string) []byte {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.Output()
		if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
			t.Fatalf("git %q: %v", args, err)
		}
		return out
	}
	git("", "init", "-q")
	for _, pattern := range patterns {
		ignore := filepath.Join(dir, "patterns")
		if err := os.WriteFile(ignore, []byte(pattern+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		out := git(strings.Join(paths, "\x00")+"\x00", "-c", "core.excludesFile="+ignore, "check-ignore", "--no-index", "-z", "--stdin")
		matched := strings.Split(string(bytes.TrimSuffix(out, []byte{0})), "\x00")
		if err := CheckPathPattern(pattern); err != nil {
			t.Errorf("pattern %q: %v", pattern, err)
		}
		for _, path := range paths {
			if got, want := matchPath(pattern, path), slices.Contains(matched, path); got != want {
				t.Errorf("matchPath(%q, %q) = %v, git says %v", pattern, path, got, want)
			}
		}
	}
}

func TestMatchName(t *testing.T) {
	for _, c := range []struct {
		pattern string
		yes, no []string
	}{
		{"main", []string{"main"}, []string{"feature/main", "mainx", ""}},
		{"*", []string{"main", ""}, []string{"a/b"}},
		{"**", []string{"main", "a/b", "a/b/c"}, nil},
		{"release/*", []string{"release/1"}, []string{"release", "release/1/2", "x/release/1"}},
		{"release/**", []string{"release/1", "release/1/2"}, []string{"release"}},
		{"**/hot", []string{"hot", "a/hot"}, []string{"hot/a"}},
		{"nav-*", []string{"nav-", "nav-web"}, []string{"nav", "xnav-web"}},
		{"v[0-9].?", []string{"v1.x"}, []string{"va.x", "v1."}},
		{`a\*`, []string{"a*"}, []string{"ab"}},
		{"[", nil, []string{"[", "a"}},
		{"", nil, []string{"", "a"}},
	} {
		for _, name := range c.yes {
			if !matchName(c.pattern, name) {
				t.Errorf("matchName(%q, %q) = false", c.pattern, name)
			}
		}
		for _, name := range c.no {
			if matchName(c.pattern, name) {
				t.Errorf("matchName(%q, %q) = true", c.pattern, name)
			}
		}
	}
}

func TestCheckPattern(t *testing.T) {
	for pattern, want := range map[string]string{
		"":                       "empty",
		"a\nb":                   "control character",
		strings.Repeat("a", 257): "longer than 256",
		"[ab":                    "not closed",
		"a[/]b":                  "not closed",
		`a\`:                     "nothing after it",
		"a//b":                   "matches nothing",
		"../a":                   "matches nothing",
		"./a":                    "matches nothing",
		"[[:alpha:]]":            "named classes",
	} {
		for kind, check := range map[string]func(string) error{"name": CheckNamePattern, "path": CheckPathPattern} {
			if err := check(pattern); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s pattern %q: %v, want %q", kind, pattern, err, want)
			}
		}
	}
	for pattern, want := range map[string]string{"/": "matches nothing", "//": "matches nothing", "!a": "a leading !"} {
		if err := CheckPathPattern(pattern); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("path pattern %q: %v, want %q", pattern, err, want)
		}
	}
	// A guard that cannot be read is shut.
	if !matchPath("[", "any/path") {
		t.Error("a never-paths entry that is no pattern lets a path through")
	}
}

// FuzzMatch holds that matching ends (its steps are bounded by the product of
// the lengths, so a long input must not hang), and that a name matches itself.
func FuzzMatch(f *testing.F) {
	f.Add("**/migrations/**", "a/migrations/b")
	f.Add(strings.Repeat("a*", 100)+"b", strings.Repeat("a", 1000))
	f.Add(strings.Repeat("**/a/", 40)+"b", strings.Repeat("a/", 1000)+"c")
	f.Add("[", "[")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		matchName(pattern, name)
		if CheckPathPattern(pattern) != nil && !matchPath(pattern, name) {
			t.Errorf("the bad pattern %q lets %q through", pattern, name)
		}
		if strings.ContainsAny(name, `*?[]\`) || CheckNamePattern(name) != nil {
			return
		}
		if !matchName(name, name) || !matchPath("/"+name, name) {
			t.Errorf("%q does not match itself", name)
		}
	})
}

func matchPath(pattern, path string) bool { return parsePath(pattern).match(strings.Split(path, "/")) }
