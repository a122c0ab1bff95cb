package watchd

import (
	"slices"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// watches are those of commits that have not ended. There may be ten thousand of
// them, and an event concerns those of one Application, a note those of one
// commit: both are found without a look at the others.
type watches struct {
	states   map[key]verdict.State
	byCommit map[string][]key
	byName   map[string][]key // of the Application, whatever its namespace
	noted    map[string]bool  // commits that have a note in the repository
	fresh    map[string]bool  // commits of watches that have none
}

func newWatches() *watches {
	return &watches{
		states: map[key]verdict.State{}, byCommit: map[string][]key{}, byName: map[string][]key{},
		noted: map[string]bool{}, fresh: map[string]bool{},
	}
}

// forget lets all watches go; which commits have notes stays known.
func (w *watches) forget() {
	noted := w.noted
	*w = *newWatches()
	w.noted = noted
}

func (w *watches) get(k key) (verdict.State, bool) {
	s, there := w.states[k]
	return s, there
}

func (w *watches) put(k key, s verdict.State) {
	if _, there := w.states[k]; !there {
		w.byCommit[k.commit] = append(w.byCommit[k.commit], k)
		w.byName[k.app.Name] = append(w.byName[k.app.Name], k)
		if !w.noted[k.commit] {
			w.fresh[k.commit] = true
		}
	}
	w.states[k] = s
}

func (w *watches) drop(k key) {
	if _, there := w.states[k]; !there {
		return
	}
	delete(w.states, k)
	without(w.byCommit, k.commit, k)
	without(w.byName, k.app.Name, k)
	if len(w.byCommit[k.commit]) == 0 {
		delete(w.fresh, k.commit)
	}
}

// without takes a key out of a list.
func without(lists map[string][]key, of string, k key) {
	list := lists[of]
	last := len(list) - 1
	if last == 0 {
		delete(lists, of)
		return
	}
	list[slices.Index(list, k)] = list[last]
	list[last] = key{}
	lists[of] = list[:last]
}

// note says whether a commit has a note in the repository.
func (w *watches) note(commit string, there bool) {
	if there {
		w.noted[commit] = true
		delete(w.fresh, commit)
		return
	}
	delete(w.noted, commit)
	if len(w.byCommit[commit]) > 0 {
		w.fresh[commit] = true
	}
}

// of are the watches of a commit, in no order, until one of them is dropped.
func (w *watches) of(commit string) []key { return w.byCommit[commit] }

// named are the watches of all Applications of a name, likewise.
func (w *watches) named(name string) []key { return w.byName[name] }

// openKeys lists the watches that are not ended, in a stable order.
func (p *pass) openKeys() []key {
	var open []key
	add := func(k key) {
		if s, there := p.watches.get(k); there && !s.Final(p.now) && p.broken[k.commit] == nil {
			open = append(open, k)
		}
	}
	switch {
	case p.keys != nil:
		for _, k := range p.keys {
			add(k)
		}
		return open
	case p.only != nil:
		for name := range p.only {
			for _, k := range p.watches.named(name) {
				if p.only.has(k.app) {
					add(k)
				}
			}
		}
	default:
		for k := range p.watches.states {
			add(k)
		}
	}
	slices.SortFunc(open, byKey)
	return open
}
