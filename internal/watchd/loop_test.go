package watchd_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/internal/watchd"
)

// settings of a loop on the fakes.
func settings(m *memory, log *bytes.Buffer) watchd.Config {
	m.notes = map[string][]byte{}
	return watchd.Config{
		Store: m, Git: history{}, Cluster: nothing{}, Now: time.Now, Log: slog.New(slog.NewTextHandler(log, nil)),
		Interval: 10 * time.Second, Refresh: 3 * time.Minute, StatusInterval: time.Hour, Watcher: "navwatchd v1",
		ParsePolicy: func([]byte, string) (arming.Policy, error) { return arming.Default(), nil },
	}
}

// begin runs a daemon; the function ends it and gives its error.
func begin(t *testing.T, c watchd.Config) (end func() error) {
	t.Helper()
	d, err := watchd.New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	return func() error {
		cancel()
		return <-done
	}
}

// said is a key of the status last written.
func (m *memory) said(t *testing.T, key string) string {
	t.Helper()
	var s map[string]json.RawMessage
	if err := json.Unmarshal(m.status, &s); err != nil {
		t.Fatalf("%v in %q", err, m.status)
	}
	return string(s[key])
}

// TestRenew: settings are looked at before each pass and every few seconds in
// between; what they change is in force at once, and the watches stay.
func TestRenew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, log, start := &memory{}, &bytes.Buffer{}, time.Now()
		var looks []time.Duration
		c := settings(m, log)
		c.Look = 4 * time.Second
		c.Renew = func(d *watchd.Daemon) error {
			looks = append(looks, time.Since(start))
			if time.Since(start) == 14*time.Second {
				c.Interval, c.Watcher = 2*time.Second, "navwatchd v2"
				return d.Configure(c)
			}
			return nil
		}
		end := begin(t, c)
		time.Sleep(19 * time.Second)
		synctest.Wait()
		var passes []time.Duration
		for _, at := range m.fetches {
			passes = append(passes, at.Sub(start))
		}
		if want := seconds(0, 10, 16, 18); !slices.Equal(passes, want) {
			t.Errorf("passes at %v, want %v", passes, want)
		}
		if want := seconds(0, 4, 8, 10, 14, 16, 18); !slices.Equal(looks, want) {
			t.Errorf("looks at %v, want %v", looks, want)
		}
		if got := m.said(t, "watcher"); !strings.HasPrefix(got, `"navwatchd v2`) {
			t.Errorf("the status names %s", got)
		}
		if err := end(); err != nil {
			t.Error(err)
		}
		// 10 until the second pass, of the 6 after it twice the new interval, and 2.
		if got := m.reach(t); got != 16 {
			t.Errorf("%ds of reach are stored, want 16: did the watch stay?", got)
		}
	})
}

func seconds(ns ...int) []time.Duration {
	out := make([]time.Duration, len(ns))
	for i, n := range ns {
		out[i] = time.Duration(n) * time.Second
	}
	return out
}

// TestRenewEnds: an error of Renew ends Run with it, between two passes, and the
// budgets are stored as at any end.
func TestRenewEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, start := &memory{}, time.Now()
		c := settings(m, &bytes.Buffer{})
		c.Look = 3 * time.Second
		updated := errors.New("updated")
		c.Renew = func(*watchd.Daemon) error {
			if time.Since(start) >= 23*time.Second {
				return updated
			}
			return nil
		}
		d, err := watchd.New(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Run(t.Context()); !errors.Is(err, updated) {
			t.Errorf("Run ended in %v", err)
		}
		if took := time.Since(start); took != 23*time.Second {
			t.Errorf("it ended after %s", took)
		}
		if got := m.reach(t); got != 20 {
			t.Errorf("%ds of reach were stored, want 20", got)
		}
	})
}

// TestConfigureRefuses: settings that make no daemon leave the old ones.
func TestConfigureRefuses(t *testing.T) {
	m := &memory{}
	c := settings(m, &bytes.Buffer{})
	d, err := watchd.New(c)
	if err != nil {
		t.Fatal(err)
	}
	c.Interval = 0
	if d.Configure(c) == nil {
		t.Error("an interval of nothing is taken")
	}
	if err := d.Pass(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestComplain: what is not in order stands in log and status as long as it
// lasts, and is said once.
func TestComplain(t *testing.T) {
	m, log := &memory{}, &bytes.Buffer{}
	d, err := watchd.New(settings(m, log))
	if err != nil {
		t.Fatal(err)
	}
	pass := func(what string, err error) string {
		t.Helper()
		d.Complain(what, err)
		if err := d.Pass(t.Context()); err != nil {
			t.Fatal(err)
		}
		return m.said(t, "sick")
	}
	for range 3 {
		if got := pass("settings", errors.New("line 3")); !strings.Contains(got, "line 3") {
			t.Errorf("the status says %s", got)
		}
	}
	if got := pass("settings", nil); strings.Contains(got, "line 3") {
		t.Errorf("taken back, the status says %s", got)
	}
	if n := strings.Count(log.String(), "not in order"); n != 1 || !strings.Contains(log.String(), "in order again") {
		t.Errorf("said %d times:\n%s", n, log)
	}
}

// TestReport: each pass is told of, with what it came to.
func TestReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		m.fetch = func(context.Context) error {
			if len(m.fetches) == 2 {
				return errors.New("no route")
			}
			return nil
		}
		var got []watchd.Report
		c := settings(m, &bytes.Buffer{})
		c.DryRun = true
		c.Passed = func(r watchd.Report) { got = append(got, r) }
		end := begin(t, c)
		time.Sleep(25 * time.Second)
		if err := end(); err != nil {
			t.Error(err)
		}
		if len(got) != 3 {
			t.Fatalf("told of %d passes", len(got))
		}
		for i, good := range []bool{true, false, true} {
			r := got[i]
			if r.Good() != good || r.Open != 1 || !r.DryRun || r.Frozen || r.Heartbeat.IsZero() || (r.Sick["repository"] != "") == good {
				t.Errorf("pass %d: %+v", i, r)
			}
		}
	})
}

// box keeps notices.
type box []watchd.Notice

func (b *box) Notify(n watchd.Notice)     { *b = append(*b, n) }
func (b *box) Outcomes() map[string]error { return nil }

func (b box) kinds() string {
	var out []string
	for _, n := range b {
		out = append(out, n.Kind)
	}
	return strings.Join(out, " ")
}

// TestNotesNotTaken: where nobody says no, the line may have broken: a person is
// called at the third time in a row.
func TestNotesNotTaken(t *testing.T) {
	m, got := &memory{}, &box{}
	m.write = func(context.Context) error { return fmt.Errorf("%w: the line broke", watchd.ErrRefused) }
	c := settings(m, &bytes.Buffer{})
	c.Notifier = got
	d, err := watchd.New(c)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"", "", "notes-refused", "notes-refused"} {
		if d.Pass(t.Context()) == nil {
			t.Error("a pass that wrote nothing is a good one")
		}
		if got.kinds() != want {
			t.Errorf("pass %d: told %q, want %q", i, got.kinds(), want)
		}
	}
}

// TestNotesRefused: a person is called at the first refusal, and again only
// after notes went through in between. The id is that of the tip, so a restart
// gives the same.
func TestNotesRefused(t *testing.T) {
	m, log, got := &memory{}, &bytes.Buffer{}, &box{}
	refuse := true
	m.write = func(context.Context) error {
		if refuse {
			return fmt.Errorf("%w: %w: not the watcher", watchd.ErrRefused, watchd.ErrDeclined)
		}
		return nil
	}
	c := settings(m, log)
	c.Notifier = got
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	c.Now = func() time.Time { now = now.Add(2 * time.Hour); return now } // a status is always due
	restart := func() *watchd.Daemon {
		t.Helper()
		d, err := watchd.New(c)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	d := restart()
	passes := func(d *watchd.Daemon, n int) {
		for range n {
			_ = d.Pass(t.Context()) // refused, or not
		}
	}
	passes(d, 3)
	if got.kinds() != "notes-refused" || !strings.Contains((*got)[0].Text, "not the watcher") {
		t.Fatalf("told %+v", *got)
	}
	refuse = false
	passes(d, 1)
	refuse = true
	passes(d, 2)
	passes(restart(), 2)
	if got.kinds() != "notes-refused notes-refused notes-refused" {
		t.Errorf("told %s", got.kinds())
	}
	ids := map[string]bool{}
	for _, n := range *got {
		ids[n.ID] = true
	}
	if len(ids) != 1 || slices.Contains(slices.Collect(maps.Keys(ids)), "") {
		t.Errorf("ids %v", ids)
	}
}
