package verdict

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

func writeBaseline(s *State) string {
	b := s.Baseline
	if b == nil {
		return ""
	}
	w := words{"unknown"}
	if b.Known {
		w[0] = "bad"
		if b.Good {
			w[0] = "good"
		}
	}
	w.time("at", b.At)
	w.str("revisions", strings.Join(b.Revisions, ","))
	w.str("inputs", b.Inputs)
	w.str("saw", clip(b.Detail))
	return w.String()
}

func readBaseline(s *State, v string) error {
	kind, rest, _ := strings.Cut(v, " ")
	if kind != "good" && kind != "bad" && kind != "unknown" {
		return fmt.Errorf("%q is neither good, bad nor unknown", kind)
	}
	r := readWords(rest, "at", "revisions", "inputs", "saw")
	b := Baseline{Known: kind != "unknown", Good: kind == "good", At: r.time("at"), Inputs: r.str("inputs"), Detail: r.str("saw")}
	if revs := r.str("revisions"); revs != "" {
		b.Revisions = strings.Split(revs, ",")
	}
	s.Baseline = &b
	return r.err
}

func writeObjects(ids []ObjectID, l line) {
	for _, o := range ids {
		var w words
		w.str("group", o.Group)
		w.str("kind", o.Kind)
		w.str("namespace", o.Namespace)
		w.str("name", o.Name)
		l.put(w.String())
	}
}

func readObject(list []ObjectID, v string) ([]ObjectID, error) {
	r := readWords(v, "group", "kind", "namespace", "name")
	if r.err == nil && (r.str("kind") == "" || r.str("name") == "") {
		return nil, errors.New("kind or name is missing")
	}
	if len(list) >= maxObjects {
		return nil, fmt.Errorf("more than %d objects", maxObjects)
	}
	return append(list, ObjectID{r.str("group"), r.str("kind"), r.str("namespace"), r.str("name")}), r.err
}

func writeFlags(s *State) string {
	var w words
	w.str("uid", s.UID)
	w.flag("late", s.Late)
	w.flag("truncated", s.Truncated)
	w.time("fail-since", s.FailSince)
	return w.String()
}

func readFlags(s *State, v string) error {
	r := readWords(v, "uid", "late", "truncated", "fail-since")
	s.UID, s.Late, s.Truncated, s.FailSince = r.str("uid"), r.flag("late"), r.flag("truncated"), r.time("fail-since")
	return r.err
}

func readID(id *string, v string) error {
	if !fullRevision.MatchString(v) || strings.ToLower(v) != v {
		return fmt.Errorf("%q is no object id", v)
	}
	*id = v
	return nil
}

// writeRecovery: WATCHING while it is not decided.
func writeRecovery(s *State) string {
	if s.Revert == "" {
		return ""
	}
	w := words{"WATCHING"}
	if s.Recovery != "" {
		w = words{string(s.Recovery), stamp(s.RecoveryAt)}
	}
	w.str("code", s.RecoveryWhy.Code)
	w.str("why", clip(s.RecoveryWhy.Detail))
	return w.String()
}

func readRecovery(s *State, v string) error {
	kind, rest, _ := strings.Cut(v, " ")
	switch Recovery(kind) {
	case "WATCHING":
	case Recovered, NotRecovered, NotPickedUp:
		at, more, _ := strings.Cut(rest, " ")
		t, err := readTime(at)
		if err != nil {
			return err
		}
		s.Recovery, s.RecoveryAt, rest = Recovery(kind), t, more
	default:
		return fmt.Errorf("recovery %q is not known", kind)
	}
	r := readWords(rest, "code", "why")
	s.RecoveryWhy = Reason{r.str("code"), r.str("why")}
	return r.err
}

func writeFreeze(s *State) string {
	if s.Frozen.IsZero() {
		return ""
	}
	return stamp(s.FrozenAt) + " " + writeReason(s.Frozen)
}

func readFreeze(s *State, v string) error {
	at, why, _ := strings.Cut(v, " ")
	t, err := readTime(at)
	if err != nil {
		return err
	}
	s.FrozenAt = t
	s.Frozen, err = readReason(why)
	return err
}

func writeGates(s *State, l line) {
	for _, g := range s.Gates {
		l.put(g.String())
	}
}

// String is the gate as the note has it: `baseline hold why`.
func (g Gate) String() string {
	result := "hold"
	if g.Pass {
		result = "pass"
	}
	return strings.TrimRight(g.Name+" "+result+" "+clip(g.Why), " ")
}

func readGate(s *State, v string) error {
	name, rest, _ := strings.Cut(v, " ")
	result, why, _ := strings.Cut(rest, " ")
	if name == "" || (result != "pass" && result != "hold") {
		return fmt.Errorf("%q is no gate", clip(v))
	}
	s.Gates = append(s.Gates, Gate{Name: name, Pass: result == "pass", Why: why})
	return nil
}

func writeEvents(s *State, l line) {
	for _, e := range s.Events {
		l.put(strings.TrimRight(strconv.Itoa(e.Seq)+" "+stamp(e.At)+" "+e.Kind+" "+clip(e.Text), " "))
	}
}

func readEvent(s *State, v string) error {
	f := strings.SplitN(v, " ", 4)
	if len(f) < 3 {
		return errors.New("wants a number, a time and what happened")
	}
	n, err := strconv.Atoi(f[0])
	if err != nil || n < 1 {
		return fmt.Errorf("%q is no number of an event", f[0])
	}
	if k := len(s.Events); k > 0 && s.Events[k-1].Seq >= n {
		return fmt.Errorf("event %d follows event %d", n, s.Events[k-1].Seq)
	}
	t, err := readTime(f[1])
	if err != nil {
		return err
	}
	e := Event{Seq: n, At: t, Kind: f[2]}
	if len(f) == 4 {
		e.Text = f[3]
	}
	s.Events = append(s.Events, e)
	return nil
}
