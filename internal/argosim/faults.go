package argosim

import (
	"fmt"
	"maps"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// alter changes a live object behind Git's back. Objects are named "Kind/name".
func (s *Sim) alter(name, ref string, do func(verdict.ObjectID, *version) error) error {
	a, err := s.find(name)
	if err != nil {
		return err
	}
	id, v, err := a.objectOf(ref)
	if err != nil {
		return err
	}
	if err := do(id, &v); err != nil {
		return err
	}
	v.at = s.now
	s.change(a, id, v)
	return nil
}

// Drift is a person changing a field that Git declares, one that restarts no
// pod. Only applying the object again ends it.
func (s *Sim) Drift(app, object string) error {
	return s.alter(app, object, func(_ verdict.ObjectID, v *version) error {
		v.drifted = true
		return nil
	})
}

// ScaleByHand is a person, or an autoscaler, setting the replicas of a
// workload. It is drift only where Git declares replicas; the new pods take
// the time of a rollout.
func (s *Sim) ScaleByHand(app, object string, replicas int) error {
	return s.alter(app, object, func(id verdict.ObjectID, v *version) error {
		if !runsPods(id) || isJob(id) {
			return fmt.Errorf("scaling %s: it has no replicas", id)
		}
		sp, ok := v.live["spec"].(map[string]any)
		if !ok {
			return fmt.Errorf("scaling %s: it has no spec", id)
		}
		sp = maps.Clone(sp)
		sp["replicas"] = float64(replicas)
		v.live = maps.Clone(v.live)
		v.live["spec"] = sp
		v.at = s.now
		*v = s.scaled(*v)
		return nil
	})
}

// Degrade breaks an object for a reason that is in no commit, until Repair.
// The app shows Degraded (a StatefulSet or DaemonSet: Progressing, they know
// no worse).
func (s *Sim) Degrade(app, object string) error {
	return s.alter(app, object, func(id verdict.ObjectID, v *version) error {
		if !hasHealth(id) || id.Kind == "Service" {
			return fmt.Errorf("degrading %s: its kind is never Degraded", id)
		}
		v.broken = "the pods of " + id.Name + " crash: unrelated to any commit"
		return nil
	})
}

// Suspend pauses a Deployment by hand, which no field of Git contradicts.
func (s *Sim) Suspend(app, object string) error {
	return s.alter(app, object, func(id verdict.ObjectID, v *version) error {
		if !isDeployment(id) {
			return fmt.Errorf("suspending %s: only a Deployment can be paused", id)
		}
		v.paused = true
		return nil
	})
}

// Repair ends Degrade and Suspend.
func (s *Sim) Repair(app, object string) error {
	return s.alter(app, object, func(_ verdict.ObjectID, v *version) error {
		v.broken, v.paused = "", value(v.live, "spec", "paused") == true
		return nil
	})
}

// PlatformFault breaks every Deployment of the Applications named, of all of
// them if none is, at one moment: nobody's commit is to blame.
func (s *Sim) PlatformFault(apps ...string) error {
	return s.everyDeployment(apps, s.Degrade)
}

// PlatformRepaired ends PlatformFault.
func (s *Sim) PlatformRepaired(apps ...string) error {
	return s.everyDeployment(apps, s.Repair)
}

func (s *Sim) everyDeployment(names []string, do func(app, object string) error) error {
	if len(names) == 0 {
		for _, a := range s.sorted() {
			names = append(names, a.id.String())
		}
	}
	for _, name := range names {
		a, err := s.find(name)
		if err != nil {
			return err
		}
		for _, id := range a.objects() {
			if _, exists := a.live[id].now(); !exists || !isDeployment(id) {
				continue
			}
			if err := do(name, id.Kind+"/"+id.Name); err != nil {
				return err
			}
		}
	}
	return nil
}
