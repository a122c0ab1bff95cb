package gitstore_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
)

// served is a server with a branch and notes, and a mirror that is behind.
func served(t *testing.T, o gitstore.Options) (r *navtest.Repo, s *navtest.Server, m *gitstore.Repo, remote *gitstore.Remote) {
	t.Helper()
	r = navtest.Bare(t)
	first := r.Put("first", navtest.Files{"a": navtest.Text("1")})
	r.Git("notes", "--ref=nav/verdicts", "add", "-m", "x", first)
	s = r.Serve(0)
	o.Env = r.Env()
	m = must[*gitstore.Repo](t)(gitstore.Init(context.Background(), filepath.Join(t.TempDir(), "m.git"), o))
	remote = m.Remote(s.URL)
	must[gitstore.RemoteRefs](t)(remote.Fetch(context.Background()))
	noise := make([]byte, 200_000) // that does not compress
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	r.Put("second", navtest.Files{"b": navtest.Text(string(noise))})
	r.Branch("dev", first)
	return r, s, m, remote
}

// in lets every exchange of a phase go wrong: curl tries again by itself where a
// line breaks before an answer.
func in(phase string, f navtest.Fault) func(navtest.Request) navtest.Fault {
	return func(q navtest.Request) navtest.Fault {
		if q.Phase != phase {
			return navtest.Fault{}
		}
		return f
	}
}

func refsOf(t *testing.T, g *gitstore.Repo) map[string]string {
	t.Helper()
	return must[map[string]string](t)(g.Refs(context.Background(), "refs/heads/", "refs/tags/", "refs/notes/"))
}

// A fetch that breaks, in whatever phase and wherever, moves no ref; the next
// one brings everything.
func TestFetchBreaks(t *testing.T) {
	t.Parallel()
	for phase, parts := range map[string][]int{"refs for upload-pack": {0, 20, 60}, "upload-pack": {0, 10, 50, 99}} { // in percent
		for _, part := range parts {
			t.Run(fmt.Sprintf("%s at %d", phase, part), func(t *testing.T) {
				t.Parallel()
				r, s, m, remote := served(t, gitstore.Options{})
				before := refsOf(t, m)
				// How much there is to say is learnt from another mirror.
				must[gitstore.RemoteRefs](t)(mirror(t, r.Env()).Remote(s.URL).Fetch(context.Background()))
				all := s.Answered(phase)
				s.Break(in(phase, navtest.Fault{Answer: 1 + part*all/100}))
				if _, err := remote.Fetch(context.Background()); err == nil {
					t.Error("a fetch that broke was taken for one that did not")
				}
				if diff := cmp.Diff(before, refsOf(t, m)); diff != "" {
					t.Errorf("refs moved:\n%s", diff)
				}
				s.Break(nil)
				must[gitstore.RemoteRefs](t)(remote.Fetch(context.Background()))
				if diff := cmp.Diff(refsOf(t, open(t, r)), refsOf(t, m)); diff != "" {
					t.Errorf("after the next one (-server +mirror):\n%s", diff)
				}
				r.Git("fsck", "--connectivity-only")
			})
		}
	}
}

// updates are a branch, notes and the status, to be pushed together.
func updates(t *testing.T, m *gitstore.Repo, remote *gitstore.Remote) (ups []gitstore.RefUpdate, before, after map[string]string) {
	t.Helper()
	ctx := context.Background()
	before = must[gitstore.RemoteRefs](t)(remote.Fetch(ctx)).Refs
	main := before["refs/heads/main"]
	next := must[string](t)(m.WriteBlobCommit(ctx, map[string][]byte{"a": []byte("2")}, "next", who(), main))
	n := must[*gitstore.Notes](t)(m.Notes(ctx, notesRef))
	note := must[string](t)(m.WriteNotes(ctx, &n.NotesTree, map[string][]byte{main: []byte("y\n")}, "note", who()))
	status := must[string](t)(m.WriteBlobCommit(ctx, map[string][]byte{"s": []byte("1")}, "status", who()))
	ups = []gitstore.RefUpdate{{Ref: "refs/heads/main", Old: main, New: next}, {Ref: notesRef, Old: n.Tip, New: note}, {Ref: gitstore.StatusRef, New: status}}
	after = maps.Clone(before)
	for _, u := range ups {
		after[u.Ref] = u.New
	}
	return ups, before, after
}

// A push that breaks is all there or not at all, what is said of it is true, and
// the next one ends the same: nothing is lost, and nothing is there twice.
func TestPushBreaks(t *testing.T) {
	t.Parallel()
	type broken struct {
		what  string
		fault func(s *navtest.Server) func(navtest.Request) navtest.Fault
		// deaf: the look at the remote after the push fails, too.
		deaf    bool
		arrives bool
		kind    error
	}
	at := func(phase string, f navtest.Fault) func(*navtest.Server) func(navtest.Request) navtest.Fault {
		return func(*navtest.Server) func(navtest.Request) navtest.Fault { return in(phase, f) }
	}
	for _, b := range []broken{
		{what: "no answer at all", fault: at("refs for receive-pack", navtest.Fault{Down: true}), kind: gitstore.ErrRefused},
		{what: "half the refs", fault: at("refs for receive-pack", navtest.Fault{Answer: 100}), kind: gitstore.ErrRefused},
		{what: "begun", fault: at("receive-pack", navtest.Fault{Ask: 1}), kind: gitstore.ErrRefused},
		{what: "in the commands", fault: at("receive-pack", navtest.Fault{Ask: 150}), kind: gitstore.ErrRefused},
		{what: "in the pack", fault: at("receive-pack", navtest.Fault{Ask: 700}), kind: gitstore.ErrRefused},
		{what: "in the commands, and deaf", fault: at("receive-pack", navtest.Fault{Ask: 150}), deaf: true, kind: gitstore.ErrUnknown},
		{what: "before the answer", fault: at("receive-pack", navtest.Fault{Answer: 1}), arrives: true},
		{what: "in the answer", fault: at("receive-pack", navtest.Fault{Answer: 40}), arrives: true},
		{what: "before the answer, and deaf", fault: at("receive-pack", navtest.Fault{Answer: 1}), deaf: true, arrives: true, kind: gitstore.ErrUnknown},
	} {
		t.Run(b.what, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			r, s, m, remote := served(t, gitstore.Options{})
			ups, before, after := updates(t, m, remote)
			fault := b.fault(s)
			pushed := false
			s.Break(func(q navtest.Request) navtest.Fault {
				if pushed && b.deaf && q.Phase == "refs for upload-pack" {
					return navtest.Fault{Down: true}
				}
				pushed = pushed || strings.HasSuffix(q.Phase, "receive-pack")
				return fault(q)
			})
			err := remote.Push(ctx, ups)
			if !errors.Is(err, b.kind) || (err == nil) != (b.kind == nil) {
				t.Errorf("err = %v, want %v", err, b.kind)
			}
			s.Break(nil)
			want := before
			if b.arrives {
				want = after
			}
			if diff := cmp.Diff(want, refsOf(t, open(t, r))); diff != "" {
				t.Errorf("the server (-want +got):\n%s", diff)
			}
			check(t, remote.Push(ctx, ups))
			if diff := cmp.Diff(after, refsOf(t, open(t, r))); diff != "" {
				t.Errorf("the server after the next one (-want +got):\n%s", diff)
			}
			if got := r.Git("rev-list", "--count", "main"); got != "3" {
				t.Errorf("%s commits on main, want 3", got)
			}
			r.Git("fsck", "--connectivity-only")
		})
	}
}

// A server that answers after the time-out: when it was done, that is found out;
// when it is not, nothing is claimed, and the next look tells.
func TestPushAnswersLate(t *testing.T) {
	t.Parallel()
	for _, done := range []bool{false, true} {
		t.Run(fmt.Sprintf("done=%v", done), func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			r, s, m, remote := served(t, gitstore.Options{})
			ups, _, after := updates(t, m, remote)
			impatient := must[*gitstore.Repo](t)(gitstore.Open(ctx, m.Dir(), gitstore.Options{Env: r.Env(), Timeout: 3 * time.Second}))
			release, finished := make(chan struct{}), make(chan struct{})
			fault := navtest.Fault{Before: release}
			if done {
				fault = navtest.Fault{After: release}
			}
			fault.Done = finished
			s.Break(in("receive-pack", fault)) // once: whoever does not hear an answer does not ask again
			err := impatient.Remote(s.URL).Push(ctx, ups)
			if want := map[bool]error{false: gitstore.ErrUnknown, true: nil}[done]; !errors.Is(err, want) || (want == nil && err != nil) {
				t.Errorf("err = %v, want %v", err, want)
			}
			close(release)
			<-finished
			s.Break(nil)
			check(t, remote.Push(ctx, ups)) // it may have happened meanwhile
			if diff := cmp.Diff(after, refsOf(t, open(t, r))); diff != "" {
				t.Errorf("the server (-want +got):\n%s", diff)
			}
			if got := r.Git("rev-list", "--count", "main"); got != "3" {
				t.Errorf("%s commits on main, want 3", got)
			}
		})
	}
}

// A server whose disk is full, or that takes no pushes: refused, with the reason,
// and nothing is there by half.
func TestPushToAFullOrReadOnlyServer(t *testing.T) {
	t.Parallel()
	for what, prepare := range map[string]func(r *navtest.Repo) (*navtest.Server, string){
		"full": func(r *navtest.Repo) (*navtest.Server, string) { return r.Serve(2), "" },
		"read-only": func(r *navtest.Repo) (*navtest.Server, string) {
			s := r.Serve(0)
			r.Git("config", "http.receivepack", "false")
			return s, "403"
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			r, _, m, remote := served(t, gitstore.Options{})
			ups, before, after := updates(t, m, remote)
			big := make([]byte, 100_000)
			for i := range big {
				big[i] = byte(rand.Uint32())
			}
			ups[2].New = must[string](t)(m.WriteBlobCommit(ctx, map[string][]byte{"s": big}, "status", who()))
			after[gitstore.StatusRef] = ups[2].New
			s, why := prepare(r)
			err := m.Remote(s.URL).Push(ctx, ups)
			if !errors.Is(err, gitstore.ErrRefused) || !strings.Contains(err.Error(), why) {
				t.Errorf("err = %v", err)
			}
			if diff := cmp.Diff(before, refsOf(t, open(t, r))); diff != "" {
				t.Errorf("the server (-want +got):\n%s", diff)
			}
			r.Git("config", "http.receivepack", "true")
			check(t, remote.Push(ctx, ups))
			if diff := cmp.Diff(after, refsOf(t, open(t, r))); diff != "" {
				t.Errorf("with room again (-want +got):\n%s", diff)
			}
			r.Git("fsck")
		})
	}
}
