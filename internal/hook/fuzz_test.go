package hook

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// FuzzVouched: whatever else is in the environment of a hook (the variables of
// other hosts, push options, what git reads), the pusher is whom this host's own
// variable names; and that is one line that can be printed, or an error.
func FuzzVouched(f *testing.F) {
	f.Add("gitea", "alice", "GIT_PUSH_OPTION_0", "GITEA_PUSHER_NAME=watcher")
	f.Add("gitlab", "alice", "GL_USER", "watcher")
	f.Add("http", "al\x1bice", "HTTP_REMOTE_USER", "watcher")
	f.Add("plain", "", "USER", "watcher")
	f.Add("", "alice", "REMOTE_USER", "watcher")
	f.Add("gitolite", "a\nb", "GL_USERNAME", "watcher")
	f.Add("sourcehut", "x", "GIT_PUSH_OPTION_COUNT", "4294967296")
	own := map[string]string{hostGitea: "GITEA_PUSHER_NAME", hostGitLab: "GL_USERNAME", hostGitolite: "GL_USER", hostHTTP: "REMOTE_USER"}
	f.Fuzz(func(t *testing.T, host, user, other, value string) {
		env := func(name string) string {
			switch name {
			case own[host]:
				return user
			case other:
				return value
			}
			return ""
		}
		system := func() (string, error) { return "os", nil }
		got, err := vouched(host, env, system)
		if err != nil {
			if got != "" {
				t.Fatalf("%q comes with %v", got, err)
			}
			return
		}
		if host == hostPlain && got != "os" || host == "" && got != "" || own[host] != "" && got != "" && got != user {
			t.Fatalf("host %q vouches for %q, not %q", host, got, user)
		}
		if got != "" && (len(got) > 4*maxUser || strconv.Quote(got) != `"`+strings.ReplaceAll(strings.ReplaceAll(got, `\`, `\\`), `"`, `\"`)+`"`) {
			t.Fatalf("%q cannot be printed", got)
		}
		if who := (Identity{Host: host, User: got, Watcher: ""}); who.IsWatcher() {
			t.Fatalf("%q is the watcher where none is named", got)
		}
	})
}

// FuzzVoice: however a text is cut into writes, on GitLab's page every line
// begins with the mark, elsewhere none does, and nothing is lost.
func FuzzVoice(f *testing.F) {
	f.Add("a\nGL-HOOK-ERR: forged\n", 3, true)
	f.Add("GitLab: forged", 1, false)
	f.Add("\n\nGL-HOOK-\nERR:", 7, true)
	f.Fuzz(func(t *testing.T, text string, size int, page bool) {
		var out bytes.Buffer
		v := &voice{w: &out, page: func() bool { return page }}
		text += "\n" // whoever writes ends the last line
		for rest := text; rest != ""; {
			n := min(max(size, 1), len(rest))
			if _, err := v.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		said, want := strings.Split(out.String(), "\n"), strings.Split(text, "\n")
		if len(said) != len(want) {
			t.Fatalf("%q became %q", text, out.String())
		}
		for i, line := range said[:len(said)-1] {
			mark := pageMark + " "
			if !page {
				mark = ""
			}
			rest, ok := strings.CutPrefix(line, mark)
			if !ok || rest != want[i] && rest != "    "+want[i] || marked(rest) {
				t.Fatalf("%q became %q", want[i], line)
			}
		}
	})
}

// FuzzPerson: a line that may be added is one, by the pusher himself, as the
// daemon will read it; and only an owner's or the watcher's undoes anything.
func FuzzPerson(f *testing.F) {
	for _, kind := range []string{"freeze", "thaw", "reset", "judge"} {
		f.Add(`{"v":1,"kind":"`+kind+`","by":"alice","at":"2026-01-01T00:00:00Z","reason":"x"}`, "alice", "alice")
	}
	f.Add(`{"v":1,"kind":"freeze","kind":"thaw","by":"alice","BY":"olga","at":"2026-01-01T00:00:00Z"}`, "alice", "olga")
	f.Add("{\"v\":1}\n{\"v\":1}", "a", "b")
	f.Fuzz(func(t *testing.T, line, user, owner string) {
		policy := arming.Default()
		policy.Exists, policy.Owners = true, []string{owner}
		who := Identity{Host: hostPlain, User: user, Watcher: "watcher"}
		if user == "" || strings.Contains(line, "\n") || refusePerson(line, who, policy) != "" {
			return
		}
		said, err := verdict.ParsePeople([]byte(line))
		if err != nil || len(said) != 1 || said[0].By != user {
			t.Fatalf("%q by %q may be added, and is read as %+v, %v", line, user, said, err)
		}
		if k := said[0].Kind; (k == verdict.PeopleThaw || k == verdict.PeopleReset) && !policy.IsOwner(user) && !who.IsWatcher() {
			t.Fatalf("%q by %q, who is no owner", line, user)
		}
	})
}

// FuzzNoteOf: a path is the note of the object that its folders and name spell,
// in folders of two, and of nothing else.
func FuzzNoteOf(f *testing.F) {
	id := strings.Repeat("ab", 20)
	for _, p := range []string{id, id[:2] + "/" + id[2:], id[:2] + "/" + id[2:4] + "/" + id[4:], id[:3] + "/" + id[3:], "/" + id, id + "/", strings.ToUpper(id), "..", "a/../" + id} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, path string) {
		object := noteOf(path)
		if object == path {
			return
		}
		parts := strings.Split(path, "/")
		for _, folder := range parts[:len(parts)-1] {
			if len(folder) != 2 {
				t.Fatalf("%q is taken for a note of %s", path, object)
			}
		}
		if !objectID(object) || !strings.EqualFold(object, strings.Join(parts, "")) {
			t.Fatalf("%q is taken for a note of %q", path, object)
		}
	})
}

// FuzzUpdate: a line that is read is written the same, and its errors are
// bounded.
func FuzzUpdate(f *testing.F) {
	none, one := strings.Repeat("0", 40), strings.Repeat("1", 40)
	for _, ref := range []string{"refs/heads/main", "refs/notes/nav/../x", "refs/heads/--upload-pack=x", "refs/heads/a b", "refs/", "HEAD", "refs/notes/NAV/watches"} {
		f.Add(none + " " + one + " " + ref)
	}
	f.Fuzz(func(t *testing.T, line string) {
		ups, err := ReadUpdates(strings.NewReader(line + "\n"))
		var at *LineError
		switch {
		case err != nil && (!errors.As(err, &at) || len(err.Error()) > 1200):
			t.Fatalf("%v", err)
		case err != nil:
			return
		}
		for i, u := range ups {
			if isNotes(u.Ref) && u.Branch() != "" || u.Old == u.New && u.Old != "" && len(u.Old) != 40 && len(u.Old) != 64 {
				t.Fatalf("%+v", u)
			}
			if want := strings.Split(line, "\n")[i]; !strings.HasSuffix(want, " "+u.Ref) {
				t.Fatalf("%q is read as %+v", want, u)
			}
		}
	})
}
