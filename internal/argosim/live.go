package argosim

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"
)

// version is a live object as it was from a moment on. What time brings (pods
// get ready, the progress deadline passes) is computed from it, so that the
// cluster needs no events of its own.
type version struct {
	at      time.Time
	gone    bool
	live    map[string]any // the fields as they are
	applied map[string]any // kubectl's last-applied configuration
	group   string         // version of the API, "v1"
	hook    string

	drifted bool   // somebody changed a field that Git declares
	broken  string // why it is Degraded whatever Git says
	paused  bool

	images    []string  // of its pods
	old       []string  // of pods that run on until the new ones are ready
	templates []string  // pod templates that it has had, newest last
	ready     time.Time // when its pods are ready (a Job: finished)
	never     bool      // they never get ready
	failed    bool      // a Job that fails at ready
	deadline  time.Time // when progressDeadlineSeconds is over; zero: no rollout
	exceeded  bool      // ProgressDeadlineExceeded since before this rollout
}

// object is the history of one live object, as far as the lag of the live
// cache needs it.
type object struct{ versions []version }

// at is the newest version that a cache which has reached t knows.
func (o *object) at(t time.Time) (version, bool) {
	for i := len(o.versions) - 1; i >= 0; i-- {
		if v := o.versions[i]; !v.at.After(t) {
			return v, !v.gone
		}
	}
	return version{}, false
}

func (o *object) now() (version, bool) {
	if len(o.versions) == 0 {
		return version{}, false
	}
	v := o.versions[len(o.versions)-1]
	return v, !v.gone
}

// set adds a version and forgets those that no cache can still see.
func (o *object) set(v version, lag time.Duration) {
	for len(o.versions) > 1 && !o.versions[1].at.After(v.at.Add(-lag)) {
		o.versions = o.versions[1:]
	}
	o.versions = append(slices.Clip(o.versions), v)
}

// differs says whether applying want would change live: a field that Git
// declares is not as declared, or one that Git declared last time is still
// there. Fields that nobody declared don't count, as in kubectl's three-way
// merge.
func differs(want, applied, live map[string]any) bool {
	for key, w := range want {
		l, there := live[key]
		if !there {
			return true
		}
		wm, wok := w.(map[string]any)
		lm, lok := l.(map[string]any)
		if wok && lok {
			am, _ := applied[key].(map[string]any)
			if differs(wm, am, lm) {
				return true
			}
		} else if !reflect.DeepEqual(w, l) {
			return true
		}
	}
	for key := range applied {
		_, wanted := want[key]
		if _, there := live[key]; there && !wanted {
			return true
		}
	}
	return false
}

// merged is live after want was applied.
func merged(want, applied, live map[string]any) map[string]any {
	out := maps.Clone(live)
	if out == nil {
		out = map[string]any{}
	}
	for key := range applied {
		if _, wanted := want[key]; !wanted {
			delete(out, key)
		}
	}
	for key, w := range want {
		wm, wok := w.(map[string]any)
		lm, lok := live[key].(map[string]any)
		if wok && lok {
			am, _ := applied[key].(map[string]any)
			out[key] = merged(wm, am, lm)
			continue
		}
		out[key] = w
	}
	return out
}

// immutable is the API server's refusal of a change to a field that can't be
// changed, or "". file stands for the file that kubectl patches with.
func immutable(m manifest, before map[string]any, file string) string {
	field := ""
	switch m.id.Group + "/" + m.id.Kind {
	case "apps/Deployment", "apps/StatefulSet", "apps/DaemonSet":
		field = "selector"
	case "batch/Job":
		field = "template"
	default:
		return ""
	}
	want, had := value(m.fields, "spec", field), value(before, "spec", field)
	if reflect.DeepEqual(want, had) {
		return ""
	}
	shown, err := json.Marshal(want)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("error when patching %q: %s is invalid: spec.%s: Invalid value: %s: field is immutable", file, apiName(m.id), field, shown)
}

// images are those of the pod template of fields, sorted.
func images(fields map[string]any) []string {
	var out []string
	for _, at := range [][]string{
		{"spec", "template", "spec"},
		{"spec", "jobTemplate", "spec", "template", "spec"},
		{"spec"},
	} {
		for _, list := range []string{"initContainers", "containers"} {
			containers, _ := value(fields, append(slices.Clone(at), list)...).([]any)
			for _, c := range containers {
				if cm, ok := c.(map[string]any); ok {
					if image := text(cm, "image"); image != "" {
						out = append(out, image)
					}
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
