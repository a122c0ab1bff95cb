package lint

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

const verdictsRef = "refs/notes/nav/verdicts"

type jsonShow struct {
	Version  int           `json:"version"`
	Command  string        `json:"command"`
	Commit   string        `json:"commit"`
	Verdicts []jsonVerdict `json:"verdicts"`
}

type jsonVerdict struct {
	App      string      `json:"app"`
	Branch   string      `json:"branch,omitempty"`
	Mode     string      `json:"mode"`
	Verdict  string      `json:"verdict"`
	Reason   string      `json:"reason"`
	Headline string      `json:"headline"`
	Decided  *time.Time  `json:"decided,omitempty"`
	Revert   string      `json:"revert,omitempty"`
	Recovery string      `json:"recovery,omitempty"`
	Gates    []jsonGate  `json:"gates,omitempty"`
	Events   []jsonEvent `json:"events,omitempty"`
}

type jsonGate struct {
	Name string `json:"name"`
	Hold bool   `json:"hold"`
	Why  string `json:"why,omitempty"`
}

type jsonEvent struct {
	Seq  int       `json:"seq"`
	At   time.Time `json:"at"`
	Kind string    `json:"kind"`
	Text string    `json:"text,omitempty"`
}

// Show prints what became of the watches of a commit, from its note in
// refs/notes/nav/verdicts. A commit without a note is no error: nothing has
// been judged, or the note was not fetched, and it says so on c.Note. A note
// that cannot be read is an error with its line.
func (c Config) Show(ctx context.Context, r Repo, w io.Writer, rev, format string) error {
	if err := checkRev(rev); err != nil {
		return err
	}
	ids, err := resolve(ctx, r, []string{rev})
	if err != nil {
		return err
	}
	note, there, err := r.Note(ctx, verdictsRef, ids[0])
	if err != nil {
		return err
	}
	var states []verdict.State
	if there {
		if states, err = verdict.ParseNote(note); err != nil {
			return fmt.Errorf("reading the note of %s in %s: %w", ids[0], verdictsRef, err)
		}
	}
	if format == FormatJSON {
		return encode(w, showJSON(ids[0], states))
	}
	if !there {
		c.note("no verdict for %s\nhint: git fetch origin '+refs/notes/nav/*:refs/notes/nav/*' fetches what the watcher wrote", ids[0])
		return nil
	}
	return showText(w, ids[0], states)
}

func showText(w io.Writer, commit string, states []verdict.State) error {
	b := bufio.NewWriter(w)
	_, _ = fmt.Fprintf(b, "commit %s\n", commit) // errors stay in b until Flush
	for _, s := range states {
		_, _ = fmt.Fprintf(b, "\n%s\n", exit.Line(s.Headline(), 0))
		for _, f := range [][2]string{
			{"mode", string(s.Watch.Mode)}, {"branch", s.Branch}, {"revert", s.Revert}, {"recovery", string(s.Recovery)},
		} {
			if f[1] != "" {
				_, _ = fmt.Fprintf(b, "    %-9s %s\n", f[0], exit.Line(f[1], 0))
			}
		}
		for _, g := range s.Gates {
			answer := "pass"
			if !g.Pass {
				answer = "hold"
			}
			_, _ = fmt.Fprintf(b, "    gate      %-12s %s %s\n", g.Name, answer, exit.Line(g.Why, 0))
		}
		for _, e := range s.Events {
			_, _ = fmt.Fprintf(b, "    %s %-9s %s\n", e.At.UTC().Format(time.RFC3339), exit.Line(e.Kind, 0), exit.Line(e.Text, 0))
		}
	}
	return b.Flush()
}

func showJSON(commit string, states []verdict.State) jsonShow {
	out := jsonShow{JSONVersion, "show", commit, make([]jsonVerdict, len(states))}
	for i, s := range states {
		v := jsonVerdict{
			App: s.Watch.App.String(), Branch: s.Branch, Mode: string(s.Watch.Mode),
			Verdict: string(s.Verdict), Reason: s.Reason.String(), Headline: s.Headline(),
			Revert: s.Revert, Recovery: string(s.Recovery),
		}
		if !s.Decided.IsZero() {
			v.Decided = &s.Decided
		}
		for _, g := range s.Gates {
			v.Gates = append(v.Gates, jsonGate{g.Name, !g.Pass, g.Why})
		}
		for _, e := range s.Events {
			v.Events = append(v.Events, jsonEvent{e.Seq, e.At, e.Kind, e.Text})
		}
		out.Verdicts[i] = v
	}
	return out
}
