package argosim

import (
	"encoding/json"
	"reflect"
	"slices"
	"time"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// defaultProgressDeadline is Kubernetes' own (progressDeadlineSeconds).
const defaultProgressDeadline = 600 * time.Second

// maxProgressDeadline is more seconds than any scenario waits.
const maxProgressDeadline = 1 << 31

// keptTemplates is Kubernetes' revisionHistoryLimit.
const keptTemplates = 10

// applied is v after kubectl applied m to it at t; v is zero for an object
// that does not exist. It reports whether anything was changed.
func (s *Sim) applied(m manifest, v version, exists bool, t time.Time) (version, bool) {
	if exists && !v.drifted && !differs(m.fields, v.applied, v.live) {
		return v, false
	}
	n := v
	n.at, n.gone, n.drifted, n.group, n.hook = t, false, false, m.version, m.hook
	n.live, n.applied = merged(m.fields, v.applied, v.live), m.fields
	n.paused = value(n.live, "spec", "paused") == true
	if runsPods(m.id) {
		n = s.rolled(m.id, n, v, exists)
	}
	return n, true
}

// rolled starts the rollout that the change from v to n brings.
func (s *Sim) rolled(id verdict.ObjectID, n, v version, exists bool) version {
	template := canonical(value(n.live, "spec", "template"))
	if exists && template == last(v.templates) {
		if isDeployment(id) && !reflect.DeepEqual(value(n.live, "spec", "replicas"), value(v.live, "spec", "replicas")) {
			return s.scaled(n)
		}
		return n
	}
	n.images, n.old = images(n.live), nil
	if exists {
		n.old = union(v.old, v.images)
		if v.up(n.at) {
			n.old = v.images
		}
	}
	// A Deployment that goes back to a template it still has a ReplicaSet for
	// keeps the condition ProgressDeadlineExceeded until it is complete: it is
	// Degraded, not Progressing, on its way back (recorded in bad-image).
	n.exceeded = exists && v.stuck(n.at) && slices.Contains(v.templates, template)
	n.templates = append(slices.DeleteFunc(slices.Clone(v.templates), func(t string) bool { return t == template }), template)
	n.templates = n.templates[max(0, len(n.templates)-keptTemplates):]
	n = s.started(id, n)
	n.deadline = time.Time{}
	if isDeployment(id) {
		n.deadline = n.at.Add(defaultProgressDeadline)
		if seconds, ok := value(n.live, "spec", "progressDeadlineSeconds").(float64); ok && seconds > 0 && seconds < maxProgressDeadline {
			n.deadline = n.at.Add(time.Duration(seconds) * time.Second)
		}
	}
	return n
}

// started gives the pods of n their fate: the slowest image counts.
func (s *Sim) started(id verdict.ObjectID, n version) version {
	n.never, n.failed, n.ready = false, false, n.at
	for _, image := range n.images {
		fate := s.o.Image(image)
		switch {
		case fate.Never, fate.Fails && !isJob(id):
			n.never = true
		case fate.Fails:
			n.failed = true
		}
		if ready := n.at.Add(fate.Ready); ready.After(n.ready) {
			n.ready = ready
		}
	}
	return n
}

// scaled adds pods of the template that already runs. Their rollout was
// complete once, so that the Deployment can't exceed its deadline again.
func (s *Sim) scaled(n version) version {
	if !n.up(n.at) {
		return n // one more for a rollout that is not complete
	}
	n.deadline, n.old = time.Time{}, nil
	for _, image := range n.images {
		if ready := n.at.Add(s.o.Image(image).Ready); ready.After(n.ready) {
			n.ready = ready
		}
	}
	return n
}

// up says that all pods of v are ready at t.
func (v version) up(t time.Time) bool { return !v.never && !t.Before(v.ready) }

// stuck says that the rollout of v has exceeded its deadline at t.
func (v version) stuck(t time.Time) bool {
	return !v.up(t) && (v.exceeded || !v.deadline.IsZero() && !t.Before(v.deadline))
}

// moments are the times at which v changes by itself.
func (v version) moments() []time.Time {
	var out []time.Time
	if !v.never && v.ready.After(v.at) {
		out = append(out, v.ready)
	}
	if v.deadline.After(v.at) && (v.never || v.deadline.Before(v.ready)) {
		out = append(out, v.deadline)
	}
	return out
}

// running are the images of all pods there are at t.
func (v version) running(t time.Time) []string {
	if v.up(t) {
		return v.images
	}
	return union(v.old, v.images)
}

func union(a, b []string) []string {
	out := append(slices.Clone(a), b...)
	slices.Sort(out)
	return slices.Compact(out)
}

func last(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1]
}

// canonical is v as JSON, which sorts the keys; v came from JSON.
func canonical(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(data)
}
