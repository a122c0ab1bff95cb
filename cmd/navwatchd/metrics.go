package main

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/nav-watchdog/nav-watchdog/internal/watchd"
)

// metrics are what /metrics shows; docs/operations.md has their names.
type metrics struct {
	registry *prometheus.Registry

	info          *prometheus.GaugeVec
	passes        *prometheus.CounterVec
	took          prometheus.Histogram
	verdicts      *prometheus.CounterVec
	notices       *prometheus.CounterVec
	alive         *prometheus.CounterVec
	lastGood      prometheus.Gauge
	heartbeat     prometheus.Gauge
	open          prometheus.Gauge
	applications  prometheus.Gauge
	unreadable    prometheus.Gauge
	pending       prometheus.Gauge
	frozen        prometheus.Gauge
	dryRun        prometheus.Gauge
	configRefused prometheus.Gauge

	mu      sync.Mutex
	moved   map[string]int // as counted already
	last    watchd.Report
	touched time.Time // the loop was last heard of
	good    time.Time
}

func newMetrics(now time.Time) *metrics {
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "navwatchd", Name: name, Help: help})
	}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "navwatchd", Name: name, Help: help}, labels)
	}
	m := &metrics{
		registry: prometheus.NewRegistry(), moved: map[string]int{}, touched: now,
		info: prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "navwatchd", Name: "build_info",
			Help: "1; version, and digests of the program and of the settings that count."}, []string{"version", "binary", "config"}),
		passes: counter("passes_total", "Passes by result: good, partial (not every Application was seen), failed.", "result"),
		took: prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: "navwatchd", Name: "pass_duration_seconds",
			Help: "Time of a pass.", Buckets: prometheus.ExponentialBuckets(0.01, 2.5, 12)}),
		verdicts:      counter("verdicts_total", "Transitions of watches that were written, by verdict.", "verdict"),
		notices:       counter("notices_total", "Notices by kind and result: sent, failed, dropped.", "kind", "result"),
		alive:         counter("alive_calls_total", "Calls of the dead man's switch that failed, or worked again after that.", "result"),
		lastGood:      gauge("last_good_pass_timestamp_seconds", "End of the last pass that saw everything and could write; 0: none yet."),
		heartbeat:     gauge("heartbeat_timestamp_seconds", "Time of the status as it was last written; 0: not yet."),
		open:          gauge("watches_open", "Watches that are not ended."),
		applications:  gauge("applications", "Applications that were seen."),
		unreadable:    gauge("unreadable", "Things that cannot be read; the status names them."),
		pending:       gauge("notices_pending", "Notices that are not known to be delivered."),
		frozen:        gauge("reverts_frozen", "1 if all reverts are frozen."),
		dryRun:        gauge("dry_run", "1 if nothing is reverted by configuration."),
		configRefused: gauge("config_refused", "1 if the settings on disk are refused and older ones count."),
	}
	m.registry.MustRegister(m.info, m.passes, m.took, m.verdicts, m.notices, m.alive, m.lastGood, m.heartbeat, m.open, m.applications,
		m.unreadable, m.pending, m.frozen, m.dryRun, m.configRefused,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, r := range []string{"good", "partial", "failed"} {
		m.passes.WithLabelValues(r)
	}
	return m
}

// runs tells which program and which settings count.
func (m *metrics) runs(binary, config string) {
	m.info.Reset()
	m.info.WithLabelValues(version, binary, config).Set(1)
}

// touch says that the loop goes on.
func (m *metrics) touch(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.touched = now
}

// passed counts a pass.
func (m *metrics) passed(r watchd.Report) {
	result := "good"
	switch {
	case r.Err != nil:
		result = "failed"
	case r.Unread != nil:
		result = "partial"
	}
	m.passes.WithLabelValues(result).Inc()
	m.took.Observe(r.Took.Seconds())
	m.open.Set(float64(r.Open))
	m.applications.Set(float64(r.Applications))
	m.unreadable.Set(float64(len(r.Sick)))
	m.pending.Set(float64(r.Pending))
	m.frozen.Set(truth(r.Frozen))
	m.dryRun.Set(truth(r.DryRun))
	if !r.Heartbeat.IsZero() {
		m.heartbeat.Set(float64(r.Heartbeat.Unix()))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last, m.touched = r, r.At
	if r.Good() {
		m.good = r.At
		m.lastGood.Set(float64(r.At.Unix()))
	}
	for v, n := range r.Moved {
		if more := n - m.moved[v]; more > 0 {
			m.verdicts.WithLabelValues(v).Add(float64(more))
		}
	}
	m.moved = r.Moved
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// health says why the loop seems to hang; empty: it does not.
func (m *metrics) health(now time.Time, limit time.Duration) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if age := now.Sub(m.touched); age > limit {
		return "nothing was heard of the loop for " + age.Round(time.Second).String()
	}
	return ""
}

// ready says why the last pass was not good, or too long ago; empty: it was.
func (m *metrics) ready(now time.Time, limit time.Duration) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.last.At.IsZero():
		return "no pass was made yet"
	case m.last.Err != nil:
		return "the last pass failed: " + m.last.Err.Error()
	case m.last.Unread != nil:
		return m.last.Unread.Error()
	case now.Sub(m.good) > limit:
		return "the last pass was " + now.Sub(m.good).Round(time.Second).String() + " ago"
	}
	return ""
}

// anew: the daemon that passes from now on counts from nothing.
func (m *metrics) anew() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.moved = map[string]int{}
}

func (m *metrics) notice(kind, result string) { m.notices.WithLabelValues(kind, result).Inc() }
func (m *metrics) called(result string)       { m.alive.WithLabelValues(result).Inc() }
