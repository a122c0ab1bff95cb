package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/config"
	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
	"github.com/nav-watchdog/nav-watchdog/internal/watchd"
)

// probes are the pages of a daemon whose clock the test has.
type probes struct {
	t   *testing.T
	m   *metrics
	now time.Time
	h   http.Handler
}

func newProbes(t *testing.T) *probes {
	p := &probes{t: t, now: navtest.Start()}
	p.m = newMetrics(p.now)
	set := &probed{10 * time.Second, redact(config.DefaultDaemon(), []string{"GIT_TOKEN=t0psecret"})}
	p.h = handler(p.m, func() time.Time { return p.now }, func() *probed { return set })
	return p
}

// want asks for a page, and demands a code and a text.
func (p *probes) want(page string, code int, text string) {
	p.t.Helper()
	w := httptest.NewRecorder()
	p.h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, page, nil))
	if w.Code != code || !strings.Contains(w.Body.String(), text) {
		p.t.Errorf("%s: %d, want %d; %q in\n%s", page, w.Code, code, text, w.Body)
	}
}

// TestProbes: ready is who has seen everything just now; alive is whose loop
// goes on, however long a pass takes.
func TestProbes(t *testing.T) {
	p := newProbes(t)
	p.want("/readyz", 503, "no pass was made yet")
	p.want("/healthz", 200, "ok")
	p.m.passed(watchd.Report{At: p.now, Err: errors.New("fetching: no route, t0psecret\x1b[2J")})
	p.want("/readyz", 503, `the last pass failed: fetching: no route, ***\x1b[2J`)
	p.m.passed(watchd.Report{At: p.now, Unread: errors.New("reading the Applications: forbidden")})
	p.want("/readyz", 503, "forbidden")
	p.m.passed(watchd.Report{At: p.now})
	p.want("/readyz", 200, "ok")
	p.now = p.now.Add(10 * time.Minute)
	p.want("/readyz", 503, "the last pass was 10m0s ago")
	p.want("/healthz", 200, "ok")
	p.now = p.now.Add(time.Hour)
	p.want("/healthz", 503, "nothing was heard of the loop for 1h10m0s")
	p.m.touch(p.now)
	p.want("/healthz", 200, "ok")
	p.want("/", 404, "")
	w := httptest.NewRecorder()
	p.h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/healthz", nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("a POST is answered with %d", w.Code)
	}
}

func TestMetrics(t *testing.T) {
	p := newProbes(t)
	p.m.runs("sha256:aa", "sha256:bb")
	p.m.passed(watchd.Report{At: p.now, Open: 3, Applications: 7, Frozen: true, DryRun: true, Moved: map[string]int{"FAIL": 2}, Sick: map[string]string{"a": "b"}, Heartbeat: p.now})
	p.m.passed(watchd.Report{At: p.now, Err: errors.New("x"), Open: 3, Applications: 7, Frozen: true, DryRun: true, Moved: map[string]int{"FAIL": 3, "CONFIRMED": 1}, Sick: map[string]string{"a": "b"}, Heartbeat: p.now})
	p.m.anew() // the next daemon counts from nothing
	p.m.passed(watchd.Report{At: p.now, Unread: errors.New("x"), Open: 3, Pending: 2, Applications: 7, Frozen: true, DryRun: true, Moved: map[string]int{"FAIL": 1}, Sick: map[string]string{"a": "b"}})
	p.m.notice("frozen", "sent")
	for _, line := range []string{
		`navwatchd_build_info{binary="sha256:aa",config="sha256:bb",version="` + version + `"} 1`,
		`navwatchd_passes_total{result="good"} 1`, `navwatchd_passes_total{result="partial"} 1`, `navwatchd_passes_total{result="failed"} 1`,
		`navwatchd_pass_duration_seconds_count 3`, `navwatchd_verdicts_total{verdict="FAIL"} 4`, `navwatchd_verdicts_total{verdict="CONFIRMED"} 1`,
		`navwatchd_notices_total{kind="frozen",result="sent"} 1`, `navwatchd_watches_open 3`, `navwatchd_applications 7`, `navwatchd_unreadable 1`, `navwatchd_notices_pending 2`,
		`navwatchd_reverts_frozen 1`, `navwatchd_dry_run 1`, `navwatchd_config_refused 0`,
	} {
		p.want("/metrics", 200, "\n"+line+"\n")
	}
	p.want("/metrics", 200, "\nnavwatchd_last_good_pass_timestamp_seconds 1.7")
	p.want("/metrics", 200, "\nnavwatchd_heartbeat_timestamp_seconds 1.7")
}

// TestMetricsDocumented: docs/operations.md names every metric of ours, and none
// that there is not.
func TestMetricsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	p := newProbes(t)
	p.m.runs("", "")
	p.m.passed(watchd.Report{Moved: map[string]int{"FAIL": 1}})
	p.m.notice("person", "sent")
	p.m.called("failed")
	all, err := p.m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, f := range all {
		if name := f.GetName(); strings.HasPrefix(name, "navwatchd_") {
			there[name] = true
			if !strings.Contains(string(text), "`"+name) {
				t.Errorf("%s is not documented", name)
			}
		}
	}
	for _, name := range regexp.MustCompile("`(navwatchd_[a-z_]+)").FindAllStringSubmatch(string(text), -1) {
		if !there[name[1]] {
			t.Errorf("%s is documented, and does not exist", name[1])
		}
	}
}
