package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/nav-watchdog/nav-watchdog/internal/argosim"
)

// The words of a script that only look.

func verdictCommand(s *script, args []string) error {
	st, err := s.stanza(args[0], args[1])
	if err != nil {
		return err
	}
	if string(st.Verdict) != args[2] {
		return fmt.Errorf("verdict is %s (%s), want %s; gates held: %q", st.Verdict, st.Reason, args[2], st.Held())
	}
	if len(args) > 3 && !strings.Contains(st.Reason.String(), args[3]) {
		return fmt.Errorf("%s has the reason %q, want %q in it", st.Verdict, st.Reason, args[3])
	}
	return nil
}

func recoveryCommand(s *script, args []string) error {
	st, err := s.stanza(args[0], args[1])
	if err != nil {
		return err
	}
	if string(st.Recovery) != args[2] {
		return fmt.Errorf("recovery is %q (%s), want %q", st.Recovery, st.RecoveryWhy, args[2])
	}
	return nil
}

func decidedCommand(s *script, args []string) error {
	st, err := s.stanza(args[0], args[1])
	if err != nil {
		return err
	}
	want, err := time.ParseDuration(args[2])
	if err != nil {
		return err
	}
	if got := st.Decided.Sub(s.start); got < want || got > want+2*s.poll {
		return fmt.Errorf("decided after %s, want %s", got, want)
	}
	return nil
}

func gateCommand(s *script, args []string) error {
	st, err := s.stanza(args[0], args[1])
	if err != nil {
		return err
	}
	for _, g := range st.Gates {
		if g.Name != args[2] {
			continue
		}
		if g.Pass != (args[3] == "pass") || len(args) > 4 && !strings.Contains(g.Why, args[4]) {
			return fmt.Errorf("gate %s: pass=%v %q, want %q", g.Name, g.Pass, g.Why, args[3:])
		}
		return nil
	}
	return fmt.Errorf("gate %s is not in the note: %v", args[2], st.Gates)
}

func heldCommand(s *script, args []string) error {
	st, err := s.stanza(args[0], args[1])
	if err != nil {
		return err
	}
	var held []string
	for _, g := range st.Gates {
		if !g.Pass {
			held = append(held, g.Name)
		}
	}
	want := slices.Sorted(slices.Values(args[2:]))
	if slices.Sort(held); !slices.Equal(held, want) || len(st.Gates) == 0 {
		return fmt.Errorf("held by %q, want %q", st.Held(), want)
	}
	return nil
}

func noteCommand(ts *testscript.TestScript, neg bool, args []string) {
	note, err := ts.Value(worldKey{}).(*script).note(args[0])
	ts.Check(err)
	if strings.Contains(string(note), args[1]) == neg {
		ts.Fatalf("%q in the note: %v\n%s", args[1], !neg, note)
	}
}

func unnotedCommand(s *script, args []string) error {
	note, err := s.note(args[0])
	switch {
	case errors.Is(err, errNoNote):
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("there is a note:\n%s", note)
}

func revertsCommand(s *script, args []string) error {
	got, err := s.reverts(args[0])
	if err != nil {
		return err
	}
	if strconv.Itoa(len(got)) != args[1] {
		return fmt.Errorf("%s holds %d reverts, want %s", args[0], len(got), args[1])
	}
	return nil
}

func tipCommand(s *script, args []string) error {
	got, err := s.git("rev-parse", "refs/heads/"+args[0])
	if err != nil {
		return err
	}
	if got = strings.TrimSpace(got); got != args[1] {
		return fmt.Errorf("%s is at %s, want %s", args[0], got, args[1])
	}
	return nil
}

func loggedCommand(s *script, args []string) error {
	if !strings.Contains(s.log.String(), args[0]) {
		return fmt.Errorf("the log does not say %q", args[0])
	}
	return nil
}

func personCommand(ts *testscript.TestScript, neg bool, args []string) {
	s := ts.Value(worldKey{}).(*script)
	called := false
	for line := range strings.Lines(s.log.String()) {
		if strings.Contains(line, "a person is needed") {
			called = called || len(args) == 0 || strings.Contains(line, args[0])
		}
	}
	if called == neg {
		ts.Logf("%s", s.log.String())
		ts.Fatalf("a person called with %q: %v, want %v", args, called, !neg)
	}
}

// simCommand is what people and fate do to the cluster.
func simCommand(s *script, args []string) error {
	return s.sim.do(func(sim *argosim.Sim) error {
		rest := append(slices.Clone(args[1:]), "", "", "")
		a, b := rest[0], rest[1]
		switch args[0] {
		case "refresh":
			return sim.Refresh(a)
		case "auto-sync":
			return sim.AutoSync(a, b == "on")
		case "window":
			return sim.Window(a, b == "closed")
		case "target":
			return sim.SetTarget(a, b)
		case "delete":
			return sim.DeleteApp(a)
		case "recreate":
			return sim.RecreateApp(a)
		case "controller":
			if a == "stop" {
				sim.StopController()
			} else {
				sim.StartController()
			}
			return nil
		case "reads":
			sim.RefuseReads(a == "refused")
			s.sim.partial = nil
			if a == "partial" {
				s.sim.partial = errors.New("one namespace may not be read")
			}
			return nil
		case "operation-error":
			return sim.OperationError(a, b)
		case "orphan":
			return sim.OrphanOperation(a)
		case "terminate":
			return sim.Terminate(a)
		case "sync":
			return sim.Sync(a, b, "admin")
		case "rollback":
			return sim.Rollback(a, b)
		}
		return simObject(sim, args[0], a, b, rest[2], args[1:])
	})
}

func simObject(sim *argosim.Sim, verb, app, object, last string, args []string) error {
	switch verb {
	case "drift":
		return sim.Drift(app, object)
	case "scale":
		n, err := strconv.Atoi(last)
		if err != nil {
			return err
		}
		return sim.ScaleByHand(app, object, n)
	case "degrade":
		return sim.Degrade(app, object)
	case "suspend":
		return sim.Suspend(app, object)
	case "repair":
		return sim.Repair(app, object)
	case "platform-fault":
		return sim.PlatformFault(args...)
	case "platform-repaired":
		return sim.PlatformRepaired(args...)
	case "dump":
		return errors.New(sim.Dump())
	}
	return fmt.Errorf("sim %q is not known", verb)
}
