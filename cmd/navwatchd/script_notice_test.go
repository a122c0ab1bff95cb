package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/internal/watchd"
)

// box is the webhook of every daemon of a world.
type box struct {
	got  []watchd.Notice
	down error            // nothing is taken
	told map[string]error // outcomes that no daemon has asked for
}

func (b *box) Notify(n watchd.Notice) {
	if b.told == nil {
		b.told = map[string]error{}
	}
	if b.told[n.ID] = b.down; b.down == nil {
		b.got = append(b.got, n)
	}
}

func (b *box) Outcomes() map[string]error {
	out := b.told
	b.told = nil
	return out
}

// webhookCommand lets the webhook take nothing, or everything again.
func webhookCommand(s *script, args []string) error {
	s.notices.down = map[string]error{"down": errors.New("nobody is there"), "up": nil}[args[0]]
	return nil
}

// noticedCommand demands exactly N notices of a kind, whatever daemon sent them,
// each with an id of its own and, if given, with a text.
func noticedCommand(s *script, args []string) error {
	want, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	ids, got, text := map[string]bool{}, 0, strings.Join(args[2:], " ")
	for _, n := range s.notices.got {
		if n.Kind != args[0] {
			continue
		}
		got++
		switch {
		case ids[n.ID] || n.ID == "":
			return fmt.Errorf("the id %q came twice: %+v", n.ID, n)
		case !strings.Contains(n.Text+" "+n.Verdict+" "+n.Reason+" "+n.Recovery, text):
			return fmt.Errorf("%q is not in %+v", text, n)
		case n.At.IsZero() || !strings.HasPrefix(n.Watcher, "navwatchd "):
			return fmt.Errorf("who and when is missing: %+v", n)
		}
		ids[n.ID] = true
	}
	if got != want {
		return fmt.Errorf("%d notices of kind %s, want %d: %+v", got, args[0], want, s.notices.got)
	}
	return nil
}
