package argosim

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// app is one Application: the object, and what the controller and the cluster
// keep about it.
type app struct {
	id          verdict.App
	dead        bool
	incarnation int
	object      application
	body        []byte // the object without generation and resourceVersion
	shown       []byte // the object as it was shown last

	live map[verdict.ObjectID]*object

	pollSeq    int64
	patching   bool      // a comparison is done and not yet written
	repoError  time.Time // since when the target can't be rendered
	window     bool      // a sync window is closed
	opError    string    // operations end in phase Error with this message
	orphanNext bool      // the next operation loses .operation
	orphaned   bool
	op         *run // the operation under way
}

// AddApp adds an Application. Before the first Tick it waits for it to be
// created; afterwards it is created at once.
func (s *Sim) AddApp(w AppSpec) error {
	id, sp, err := w.shape(s.o.RepoURL)
	if err != nil {
		return err
	}
	if _, taken := s.apps[id]; taken {
		return fmt.Errorf("adding application %s: it exists", id)
	}
	s.add(id, sp, w.Annotations, 0, map[verdict.ObjectID]*object{})
	return nil
}

func (s *Sim) add(id verdict.App, sp spec, annotations map[string]string, incarnation int, live map[verdict.ObjectID]*object) {
	a := &app{id: id, incarnation: incarnation, live: live}
	a.object = application{
		APIVersion: "argoproj.io/v1alpha1", Kind: "Application",
		Metadata: metadata{Annotations: map[string]string{}, Name: id.Name, Namespace: id.Namespace, UID: s.uid(id, incarnation)},
		Spec:     sp,
	}
	maps.Copy(a.object.Metadata.Annotations, annotations)
	s.apps[id] = a
	if s.running {
		s.create(a)
	}
}

func (s *Sim) create(a *app) {
	a.object.Metadata.CreationTimestamp = stamp(s.now)
	s.emit(a)
	s.refreshAfter(a, s.o.Delays.Compare, levelForce)
	for _, id := range a.objects() { // those of an Application that was here before
		v, _ := a.live[id].now()
		for _, at := range v.moments() {
			if at.After(s.now) {
				s.notice(a, at)
			}
		}
	}
}

// remove takes the Application away. Its live objects stay behind, unowned,
// as after a deletion that does not cascade.
func (s *Sim) remove(a *app) {
	a.dead = true
	delete(s.apps, a.id)
	if s.o.OnDelete != nil && a.shown != nil {
		s.o.OnDelete(s.now, slices.Clone(a.shown))
	}
}

// emit shows the object if anything but its versions changed. Only metadata
// moves without a new generation: there is no status subresource.
func (s *Sim) emit(a *app) { s.emitAs(a, true) }

func (s *Sim) emitAs(a *app, generation bool) {
	o := a.object
	o.Metadata.Generation, o.Metadata.ResourceVersion = 0, ""
	body := mustJSON(o)
	if string(body) == string(a.body) {
		return
	}
	a.body = body
	if generation || a.object.Metadata.Generation == 0 {
		a.object.Metadata.Generation++
	}
	s.seq++
	a.object.Metadata.ResourceVersion = fmt.Sprint(s.seq)
	a.shown = mustJSON(a.object)
	if s.o.OnChange != nil {
		s.o.OnChange(s.now, slices.Clone(a.shown))
	}
}

// mustJSON writes one of our own shapes, which can't fail: strings, numbers,
// booleans, and maps of strings.
func mustJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return data
}

// status is the status, made as Argo CD makes it: with all its parts empty.
func (a *app) status() *status {
	if a.object.Status == nil {
		a.object.Status = &status{}
	}
	return a.object.Status
}

// change replaces a live object by its next version and lets the live cache
// notice, now and whenever time alone will change it again.
func (s *Sim) change(a *app, id verdict.ObjectID, v version) {
	o := a.live[id]
	if o == nil {
		o = &object{}
		a.live[id] = o
	}
	o.set(v, s.o.Delays.Lag)
	s.notice(a, s.now)
	if v.gone {
		return
	}
	for _, at := range v.moments() {
		s.notice(a, at)
	}
}

// notice lets the refresh loop see, once the cache has it, what changes at at.
func (s *Sim) notice(a *app, at time.Time) {
	s.refreshAfter(a, at.Sub(s.now)+s.o.Delays.Lag, levelRecent)
}

// objects are the identities of live objects, in the order of status.resources.
func (a *app) objects() []verdict.ObjectID {
	ids := slices.Collect(maps.Keys(a.live))
	slices.SortFunc(ids, compareIDs)
	return ids
}
