package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/internal/watchd"
)

// box takes the notices of every daemon of a world.
type box []watchd.Notice

func (b *box) Notify(n watchd.Notice) { *b = append(*b, n) }

// noticedCommand demands exactly N notices of a kind, whatever daemon sent them,
// each with an id of its own and, if given, with a text.
func noticedCommand(s *script, args []string) error {
	want, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	ids, got, text := map[string]bool{}, 0, strings.Join(args[2:], " ")
	for _, n := range s.notices {
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
		return fmt.Errorf("%d notices of kind %s, want %d: %+v", got, args[0], want, s.notices)
	}
	return nil
}
