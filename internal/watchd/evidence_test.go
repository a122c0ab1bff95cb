package watchd_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/watchd"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// hanging is a cluster of six Applications, all Degraded with the watched commit.
// The controller compares until it ends. Direct looks at all but one hang, and
// then fail.
type hanging struct {
	failing
	ends    time.Time
	answers string // the Application whose direct look does not hang
	hang    time.Duration
	read    *time.Time // when it was read last
}

func (h hanging) look(name string, at time.Time) watchd.Snapshot {
	s := h.failing.look(at)
	s.Look.App.Name, s.Look.UID = name, "u-"+name
	if time.Now().After(h.ends) {
		s.Look.ReconciledAt = h.ends
	}
	return s
}

func (h hanging) List(_ context.Context, now time.Time) (apps, looks []watchd.Snapshot, err error) {
	for _, name := range []string{"a", "b", "c", "d", "e", "web"} {
		apps = append(apps, h.look(name, now))
	}
	return apps, nil, nil
}

func (h hanging) Get(_ context.Context, app verdict.App, now time.Time) (watchd.Snapshot, error) {
	if app.Name != h.answers {
		time.Sleep(h.hang)
		return watchd.Snapshot{}, errors.New("no answer")
	}
	*h.read = time.Now()
	s := h.look(app.Name, now)
	s.Look.Direct = true
	return s, nil
}

// TestEvidenceIsFresh: direct looks that hang make neither an old look decide nor a
// comparison look younger than it is.
func TestEvidenceIsFresh(t *testing.T) {
	for name, c := range map[string]struct {
		answers string
		hang    time.Duration
		ends    time.Duration
		fails   bool
	}{
		"no direct look hangs":                        {"web", 0, time.Hour, true},
		"those after it hang":                         {"a", 15 * time.Second, time.Hour, true},
		"those before it hang":                        {"web", 15 * time.Second, time.Hour, true},
		"the controller ended, and none hangs":        {"web", 0, 15 * time.Minute, true},
		"the controller ended, those before it hang":  {"web", time.Minute, 15 * time.Minute, false},
		"the controller ended long before, none hang": {"web", 0, 5 * time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, log, began, read := &memory{}, &bytes.Buffer{}, time.Now(), time.Time{}
				h := hanging{failing{&telling{}, t, began}, began.Add(c.ends), c.answers, c.hang, &read}
				conf := settings(m, log)
				conf.Names, conf.Cluster, conf.Git = []string{deploys}, h, standing{}
				fails := func() bool { return strings.Contains(m.note(), c.answers+": FAIL") }
				end := begin(t, conf)
				for time.Since(began) < 45*time.Minute && !fails() {
					time.Sleep(time.Second)
					synctest.Wait()
				}
				if age := time.Since(read); fails() && age > 2*conf.Interval+time.Second {
					t.Errorf("FAIL by a look of %s ago", age)
				}
				if fails() != c.fails {
					t.Errorf("it is a FAIL: %v\n%s\n%s", fails(), m.note(), log)
				}
				if age := time.Since(h.ends); fails() && age > 3*conf.Refresh {
					t.Errorf("FAIL by a comparison of %s ago", age)
				}
				if err := end(); err != nil {
					t.Errorf("Run ended in %v", err)
				}
			})
		})
	}
}

// flapping is Degraded but for one second in ten.
type flapping struct {
	failing
	bad *bool
}

func (f flapping) at(at time.Time) watchd.Snapshot {
	s := f.look(at)
	if !*f.bad {
		s.Look.Health = verdict.Healthy
	}
	return s
}

func (f flapping) List(_ context.Context, now time.Time) (apps, looks []watchd.Snapshot, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return []watchd.Snapshot{f.at(now)}, f.take(), nil
}

func (f flapping) Get(_ context.Context, _ verdict.App, now time.Time) (watchd.Snapshot, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.at(now)
	s.Look.Direct = true
	return s, nil
}

func (f flapping) becomes(bad bool) {
	f.mu.Lock()
	*f.bad = bad
	s := f.at(time.Now())
	f.mu.Unlock()
	f.deliver(s)
}

// TestFlapsInBetween: what was healthy every ten seconds was never unhealthy for a
// minute, whether a pass is at work when that shows or not.
func TestFlapsInBetween(t *testing.T) {
	for name, inside := range map[string]bool{"outside of a pass": false, "while a pass fetches": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, log, began, bad := &memory{}, &bytes.Buffer{}, time.Now(), false
				f := flapping{failing{&telling{changed: make(chan struct{}, 1)}, t, began.Add(-time.Hour)}, &bad}
				flap := func() {
					if time.Since(began) > 15*time.Second {
						f.becomes(false)
						time.Sleep(time.Second)
						f.becomes(true)
					}
				}
				m.fetch = func(context.Context) error {
					if inside {
						time.Sleep(time.Second)
						flap()
					}
					return nil
				}
				conf := settings(m, log)
				conf.Names, conf.Cluster, conf.Git = []string{deploys}, f, standing{}
				end := begin(t, conf)
				for time.Since(began) < 40*time.Minute {
					time.Sleep(4 * time.Second)
					if !inside {
						flap()
					}
					time.Sleep(5 * time.Second)
					synctest.Wait()
				}
				if note := m.note(); strings.Contains(note, "web: FAIL") {
					t.Errorf("it failed:\n%s\n%s", note, log)
				}
				if err := end(); err != nil {
					t.Errorf("Run ended in %v", err)
				}
			})
		})
	}
}
