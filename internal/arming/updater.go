package arming

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Updater is an ImageUpdater resource (Image Updater v1.x).
type Updater struct {
	Namespace string       `json:"namespace,omitempty"`
	Name      string       `json:"name"`
	Target    string       `json:"target,omitempty"` // namespace of the Applications that it updates; empty: not said
	Config    *WriteBack   `json:"config,omitempty"` // spec.writeBackConfig
	Refs      []UpdaterRef `json:"refs,omitempty"`
	Live      bool         `json:"live,omitempty"` // read from an API server, where defaults are filled in
}

// WriteBack is a writeBackConfig.
type WriteBack struct {
	Method      string `json:"method,omitempty"`
	Target      string `json:"target,omitempty"` // gitConfig.writeBackTarget
	PullRequest bool   `json:"pullRequest,omitempty"`
}

// UpdaterRef is an entry of spec.applicationRefs.
type UpdaterRef struct {
	NamePattern string     `json:"namePattern"`
	Labels      *Selector  `json:"labels,omitempty"`
	Annotations bool       `json:"annotations,omitempty"` // useAnnotations
	Config      *WriteBack `json:"config,omitempty"`
}

// Selector is a label selector.
type Selector struct {
	Labels map[string]string `json:"labels,omitempty"`
	Terms  []Term            `json:"terms,omitempty"`
}

// Term is an entry of matchExpressions.
type Term struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values,omitempty"`
}

// Matches reports whether labels fit; an empty selector fits all. An operator
// that is none fits nothing.
func (s Selector) Matches(labels map[string]string) bool {
	for key, value := range s.Labels {
		if got, ok := labels[key]; !ok || got != value {
			return false
		}
	}
	for _, t := range s.Terms {
		value, there := labels[t.Key]
		fits := false
		switch t.Operator {
		case "In":
			fits = there && slices.Contains(t.Values, value)
		case "NotIn":
			fits = !there || !slices.Contains(t.Values, value)
		case "Exists":
			fits = there
		case "DoesNotExist":
			fits = !there
		}
		if !fits {
			return false
		}
	}
	return true
}

// specificity orders the references of a resource as Image Updater does: an
// exact name counts most, then labels, then what the pattern says literally.
func (r UpdaterRef) specificity() int {
	n := 0
	if !strings.ContainsAny(r.NamePattern, "*?[") {
		n += 1_000_000
	}
	if r.Labels != nil {
		n += 10_000 + 100*(len(r.Labels.Labels)+len(r.Labels.Terms))
	}
	for _, c := range []byte(r.NamePattern) {
		if !strings.ContainsRune("*?[]", rune(c)) {
			n++
		}
	}
	return n
}

// picks gives the reference by which a resource takes an Application: the most
// specific that fits, the first of equals.
func (u Updater) picks(f Facts) *UpdaterRef {
	if u.Target != "" && f.App.Namespace != "" && u.Target != f.App.Namespace {
		return nil
	}
	refs := slices.Clone(u.Refs)
	slices.SortStableFunc(refs, func(a, b UpdaterRef) int { return b.specificity() - a.specificity() })
	for i, r := range refs {
		if ok, err := path.Match(r.NamePattern, f.App.Name); err != nil || !ok {
			continue
		}
		if r.Labels == nil || r.Labels.Matches(f.Labels) {
			return &refs[i]
		}
	}
	return nil
}

// writeBack is what a resource does with an Application that it takes: the
// method of the reference counts before that of the resource, and without any
// it is argocd. Trap says that another version of Image Updater takes another.
func (u Updater) writeBack(r UpdaterRef, f Facts) (method, target string, pullRequest bool, trap string) {
	if r.Annotations { // the resource's own settings are ignored then
		m := f.ImageUpdater.Method
		if !f.ImageUpdater.Said {
			m = ""
		}
		return m, f.ImageUpdater.Target, false, ""
	}
	for _, c := range []*WriteBack{r.Config, u.Config} {
		if c == nil {
			continue
		}
		target, pullRequest = orElse(target, c.Target), pullRequest || c.PullRequest
		if method == "" {
			method = strings.TrimSpace(c.Method)
		}
		if c == r.Config && c.Method == "" && !u.Live {
			trap = fmt.Sprintf("its reference %q has a writeBackConfig without a method, which up to v1.2 means argocd", clip(r.NamePattern))
		}
	}
	return method, target, pullRequest, trap
}

func orElse(s, or string) string {
	if s != "" {
		return s
	}
	return or
}
