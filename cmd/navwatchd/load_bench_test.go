package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/watchd"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// BenchmarkLoad is a daemon under load: 5,000 Applications of 20 KB, 10,000 open
// watches, a history of 100,000 commits. It prints a table of figures beside
// their limits; NAV_BENCH_LOAD="history watches applications events" makes it
// smaller.
func BenchmarkLoad(b *testing.B) {
	size := loadSize{100_000, 10_000, 5_000, 200}
	if s := os.Getenv("NAV_BENCH_LOAD"); s != "" {
		if _, err := fmt.Sscan(s, &size.history, &size.watches, &size.apps, &size.events); err != nil {
			b.Fatalf("NAV_BENCH_LOAD: %v", err)
		}
	}
	fmt.Fprintf(os.Stderr, "\n%d Applications, %d open watches, %d commits, %d events\n", size.apps, size.watches, size.history, size.events)
	for b.Loop() { // with -benchtime 1x: once
		benchLoad(b, size, table{})
	}
}

func benchLoad(b *testing.B, size loadSize, t table) {
	l := newLoad(b, size)
	d := l.daemon(b)
	own, fetch, _ := l.pass(b, d)
	t.add("first start: clone and pass", ms(own+fetch), "")
	l.srv.Git("update-ref", "refs/heads/main", "refs/heads/later")
	own, fetch, write := l.pass(b, d)
	t.add("the pass that opens all watches", ms(own+fetch), "")
	t.add("  and writes them", ms(write), "")

	d = l.daemon(b)
	l.api.taken()
	own, fetch, _ = l.pass(b, d)
	t.add("first pass after a restart", ms(own+fetch), "10000 ms")
	if n := d.Report(nil, 0).Open; n != size.watches {
		b.Fatalf("%d watches are open", n)
	}
	var idle []time.Duration
	for range 11 {
		own, _, _ := l.pass(b, d)
		idle = append(idle, own)
	}
	slices.Sort(idle)
	t.add("a pass in which nothing moves, without its fetch", ms(idle[len(idle)/2]), "")
	t.add("  asked by 12 passes about waiting watches", asked(l.api.taken(), "applications"), "none")
	l.events(b, d, size.events, t)
	t.add("live heap", megabytes(), "400 MB")
	l.ends(b, d, t)
	l.process(b, t)
}

// events changes Applications one after the other under a daemon that runs, so
// that a watch of each is reached, and times each decision.
func (l *load) events(b *testing.B, d *watchd.Daemon, n int, t table) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	var decided, fetched, pushed []time.Duration
	for i := range n {
		app := 1 + i%(len(l.api.apps)-1) // the first is for a revert
		select {
		case <-l.store.writes: // a status that was due
		default:
		}
		at := time.Now()
		l.api.put(app, l.commits[len(l.commits)-len(l.api.apps)+app], "Healthy", l.now())
		select {
		case w := <-l.store.writes:
			decided, fetched, pushed = append(decided, w.at.Sub(at)), append(fetched, w.fetch), append(pushed, w.took)
			time.Sleep(time.Until(at.Add(2*time.Since(at) + 50*time.Millisecond))) // it rests after a push
		case <-time.After(time.Minute):
			b.Fatalf("event %d: nothing was decided", i)
		}
	}
	cancel()
	check(b, <-done)
	slices.Sort(decided)
	slices.Sort(fetched)
	slices.Sort(pushed)
	t.add("event to decision, median", ms(decided[n/2]), "")
	t.add("event to decision, p99", ms(decided[(n*99-1)/100]), "50 ms")
	t.add("event to decision, longest", ms(decided[n-1]), "")
	t.add("  the fetch before it, median", ms(fetched[n/2]), "")
	t.add("  the fetch before it, p99", ms(fetched[(n*99-1)/100]), "")
	t.add("the write and push to Git, median", ms(pushed[n/2]), "")
	t.add("the write and push to Git, p99", ms(pushed[(n*99-1)/100]), "")
}

// ends lets a watch be confirmed and another one fail.
func (l *load) ends(b *testing.B, d *watchd.Daemon, t table) {
	good, bad := len(l.commits)-1, l.armed
	app := good % len(l.api.apps)
	requests := l.later(b, d, 16, func() { l.put(b, app, l.commits[good], "Healthy") })
	t.add(fmt.Sprintf("asked for %d CONFIRMED", d.Report(nil, 0).Moved[string(verdict.Confirmed)]), asked(requests, "applications"), "one direct read each")
	if note := l.srv.Git("notes", "--ref=nav/verdicts", "show", l.commits[good]); !strings.Contains(note, "Nav-Verdict: CONFIRMED") {
		b.Fatalf("not confirmed:\n%s", note)
	}
	// app-0 is well with what stood before the armed commit, and then it is not.
	l.later(b, d, 2, func() { l.put(b, 0, l.commits[bad-1], "Healthy") })
	requests = l.later(b, d, 16, func() { l.put(b, 0, l.commits[bad], "Degraded") })
	t.add("asked for the verdict and the gates of a revert", asked(requests, ""), "the gates' reads")
	note := l.srv.Git("notes", "--ref=nav/verdicts", "show", l.commits[bad])
	if !strings.Contains(note, "Nav-Verdict: REVERTED") {
		b.Fatalf("not reverted:\n%s", note)
	}
	headline, _, _ := strings.Cut(note, "\n")
	t.add("  "+headline, "", "")
}

// process runs the program itself, and asks the system what it needed.
func (l *load) process(b *testing.B, t table) {
	dir := b.TempDir()
	program, settings := filepath.Join(dir, "navwatchd"), filepath.Join(dir, "navwatchd.yaml")
	out, err := exec.Command("go", "build", "-trimpath", "-o", program, ".").CombinedOutput()
	if err != nil {
		b.Fatalf("building navwatchd: %v\n%s", err, out)
	}
	text := fmt.Sprintf("version: 1\nrepository: %s\nrepositories: [%s]\nmirror: %s\nsource: {kubeconfig: %s}\ninterval: 5s\nnotes: hook\ndry-run: false\nlog: {format: json}\n",
		l.set.Repository, deployURL, l.set.Mirror, l.api.kubeconfig)
	check(b, os.WriteFile(settings, []byte(text), 0o600))
	cmd := exec.Command(program, "run", "--config", settings)
	cmd.Env = l.srv.Env()
	stderr, err := cmd.StderrPipe()
	check(b, err)
	began := time.Now()
	check(b, cmd.Start())
	var line struct {
		Msg  string
		Open int `json:"open_watches"`
	}
	for in := json.NewDecoder(stderr); line.Msg != "first pass done"; {
		check(b, in.Decode(&line))
	}
	t.add("the program: start to the end of the first pass", ms(time.Since(began)), "10000 ms")
	for i := range 20 { // it sees changes, and passes a few times
		l.api.put(i, l.commits[len(l.commits)-1], "Healthy", time.Now())
		time.Sleep(time.Second)
	}
	go func() { _, _ = stderr.Read(make([]byte, 1<<20)) }()
	peak := peakRSS(b, cmd.Process.Pid)
	check(b, cmd.Process.Signal(syscall.SIGTERM))
	_ = cmd.Wait() // how it ended is not what is measured
	t.add(fmt.Sprintf("the program: peak RSS, %d watches open", line.Open), fmt.Sprintf("%d MB", peak>>10), "400 MB")
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		t.add("the program: its cpu, git's not counted", ms(time.Duration(usage.Utime.Nano()+usage.Stime.Nano())), "")
	}
}

// peakRSS is what a process held most at once, in KiB, as Linux tells. What wait
// says of it is no less than what this process holds, which began it.
func peakRSS(b *testing.B, pid int) (kib int) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	check(b, err)
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			_, err = fmt.Sscan(rest, &kib)
			check(b, err)
		}
	}
	return kib
}

// table prints what a benchmark finds, at once: the testing package cuts a log
// short.
type table struct{}

func (table) add(what, measured, limit string) {
	if limit != "" {
		limit = "   (limit: " + limit + ")"
	}
	fmt.Fprintf(os.Stderr, "%-60s %14s%s\n", what, measured, limit)
}

func ms(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

func megabytes() string {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return fmt.Sprintf("%d MB", m.HeapAlloc>>20)
}

// asked counts requests of a kind ("": of all).
func asked(requests map[string]int, kind string) string {
	var out []string
	for what, n := range requests {
		if strings.HasSuffix(what, kind) {
			out = append(out, fmt.Sprintf("%d %s", n, what))
		}
	}
	if len(out) == 0 {
		return "nothing"
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}
