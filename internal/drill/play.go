package drill

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// pushed is a commit that arrived and is watched.
type pushed struct {
	commit string
	app    string
	at     time.Time
}

// limit is how long a verdict is waited for, on the drill's clock.
const limit = 10 * time.Minute

// prepare brings the policy, the first manifests and the Applications.
func (d *Drill) prepare(ctx context.Context) error {
	files := map[string]string{".nav-watchdog.yaml": policy}
	for _, a := range apps() {
		if a.Path != "" {
			files[file(a.Name)] = manifest(a.Name, "1.0")
		}
	}
	d.tell.heading("The scene")
	d.tell.say("A Git server with the real hooks, a simulated Argo CD that deploys from it, and the")
	d.tell.say("watcher. Their clock is the drill's own: a minute takes a moment.")
	d.tell.say("%s owns .nav-watchdog.yaml, and pushes it with the manifests of five apps:", owner)
	d.tell.block(indent(policy))
	p, err := d.push(ctx, Change{Who: owner, Files: files, Message: "the policy, and what is deployed\n"})
	if err != nil {
		return err
	}
	if p.Refused {
		return errors.New("the server refused the first push")
	}
	for _, a := range apps() {
		if err := d.Cluster.Add(a); err != nil {
			return err
		}
	}
	if err := d.Watcher.Restart(false); err != nil {
		return err
	}
	return d.pass(ctx, 2)
}

// push is a real push, told with what the hooks say.
func (d *Drill) push(ctx context.Context, c Change) (Pushed, error) {
	if strings.Contains(c.Message, "Nav-Watchdog") {
		d.tell.block(indent(c.Message))
	}
	d.tell.command("git push origin main   # " + c.Who)
	p, err := d.Repo.Push(ctx, c)
	if err != nil {
		return p, fmt.Errorf("pushing as %s: %w", c.Who, err)
	}
	d.tell.remote(p.Said)
	return p, nil
}

func indent(message string) string {
	return "  | " + strings.ReplaceAll(strings.TrimRight(message, "\n"), "\n", "\n  | ")
}

// watch pushes a commit that must get in.
func (d *Drill) watch(ctx context.Context, app string, c Change) (pushed, error) {
	p, err := d.push(ctx, c)
	if err != nil {
		return pushed{}, err
	}
	if p.Refused {
		return pushed{}, fmt.Errorf("the server refused %s of %s", short(p.Commit), c.Who)
	}
	w := pushed{commit: p.Commit, app: app, at: d.Clock.Now()}
	return w, nil
}

// show lets the note of a commit be shown at the end.
func (d *Drill) show(w pushed) { d.shown = append(d.shown, w.commit) }

// pass moves the clock by some intervals: the cluster, then the watcher.
func (d *Drill) pass(ctx context.Context, times int) error {
	for range times {
		d.Clock.advance(Interval)
		if err := d.Cluster.Advance(ctx); err != nil {
			return fmt.Errorf("moving the cluster: %w", err)
		}
		if err := d.Watcher.Pass(ctx); err != nil {
			return fmt.Errorf("passing over the watches: %w", err)
		}
	}
	return nil
}

// until passes until the watch is as wished, and tells what happens. A watch
// that does not get there is given back as it is: the part says what is wrong.
func (d *Drill) until(ctx context.Context, w pushed, done func(verdict.State) bool) (verdict.State, error) {
	for {
		s, err := d.state(ctx, w)
		if err != nil {
			return s, err
		}
		if done(s) || d.Clock.Now().Sub(w.at) >= limit {
			return s, nil
		}
		if err := d.pass(ctx, 1); err != nil {
			return s, err
		}
		if err := d.tellMoment(ctx, w); err != nil {
			return s, err
		}
	}
}

func (d *Drill) state(ctx context.Context, w pushed) (verdict.State, error) {
	states, err := d.Repo.Verdicts(ctx, w.commit)
	if err != nil {
		return verdict.State{}, fmt.Errorf("reading the verdict of %s: %w", short(w.commit), err)
	}
	for _, s := range states {
		if s.Watch.App.Name == w.app {
			return s, nil
		}
	}
	return verdict.State{Verdict: verdict.Waiting}, nil
}

// tellMoment tells what is new: in the cluster, then in the note.
func (d *Drill) tellMoment(ctx context.Context, w pushed) error {
	since := d.Clock.Now().Sub(w.at)
	h, err := d.Cluster.Show(w.app)
	if err != nil {
		return fmt.Errorf("looking at %s: %w", w.app, err)
	}
	text := fmt.Sprintf("%s: %s, %s", w.app, h.Sync, h.Health)
	if h.Revision != "" {
		text += ", at " + short(h.Revision)
	}
	if d.seen[w.app] != text {
		d.tell.event(since, "cluster", text)
		d.seen[w.app] = text
	}
	s, err := d.state(ctx, w)
	if err != nil {
		return err
	}
	for _, e := range s.Events {
		if e.Seq > d.told[w.commit] {
			d.told[w.commit] = e.Seq
			if text := eventText(e, s); text != "" {
				d.tell.event(since, "watcher", text)
			}
		}
	}
	return nil
}

// eventText is an event of a note in a line. A verdict is told with its
// headline; what the hook or the verdict itself tells is left out.
func eventText(e verdict.Event, s verdict.State) string {
	switch {
	case e.Kind == "queued" || e.Kind == "landed" || e.Kind == "fail":
		return ""
	case e.Kind == "verdict" && strings.HasPrefix(e.Text, string(s.Verdict)):
		return s.Headline()
	}
	return e.Kind + " " + e.Text
}

func decided(s verdict.State) bool { return s.Verdict != verdict.Waiting }

func recovered(s verdict.State) bool {
	return decided(s) && (s.Verdict != verdict.Reverted || s.Recovery != "")
}

// outcome is what came out of a watch, in the words of the table.
func outcome(s verdict.State) string {
	switch {
	case s.Verdict == verdict.Reverted && s.Recovery != "":
		return fmt.Sprintf("%s, %s", s.Verdict, s.Recovery)
	case s.Verdict == verdict.Fail && len(holding(s)) == 0:
		return "FAIL, held by nothing"
	case s.Verdict == verdict.Fail:
		return "FAIL, held by " + strings.Join(holding(s), " and ")
	}
	return string(s.Verdict)
}

// holding names the gates that hold.
func holding(s verdict.State) []string {
	var names []string
	for _, g := range s.Gates {
		if !g.Pass {
			names = append(names, g.Name)
		}
	}
	sort.Strings(names)
	return slices.Compact(names)
}

// mend is a person taking a commit back by hand, if nobody did, until the app
// is well again.
func (d *Drill) mend(ctx context.Context, who string, w pushed, s verdict.State) error {
	if s.Verdict == verdict.Reverted {
		return d.well(ctx, w.app)
	}
	p, err := d.push(ctx, Change{Who: who, Revert: w.commit})
	if err != nil {
		return err
	}
	if p.Refused {
		return fmt.Errorf("the server refused the revert by %s", who)
	}
	return d.well(ctx, w.app)
}

// well passes until an app is healthy, and once more, so that the watcher has
// seen it so.
func (d *Drill) well(ctx context.Context, app string) error {
	from := d.Clock.Now()
	for d.Clock.Now().Sub(from) < limit {
		if err := d.pass(ctx, 1); err != nil {
			return err
		}
		h, err := d.Cluster.Show(app)
		if err != nil {
			return fmt.Errorf("looking at %s: %w", app, err)
		}
		if h.Sync == verdict.Synced && h.Health == verdict.Healthy {
			d.tell.event(d.Clock.Now().Sub(from), "cluster", app+": Synced, Healthy")
			d.seen[app] = ""
			return d.pass(ctx, 1)
		}
	}
	return fmt.Errorf("%s did not become healthy within %s", app, limit)
}
