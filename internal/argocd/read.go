package argocd

import (
	"strconv"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// Annotations of Argo CD.
const (
	annotationSkip          = "argocd.argoproj.io/skip-reconcile"
	annotationRefresh       = "argocd.argoproj.io/refresh"
	annotationGeneratePaths = "argocd.argoproj.io/manifest-generate-paths"
)

// read translates the whole Application. It always ends; what it met that it
// could not read is in top.bad.
func read(top *object, app verdict.App) *Application {
	meta, spec, status := top.object("metadata"), top.object("spec"), top.object("status")
	annotations := meta.object("annotations")
	_, owned := owner(meta)
	t := translator{
		generatePaths: splitPaths(annotations.text(annotationGeneratePaths)),
		types:         sourceTypes(status),
	}
	a := &Application{look: verdict.Look{
		App:            app,
		UID:            meta.text("uid"),
		Deleting:       meta.text("deletionTimestamp") != "",
		SkipReconcile:  yes(annotations.text(annotationSkip)),
		RefreshPending: annotations.text(annotationRefresh) != "",
		OwnedBySet:     owned,
		Project:        spec.text("project"),
		SourceTypes:    t.types,
	}}
	said := t.spec(spec, &a.look)
	a.look.AutoSync, a.look.SpecDigest = autoSync(spec), specDigest(spec)
	readStatus(t, status, spec, &a.look)
	a.look.Operation = t.operation(top.object("operation"), status.object("operationState"), said)
	a.facts = facts(&a.look, meta, spec, annotations)
	a.facts.Controller = status.text("controllerNamespace")
	return a
}

// spec reads what the Application is to be made from. Of a hydrated one Spec
// holds the dry source, where commits are made; the snapshot is in any case
// what a comparison uses.
func (t translator) spec(spec *object, l *verdict.Look) snapshot {
	hydrator := spec.object("sourceHydrator")
	if !hydrator.there() {
		said := t.snapshot(spec)
		l.Spec = said.sources
		return said
	}
	l.Hydrator = true
	dry := t.source(hydrator.object("drySource"), "")
	if l.Spec = []verdict.Source{dry}; dry.RepoURL == "" {
		l.Spec = nil
	}
	synced := object{fields: syncSource(hydrator), bad: spec.bad, index: -1}
	t.generatePaths = nil // they are of the dry source
	return snapshot{sources: []verdict.Source{t.source(&synced, t.typeOf(0, 1))}}
}

func sourceTypes(status *object) []string {
	if many := status.texts("sourceTypes"); len(many) > 0 {
		return many
	}
	if one := status.text("sourceType"); one != "" {
		return []string{one}
	}
	return nil
}

// owner looks for the owner that controls the Application: no label tells that
// an ApplicationSet generated it.
func owner(meta *object) (set string, found bool) {
	owners := meta.objects("ownerReferences")
	for i := range owners {
		o := &owners[i]
		if o.truth("controller") && o.text("kind") == "ApplicationSet" && strings.HasPrefix(o.text("apiVersion"), group+"/") {
			set, found = o.text("name"), true
		}
	}
	return set, found
}

// autoSync: `enabled` came with Argo CD 3.1, and absent means true.
func autoSync(spec *object) bool {
	automated := spec.object("syncPolicy").object("automated")
	return automated.there() && automated.truthOr("enabled", true)
}

// yes reads a switch as Argo CD reads skip-reconcile.
func yes(s string) bool {
	b, err := strconv.ParseBool(s)
	return err == nil && b
}

// facts gives the arming rules their part of the Application.
func facts(l *verdict.Look, meta, spec, annotations *object) arming.Facts {
	policy, destination := spec.object("syncPolicy"), spec.object("destination")
	set, _ := owner(meta)
	f := arming.Facts{
		Labels:      meta.labels("labels"),
		Destination: arming.Destination{Name: destination.text("name"), Server: destination.text("server"), Namespace: destination.text("namespace")},
		Set:         set,
		SyncOptions: policy.texts("syncOptions"),
		Ignored:     ignored(spec),

		App:           l.App,
		Project:       l.Project,
		Sources:       l.Spec,
		Hydrator:      l.Hydrator,
		SkipReconcile: l.SkipReconcile,
		AutoSync:      l.AutoSync,
		// Also with enabled: false: RollingSync switches auto-sync off and
		// prunes all the same.
		Prune:        policy.object("automated").truth("prune"),
		OwnedBySet:   l.OwnedBySet,
		RetryLimit:   defaultRetryLimit,
		ImageUpdater: imageUpdater(annotations),
	}
	if retry := policy.object("retry"); retry.there() {
		f.RetryLimit = retry.number("limit")
		f.RetryRefresh = retry.truth("refresh")
	}
	return f
}

// defaultRetryLimit is Argo CD's own for an automated sync of an Application
// without syncPolicy.retry. A retry that is there counts as it is written, and
// without a limit it is 0.
const defaultRetryLimit = 5

// ignored reads spec.ignoreDifferences.
func ignored(spec *object) []arming.Ignored {
	var out []arming.Ignored
	list := spec.objects("ignoreDifferences")
	for i := range list {
		o := &list[i]
		fields := append(append(o.texts("jsonPointers"), o.texts("jqPathExpressions")...), o.texts("managedFieldsManagers")...)
		out = append(out, arming.Ignored{Group: o.text("group"), Kind: o.text("kind"), Namespace: o.text("namespace"), Name: o.text("name"), Fields: fields})
	}
	return out
}
