package lint

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/pkg/trailer"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// Awaited is what Wait asks of the repository.
type Awaited interface {
	Clone
	// Each hands over the given commits, by id, and no others.
	Each(ctx context.Context, ids []string, fn func(Commit) error) error
	// Note is the note of an object; false: there is none.
	Note(ctx context.Context, ref, object string) ([]byte, bool, error)
	// FetchVerdicts brings the verdicts of a remote, by its name or address, into
	// this repository.
	FetchVerdicts(ctx context.Context, remote string) error
}

// Waiting is how Wait waits.
type Waiting struct {
	Apps     []string // NAME or NAMESPACE/NAME; none: all that the commit names
	Timeout  time.Duration
	Interval time.Duration // between two looks
	Remote   string        // where verdicts are fetched from before each look; empty: nowhere
	Format   string
	Terminal bool // somebody looks at the output: one line is kept up to date
	Now      func() time.Time
}

// Wait waits until the watches of a commit have their verdicts, and prints each
// when it changes. It is a gate: nil only if all are CONFIRMED. The error has
// the code Findings once a watch ended FAIL, REVERTED or PROPOSED, which is the
// worst there is, so that nothing else is waited for; and Undecided for every
// other verdict, at the timeout, and where there is nothing to wait for.
func (c Config) Wait(ctx context.Context, r Awaited, out io.Writer, rev string, how Waiting) error {
	if err := checkRev(rev); err != nil {
		return err
	}
	ids, err := resolve(ctx, r, []string{rev})
	if err != nil {
		return err
	}
	apps, err := awaited(ctx, r, ids[0], how.Apps)
	if err != nil {
		return err
	}
	w := &waiter{conf: c, repo: r, out: out, how: how, commit: ids[0], apps: apps, said: map[verdict.App]string{}, start: how.Now()}
	limited, cancel := context.WithTimeout(ctx, how.Timeout)
	defer cancel()
	err = w.loop(limited)
	if ctx.Err() == nil && errors.Is(limited.Err(), context.DeadlineExceeded) && errors.Is(err, context.DeadlineExceeded) {
		err = w.late()
	}
	return errors.Join(w.end(), err)
}

// awaited lists the Applications that a commit's watches name, or those of them
// that are asked for.
func awaited(ctx context.Context, r Awaited, id string, only []string) ([]verdict.App, error) {
	var all []verdict.App
	err := r.Each(ctx, []string{id}, func(commit Commit) error {
		if commit.Truncated {
			return exit.Unclear(errors.New(commit.TooLong()[0].Message))
		}
		// Names only: defaults and limits change none.
		ws, _ := trailer.Decode(commit.Message, trailer.DefaultPolicy().Unlimited())
		for _, w := range ws {
			if w.AppSet != "" {
				w.App = w.AppSet
			}
			app, err := appOf(w)
			if err != nil {
				return err
			}
			all = append(all, app)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, exit.Hint(exit.Unclear(fmt.Errorf("%s carries no watch, so there will be no verdict", id)),
			"a watch is a trailer, Nav-Watchdog: app=NAME; navlint commits says what is wrong with one that is not read")
	}
	if len(only) == 0 {
		return all, nil
	}
	var some []verdict.App
	for _, name := range only {
		asked, err := verdict.ParseApp(name)
		if err != nil {
			return nil, exit.Misused(err)
		}
		before := len(some)
		for _, app := range all {
			if asked.Matches(app) {
				some = append(some, app)
			}
		}
		if len(some) == before {
			return nil, exit.Hint(exit.Unclear(fmt.Errorf("%s carries no watch of %s, so there will be no verdict", id, asked)), "it watches %s", list(all))
		}
	}
	return some, nil
}

func list(apps []verdict.App) string {
	names := make([]string, len(apps))
	for i, app := range apps {
		names[i] = app.String()
	}
	return strings.Join(names, ", ")
}

// waiter is one Wait.
type waiter struct {
	conf   Config
	repo   Awaited
	out    io.Writer
	how    Waiting
	commit string
	apps   []verdict.App
	start  time.Time

	states  []verdict.State        // of apps, as far as there are some
	said    map[verdict.App]string // headlines that were printed
	trouble string                 // the last look that failed
	line    bool                   // the terminal shows a line that is to be replaced
}

// loop looks until there is an answer, which it returns, or ctx ends.
func (w *waiter) loop(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for first := true; ; first = false {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
		}
		if err := w.look(ctx); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			// What never worked will not; a network that fails later may come back.
			if first {
				return err
			}
			if text := err.Error(); text != w.trouble {
				w.trouble = text
				w.clear()
				w.conf.note("%s", exit.Printable(text))
			}
		} else {
			w.trouble = ""
			if err := w.tell(); err != nil {
				return err
			}
			if done, err := w.answer(); done {
				return err
			}
		}
		timer.Reset(w.how.Interval)
	}
}

// look reads the verdicts as they are now.
func (w *waiter) look(ctx context.Context) error {
	if w.how.Remote != "" {
		if err := w.repo.FetchVerdicts(ctx, w.how.Remote); err != nil {
			return err
		}
	}
	note, there, err := w.repo.Note(ctx, verdictsRef, w.commit)
	if err != nil {
		return err
	}
	var all []verdict.State
	if there {
		if all, err = verdict.ParseNote(note); err != nil {
			return fmt.Errorf("reading the note of %s in %s: %w", w.commit, verdictsRef, err)
		}
	}
	w.states = nil
	for _, app := range w.apps {
		for _, s := range all {
			if s.Watch.App == app {
				w.states = append(w.states, s)
			}
		}
	}
	return nil
}

// answer is what the verdicts say together; false: not yet.
func (w *waiter) answer() (done bool, err error) {
	var bad, unclear []string
	decided := 0
	for _, s := range w.states {
		switch s.Verdict {
		case verdict.Waiting, "":
			continue
		case verdict.Confirmed:
		case verdict.Fail, verdict.Reverted, verdict.Proposed:
			bad = append(bad, s.Watch.App.String()+" "+string(s.Verdict))
		default:
			unclear = append(unclear, s.Watch.App.String()+" "+string(s.Verdict))
		}
		decided++
	}
	switch {
	case len(bad) > 0:
		return true, &exit.Error{Code: exit.Findings, Err: errors.New(strings.Join(bad, ", ")), Reported: true}
	case decided < len(w.apps):
		return false, nil
	case len(unclear) > 0:
		return true, &exit.Error{Code: exit.Undecided, Err: errors.New(strings.Join(unclear, ", ")), Reported: true}
	}
	return true, nil
}

// late is the answer at the timeout.
func (w *waiter) late() error {
	var open []verdict.App
	for _, app := range w.apps {
		decided := false
		for _, s := range w.states {
			decided = decided || s.Watch.App == app && s.Verdict != verdict.Waiting
		}
		if !decided {
			open = append(open, app)
		}
	}
	err := exit.Unclear(fmt.Errorf("no verdict within %s: %s", w.how.Timeout, list(open)))
	switch {
	case len(w.states) == 0 && w.how.Remote == "":
		err = exit.Hint(err, "nothing was fetched; --remote origin does")
	case len(w.states) == 0:
		err = exit.Hint(err, "the watcher has written nothing about this commit: is it on a watched branch, and does navwatchd run?")
	}
	return err
}

// tell prints what changed: on a terminal one line that is kept up to date,
// elsewhere a line a change, so that a log shows how it went.
func (w *waiter) tell() error {
	if w.how.Format == FormatJSON {
		return nil
	}
	b := bufio.NewWriter(w.out)
	waiting := []string{}
	for _, app := range w.apps {
		headline, open := app.String()+": no verdict yet", true
		for _, s := range w.states {
			if s.Watch.App == app {
				headline, open = s.Headline(), s.Verdict == verdict.Waiting
			}
		}
		if w.how.Terminal && open {
			waiting = append(waiting, headline)
			continue
		}
		if w.said[app] == headline {
			continue
		}
		w.said[app] = headline
		w.erase(b)
		_, _ = fmt.Fprintln(b, exit.Line(headline, 0)) // errors stay in b until Flush
	}
	if len(waiting) > 0 {
		w.erase(b)
		passed := w.how.Now().Sub(w.start).Truncate(time.Second)
		_, _ = fmt.Fprint(b, exit.Line(fmt.Sprintf("%s of %s  %s", passed, w.how.Timeout, strings.Join(waiting, "  ")), lineWidth))
		w.line = true
	}
	return b.Flush()
}

// lineWidth is that of every terminal: a line that wraps could not be erased.
const lineWidth = 76

func (w *waiter) erase(b io.Writer) {
	if w.line {
		_, _ = io.WriteString(b, "\r\x1b[K")
		w.line = false
	}
}

// clear makes room for another stream on the same terminal.
func (w *waiter) clear() { w.erase(w.out) }

// end prints what is printed once.
func (w *waiter) end() error {
	w.clear()
	if w.how.Format != FormatJSON {
		return nil
	}
	shown := showJSON(w.commit, w.states)
	shown.Command = "wait"
	return encode(w.out, shown)
}
