// Package argosim is a small GitOps reconciler: it reads manifests of a git
// revision, keeps the live objects of a cluster that does not exist, and shows
// Applications as an Argo CD v3.2 would, in the shape and in the order of
// events that were recorded from a real one.
//
// It has no clock and no goroutine. Tick brings everything forward to the time
// that it is given, event by event in the order of their times, and with the
// same calls the bytes of every object are the same. A Sim must not be used
// from two goroutines at once.
//
// Two loops work on each Application, as in Argo CD:
//
//   - The refresh loop (refresh.go) resolves and renders the target revision,
//     compares it with the live cache, aggregates health, may write .operation
//     (autosync.go), and only then writes status.sync and status.health. It runs when
//     the poll interval is over, when Refresh or Webhook ask, when the live cache
//     notices a change (then at the revision compared last, without moving
//     reconciledAt), and after an operation.
//   - The operation loop (operation.go) applies .operation, and writes operationState
//     and history; it never touches status.sync or status.health.
//
// Switches (switches.go) are what people and fate do to a cluster. They take effect at the
// time of the last Tick; the controller notices in the next. A push is noticed
// by the first refresh after it that a Tick runs.
//
// What it does not know: sync waves, Helm and Kustomize, ignoreDifferences,
// server-side apply, objects that two Applications share, AppProjects (Window
// is a switch), ApplicationSets. All objects of an operation are applied at one
// moment, where a real Argo CD may show some of them Synced a little earlier.
package argosim

import (
	"container/heap"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// maxEvents bounds one Tick: a loop in the simulator ends in an error.
const maxEvents = 1 << 20

// Sim is one cluster with one Argo CD.
type Sim struct {
	o     Options
	repos map[string]Tree
	apps  map[verdict.App]*app
	queue events
	// rendered saves reading the same commit again: a sync compares five times.
	rendered map[renderKey]rendering
	seq      int64 // order of events at one moment, of incarnations, of resourceVersions
	now      time.Time
	running  bool // the first Tick has set the clock
	stopped  bool // the controller is down
	refused  bool // List is refused
}

// New makes an empty cluster whose repository is tree.
func New(tree Tree, o Options) *Sim {
	o = o.withDefaults()
	repos := map[string]Tree{o.RepoURL: tree}
	for url, other := range o.Repos {
		repos[url] = other
	}
	return &Sim{o: o, repos: repos, apps: map[verdict.App]*app{}, rendered: map[renderKey]rendering{}}
}

// Now is the time that the simulator has reached.
func (s *Sim) Now() time.Time { return s.now }

// SetDelays changes the latencies for whatever is not under way yet.
func (s *Sim) SetDelays(d Delays) { s.o.Delays = d.withDefaults() }

// Tick brings everything forward to now. An error of the Tree leaves the
// simulator at the event that needed it; the next Tick tries that again.
func (s *Sim) Tick(ctx context.Context, now time.Time) error {
	if s.running && now.Before(s.now) {
		return fmt.Errorf("moving the clock: %s is before %s", now.Format(time.RFC3339Nano), s.now.Format(time.RFC3339Nano))
	}
	if !s.running {
		s.running, s.now = true, now
		for _, a := range s.sorted() {
			s.create(a)
		}
	}
	for n := 0; !s.stopped && len(s.queue) > 0 && !s.queue[0].at.After(now); n++ {
		if n == maxEvents {
			return errors.New("moving the clock: too many events, the simulator goes round in a circle")
		}
		if err := s.step(ctx); err != nil {
			return err
		}
	}
	s.now = now
	return nil
}

// step runs the first event of the queue.
func (s *Sim) step(ctx context.Context) error {
	ev := heap.Pop(&s.queue).(event)
	if ev.app.dead {
		return nil
	}
	if ev.at.After(s.now) {
		s.now = ev.at // an event that waited for a stopped controller is late
	}
	err := ctx.Err()
	if err == nil {
		err = ev.run(ctx, s.now)
	}
	if err != nil {
		heap.Push(&s.queue, ev)
		return fmt.Errorf("simulating %s of %s: %w", ev.what, ev.app.id, err)
	}
	return nil
}

// Applications are the objects as they are now, by namespace and name.
func (s *Sim) Applications() [][]byte {
	out := [][]byte{}
	for _, a := range s.sorted() {
		if a.shown != nil {
			out = append(out, slices.Clone(a.shown))
		}
	}
	return out
}

// List is Applications as a client gets them: ErrRefused while RefuseReads.
func (s *Sim) List() ([][]byte, error) {
	if s.refused {
		return nil, fmt.Errorf("listing applications: %w", ErrRefused)
	}
	return s.Applications(), nil
}

func (s *Sim) sorted() []*app {
	out := make([]*app, 0, len(s.apps))
	for _, a := range s.apps {
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b *app) int { return strings.Compare(a.id.String(), b.id.String()) })
	return out
}

// uid is a UUID that depends on nothing but the seed and what was there before.
func (s *Sim) uid(id verdict.App, incarnation int) string {
	h := sha256.Sum256(fmt.Appendf(nil, "%s/%s/%d", s.o.Seed, id, incarnation))
	h[6], h[8] = h[6]&0x0f|0x40, h[8]&0x3f|0x80 // version 4, RFC 9562
	return fmt.Sprintf("%x-%x-%x-%x-%x", h[0:4], h[4:6], h[6:8], h[8:10], h[10:16])
}

// event is work of the controller that is due at a time.
type event struct {
	at   time.Time
	seq  int64
	app  *app
	what string
	run  func(ctx context.Context, t time.Time) error
}

func (s *Sim) schedule(a *app, at time.Time, what string, run func(ctx context.Context, t time.Time) error) {
	s.seq++
	heap.Push(&s.queue, event{at: at, seq: s.seq, app: a, what: what, run: run})
}

// events is a heap by time, then by the order in which they were scheduled.
type events []event

func (q events) Len() int { return len(q) }
func (q events) Less(i, j int) bool {
	if !q[i].at.Equal(q[j].at) {
		return q[i].at.Before(q[j].at)
	}
	return q[i].seq < q[j].seq
}
func (q events) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *events) Push(x any)   { *q = append(*q, x.(event)) }
func (q *events) Pop() any {
	old := *q
	ev := old[len(old)-1]
	old[len(old)-1] = event{}
	*q = old[:len(old)-1]
	return ev
}
