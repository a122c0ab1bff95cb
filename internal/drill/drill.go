// Package drill is the game day: it shows, on a repository with real hooks and
// on a cluster that plays along, what becomes of commits that ask to be
// watched, and holds each outcome against what it must be.
//
// It owns the story: the order of its parts, what is pushed by whom, how long
// it is waited for, what must come out. It owns the clock, too, which stands
// still unless the drill moves it, so that an hour takes a moment and nothing
// sleeps. What is pushed to, what deploys and what judges comes through the
// interfaces of seams.go.
package drill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/exit"
)

// Interval is the time between two passes of the watcher, on the drill's clock.
const Interval = 20 * time.Second

// Config is what a drill is played on. All of it is required.
type Config struct {
	Out     io.Writer // the transcript
	Clock   *Clock    // the same that Repo, Cluster and Watcher go by
	Repo    Repo
	Cluster Cluster
	Watcher Watcher
}

// Drill is one drill while it is played.
type Drill struct {
	Config
	tell    teller
	results []result
	shown   []string          // commits whose notes are shown at the end
	told    map[string]int    // the last event of a commit's note that was told
	seen    map[string]string // what was told of an app last
}

// result is what came out of one part.
type result struct {
	title, want, got string
}

func (r result) ok() bool { return r.got == r.want }

// part is one thing that the drill shows. Play gives what came out, in the
// words of want; means is what that tells a reader.
type part struct {
	title, want string
	play        func(*Drill, context.Context) (string, error)
	means       string
}

// Run plays every part, also when one came out wrong. The error is nil only if
// each came out as it must.
func Run(ctx context.Context, c Config) error {
	if c.Out == nil || c.Clock == nil || c.Repo == nil || c.Cluster == nil || c.Watcher == nil {
		return errors.New("configuring the drill: a part is missing")
	}
	d := &Drill{Config: c, tell: teller{w: c.Out}, told: map[string]int{}, seen: map[string]string{}}
	if err := d.prepare(ctx); err != nil {
		return fmt.Errorf("preparing the drill: %w", err)
	}
	for i, p := range parts() {
		d.tell.title(i+1, p.title)
		got, err := p.play(d, ctx)
		if err != nil {
			return errors.Join(fmt.Errorf("playing part %d, %s: %w", i+1, p.title, err), d.tell.err)
		}
		r := result{title: p.title, want: p.want, got: got}
		d.results = append(d.results, r)
		d.tell.outcome(r, p.means)
	}
	if err := d.finish(ctx); err != nil {
		return err
	}
	return d.verdict()
}

// finish shows the notes as git does, and what was expected and came out.
func (d *Drill) finish(ctx context.Context) error {
	d.tell.heading("What git says")
	log, err := d.Repo.Log(ctx, d.shown)
	if err != nil {
		return fmt.Errorf("reading the log: %w", err)
	}
	ids := make([]string, len(d.shown))
	for i, c := range d.shown {
		ids[i] = short(c)
	}
	d.tell.command("git log --notes=nav/verdicts --no-walk=unsorted " + strings.Join(ids, " "))
	d.tell.block(log)
	d.tell.table(d.results)
	return d.tell.err
}

// verdict is that of the whole drill.
func (d *Drill) verdict() error {
	wrong := 0
	for _, r := range d.results {
		if !r.ok() {
			wrong++
		}
	}
	if wrong > 0 {
		return exit.Refused(fmt.Errorf("%d of %d parts of the drill came out wrong", wrong, len(d.results)))
	}
	return nil
}
