package plain

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/e2e/line"
	"github.com/nav-watchdog/nav-watchdog/e2e/people"
	"github.com/nav-watchdog/nav-watchdog/e2e/simulator"
	"github.com/nav-watchdog/nav-watchdog/e2e/trial"
	"github.com/nav-watchdog/nav-watchdog/e2e/watcher"
)

// until waits for something, at most two minutes.
func until(t *testing.T, w *watcher.Watcher, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited too long for %s:\n%s", what, w.Text())
		}
	}
}

// fails waits until so many more passes have failed, and the log says why.
func fails(t *testing.T, w *watcher.Watcher, n int, why ...string) {
	t.Helper()
	begin := len(w.Text())
	until(t, w, fmt.Sprintf("%d passes that fail with %q", n, why), func() bool {
		failed := 0
		for _, l := range strings.Split(w.Text()[begin:], "\n") {
			if strings.Contains(l, `msg="pass failed"`) && hasAny(l, why) {
				failed++
			}
		}
		return failed >= n
	})
}

func hasAny(text string, parts []string) bool {
	for _, p := range parts {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}

// tells waits until the status says why passes failed.
func tells(r *trial.Repository, w *watcher.Watcher, why ...string) {
	r.T.Helper()
	until(r.T, w, fmt.Sprintf("a status with %q", why), func() bool {
		_, failed, _ := strings.Cut(r.Server("show", "refs/notes/nav/status:status.json"), `"failed": {`)
		failed, _, _ = strings.Cut(failed, "}")
		return hasAny(failed, why)
	})
}

// What ssh says when the line breaks, and when there is none.
var (
	lineBreaks = []string{"Connection closed", "Connection reset", "closed by remote host", "Broken pipe"}
	lineGone   = append([]string{"Connection refused"}, lineBreaks...)
)

// TestSSHLine: the line between navwatchd and the SSH server breaks while a hook
// of the server holds the revert, before it is decided and after refs moved; and
// for longer than a deadline. There is one revert, and log and status say what
// happened.
func TestSSHLine(t *testing.T) {
	dir := folder(t)
	p := build(t, dir)
	ssh, err := NewSSH(t.Context(), dir, trial.Alice, trial.Olga, trial.Nav)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ssh.Stop)
	wire, err := line.New(fmt.Sprintf("127.0.0.1:%d", ssh.Port))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(wire.Close)
	path := bare(t, dir, "--shared=group")
	r := &trial.Repository{
		Bare: path, Dir: dir, How: "ssh", Watchd: p.Watchd, T: t,
		Login: func(who, _ string) (string, []string) {
			if who == trial.Nav { // the others push past the line
				return "ssh://" + who + "@" + wire.Address + path, people.Key(ssh.Key(who))
			}
			return ssh.Address(who, path), people.Key(ssh.Key(who))
		},
	}
	chgrp(t, path)
	r.Begin(t, p.Hook, []string{"--host", "plain"}, "one", "two", "three")
	w := r.Watch(trial.Reverting(r.Deploy("one", "two", "three")), nil)
	c := r.Clone(trial.Alice, "ssh")
	for app, stage := range map[string]string{"one": "pre-receive", "two": "post-receive"} {
		marker, undo := holds(r, stage, app)
		commit := r.Bad(c, app)
		until(t, w, "the revert of "+app, func() bool { _, err := os.Stat(marker); return err == nil })
		wire.Cut(true)
		fails(t, w, 1, lineGone...)
		undo()
		wire.Cut(false)
		r.Verdict(w, commit, "Nav-Verdict: REVERTED", "Nav-Recovery: RECOVERED")
		if got := r.Reverts(commit); len(got) != 1 {
			t.Errorf("%s, cut in %s: %d reverts: %v", app, stage, len(got), got)
		}
		tells(r, w, lineGone...)
	}
	commit := r.Bad(c, "three")
	r.Verdict(w, commit, "Nav-Reached: ")
	wire.Cut(true)
	fails(t, w, 8, lineGone...) // the deadline is 5 s, a pass comes every second
	wire.Cut(false)
	r.Verdict(w, commit, "Nav-Verdict: REVERTED", "Nav-Recovery: RECOVERED")
	if got := r.Reverts(commit); len(got) != 1 {
		t.Errorf("%d reverts: %v", len(got), got)
	}
	tells(r, w, lineGone...)
}

func chgrp(t *testing.T, path string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "chgrp", "-R", fmt.Sprint(Group), path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// holds lets a hook, after navhook's own, write a marker when the watcher pushes
// to main, and take its time.
func holds(r *trial.Repository, stage, app string) (marker string, undo func()) {
	r.T.Helper()
	hook := filepath.Join(r.Bare, "hooks", stage)
	ours := hook + ".ours"
	logs := filepath.Join(r.Dir, "markers")
	r.Check(os.MkdirAll(logs, 0o777), os.Chmod(logs, 0o777), os.Rename(hook, ours))
	marker = filepath.Join(logs, app)
	r.Check(os.WriteFile(hook, fmt.Appendf(nil, `#!/bin/sh
updates=$(cat)
printf '%%s\n' "$updates" | %s || exit 1
if test "$(id -un)" = %s && printf '%%s\n' "$updates" | grep -q refs/heads/main; then touch %s; sleep 2; fi
`, ours, trial.Nav, marker), 0o755))
	return marker, func() { r.T.Helper(); r.Check(os.Rename(ours, hook)) }
}

// disk is a file system of a few MB.
type disk struct {
	t    *testing.T
	path string
}

func newDisk(t *testing.T, path string) *disk {
	t.Helper()
	d := &disk{t, path}
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
	d.mount("-t", "tmpfs", "-o", "size=8m,mode=755", "none", path)
	t.Cleanup(func() { _ = exec.CommandContext(context.WithoutCancel(t.Context()), "umount", "--lazy", path).Run() })
	return d
}

func (d *disk) mount(args ...string) {
	d.t.Helper()
	if out, err := exec.CommandContext(d.t.Context(), "mount", args...).CombinedOutput(); err != nil {
		d.t.Fatalf("mount %v: %v\n%s", args, err, out)
	}
}

// spoil makes the disk full or read-only; mend takes that back.
func (d *disk) spoil(how string) (mend func()) {
	d.t.Helper()
	if how == "read-only" {
		d.mount("-o", "remount,ro", d.path)
		return func() { d.t.Helper(); d.mount("-o", "remount,rw", d.path) }
	}
	filler := filepath.Join(d.path, "filler")
	f, err := os.Create(filler)
	if err != nil {
		d.t.Fatal(err)
	}
	for block := make([]byte, 64<<10); err == nil; {
		if _, err = f.Write(block); err != nil && len(block) > 1 {
			block, err = block[:len(block)/2], nil
		}
	}
	_ = f.Close() // it is full
	return func() {
		d.t.Helper()
		if err := os.Remove(filler); err != nil {
			d.t.Fatal(err)
		}
	}
}

// TestDisks: the mirror's or the server's disk is full, or read-only. Nothing is
// decided by half, log and status say why, and once there is room the verdict
// comes.
func TestDisks(t *testing.T) {
	// As git 2.39 says it, and newer ones; of its own disk a server says no more
	// over the line.
	mirror := []string{"No space left on device", "Read-only file system", "couldn't write", "unable to write", "unable to create"}
	server := []string{"remote unpack failed"}
	for where, why := range map[string][]string{"mirror": mirror, "server": server} {
		t.Run(where, func(t *testing.T) {
			dir := folder(t)
			p := build(t, dir)
			path := filepath.Join(dir, "deploy.git")
			disks := map[string]*disk{"server": newDisk(t, path), "mirror": newDisk(t, filepath.Join(dir, "watcher", "mirror.git"))}
			bare(t, dir)
			passwords := map[string]string{trial.Alice: "a-secret", trial.Olga: "o-secret", trial.Nav: "n-secret"}
			web, err := NewWeb(dir, time.Minute, passwords)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(web.Close)
			r := &trial.Repository{
				Bare: path, Dir: dir, How: "http", Watchd: p.Watchd, T: t,
				Login: func(who, _ string) (string, []string) {
					return web.URL + "/deploy.git", people.Password(who, passwords[who])
				},
			}
			r.Server("config", "http.receivepack", "true")
			apps := []string{"full", "read-only"}
			r.Begin(t, p.Hook, []string{"--host", "http"}, apps...)
			w := r.Watch(trial.Reverting(r.Deploy(apps...)), nil)
			c := r.Clone(trial.Alice, "http")
			for _, how := range apps {
				// In shadow: a server that refuses a revert three times has refused it.
				r.Check(c.Pull(t.Context(), "main"))
				commit, err := c.Commit(t.Context(), "break\n\nNav-Watchdog: app="+how+" deadline=5 reach=120 stable=2",
					map[string]string{"apps/" + how + "/deployment.yaml": simulator.Deployment(how, how+":does-not-exist")})
				r.Check(err)
				r.Push(c, "main")
				r.Verdict(w, commit, "Nav-Reached: ")
				before := r.Server("for-each-ref")
				mend := disks[where].spoil(how)
				fails(t, w, 2, why...)
				if after := r.Server("for-each-ref"); after != before && where == "server" {
					t.Errorf("refs moved:\n%s\nwere:\n%s", after, before)
				}
				mend()
				r.Verdict(w, commit, "Nav-Verdict: FAIL")
				tells(r, w, why...)
			}
			r.Server("fsck", "--connectivity-only")
		})
	}
}
