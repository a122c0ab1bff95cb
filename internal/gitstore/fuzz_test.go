package gitstore

import (
	"bufio"
	"bytes"
	"strings"
	"testing"
)

// FuzzEnvironment: nothing that git reads gets from the environment of a push
// (push options, configuration, replacements, other repositories) into the one
// in which git is asked, but the quarantine of a hook.
func FuzzEnvironment(f *testing.F) {
	for _, kv := range [][2]string{
		{"GIT_CONFIG_PARAMETERS", "'nav.host=http'"}, {"GIT_CONFIG_COUNT", "1"}, {"GIT_PUSH_OPTION_0", "x"}, {"GIT_REPLACE_REF_BASE", "refs/heads/"},
		{"GIT_NO_REPLACE_OBJECTS", ""}, {"GIT_LITERAL_PATHSPECS", "0"}, {"GIT_SSH_COMMAND", "touch x"}, {"GIT_DIR", "/"}, {"LC_ALL", "xx"}, {"", "x"}, {"GIT_EXEC_PATH", "/x"},
		{"GIT_TRACE", "/tmp/x"}, {"GIT_EXTERNAL_DIFF", "x"}, {"GIT_OBJECT_DIRECTORY", "q"}, {"HOME", "/"}, {"GIT_CONFIG_GLOBAL", "/x"},
	} {
		f.Add(kv[0], kv[1], true)
		f.Add(kv[0], kv[1], false)
	}
	forced := map[string]string{"GIT_NO_REPLACE_OBJECTS": "1", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_GRAFT_FILE": "/dev/null", "GIT_LITERAL_PATHSPECS": "1", "LC_ALL": "C"}
	f.Fuzz(func(t *testing.T, name, value string, hook bool) {
		neutral, own := environments([]string{"PATH=/bin", name + "=" + value}, hook)
		for key, want := range forced {
			if got := variable(neutral, key); got != want {
				t.Fatalf("%s=%q makes %s %q", name, value, key, got)
			}
		}
		if variable(own, "GIT_NO_REPLACE_OBJECTS") != "1" || variable(own, "GIT_TERMINAL_PROMPT") != "0" {
			t.Fatalf("%s=%q: %q", name, value, own)
		}
		for _, kv := range neutral {
			key, _, _ := strings.Cut(kv, "=")
			may := contains(keptAlways, key) || hook && contains(keptInHooks, key) || contains(ours(), key) || forced[key] != ""
			if strings.HasPrefix(key, "GIT_") && !may {
				t.Fatalf("%s reaches git", kv)
			}
		}
	})
}

// ours are set in every case.
func ours() []string {
	return []string{"GIT_FLUSH", "GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS", "GIT_ATTR_NOSYSTEM", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"}
}

// FuzzTree: a tree object that is read is written the same once it is in git's
// order, and no entry is lost.
func FuzzTree(f *testing.F) {
	id := strings.Repeat("\x11", 20)
	f.Add([]byte("100644 a\x00" + id + "40000 b\x00" + id))
	f.Add([]byte("100644 b\x00" + id + "100644 b\x00" + id + "0100664 a\x00" + id))
	f.Add([]byte("40000 ab\x00" + id + "160000 .nav-watchdog.yaml\x00" + id))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := parseTree(data, 20)
		if err != nil {
			return
		}
		first, err := formatTree(append([]treeEntry(nil), entries...))
		if err != nil {
			t.Fatal(err)
		}
		again, err := parseTree(first, 20)
		if err != nil || len(again) != len(entries) {
			t.Fatalf("%d entries become %d, %v", len(entries), len(again), err)
		}
		if second, err := formatTree(again); err != nil || !bytes.Equal(first, second) {
			t.Fatalf("%q is written as %q, %v", first, second, err)
		}
		for _, e := range entries {
			n := 0
			for _, o := range entries {
				if o.name == e.name {
					n++
				}
			}
			got, err := only(entries, e.name)
			if (n > 1) != (err != nil) || err == nil && got != e {
				t.Fatalf("%q stands %d times: %+v, %v", e.name, n, got, err)
			}
			if e.isTree() && e.isRegular() || len(e.canonical()) > len(e.mode) {
				t.Fatalf("%+v is %s", e, e.canonical())
			}
		}
	})
}

// FuzzLogRecord: what git log writes is read record by record, in bounded
// memory, and a record that was cut is an error.
func FuzzLogRecord(f *testing.F) {
	f.Add([]byte("1111 2222 3333\x00message\n\x00"), 3)
	f.Add([]byte("1111 \x00\x00"), 0)
	f.Fuzz(func(t *testing.T, out []byte, _ int) {
		in := bufio.NewReader(bytes.NewReader(out))
		for read := 0; ; {
			c, err := readCommit(in)
			if err != nil {
				if rest := bytes.Count(out, []byte{0}) - read; rest > 1 {
					t.Fatalf("%d NULs are left after %v", rest, err)
				}
				return
			}
			if read += 2; bytes.IndexByte(c.Message, 0) >= 0 || len(c.Message) > MaxMessage {
				t.Fatalf("%+v", c)
			}
		}
	})
}

// FuzzRef: a name that is taken for a ref cannot be read as an option, a
// pattern, a range or part of a refspec, nor leave its folder.
func FuzzRef(f *testing.F) {
	for _, s := range []string{"refs/heads/main", "refs/notes/nav/../x", "refs/heads/--upload-pack=x", "refs/heads/a:b", "refs/heads/*", "refs/heads/x.lock", "refs//x", "refs/heads/@{u}", "-x", "refs/heads/a\nb"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, ref string) {
		if checkRef(ref) == nil && (!strings.HasPrefix(ref, "refs/") || strings.Contains(ref, "..") || strings.ContainsAny(ref, ":*?[\\^~ \n\r\x00\t\x7f") || strings.HasSuffix(ref, "/")) {
			t.Fatalf("%q is a ref", ref)
		}
		if in, err := revs([]string{ref}, []string{ref}); err == nil && strings.Count(in, "\n") != 2 || err == nil && (ref[0] == '-' || ref[0] == '^') {
			t.Fatalf("%q becomes %q", ref, in)
		}
	})
}
