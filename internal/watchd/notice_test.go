package watchd_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/watchd"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// post takes notices, or does not, or takes them and never says so: it was
// killed.
type post struct {
	mu     sync.Mutex
	sent   []watchd.Notice
	err    error
	silent bool
	became map[string]error
}

func (p *post) Notify(n watchd.Notice) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, n)
	if !p.silent {
		if p.became == nil {
			p.became = map[string]error{}
		}
		p.became[n.ID] = p.err
	}
}

func (p *post) Outcomes() map[string]error {
	out := p.became
	p.became = nil
	return out
}

func (p *post) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.sent)
}

// froze is a line of somebody who stops all reverts.
func froze(reason string) string {
	return verdict.PeopleLine{Kind: verdict.PeopleFreeze, By: "mallory", Reason: reason, At: time.Now()}.Line()
}

// TestNoticeAfterKill: a daemon that ends before a notice is delivered leaves it
// in the status, and the next one sends it again, with the same id, until it is
// delivered; then nobody does.
func TestNoticeAfterKill(t *testing.T) {
	m, p := &memory{reads: true}, &post{silent: true}
	m.people = []string{froze("the tags are wrong")}
	c := settings(m, &bytes.Buffer{})
	c.Notifier = p
	for range 2 { // each is killed after a pass
		pass(t, c, 1)
	}
	p.silent = false
	pass(t, c, 2) // sends, and writes down that it was delivered
	pass(t, c, 2)
	if len(p.sent) != 3 {
		t.Fatalf("sent %d times, want 3: %+v", len(p.sent), p.sent)
	}
	for _, n := range p.sent {
		if n.ID != p.sent[0].ID || n.Kind != watchd.KindFrozen || !n.At.Equal(p.sent[0].At) || n.Watcher != "navwatchd v1 policy=none" || !strings.Contains(n.Text, "by mallory: the tags are wrong") {
			t.Errorf("sent %+v", n)
		}
	}
	if strings.Contains(string(m.status), `"notices"`) {
		t.Errorf("delivered, and it still waits:\n%s", m.status)
	}
}

// pass lets a new daemon make some passes.
func pass(t *testing.T, c watchd.Config, n int) {
	t.Helper()
	d, err := watchd.New(c)
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		if err := d.Pass(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// TestNoticeIsTriedAgain: one that is not taken is sent again every five minutes
// for a day, and then given up, which the log says.
func TestNoticeIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, log, p := &memory{}, &bytes.Buffer{}, &post{err: errors.New("nobody is there")}
		m.people = []string{froze("x")}
		c := settings(m, log)
		c.Notifier, c.StatusInterval = p, 24*time.Hour
		end := begin(t, c)
		time.Sleep(16 * time.Minute)
		synctest.Wait()
		if p.count() != 4 {
			t.Errorf("sent %d times in 16 minutes, want 4", p.count())
		}
		time.Sleep(26 * time.Hour) // of the watch, which is not reached after an hour, too
		synctest.Wait()
		sent := p.count()
		time.Sleep(time.Hour)
		if err := end(); err != nil {
			t.Error(err)
		}
		if p.count() != sent || strings.Count(log.String(), "notice lost") != 2 || strings.Contains(string(m.status), `"notices"`) {
			t.Errorf("sent %d and %d times\n%s\n%.500s", sent, p.count(), log, m.status)
		}
	})
}

// TestNoticesAreBounded: however many people freeze, a hundred wait at most.
func TestNoticesAreBounded(t *testing.T) {
	m, p := &memory{reads: true}, &post{silent: true}
	c := settings(m, &bytes.Buffer{})
	c.Notifier = p
	d, err := watchd.New(c)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		for range 70 {
			m.people = append(m.people, froze(strings.Repeat("x", len(m.people)+1)))
		}
		if err := d.Pass(t.Context()); err != nil {
			t.Errorf("pass %d: %v", i, err)
		}
	}
	if err := d.Pass(t.Context()); err != nil {
		t.Error(err)
	}
	if got := strings.Count(string(m.status), `"kind": "frozen"`); got != 100 {
		t.Errorf("%d wait, want 100", got)
	}
}

// TestFreezeIsToldOnce: each freeze of a person that stands is told once, also by
// later daemons; one that was thawed before anybody looked is not.
func TestFreezeIsToldOnce(t *testing.T) {
	m, p := &memory{reads: true}, &post{}
	c := settings(m, &bytes.Buffer{})
	c.Notifier = p
	m.people = []string{
		froze("first"),
		verdict.PeopleLine{Kind: verdict.PeopleFreeze, By: "bob", App: "argocd/web", Reason: "second", At: time.Now()}.Line(),
		verdict.PeopleLine{Kind: verdict.PeopleFreeze, By: "bob", App: "a/b/c", Reason: "no Application", At: time.Now()}.Line(),
		verdict.PeopleLine{Kind: verdict.PeopleThaw, By: "mallory", Reason: "no owner", At: time.Now().Add(time.Hour)}.Line(),
	}
	pass(t, c, 3)
	pass(t, c, 3)
	var texts []string
	for _, n := range p.sent {
		texts = append(texts, n.Text)
	}
	want := "all reverts are frozen by mallory: first|reverts of argocd/web are frozen by bob: second"
	if got := strings.Join(texts, "|"); got != want {
		t.Errorf("told %q\nwant %q", got, want)
	}
	m.people = append(m.people, froze("again"))
	c.Notifier = nil // such as `navwatchd once`, which tells nobody
	pass(t, c, 2)
	c.Notifier = p
	pass(t, c, 1)
	if len(p.sent) != 3 {
		t.Errorf("told %+v", p.sent)
	}
}

// TestFailureInStatus: whatever makes passes fail stands in the next status, with
// how many it were, for a day; the loser of a race waits for its heartbeat.
func TestFailureInStatus(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	m := &memory{reads: true}
	c := settings(m, &bytes.Buffer{})
	c.Now = func() time.Time { now = now.Add(10 * time.Second); return now }
	fail := error(nil)
	m.fetch = func(context.Context) error { return fail }
	d, err := watchd.New(c)
	if err != nil {
		t.Fatal(err)
	}
	passes := func(n int) {
		for range n {
			_ = d.Pass(t.Context()) // it fails, or not
		}
	}
	fail = errors.New("read-only file system")
	passes(3)
	fail = nil
	passes(1)
	if got := m.said(t, "failed"); !strings.Contains(got, "read-only file system") || !strings.Contains(got, `"passes": 3`) {
		t.Errorf("the status says %s", got)
	}
	before := string(m.status)
	m.write = func(context.Context) error { return watchd.ErrStale }
	now = now.Add(time.Hour)
	passes(1)
	m.write = nil
	if string(m.status) != before {
		t.Error("a write that failed was one")
	}
	now = now.Add(25 * time.Hour)
	passes(1)
	pass(t, c, 1)
	if got := m.said(t, "failed"); got != "" {
		t.Errorf("a day later it says %s", got)
	}
}
