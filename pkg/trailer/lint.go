package trailer

import "fmt"

// Lint returns all that is wrong with the Nav-Watchdog trailers of a message,
// in the order in which it stands there. It looks at the message as it will be
// in the commit: [Clean] a commit-msg file first.
func Lint(msg []byte, p Policy) []Finding {
	if plainlyNone(msg) {
		return nil
	}
	return lint(msg, p)
}

func lint(msg []byte, p Policy) []Finding {
	block, spans := parse(msg)
	l := linter{msg: msg, block: block, spans: spans, decoding: decoding{policy: p}}
	misses := 0
	for i, t := range block.Trailers {
		s := spans[i]
		if equalKey(t.Key, Key) {
			l.add(msg[s.value:s.end], t.Pos, s.value-s.start)
		} else if m, ok := nearMiss(msg[s.start:s.end], true); ok && misses <= maxFindings {
			l.nearMiss(t.Pos, m)
			misses++
		}
	}
	l.modes()
	l.reverts()
	l.unsupported()
	l.outside()
	return inOrder(l.findings)
}

// linter collects the findings of one message.
type linter struct {
	decoding
	msg   []byte
	block Block
	spans []span
}

func (l *linter) nearMiss(at Pos, m miss) {
	l.fail(KeyNearMiss, at, "git and nav-watchdog ignore this line: "+m.why, m.hint)
}

// modes reports watches whose mode is not that of the first: an armed one among
// others would never be reverted (gate siblings).
func (l *linter) modes() {
	for _, w := range l.sound {
		if first := l.sound[0]; w.Mode != first.Mode {
			l.fail(ModeMixed, w.Pos, fmt.Sprintf("mode %s here, %s on line %d: a commit is taken back for all its applications or for none", w.Mode, first.Mode, first.Pos.Line),
				"give all trailers of a commit the same mode")
			return
		}
	}
}

// reverts reports watches on a revert, which is never reverted itself (gate
// lineage).
func (l *linter) reverts() {
	if len(l.sound) == 0 {
		return
	}
	if _, ok := IsRevert(l.msg); !ok {
		return
	}
	what := "revert"
	if IsReapply(l.msg) {
		what = "reapply (the revert of a revert)"
	}
	for _, w := range l.sound {
		f := Finding{Rule: RevertWatch, Severity: Error, Pos: w.Pos}
		if w.Mode == Shadow {
			f.Severity = Warning
			f.Message = fmt.Sprintf("this commit is a %s: it is judged, but was it meant to be watched?", what)
			f.Hint = "leave the trailer out, unless you want the verdict"
		} else {
			f.Message = fmt.Sprintf("this commit is a %s, which is never reverted itself, so mode=%s can do nothing", what, w.Mode)
			f.Hint = "leave the trailer out, or use mode=shadow"
		}
		l.findings = append(l.findings, f)
	}
}

// unsupported reports what is read but not carried out yet.
func (l *linter) unsupported() {
	for _, w := range l.sound {
		if w.Unsupported != "" {
			l.fail(NotSupported, w.Pos, w.Unsupported+": not supported yet", "name each application with app=, use mode=shadow or mode=arm, and expect a health")
		}
	}
}
