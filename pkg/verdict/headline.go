package verdict

import (
	"fmt"
	"strings"
)

// Headline is the first line of a stanza: what became of the watch, for
// people. A FAIL that was held says why.
func (s State) Headline() string {
	v := string(s.Verdict)
	if s.Verdict == Fail {
		if held := s.Held(); len(held) > 0 {
			v += " (not reverted: " + clip(heldMost(held)) + ")"
		}
	}
	return fmt.Sprintf("%s: %s: %s", s.Watch.App, v, s.sentence())
}

// heldMost picks what a reader should know first: a shadow watch is held by
// its mode and there is no more to say; otherwise all but the mode.
func heldMost(held []string) string {
	if len(held) > 0 && strings.HasPrefix(held[0], "mode: ") {
		return held[0]
	}
	return strings.Join(held, "; ")
}

// sentence says the reason in words.
func (s State) sentence() string {
	w, r := s.Watch, Reason{s.Reason.Code, clip(s.Reason.Detail)}
	switch {
	case r.Code == "deadline":
		return fmt.Sprintf("not %s within %s of being reached (%s)", w.Expect, seconds(w.Deadline), r.Detail)
	case s.Verdict == Confirmed && r.Code == "nothing-to-deploy":
		return "nothing to deploy: " + r.Detail
	case s.Verdict == Confirmed:
		return fmt.Sprintf("%s and stable for %s", w.Expect, seconds(w.Stable))
	case s.Verdict == NotReached && s.Track.OnBranch.IsZero():
		return fmt.Sprintf("not reached within %s (%s)", seconds(w.Reach), r)
	case s.Verdict == NotReached:
		return fmt.Sprintf("on %s, but not reached within %s (%s)", s.Branch, seconds(w.Reach), r)
	case r.Detail == "":
		return r.Code
	}
	return r.Code + ": " + r.Detail
}
