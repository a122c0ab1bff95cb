package argosim

import (
	"encoding/json"
	"reflect"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// applyChild makes or changes the Application that a manifest of another one
// describes (app of apps). Fields of its spec that the simulator does not know
// are dropped; a spec that it can't read leaves the child as it was.
func (s *Sim) applyChild(m manifest) {
	data, err := json.Marshal(m.fields["spec"])
	if err != nil {
		return
	}
	var sp spec
	if json.Unmarshal(data, &sp) != nil || len(sp.sources()) == 0 {
		return
	}
	sp.Project = orElse(sp.Project, "default")
	id := verdict.App{Namespace: m.id.Namespace, Name: m.id.Name}
	a := s.apps[id]
	if a == nil {
		annotations := map[string]string{}
		if given, ok := value(m.fields, "metadata", "annotations").(map[string]any); ok {
			for key, v := range given {
				if text, ok := v.(string); ok {
					annotations[key] = text
				}
			}
		}
		s.add(id, sp, annotations, 0, map[verdict.ObjectID]*object{})
		return
	}
	if !reflect.DeepEqual(a.object.Spec, sp) {
		s.respec(a, sp)
	}
}

// respec changes the spec of an Application. Until the next refresh its status
// describes the spec before (R4).
func (s *Sim) respec(a *app, sp spec) {
	a.object.Spec = sp
	s.emit(a)
	s.refreshAfter(a, s.o.Delays.Compare, levelForce)
}

// dropChild removes the child Application that was pruned.
func (s *Sim) dropChild(id verdict.ObjectID) {
	if a := s.apps[verdict.App{Namespace: id.Namespace, Name: id.Name}]; a != nil {
		s.remove(a)
	}
}

// orphanChild lets the parents notice that a child is gone.
func (s *Sim) orphanChild(child verdict.App) {
	id := verdict.ObjectID{Group: "argoproj.io", Kind: "Application", Namespace: child.Namespace, Name: child.Name}
	for _, a := range s.sorted() {
		if o := a.live[id]; o != nil {
			if _, exists := o.now(); exists {
				s.change(a, id, version{at: s.now, gone: true})
			}
		}
	}
}
