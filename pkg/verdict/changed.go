package verdict

import "strings"

// Absorb takes from a look in between what the next one may no longer show:
// the results of an operation, and how it stood for a moment. It moves no clock
// and decides nothing.
func (s State) Absorb(o Observation) State {
	if s.Verdict != Waiting || o.Look.Absent || (s.UID != "" && o.Look.UID != s.UID) {
		return s
	}
	s.changed(o)
	s.Track.glimpse(Judge(s.Watch, o), o)
	return s
}

// maxObjects and maxObjectBytes bound a list of objects in a stanza, maxName
// what Kubernetes admits as a name: a note must stay one that can be read.
const (
	maxObjects     = 200
	maxObjectBytes = 64 << 10
	maxName        = 253
)

// changed unites what the operations with the commit created or configured,
// self-heals and retries included (gate `related`).
func (s *State) changed(o Observation) {
	op := o.Look.Operation
	rel, why, _ := o.Git.relevant(o.Look)
	if !why.IsZero() || !op.Present || op.DryRun || op.Local {
		return
	}
	if in, _ := o.Git.contain(op.Revisions, rel.sources); in != Yes {
		return
	}
	for _, r := range op.Resources {
		switch told(r.Message) {
		case Yes:
			s.Changed = s.addObject(s.Changed, r.ObjectID)
		case Unknown:
			if r.Status == Synced {
				s.Untold = s.addObject(s.Untold, r.ObjectID)
			}
		}
	}
}

func (s *State) addObject(list []ObjectID, id ObjectID) []ObjectID {
	for _, x := range list {
		if x == id {
			return list
		}
	}
	size := len(id.String())
	for _, x := range list {
		size += len(x.String())
	}
	if len(list) >= maxObjects || size > maxObjectBytes || !plainObject(id) {
		s.Truncated = true // what is not listed is not known
		return list
	}
	return append(append([]ObjectID(nil), list...), id)
}

// plainObject: names that no API server would admit are not taken into a note.
func plainObject(id ObjectID) bool {
	for _, name := range []string{id.Group, id.Kind, id.Namespace, id.Name} {
		if len(name) > maxName || escapeWord(name) != name {
			return false
		}
	}
	return id.Kind != "" && id.Name != ""
}

// told reads the message of one object's apply: kubectl's words for created
// and configured; `unchanged` and what was not applied is no change; others,
// such as server-side apply's, do not tell.
func told(message string) Tri {
	word := message
	if i := strings.Index(message, ". Warning:"); i >= 0 {
		word = message[:i]
	}
	switch {
	case strings.HasSuffix(word, " created"), strings.HasSuffix(word, " configured"):
		return Yes
	case strings.HasSuffix(word, " unchanged"), strings.HasPrefix(word, "ignored"), word == "":
		return No
	}
	return Unknown
}
