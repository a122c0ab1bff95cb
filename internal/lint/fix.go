package lint

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/pkg/trailer"
)

// Fixing is what becomes of a message that Fix mended. Without Write and
// Message it is only shown.
type Fixing struct {
	Show    io.Writer          // gets what was done, and the difference
	Message io.Writer          // gets the whole message, mended or not; may be nil
	Write   func([]byte) error // keeps a message that was mended; may be nil
}

// FixFile mends a commit-msg file (trailer.Mend): misplaced trailers go into
// the block, keys that are almost ours are corrected, nothing else changes. r is
// nil outside of a repository. What only a person can mend is reported and has
// the code Findings; so has a message that is not yet mended and was only shown.
func (c Config) FixFile(ctx context.Context, r Clone, name string, file []byte, how Fixing) error {
	cleanup, err := c.cleanup(ctx, r, file)
	if err != nil {
		return err
	}
	if len(file) > MaxFile {
		return errTooLong
	}
	return c.fix(Place{File: name}, name, file, cleanup, how)
}

// FixCommit is FixFile for the message of a commit, as it is stored.
func (c Config) FixCommit(ctx context.Context, r Awaited, rev string, how Fixing) error {
	if err := checkRev(rev); err != nil {
		return err
	}
	ids, err := resolve(ctx, r, []string{rev})
	if err != nil {
		return err
	}
	return r.Each(ctx, ids, func(commit Commit) error {
		if commit.Truncated {
			return exit.Unclear(errors.New(commit.TooLong()[0].Message))
		}
		stored := trailer.Cleanup{Mode: trailer.Verbatim, KeepCut: true}
		return c.fix(commit.Place(), commit.ID, commit.Message, stored, how)
	})
}

func (c Config) fix(p Place, name string, file []byte, cleanup trailer.Cleanup, how Fixing) error {
	mended := trailer.Mend(file, cleanup)
	if len(mended.Repairs) > 0 && how.Write != nil {
		if err := how.Write(mended.File); err != nil {
			return fmt.Errorf("writing %q: %w", name, err)
		}
	}
	if how.Message != nil {
		if _, err := how.Message.Write(mended.File); err != nil {
			return fmt.Errorf("writing the message: %w", err)
		}
	}
	for _, r := range mended.Repairs {
		if _, err := fmt.Fprintf(how.Show, "%s:%d: %s [%s]\n", exit.Line(name, 0), r.Line, r.What, r.Rule); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
	}
	if err := diff(how.Show, name, string(file), string(mended.File)); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	fs := make([]Finding, 0, len(mended.Left))
	for _, u := range mended.Left {
		fs = append(fs, Finding{
			Rule: string(u.Rule), Severity: Error, Line: u.Pos.Line, Col: u.Pos.Col, Message: "not mended, " + u.Why + ": " + u.Message, Hint: u.Hint,
		})
	}
	tally := &Tally{Handler: &Text{W: how.Show}}
	if err := tally.Add(p, fs); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	if err := tally.Close(false); err != nil {
		return err
	}
	if len(mended.Repairs) > 0 && how.Write == nil && how.Message == nil {
		c.note("nothing was written\nhint: --write changes the file")
		return exit.Found(errors.New("the message can be mended"))
	}
	return nil
}
