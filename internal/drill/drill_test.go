package drill

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// The drill as a whole is tested in cmd/navwatchd, with everything real.

func TestOutcome(t *testing.T) {
	t.Parallel()
	hold := func(names ...string) []verdict.Gate {
		gates := []verdict.Gate{{Name: "exact", Pass: true}}
		for _, n := range names {
			gates = append(gates, verdict.Gate{Name: n})
		}
		return gates
	}
	for want, s := range map[string]verdict.State{
		"WAITING":                           {Verdict: verdict.Waiting},
		"CONFIRMED":                         {Verdict: verdict.Confirmed},
		"REVERTED":                          {Verdict: verdict.Reverted},
		"REVERTED, RECOVERED":               {Verdict: verdict.Reverted, Recovery: verdict.Recovered},
		"REVERTED, NOT_RECOVERED":           {Verdict: verdict.Reverted, Recovery: verdict.NotRecovered},
		"FAIL, held by mode":                {Verdict: verdict.Fail, Gates: hold("mode")},
		"FAIL, held by circuit and dry-run": {Verdict: verdict.Fail, Gates: hold("dry-run", "circuit")},
		"FAIL, held by nothing":             {Verdict: verdict.Fail, Gates: hold()},
	} {
		if got := outcome(s); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	d := &Drill{tell: teller{w: &out}, results: []result{
		{title: "One", want: "CONFIRMED", got: "CONFIRMED"},
		{title: "Another", want: "NOT_REACHED", got: "REVERTED"},
	}}
	d.tell.table(d.results)
	const want = `
Summary
-------
       part        expected     got
ok     1. One      CONFIRMED    CONFIRMED
WRONG  2. Another  NOT_REACHED  REVERTED

1 of 2 parts came out as they must.
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if err := d.verdict(); exit.Code(err) != exit.Findings {
		t.Errorf("error %v, want one with code %d", err, exit.Findings)
	}
	d.results = d.results[:1]
	if err := d.verdict(); err != nil {
		t.Errorf("error %v, want none", err)
	}
}

// What others say may hold anything; the transcript stays plain.
func TestNothingRaw(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	tell := teller{w: &out}
	tell.remote([]string{"a\x1b[31mb"})
	tell.event(80*time.Second, "watcher", "c\x1b]0;d\ae\nf")
	tell.block("g\rh")
	if s := out.String(); strings.ContainsAny(s, "\x1b\a\r") || strings.Count(s, "\n") != 3 || !strings.Contains(s, "+1:20  watcher") {
		t.Errorf("transcript %q", s)
	}
}

func TestRunIncomplete(t *testing.T) {
	t.Parallel()
	if err := Run(context.Background(), Config{Out: &bytes.Buffer{}, Clock: NewClock(time.Time{})}); err == nil {
		t.Error("a drill without a repository was played")
	}
}

// A drill that cannot be played is not one that came out wrong, or right.
func TestRunBroken(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk full")
	for name, tt := range map[string]struct {
		repo Repo
		want string
	}{
		"no push":      {brokenRepo{err: broken}, "preparing the drill: pushing as olga: disk full"},
		"refused push": {brokenRepo{}, "preparing the drill: the server refused the first push"},
	} {
		err := Run(context.Background(), Config{
			Out: &bytes.Buffer{}, Clock: NewClock(time.Time{}), Repo: tt.repo,
			Cluster: struct{ Cluster }{}, Watcher: struct{ Watcher }{},
		})
		if err == nil || err.Error() != tt.want || exit.Code(err) == exit.Findings {
			t.Errorf("%s: error %v with code %d, want %q", name, err, exit.Code(err), tt.want)
		}
	}
}

// brokenRepo refuses every push, or cannot push at all.
type brokenRepo struct {
	Repo
	err error
}

func (r brokenRepo) Push(context.Context, Change) (Pushed, error) {
	return Pushed{Refused: true}, r.err
}

// A transcript that nobody can read is no drill.
func TestTranscriptLost(t *testing.T) {
	t.Parallel()
	tell := teller{w: closedPipe{}}
	tell.table(nil)
	if !errors.Is(tell.err, errClosed) {
		t.Errorf("error %v, want %v", tell.err, errClosed)
	}
}

var errClosed = errors.New("closed pipe")

type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) { return 0, errClosed }
