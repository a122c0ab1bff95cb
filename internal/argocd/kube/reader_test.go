package kube_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd"
	"github.com/nav-watchdog/nav-watchdog/internal/argocd/kube"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

var start = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func application(namespace, name, revision string) map[string]any {
	return map[string]any{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
		"metadata": map[string]any{"namespace": namespace, "name": name, "uid": namespace + name},
		"spec":     map[string]any{"project": "default", "source": map[string]any{"repoURL": "https://h/r", "path": "a"}},
		"status": map[string]any{"sync": map[string]any{"status": "Synced", "revision": revision,
			"comparedTo": map[string]any{"source": map[string]any{"repoURL": "https://h/r", "path": "a"}}}},
	}
}

// clock is read by the reader and moved by the test.
type clock struct{ passed atomic.Int64 }

func (c *clock) now() time.Time          { return start.Add(time.Duration(c.passed.Load())) }
func (c *clock) advance(d time.Duration) { c.passed.Add(int64(d)) }

// run starts a reader that ends with the test.
func run(t *testing.T, s *apiServer, config kube.Config) *kube.Reader {
	t.Helper()
	config.Kubeconfig = s.kubeconfig
	r, err := kube.New(config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.Start(ctx)
	t.Cleanup(func() {
		cancel()
		r.Wait()
	})
	return r
}

// until waits for what must come, woken by the reader's own signal.
func until(t *testing.T, r *kube.Reader, what string, done func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond) // of what has no signal, as the end of a list
	defer tick.Stop()
	for !done() {
		select {
		case <-r.Changed():
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("waiting for %s: never came; states %+v", what, r.States())
		}
	}
}

// listed are the Applications with their compared revision.
func listed(t *testing.T, r *kube.Reader, now time.Time) (all []string, err error) {
	t.Helper()
	apps, err := r.List(context.Background(), now)
	for _, a := range apps {
		l := a.Look(now, false)
		all = append(all, l.App.String()+"@"+l.Compared[0].Rev)
	}
	return all, err
}

func wantListed(t *testing.T, r *kube.Reader, want ...string) {
	t.Helper()
	var diff string
	until(t, r, strings.Join(want, " "), func() bool {
		got, err := listed(t, r, time.Now())
		diff = cmp.Diff(want, got)
		return r.Synced() && err == nil && diff == ""
	})
}

// The cache follows what is added, changed and deleted, and lists in a stable
// order; with servers that can begin a watch with a list and with others.
func TestFollows(t *testing.T) {
	for _, noStreamed := range []bool{false, true} {
		s := newServer(t)
		s.noStreamed = noStreamed
		s.put(application("team", "web", "1"))
		s.put(application("argocd", "web", "1"))
		r := run(t, s, kube.Config{})
		wantListed(t, r, "argocd/web@1", "team/web@1")
		s.put(application("argocd", "api", "1"))
		s.put(application("argocd", "web", "2"))
		wantListed(t, r, "argocd/api@1", "argocd/web@2", "team/web@1")
		s.remove("team/web")
		wantListed(t, r, "argocd/api@1", "argocd/web@2")
		if err := r.States()[0].Err; err != nil {
			t.Errorf("all is well, and yet: %v", err)
		}
	}
}

// Whoever waits for the first list is woken, also if it is empty.
func TestFirstListSignals(t *testing.T) {
	s := newServer(t)
	r := run(t, s, kube.Config{})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for !r.Synced() {
		select {
		case <-r.Changed():
		case <-ctx.Done():
			t.Fatal("nothing tells that the first list is there")
		}
	}
	if apps, err := r.List(context.Background(), time.Now()); err != nil || len(apps) != 0 {
		t.Errorf("an empty cluster lists %v, %v", apps, err)
	}
}

// Between gives each state that was delivered, also those that the cache has
// forgotten, once.
func TestBetween(t *testing.T) {
	s := newServer(t)
	s.put(application("argocd", "web", "1"))
	r := run(t, s, kube.Config{Now: (&clock{}).now})
	until(t, r, "the watch", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return r.Synced() && len(s.watchers) == 1 })
	s.put(application("argocd", "web", "2"))
	s.put(application("argocd", "web", "3"))
	s.put(application("argocd", "api", "1"))
	var got []string
	until(t, r, "three states", func() bool {
		for _, d := range r.Between() {
			l := d.App.Look(d.At, false)
			got = append(got, l.App.Name+"@"+l.Compared[0].Rev)
			if !d.At.Equal(start) {
				t.Errorf("delivered at %v, the clock says %v", d.At, start)
			}
		}
		return len(got) >= 3
	})
	if d := cmp.Diff([]string{"web@2", "web@3", "api@1"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if again := r.Between(); len(again) != 0 {
		t.Errorf("%d states a second time", len(again))
	}
}

func TestReadsOnly(t *testing.T) {
	s := newServer(t)
	r := run(t, s, kube.Config{Namespaces: []string{"team", "argocd", "team"}})
	until(t, r, "the first list", r.Synced)
	_, _ = r.Get(context.Background(), verdict.App{Name: "web"}, start)
	_, _ = r.Get(context.Background(), verdict.App{Namespace: "team", Name: "web"}, start)
	s.set(func(s *apiServer) {
		for _, request := range s.requests {
			verb, path, _ := strings.Cut(request, " ")
			if verb != "get" && verb != "list" && verb != "watch" {
				t.Errorf("a request that does not read: %s", request)
			}
			if !strings.HasPrefix(path, "/apis/argoproj.io/v1alpha1/namespaces/team/") && !strings.HasPrefix(path, "/apis/argoproj.io/v1alpha1/namespaces/argocd/") {
				t.Errorf("a request outside the configured namespaces: %s", request)
			}
		}
	})
}

// A watch that is too old (410) is followed by a new list, and what was
// deleted meanwhile is gone.
func TestExpiredWatch(t *testing.T) {
	s := newServer(t)
	s.put(application("argocd", "web", "1"))
	s.put(application("argocd", "api", "1"))
	r := run(t, s, kube.Config{})
	wantListed(t, r, "argocd/api@1", "argocd/web@1")
	s.expire(func(objects map[string]map[string]any) {
		delete(objects, "argocd/api")
		objects["argocd/web"] = application("argocd", "web", "2")
	})
	wantListed(t, r, "argocd/web@2")
}

// A missing permission is told with what to do, whatever is missing, and
// reading goes on once it is given.
func TestForbidden(t *testing.T) {
	for _, verbs := range [][]string{{"list", "watch"}, {"watch"}} {
		s := newServer(t)
		s.put(application("argocd", "web", "1"))
		s.forbidden = verbs
		r := run(t, s, kube.Config{})
		var apps []string
		until(t, r, "the refusal", func() (refused bool) {
			got, err := listed(t, r, time.Now())
			apps = got
			return err != nil && strings.Contains(err.Error(), "is forbidden") &&
				strings.Contains(err.Error(), "hint: allow get, list and watch on applications.argoproj.io") &&
				(len(verbs) > 1 || len(got) == 1)
		})
		if len(verbs) == 1 && len(apps) != 1 {
			t.Errorf("only watch is missing: lists %v with the error, want what was listed", apps)
		}
		if r.Synced() && len(verbs) == 2 {
			t.Error("nothing could be read, and yet it is synced")
		}
		s.set(func(s *apiServer) { s.forbidden = nil })
		wantListed(t, r, "argocd/web@1")
	}
}

// What another namespace lacks hides nothing of this one, and is told.
func TestOneNamespaceForbidden(t *testing.T) {
	s := newServer(t)
	s.put(application("argocd", "web", "1"))
	s.put(application("team", "web", "1"))
	s.foreign = "team"
	r := run(t, s, kube.Config{Namespaces: []string{"argocd", "team"}})
	until(t, r, "one namespace and the refusal of the other", func() bool {
		got, err := listed(t, r, time.Now())
		return cmp.Equal(got, []string{"argocd/web@1"}) && err != nil &&
			strings.Contains(err.Error(), "listing Applications of namespace team: ") && !strings.Contains(err.Error(), "namespace argocd")
	})
	// A name without namespace may be there too.
	if _, err := r.Get(context.Background(), verdict.App{Name: "web"}, start); err == nil || errors.Is(err, argocd.ErrNotFound) {
		t.Errorf("a name that may stand in the forbidden namespace: %v", err)
	}
}

func TestNoCRD(t *testing.T) {
	s := newServer(t)
	s.noCRD = true
	r := run(t, s, kube.Config{})
	until(t, r, "the missing CRD", func() bool {
		_, err := r.List(context.Background(), time.Now())
		return err != nil && strings.Contains(err.Error(), "hint: is this the cluster of Argo CD?")
	})
	for _, app := range []verdict.App{{Namespace: "argocd", Name: "web"}, {Name: "web"}} {
		if _, err := r.Get(context.Background(), app, start); err == nil || errors.Is(err, argocd.ErrNotFound) {
			t.Errorf("%s: without the CRD an Application is not known, not absent: %v", app, err)
		}
	}
}

// An API server that is silent makes the list old, and says so; a bookmark is
// a sign of life.
func TestStale(t *testing.T) {
	s := newServer(t)
	s.put(application("argocd", "web", "1"))
	c := &clock{}
	r := run(t, s, kube.Config{Now: c.now, MaxAge: time.Minute})
	until(t, r, "the watch", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return len(s.watchers) == 1 })
	until(t, r, "the list", r.Synced)
	c.advance(2 * time.Minute)
	got, err := listed(t, r, c.now())
	if err == nil || !strings.Contains(err.Error(), "was not heard of for 2m0s") || len(got) != 1 {
		t.Errorf("after two silent minutes: %v, %v; want what is known and an error", got, err)
	}
	s.bookmark()
	until(t, r, "the bookmark", func() bool { return r.States()[0].Contact.Equal(start.Add(2 * time.Minute)) })
	if _, err := listed(t, r, c.now()); err != nil {
		t.Errorf("after a bookmark: %v", err)
	}
}

// An API server that goes away is told, not hidden.
func TestOutage(t *testing.T) {
	s := newServer(t)
	s.put(application("argocd", "web", "1"))
	r := run(t, s, kube.Config{})
	wantListed(t, r, "argocd/web@1")
	s.goAway()
	until(t, r, "the outage", func() bool {
		got, err := listed(t, r, time.Now())
		return err != nil && len(got) == 1
	})
	if _, err := r.Get(context.Background(), verdict.App{Namespace: "argocd", Name: "web"}, start); err == nil || errors.Is(err, argocd.ErrNotFound) {
		t.Errorf("a direct read during the outage: %v", err)
	}
}

// Get asks the API server, whatever the cache says, or before there is one.
func TestGet(t *testing.T) {
	s := newServer(t)
	s.put(application("argocd", "web", "1"))
	s.put(application("team", "web", "1"))
	s.put(application("team", "api", "1"))
	r, err := kube.New(kube.Config{Kubeconfig: s.kubeconfig, Namespaces: []string{"argocd", "team"}})
	if err != nil {
		t.Fatal(err)
	}
	get := func(app verdict.App) (verdict.App, error) {
		a, err := r.Get(context.Background(), app, start)
		if err != nil {
			return verdict.App{}, err
		}
		return a.App(), nil
	}
	for _, app := range []verdict.App{{Namespace: "team", Name: "web"}, {Name: "api"}} {
		if got, err := get(app); err != nil || !app.Matches(got) {
			t.Errorf("%s: %v, %v", app, got, err)
		}
	}
	for app, want := range map[verdict.App]error{
		{Name: "web"}:                       argocd.ErrAmbiguous,
		{Name: "absent"}:                    argocd.ErrNotFound,
		{Namespace: "team", Name: "absent"}: argocd.ErrNotFound,
	} {
		if _, err := get(app); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", app, err, want)
		}
	}
	for _, app := range []verdict.App{{Namespace: "elsewhere", Name: "web"}, {Namespace: "team", Name: "../web"}, {Namespace: "team"}} {
		if _, err := get(app); err == nil || errors.Is(err, argocd.ErrNotFound) {
			t.Errorf("%s: %v, want an error that is no absence", app, err)
		}
	}
	if s.asked("watch") {
		t.Error("a direct read needs no watch")
	}
	s.set(func(s *apiServer) { s.forbidden = []string{"get", "list"} })
	for _, app := range []verdict.App{{Namespace: "team", Name: "web"}, {Name: "api"}} {
		if _, err := get(app); err == nil || errors.Is(err, argocd.ErrNotFound) || !strings.Contains(err.Error(), "hint: allow get") {
			t.Errorf("%s without permission: %v", app, err)
		}
	}
}

// What cannot be decoded is named and hides nothing else.
func TestUndecodable(t *testing.T) {
	s := newServer(t)
	s.put(application("argocd", "web", "1"))
	bad := application("argocd", "bad", "1")
	bad["spec"] = map[string]any{"project": []any{}}
	s.put(bad)
	r := run(t, s, kube.Config{})
	until(t, r, "both", func() bool {
		got, err := listed(t, r, time.Now())
		return len(got) == 1 && err != nil && strings.Contains(err.Error(), `reading Application "argocd/bad": field spec.project is a list`)
	})
}

func TestConfig(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	t.Setenv("KUBERNETES_SERVICE_PORT", "")
	if _, err := kube.New(kube.Config{}); err == nil || !strings.Contains(err.Error(), "hint: outside a cluster, name a kubeconfig") {
		t.Errorf("neither kubeconfig nor cluster: %v", err)
	}
	if _, err := kube.New(kube.Config{Kubeconfig: filepath.Join(t.TempDir(), "absent")}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a kubeconfig that is not there: %v", err)
	}
	s := newServer(t)
	if _, err := kube.New(kube.Config{Kubeconfig: s.kubeconfig, Context: "other"}); err == nil || !strings.Contains(err.Error(), `context "other" does not exist`) {
		t.Errorf("a context that is not there: %v", err)
	}
}
