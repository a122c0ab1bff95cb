package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// osUser is the operating system's user who runs the hook. It asks id rather
// than os/user, whose answer depends on how the program was built (without cgo
// it knows no directory service and may believe $USER), and whose cgo makes
// every start of a hook slower. Where id would look into /etc/passwd first and
// find the user there, no process is started.
func osUser() (string, error) {
	order, err := os.ReadFile("/etc/nsswitch.conf")
	if err == nil && filesFirst(string(order)) {
		if users, err := os.ReadFile("/etc/passwd"); err == nil {
			if name := userOf(string(users), os.Geteuid()); name != "" {
				return name, nil
			}
		}
	}
	return askID()
}

func askID() (string, error) {
	out, err := exec.Command("id", "-un").Output()
	if err != nil {
		return "", fmt.Errorf("running id -un: %w", err)
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}

// knowsUser reports whether id finds a user of that name. Where id cannot be asked
// in time, nothing is known against the name.
func knowsUser(ctx context.Context, name string) bool {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	err := exec.CommandContext(ctx, "id", "-u", "--", name).Run()
	var failed *exec.ExitError
	return ctx.Err() != nil || !errors.As(err, &failed)
}

// filesFirst reads nsswitch.conf(5): are users looked up in files before
// anywhere else.
func filesFirst(conf string) bool {
	for line := range strings.Lines(conf) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "passwd:"); ok {
			sources := strings.Fields(rest)
			return len(sources) > 0 && sources[0] == "files"
		}
	}
	return false
}

// userOf finds the first user with an id in passwd(5); "" if there is none, or
// if the lines before are not all of the usual form.
func userOf(passwd string, uid int) string {
	for line := range strings.Lines(passwd) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), ":")
		if len(f) != 7 || f[0] == "" || strings.ContainsAny(f[0][:1], "+-#") {
			return ""
		}
		if f[2] == strconv.Itoa(uid) {
			return f[0]
		}
	}
	return ""
}
