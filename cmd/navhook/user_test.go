package main

import (
	"os/exec"
	"strings"
	"testing"
)

func TestOSUser(t *testing.T) {
	want, err := exec.Command("id", "-un").Output()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := osUser(); err != nil || got != strings.TrimSpace(string(want)) {
		t.Errorf("osUser() = %q, %v; id says %q", got, err, want)
	}
}

func TestKnowsUser(t *testing.T) {
	me, err := osUser()
	if err != nil {
		t.Fatal(err)
	}
	if !knowsUser(t.Context(), me) {
		t.Errorf("%q, who runs this, is not known", me)
	}
	for _, name := range []string{"nav-no-such-user", "-u", "--help", "a b"} {
		if knowsUser(t.Context(), name) {
			t.Errorf("%q is known", name)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if !knowsUser(t.Context(), "nav-no-such-user") {
		t.Error("a name is unknown though nobody could be asked")
	}
}

func TestUserOf(t *testing.T) {
	const root = "root:x:0:0:root:/root:/bin/sh\n"
	for _, c := range []struct {
		name, passwd string
		uid          int
		want         string
	}{
		{"found", root + "git:x:100:100::/srv:/bin/sh\n", 100, "git"},
		{"the first of two", root + "a:x:7:7::/:/bin/sh\nb:x:7:7::/:/bin/sh\n", 7, "a"},
		{"none", root, 100, ""},
		{"a part of an id", root + "git:x:100:100::/srv:/bin/sh\n", 10, ""},
		{"what another service is asked for", root + "+::::::\n" + "git:x:100:100::/srv:/bin/sh\n", 100, ""},
		{"a line that is none", root + "\n" + "git:x:100:100::/srv:/bin/sh\n", 100, ""},
		{"too few fields", "git:x:100\n", 100, ""},
	} {
		if got := userOf(c.passwd, c.uid); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestFilesFirst(t *testing.T) {
	for conf, want := range map[string]bool{
		"passwd: files systemd\n":            true,
		"# x\npasswd:\tfiles\nshadow: sss\n": true,
		"passwd: sss files\n":                false,
		"passwd: compat\n":                   false,
		"passwd:\n":                          false,
		"group: files\n":                     false,
		"":                                   false,
	} {
		if got := filesFirst(conf); got != want {
			t.Errorf("filesFirst(%q) = %t", conf, got)
		}
	}
}
