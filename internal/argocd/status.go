package argocd

import (
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// readStatus fills what the refresh loop of Argo CD writes. A status in which
// nothing was ever compared or run counts as none (R16): the API shows one
// with empty fields as soon as the first operation is requested.
func readStatus(t translator, status, spec *object, l *verdict.Look) {
	sync, health, state := status.object("sync"), status.object("health"), status.object("operationState")
	l.SyncStatus = sync.text("status")
	l.Health = health.text("status")
	l.HasStatus = l.SyncStatus != "" || l.Health != "" || state.there()
	l.HealthMessage = health.text("message")
	l.HealthSince = health.when("lastTransitionTime")
	l.HealthInline = status.text("resourceHealthSource") == ""
	l.ReconciledAt = status.when("reconciledAt")
	l.AppOfApps = status.object("summary").truth("isAppOfApps")

	compared := sync.object("comparedTo")
	if l.Hydrator { // manifest-generate-paths are of the dry source
		t.generatePaths = nil
	}
	l.Compared = align(t.snapshot(compared), revisionsOf(sync))
	if l.SyncStatus != "" {
		l.SpecChanged = specChanged(spec, compared)
	}
	l.Resources, l.Children = resources(status, l.App)
	l.Conditions = conditions(status)
	l.History = t.newest(status)
	l.Hydration = hydration(status.object("sourceHydrator"), l.Hydrator)
}

// resources are the managed objects, and those of them that are Applications.
// One that manages itself is no child of itself.
func resources(status *object, self verdict.App) (all []verdict.Resource, children []verdict.App) {
	list := status.objects("resources")
	if len(list) == 0 {
		return nil, nil
	}
	all = make([]verdict.Resource, len(list))
	for i := range list {
		o := &list[i]
		health := o.object("health")
		r := verdict.Resource{
			ObjectID:        objectID(o),
			Status:          o.text("status"),
			Health:          health.text("status"),
			HealthMessage:   health.text("message"),
			Hook:            o.truth("hook"),
			RequiresPruning: o.truth("requiresPruning"),
		}
		all[i] = r
		child := verdict.App{Namespace: r.Namespace, Name: r.Name}
		if r.Group == group && r.Kind == "Application" && child != self {
			children = append(children, child)
		}
	}
	return all, children
}

func objectID(o *object) verdict.ObjectID {
	return verdict.ObjectID{
		Group: o.text("group"), Kind: o.text("kind"),
		Namespace: o.text("namespace"), Name: o.text("name"),
	}
}

func conditions(status *object) []verdict.Condition {
	list := status.objects("conditions")
	if len(list) == 0 {
		return nil
	}
	all := make([]verdict.Condition, len(list))
	for i := range list {
		o := &list[i]
		all[i] = verdict.Condition{Type: o.text("type"), Message: o.text("message"), Since: o.when("lastTransitionTime")}
	}
	return all
}

// newest is the last entry of the history: Argo CD appends, and only what was
// applied as a whole (2.2, rows 1 and 7).
func (t translator) newest(status *object) *verdict.HistoryEntry {
	list := status.objects("history")
	if len(list) == 0 {
		return nil
	}
	o := &list[len(list)-1]
	return &verdict.HistoryEntry{
		ID:         o.number("id"),
		DeployedAt: o.when("deployedAt"),
		Revisions:  align(t.snapshot(o), revisionsOf(o)),
	}
}

// hydration is what the source hydrator says it made of which dry commit. The
// two names are taken from one and the same operation: a pair made of two
// would map a commit to what another became (R18).
func hydration(o *object, hydrated bool) *verdict.Hydration {
	if !hydrated {
		return nil // the status shows an empty object for every Application
	}
	current, last := o.object("currentOperation"), o.object("lastSuccessfulOperation")
	return &verdict.Hydration{
		DrySHA:      last.text("drySHA"),
		HydratedSHA: last.text("hydratedSHA"),
		Phase:       current.text("phase"),
		Message:     current.text("message"),
	}
}
