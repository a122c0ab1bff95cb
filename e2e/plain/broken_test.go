package plain

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/e2e/line"
	"github.com/nav-watchdog/nav-watchdog/e2e/people"
	"github.com/nav-watchdog/nav-watchdog/e2e/trial"
	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
)

// far is a repository behind an SSH server, and a line to it that breaks.
type far struct {
	t    *testing.T
	ssh  *SSH
	line *line.Line
	dir  string
	bare string
	env  []string
}

// newFar makes one with a branch and a note.
func newFar(t *testing.T) *far {
	t.Helper()
	f := &far{t: t, dir: folder(t)}
	var err error
	f.ssh, err = NewSSH(t.Context(), f.dir, trial.Alice)
	f.check(err)
	t.Cleanup(f.ssh.Stop)
	f.line, err = line.New(fmt.Sprintf("127.0.0.1:%d", f.ssh.Port))
	f.check(err)
	t.Cleanup(f.line.Close)
	f.env = append(os.Environ(), people.Key(f.ssh.Key(trial.Alice), "-o ConnectionAttempts=1")...)
	f.bare = bare(t, f.dir)
	f.run("chown", "-R", fmt.Sprint(Group+1)+":"+fmt.Sprint(Group), f.bare)
	f.push(f.bare, "first", "main")
	return f
}

func (f *far) check(errs ...error) {
	f.t.Helper()
	for _, err := range errs {
		if err != nil {
			f.t.Fatal(err)
		}
	}
}

func (f *far) run(name string, args ...string) string {
	f.t.Helper()
	out, err := exec.CommandContext(f.t.Context(), name, args...).CombinedOutput()
	if err != nil {
		f.t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// git runs git in a repository of the server.
func (f *far) git(bare string, args ...string) string {
	f.t.Helper()
	return f.run("git", append([]string{"-c", "safe.directory=*", "--git-dir=" + bare}, args...)...)
}

// push lets alice push a commit with 200 KB that do not compress, past the line.
func (f *far) push(bare, name, branch string) {
	f.t.Helper()
	dir, err := os.MkdirTemp(f.dir, "clone-")
	f.check(err)
	c, err := people.New(f.t.Context(), dir, trial.Alice, f.ssh.Address(trial.Alice, bare), people.Key(f.ssh.Key(trial.Alice))...)
	f.check(err)
	_, err = c.Commit(f.t.Context(), name, map[string]string{name: string(noise())})
	f.check(err)
	out, err := c.Git(f.t.Context(), "push", "origin", "HEAD:"+branch)
	if err != nil {
		f.t.Fatal(out)
	}
}

func noise() []byte {
	data := make([]byte, 200_000)
	_, _ = rand.Read(data) // never fails
	return data
}

// copy is a copy of a folder with its owners.
func (f *far) copy(dir string) string {
	f.t.Helper()
	to, err := os.MkdirTemp(f.dir, "copy-")
	f.check(err, os.Chmod(to, 0o755))
	to = filepath.Join(to, "deploy.git")
	f.run("cp", "-a", dir, to)
	return to
}

// mirror opens a mirror, whose git has so long.
func (f *far) mirror(dir string, patience time.Duration) *gitstore.Repo {
	f.t.Helper()
	m, err := gitstore.Init(f.t.Context(), dir, gitstore.Options{Env: f.env, Timeout: patience})
	f.check(err)
	return m
}

// address is the one of a repository through the line.
func (f *far) address(bare string) string {
	return "ssh://" + trial.Alice + "@" + f.line.Address + bare
}

func (f *far) refs(bare string) map[string]string {
	f.t.Helper()
	out := map[string]string{}
	for _, l := range strings.Split(f.git(bare, "for-each-ref", "--format=%(refname) %(objectname)"), "\n") {
		if name, id, ok := strings.Cut(l, " "); ok {
			out[name] = id
		}
	}
	return out
}

func (f *far) same(what string, want, got map[string]string) {
	f.t.Helper()
	if !maps.Equal(want, got) {
		f.t.Errorf("%s: refs are %v, want %v", what, got, want)
	}
}

// most is the connection that carried most.
func most(all []line.Carried) (out line.Carried) {
	for _, c := range all {
		out.Up, out.Down = max(out.Up, c.Up), max(out.Down, c.Down)
	}
	return out
}

// parts are where a line breaks, in percent of what a whole exchange carries.
func parts(whole line.Carried) map[string]line.Carried {
	out := map[string]line.Carried{}
	for _, p := range []int64{0, 2, 5, 10, 30, 60, 90, 99} {
		out[fmt.Sprintf("%d%% of the way up", p)] = line.Carried{Up: 1 + whole.Up*p/100}
		out[fmt.Sprintf("%d%% of the way down", p)] = line.Carried{Down: 1 + whole.Down*p/100}
	}
	return out
}

// TestSSHFetchBreaks: a fetch that breaks, wherever, is an error and moves no
// ref; the next one brings everything. One that hangs ends with its time.
func TestSSHFetchBreaks(t *testing.T) {
	f := newFar(t)
	behind := filepath.Join(f.dir, "behind.git")
	_, err := f.mirror(behind, time.Minute).Remote(f.address(f.bare)).Fetch(t.Context())
	f.check(err)
	before := f.refs(behind)
	f.push(f.bare, "second", "main")
	f.push(f.bare, "third", "dev")
	after := f.refs(f.bare)

	f.line.Break(line.Carried{})
	_, err = f.mirror(f.copy(behind), time.Minute).Remote(f.address(f.bare)).Fetch(t.Context())
	f.check(err)
	whole := most(f.line.Carried())
	broken := 0
	for what, at := range parts(whole) {
		for _, hangs := range []bool{false, true} {
			patience := time.Minute
			f.line.Break(at)
			if hangs {
				if at.Up != 0 || at.Down < whole.Down/2 { // some will do: each takes its time
					continue
				}
				patience = 3 * time.Second
				f.line.Hang(at)
			}
			dir := f.copy(behind)
			_, err := f.mirror(dir, patience).Remote(f.address(f.bare)).Fetch(t.Context())
			f.line.Break(line.Carried{})
			switch {
			case err == nil: // it was over before
				f.same(what, after, f.refs(dir))
			case hangs && !errors.Is(err, context.DeadlineExceeded):
				t.Errorf("%s, hangs: %v", what, err)
			default:
				broken++
				f.same(what, before, f.refs(dir))
			}
			_, err = f.mirror(dir, time.Minute).Remote(f.address(f.bare)).Fetch(t.Context())
			f.check(err)
			f.same("after the next one", after, f.refs(dir))
		}
	}
	if broken < 15 {
		t.Errorf("only %d fetches broke: the line was cut at the wrong places", broken)
	}
	t.Logf("%d fetches broke", broken)
}

// updates are a branch, notes and the status, to be pushed together.
func (f *far) updates(m *gitstore.Repo, address string) (ups []gitstore.RefUpdate, before, after map[string]string) {
	f.t.Helper()
	ctx, who := f.t.Context(), gitstore.Identity{Name: "x", Email: "x@example.com", When: time.Now()}
	got, err := m.Remote(address).Fetch(ctx)
	f.check(err)
	main := got.Refs["refs/heads/main"]
	next, err := m.WriteBlobCommit(ctx, map[string][]byte{"a": noise()}, "next", who, main)
	f.check(err)
	n, err := m.Notes(ctx, "refs/notes/nav/verdicts")
	f.check(err)
	note, err := m.WriteNotes(ctx, &n.NotesTree, map[string][]byte{main: []byte("y\n")}, "note", who)
	f.check(err)
	status, err := m.WriteBlobCommit(ctx, map[string][]byte{"s": []byte("1")}, "status", who)
	f.check(err)
	ups = []gitstore.RefUpdate{{Ref: "refs/heads/main", Old: main, New: next}, {Ref: "refs/notes/nav/verdicts", Old: n.Tip, New: note}, {Ref: gitstore.StatusRef, New: status}}
	before, after = got.Refs, maps.Clone(got.Refs)
	for _, u := range ups {
		after[u.Ref] = u.New
	}
	return ups, before, after
}

// insist pushes until it is done: a server that was cut off may still be at the
// push before.
func (f *far) insist(remote *gitstore.Remote, ups []gitstore.RefUpdate) {
	f.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		err := remote.Push(f.t.Context(), ups)
		switch {
		case err == nil:
			return
		case errors.Is(err, gitstore.ErrStale) || time.Now().After(end):
			f.t.Fatalf("the push after one that broke: %v", err)
		}
	}
}

// TestSSHPushBreaks: a push that breaks, wherever, is all there or not at all,
// what is said of it is true, and nothing is there twice after the next one.
func TestSSHPushBreaks(t *testing.T) {
	f := newFar(t)
	m := f.mirror(filepath.Join(f.dir, "mirror.git"), time.Minute)
	ups, before, after := f.updates(m, f.address(f.bare))
	f.line.Break(line.Carried{})
	f.check(m.Remote(f.address(f.copy(f.bare))).Push(t.Context(), ups))
	counts := map[string]int{}
	for what, at := range parts(most(f.line.Carried())) {
		server := f.copy(f.bare)
		remote := m.Remote(f.address(server))
		f.line.Break(at)
		err := remote.Push(t.Context(), ups)
		f.line.Break(line.Carried{})
		switch {
		case err == nil:
			counts["arrived"]++
			f.same(what, after, f.refs(server))
		case errors.Is(err, gitstore.ErrUnknown), errors.Is(err, gitstore.ErrRefused) && !errors.Is(err, gitstore.ErrNoAtomic):
			counts[fmt.Sprintf("unknown=%v", errors.Is(err, gitstore.ErrUnknown))]++
			if now := f.refs(server); !maps.Equal(now, before) && !maps.Equal(now, after) {
				t.Errorf("%s: half of it is there: %v", what, now)
			}
		default:
			t.Errorf("%s: %v", what, err)
		}
		f.insist(remote, ups)
		f.same("after the next one", after, f.refs(server))
		if got := f.git(server, "rev-list", "--count", "main"); got != "2" {
			t.Errorf("%s: %s commits on main, want 2", what, got)
		}
		f.git(server, "fsck", "--connectivity-only")
	}
	t.Logf("pushes: %v", counts)
	if len(counts) < 2 {
		t.Error("the line was cut at the wrong places")
	}
}

// TestSSHAnswersLate: the time is over while a hook of the server runs. Before it
// decided nothing is claimed; when refs have moved, that is found out.
func TestSSHAnswersLate(t *testing.T) {
	for hook, want := range map[string]error{"pre-receive": gitstore.ErrUnknown, "post-receive": nil} {
		t.Run(hook, func(t *testing.T) {
			f := newFar(t)
			m := f.mirror(filepath.Join(f.dir, "mirror.git"), time.Minute)
			ups, _, after := f.updates(m, f.address(f.bare))
			release := filepath.Join(f.bare, "release")
			f.check(os.WriteFile(filepath.Join(f.bare, "hooks", hook), fmt.Appendf(nil, "#!/bin/sh\nuntil test -e %s; do sleep 0.1; done\n", release), 0o755))
			err := f.mirror(m.Dir(), 4*time.Second).Remote(f.address(f.bare)).Push(t.Context(), ups)
			if !errors.Is(err, want) || want == nil && err != nil {
				t.Errorf("err = %v, want %v", err, want)
			}
			f.check(os.WriteFile(release, nil, 0o644))
			f.insist(m.Remote(f.address(f.bare)), ups)
			f.same("in the end", after, f.refs(f.bare))
			if got := f.git(f.bare, "rev-list", "--count", "main"); got != "2" {
				t.Errorf("%s commits on main, want 2", got)
			}
		})
	}
}
