package verdict

import (
	"regexp"
	"strings"
	"sync"
)

// notWorkloads are the kinds that cannot be what fails to run: where it is not
// known what fails, all others must have been changed (design, gate related).
var notWorkloads = map[string]bool{
	"ConfigMap": true, "Secret": true, "ServiceAccount": true,
	"Role": true, "RoleBinding": true, "ClusterRole": true, "ClusterRoleBinding": true,
	"Service": true, "Ingress": true, "PersistentVolumeClaim": true, "NetworkPolicy": true,
	"PodDisruptionBudget": true, "HorizontalPodAutoscaler": true, "Namespace": true,
	"CustomResourceDefinition": true,
}

// gateRelated: it must be shown that what fails was changed by the commit, or
// the operation itself must have failed, and not on what the commit left alone.
func gateRelated(s State, f GateFacts) (string, string) {
	if f.AcceptRelated != "" {
		return "", "waived by the policy: " + f.AcceptRelated
	}
	o := Observation{Look: f.Look, Git: f.Git}
	var j Judgement
	if rel, why, _ := f.Git.relevant(f.Look); why.IsZero() {
		j.reach(o, rel)
	}
	if j.OpFailed {
		if id, foreign := refused(f); foreign {
			return "the operation failed on " + id.String() + ", whose manifest the commit did not change", ""
		}
		return "", "the operation failed"
	}
	failing, known := Failing(f.Look)
	if !known {
		failing = workloads(f.Look)
		if len(failing) == 0 {
			return "it is not known what fails, and the Application has no workload", ""
		}
	}
	for _, id := range failing {
		switch s.wasChanged(id, f.Manifests) {
		case Yes:
			continue
		case Unknown:
			return "it is not known whether " + id.String() + " was changed", ""
		}
		if known {
			return id.String() + " fails, and no operation with the commit changed it", ""
		}
		return "it is not known what fails, and " + id.String() + " was not changed", ""
	}
	if known {
		return "", "what fails was changed"
	}
	return "", "every workload was changed"
}

// wasChanged tells whether an operation with the commit created or configured
// the object; for a message that does not tell, whether its manifest differs.
func (s State) wasChanged(id ObjectID, manifests map[ObjectID]Tri) Tri {
	for _, c := range s.Changed {
		if c == id {
			return Yes
		}
	}
	for _, u := range s.Untold {
		if u == id {
			return differs(id, manifests)
		}
	}
	if s.Truncated {
		return Unknown
	}
	return No
}

// differs tells whether the manifest of an object is another one with the
// commit.
func differs(id ObjectID, manifests map[ObjectID]Tri) Tri {
	if d, ok := manifests[id]; ok {
		return d
	}
	id.Namespace = "" // a manifest may leave it to the destination
	return manifests[id]
}

// refused finds the objects that could not be applied and whether the commit
// is known to have changed none of them: server-side apply and Replace send
// everything again, and a new admission policy or a full quota then refuses
// what was there before. A hook that failed is the commit's.
func refused(f GateFacts) (id ObjectID, foreign bool) {
	for _, r := range f.Look.Operation.Resources {
		if !r.failed() {
			continue
		}
		if r.HookType != "" || differs(r.ObjectID, f.Manifests) != No {
			return ObjectID{}, false
		}
		id, foreign = r.ObjectID, true
	}
	return id, foreign
}

// Failing names what fails, where the Application itself tells: inline health,
// or the message that 3.6 puts beside the health.
func Failing(l Look) (ids []ObjectID, known bool) {
	if l.HealthInline {
		for _, r := range l.Resources {
			if r.Hook || r.RequiresPruning || r.Health == "" || r.Health == Healthy {
				continue
			}
			ids = append(ids, r.ObjectID)
		}
	}
	if len(ids) == 0 {
		ids = causes(l)
	}
	return ids, len(ids) > 0
}

// causeWord is a resource as 3.6 writes it: group/Kind:namespace/name.
// It is compiled when it is needed: a hook's start counts.
var causeWord = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:([a-z0-9.-]+)/)?([A-Z][A-Za-z0-9]*):(?:([a-z0-9.-]+)/)?([a-z0-9][a-zA-Z0-9.:-]*)`)
})

// causes reads status.health.message; only what is a resource of the
// Application counts. The message names at most three, so it may be partial;
// what it names does fail.
func causes(l Look) []ObjectID {
	var ids []ObjectID
	for _, m := range causeWord().FindAllStringSubmatch(l.HealthMessage, 16) {
		id := ObjectID{Group: m[1], Kind: m[2], Namespace: m[3], Name: strings.TrimRight(m[4], ".:")}
		for _, r := range l.Resources {
			if r.ObjectID == id || (id.Namespace == "" && r.Group == id.Group && r.Kind == id.Kind && r.Name == id.Name) {
				ids = append(ids, r.ObjectID)
				break
			}
		}
	}
	return ids
}

// workloads are the objects of which one may be what fails.
func workloads(l Look) []ObjectID {
	var ids []ObjectID
	for _, r := range l.Resources {
		if !notWorkloads[r.Kind] && !r.Hook && !r.RequiresPruning {
			ids = append(ids, r.ObjectID)
		}
	}
	return ids
}
