package argocd

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
)

// UpdaterGroup is the API group of Image Updater v1.x.
const UpdaterGroup = "argocd-image-updater.argoproj.io"

// Kinds that stand around an Application.
const (
	KindApplication    = "Application"
	KindApplicationSet = "ApplicationSet"
	KindAppProject     = "AppProject"
	KindImageUpdater   = "ImageUpdater"
)

// IsOurs reports whether an object is one of the kinds that the arming rules
// read.
func IsOurs(apiVersion, kind string) bool {
	switch kind {
	case KindApplication, KindApplicationSet, KindAppProject:
		return strings.HasPrefix(apiVersion, group+"/")
	case KindImageUpdater:
		return strings.HasPrefix(apiVersion, UpdaterGroup+"/")
	}
	return false
}

// Add reads an object of one of the kinds that the arming rules ask, and adds it
// to what a place knows. Live says that it came from an API server. An object of
// another kind is ErrOtherKind.
func Add(p *arming.Place, fields map[string]any, live bool) error {
	var bad error
	top := root(fields, &bad)
	kind, version := top.text("kind"), top.text("apiVersion")
	if bad == nil && !IsOurs(version, kind) {
		return fmt.Errorf("reading an object of kind %q, apiVersion %q: %w", kind, version, ErrOtherKind)
	}
	if kind == KindApplication {
		app, err := FromObject(fields)
		if err != nil {
			return err
		}
		p.Apps = append(p.Apps, app.Facts(p.From, p.At))
		return nil
	}
	meta, spec := top.object("metadata"), top.object("spec")
	name, namespace := meta.text("name"), meta.text("namespace")
	if bad == nil && (!plainName(name) || namespace != "" && !plainName(namespace)) {
		return fmt.Errorf("reading an object of kind %s: metadata has no usable name: namespace %.80q, name %.80q", kind, namespace, name)
	}
	switch kind {
	case KindApplicationSet:
		p.Sets = append(p.Sets, appSet(spec, namespace, name))
	case KindAppProject:
		p.Projects = append(p.Projects, project(meta, spec, namespace, name))
	case KindImageUpdater:
		p.Updaters = append(p.Updaters, updater(spec, namespace, name, live))
	}
	if bad != nil {
		return fmt.Errorf("reading %s %.200q: %w", kind, name, bad)
	}
	return nil
}

// appSet reads what an ApplicationSet's template says of prune. What a
// generator's own template or a templatePatch writes over it is only looked
// for, not evaluated.
func appSet(spec *object, namespace, name string) arming.AppSet {
	policy := spec.object("template").object("spec").object("syncPolicy")
	strategy := spec.object("strategy")
	set := arming.AppSet{
		Namespace: namespace, Name: name,
		// One without steps syncs nothing.
		RollingSync: strategy.text("type") == "RollingSync" && len(strategy.object("rollingSync").list("steps")) > 0,
		Prune:       truthy(policy.object("automated").fields["prune"]),
	}
	over := spec.text("templatePatch")
	if generators, err := json.Marshal(spec.fields["generators"]); err == nil {
		if s := string(generators); strings.Contains(s, `"template"`) {
			over += s
		}
	}
	set.Patched = strings.Contains(over, "prune")
	return set
}

// truthy reads a switch of a template, which may be a text with {{ }} in it:
// what is not plainly false may be true.
func truthy(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != "" && v != "false"
	}
	return true
}

func project(meta, spec *object, namespace, name string) arming.AppProject {
	p := arming.AppProject{Namespace: namespace, Name: name, Labels: meta.labels("labels")}
	switch {
	case len(spec.list("signatureKeys")) > 0:
		p.Signatures = "signatureKeys"
	case len(spec.object("sourceIntegrity").object("git").fields) > 0:
		p.Signatures = "sourceIntegrity"
	}
	windows := spec.objects("syncWindows")
	for i := range windows {
		w := &windows[i]
		p.Windows = append(p.Windows, arming.Window{
			Kind: w.text("kind"), Schedule: w.text("schedule"), Duration: w.text("duration"), TimeZone: w.text("timeZone"),
			Applications: w.texts("applications"), Namespaces: w.texts("namespaces"), Clusters: w.texts("clusters"),
			And: w.truth("andOperator"),
		})
	}
	return p
}

func updater(spec *object, namespace, name string, live bool) arming.Updater {
	u := arming.Updater{Namespace: namespace, Name: name, Target: spec.text("namespace"), Config: writeBack(spec.object("writeBackConfig")), Live: live}
	if u.Target == "" {
		u.Target = namespace
	}
	refs := spec.objects("applicationRefs")
	for i := range refs {
		r := &refs[i]
		ref := arming.UpdaterRef{NamePattern: r.text("namePattern"), Annotations: r.truth("useAnnotations"), Config: writeBack(r.object("writeBackConfig"))}
		if labels := r.object("labelSelectors"); labels.there() {
			s := selector(labels)
			ref.Labels = &s
		}
		u.Refs = append(u.Refs, ref)
	}
	return u
}

func writeBack(o *object) *arming.WriteBack {
	if !o.there() {
		return nil
	}
	git := o.object("gitConfig")
	return &arming.WriteBack{Method: o.text("method"), Target: git.text("writeBackTarget"), PullRequest: git.object("pullRequest").there()}
}

func selector(o *object) arming.Selector {
	s := arming.Selector{Labels: o.labels("matchLabels")}
	terms := o.objects("matchExpressions")
	for i := range terms {
		t := &terms[i]
		s.Terms = append(s.Terms, arming.Term{Key: t.text("key"), Operator: t.text("operator"), Values: t.texts("values")})
	}
	return s
}

// GlobalProjects reads argocd-cm's globalProjects, decoded.
func GlobalProjects(list []any) ([]arming.GlobalProject, error) {
	var bad error
	top := root(map[string]any{"globalProjects": list}, &bad)
	var out []arming.GlobalProject
	entries := top.objects("globalProjects")
	for i := range entries {
		out = append(out, arming.GlobalProject{Project: entries[i].text("projectName"), Selector: selector(entries[i].object("labelSelector"))})
	}
	if bad != nil {
		return nil, fmt.Errorf("reading argocd-cm: %w", bad)
	}
	return slices.DeleteFunc(out, func(g arming.GlobalProject) bool { return g.Project == "" }), nil
}
