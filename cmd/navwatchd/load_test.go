package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd/kube"
	"github.com/nav-watchdog/nav-watchdog/internal/config"
	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
	"github.com/nav-watchdog/nav-watchdog/internal/watchd"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// load is a daemon with much to do: a long history, the last commits of which
// ask for a watch each, and as many Applications as a large cluster has.
type load struct {
	srv     *navtest.Repo
	api     *loadAPI
	reader  *kube.Reader
	set     config.Daemon
	skip    time.Duration // by which the clock is ahead
	remote  *timedRemote
	store   *timedStore
	commits []string // that ask for a watch, oldest first
	armed   int      // which of them is: the last one of app-0
}

// timedRemote tells how long fetching took.
type timedRemote struct {
	remote
	fetched time.Duration
	last    time.Duration
}

func (r *timedRemote) Fetch(ctx context.Context) (gitstore.RemoteRefs, error) {
	began := time.Now()
	refs, err := r.remote.Fetch(ctx)
	r.last = time.Since(began)
	r.fetched += r.last
	return refs, err
}

// timedStore tells when it was asked to write, which is when the daemon had
// decided, and how long that took: objects, the push, and all that follows it.
type timedStore struct {
	watchd.Store
	remote *timedRemote
	took   time.Duration
	writes chan written
}

type written struct {
	at    time.Time
	took  time.Duration
	fetch time.Duration // the last one before it
}

func (s *timedStore) Write(ctx context.Context, w watchd.Write) error {
	began := time.Now()
	err := s.Store.Write(ctx, w)
	s.took += time.Since(began)
	select {
	case s.writes <- written{began, time.Since(began), s.remote.last}:
	default: // nobody waits for it
	}
	return err
}

// loadSize is what the figures are for.
type loadSize struct{ history, watches, apps, events int }

func newLoad(tb testing.TB, size loadSize) *load {
	tb.Helper()
	dir := tb.TempDir()
	bare := filepath.Join(dir, "srv.git")
	navtest.Git(tb, dir, "init", "-q", "--bare", "--template=", bare)
	l := &load{srv: navtest.At(tb, bare), armed: (size.watches - 1) / size.apps * size.apps}
	l.srv.GitIn(l.history(size), "fast-import", "--quiet")
	l.commits = strings.Fields(l.srv.Git("rev-list", "--reverse", fmt.Sprintf("--max-count=%d", size.watches), "refs/heads/later"))
	l.queue(l.commits[l.armed])
	l.api = newLoadAPI(tb, size.apps, l.srv.Tip("main"), l.now().Add(-time.Minute))
	l.set = config.DefaultDaemon()
	l.set.Repository, l.set.Mirror, l.set.Names = bare, filepath.Join(dir, "mirror.git"), []string{deployURL}
	no := false
	l.set.DryRun, l.set.Notes, l.set.Interval = &no, config.NotesHook, 15*time.Second
	var err error
	l.reader, err = kube.New(kube.Config{Kubeconfig: l.api.kubeconfig, Now: l.now})
	check(tb, err)
	ctx, cancel := context.WithCancel(context.Background())
	tb.Cleanup(func() { cancel(); l.reader.Wait() })
	l.reader.Start(ctx)
	for !l.reader.Synced() {
		<-l.reader.Changed()
	}
	return l
}

func (l *load) now() time.Time { return time.Now().Add(l.skip) }

// queue says who pushed a commit, as post-receive would: only then may a watch
// be armed.
func (l *load) queue(commit string) {
	line := verdict.Arrival{Commit: commit, Branch: "main", By: "alice", Host: "plain", At: l.now()}.Line()
	l.srv.Git("notes", "--ref=nav/watches", "append", "-m", line, commit)
}

// loadPath is where an Application's manifests are.
func loadPath(app int) string { return fmt.Sprintf("apps/%d/app-%d", app/100, app) }

// history is main, and later on top of it with the commits that ask for watches.
// One of them is armed.
func (l *load) history(size loadSize) []byte {
	var s bytes.Buffer
	n, watches, apps := size.history, size.watches, size.apps
	for i := range n {
		ref, text := "refs/heads/main", fmt.Sprintf("Bump %d\n\nThe body of commit %d.\n", i, i)
		if w := i - (n - watches); w >= 0 {
			fields := "deadline=6h reach=6h"
			if w == l.armed {
				fields = "deadline=60s reach=6h mode=arm"
			}
			ref, text = "refs/heads/later", fmt.Sprintf("Bump %d\n\nNav-Watchdog: app=app-%d %s\n", i, w%apps, fields)
		}
		fmt.Fprintf(&s, "commit %s\nmark :%d\ncommitter A <a@example.com> %d +0000\ndata %d\n%s", ref, i+1, l.now().Unix()-int64(n-i), len(text), text)
		if i == n-watches {
			fmt.Fprintf(&s, "from :%d\n", i)
		}
		data := fmt.Sprintf("n: %d\n", i)
		fmt.Fprintf(&s, "M 100644 inline %s/values.yaml\ndata %d\n%s\n", loadPath(max(i-(n-watches), 0)%apps), len(data), data)
		if i == 0 {
			fmt.Fprintf(&s, "M 100644 inline %s\ndata %d\n%s\n", policyFile, len(openPolicy), openPolicy)
		}
	}
	return s.Bytes()
}

// daemon is one as after a start; its mirror is kept.
func (l *load) daemon(tb testing.TB) *watchd.Daemon {
	tb.Helper()
	e := env{environ: l.srv.Env(), now: l.now, stderr: io.Discard}
	repo, rem, err := openMirror(tb.Context(), e, l.set)
	check(tb, err)
	l.remote = &timedRemote{remote: rem}
	conf := daemonConfig(e, l.set, repo, l.remote, cluster{"live", l.reader}, slog.New(slog.DiscardHandler))
	l.store = &timedStore{Store: conf.Store, remote: l.remote, writes: make(chan written, 1)}
	conf.Store = l.store
	d, err := watchd.New(conf)
	check(tb, err)
	return d
}

// pass is one: what it took itself, to fetch and to write.
func (l *load) pass(tb testing.TB, d *watchd.Daemon) (own, fetch, write time.Duration) {
	tb.Helper()
	l.remote.fetched, l.store.took = 0, 0
	began := time.Now()
	check(tb, d.Pass(context.Background()))
	whole := time.Since(began)
	return whole - l.remote.fetched - l.store.took, l.remote.fetched, l.store.took
}

// later makes passes at the clock's usual pace, while Applications look fresh,
// and says what was asked of the API server.
func (l *load) later(tb testing.TB, d *watchd.Daemon, passes int, fresh func()) map[string]int {
	tb.Helper()
	l.api.taken()
	for range passes {
		l.skip += l.set.Interval
		fresh()
		check(tb, d.Pass(context.Background()))
	}
	return l.api.taken()
}

// put changes an Application and waits until the reader knows.
func (l *load) put(tb testing.TB, app int, revision, health string) {
	tb.Helper()
	at := l.now().Truncate(time.Second)
	l.api.put(app, revision, health, at)
	name := fmt.Sprintf("app-%d", app)
	for {
		apps, err := l.reader.List(context.Background(), l.now())
		check(tb, err)
		for _, a := range apps {
			if look := a.Look(at, false); look.App.Name == name && look.ReconciledAt.Equal(at) {
				return
			}
		}
	}
}
