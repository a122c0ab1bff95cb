package verdict

import (
	"strings"
	"time"
)

// minHold is how long at least a FAIL waits for a fresh look or for a cluster
// that could take the revert (design, section 6).
const minHold = 5 * time.Minute

// Conclude decides what a FAIL may do, once its gates can be evaluated. It is
// asked again each pass as long as only `fresh` or `deployable` hold.
func Conclude(s State, f GateFacts, now time.Time, refresh time.Duration) (State, Next) {
	old := s
	s.Gates = Evaluate(s, f)
	m := machine{s: s, in: Input{Now: now}, old: old}
	held, final := holds(s.Gates)
	waited := now.Sub(s.FailSince) >= max(minHold, 2*refresh)
	switch {
	case len(held) == 0:
		m.next.Revert = true
	case !final && !waited:
		m.wait(Reason{"held", strings.Join(held, "; ")})
	default:
		m.decide(Fail, s.failReason())
		if s.Watch.Mode == Arm {
			m.next.Person = "not reverted: " + strings.Join(held, "; ")
		}
	}
	m.next.Transition = m.s.Verdict != old.Verdict || len(old.Gates) == 0
	m.next.Changed = m.s.Reason != old.Reason
	return m.s, m.next
}

// CloseHeld ends a FAIL that waits for `fresh` or `deployable` (a recording
// that ends does so).
func CloseHeld(s State, now time.Time) State {
	m := machine{s: s, in: Input{Now: now}}
	m.decide(Fail, s.failReason())
	return m.s
}

// failReason is the reason of the look that failed, kept while it waits.
func (s State) failReason() Reason {
	for i := len(s.Events) - 1; i >= 0; i-- {
		if e := s.Events[i]; e.Kind == "fail" {
			return Reason{"deadline", strings.TrimPrefix(e.Text, "deadline ")}
		}
	}
	return Reason{"deadline", s.Reason.Detail}
}

// holds lists the gates that hold, and whether one of them is final.
func holds(gates []Gate) (held []string, final bool) {
	for _, g := range gates {
		if g.Pass {
			continue
		}
		held = append(held, g.Name+": "+clip(g.Why))
		if g.Name != "fresh" && g.Name != "deployable" {
			final = true
		}
	}
	return held, final
}

// Held lists the gates that hold, as `name: why`.
func (s State) Held() []string {
	held, _ := holds(s.Gates)
	return held
}
