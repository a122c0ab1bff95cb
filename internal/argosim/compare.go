package argosim

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// comparison is what the refresh loop finds (CompareAppState, health, tree).
type comparison struct {
	failed      error // a *renderError: the target could not be made
	revisions   []string
	sync        syncStatus
	resources   []resource
	sourceType  string
	sourceTypes []string
	health      string
	summary     summary
}

// compare compares at t the target of Git with what the live cache knows.
func (s *Sim) compare(ctx context.Context, a *app, t time.Time, l level) (*comparison, error) {
	sp := a.object.Spec
	asked := make([]string, len(sp.sources()))
	for i, src := range sp.sources() {
		asked[i] = src.TargetRevision
	}
	if l == levelRecent && !a.unknown() {
		asked = a.compared()
	}
	revisions, targets, err := s.render(ctx, sp, asked)
	c := &comparison{revisions: revisions}
	var broken *renderError
	if errors.As(err, &broken) {
		c.failed = renderErrorf("Failed to load target state: %s", broken.text)
	} else if err != nil {
		return nil, err
	}
	c.sync.ComparedTo = comparedTo{Destination: sp.Destination, Sources: slices.Clone(sp.Sources)}
	if !sp.multi() {
		c.sync.ComparedTo.Source = *sp.Source
	}
	c.sync.Status = verdict.Synced
	s.compareObjects(a, c, targets, t.Add(-s.o.Delays.Lag))
	if c.failed != nil {
		s.cannotTell(a, c)
		return c, nil
	}
	c.name(sp)
	return c, nil
}

// compared are the revisions of the comparison before.
func (a *app) compared() []string {
	if a.object.Spec.multi() {
		return a.object.Status.Sync.Revisions
	}
	return []string{a.object.Status.Sync.Revision}
}

// name writes the revisions where several or a single source have them.
func (c *comparison) name(sp spec) {
	if !sp.multi() {
		c.sync.Revision, c.sourceType = c.revisions[0], typeOf(sp.sources()[0])
		return
	}
	c.sync.Revisions = c.revisions
	for _, src := range sp.Sources {
		c.sourceTypes = append(c.sourceTypes, typeOf(src))
	}
}

// cannotTell is the status of a target that does not render: Unknown, the raw
// target revision (3.2 and later), none for several sources, and every live
// object unknown and flagged for pruning.
func (s *Sim) cannotTell(a *app, c *comparison) {
	c.sync.Status = verdict.SyncUnknown
	if !a.object.Spec.multi() {
		c.sync.Revision = a.object.Spec.Source.TargetRevision
	}
	for i, r := range c.resources {
		if r.Status != "" {
			c.resources[i].Status = verdict.SyncUnknown
		}
	}
}

// compareObjects fills resources, sync.status, health and summary. seen is the
// time that the live cache has reached.
func (s *Sim) compareObjects(a *app, c *comparison, targets []manifest, seen time.Time) {
	want := map[verdict.ObjectID]manifest{}
	hooks := map[verdict.ObjectID]bool{}
	ids := a.objects()
	for _, m := range targets {
		if m.hook != "" {
			hooks[m.id] = true
			continue
		}
		want[m.id] = m
		if _, there := a.live[m.id]; !there {
			ids = append(ids, m.id)
		}
	}
	slices.SortFunc(ids, compareIDs)
	c.health = verdict.Healthy
	for _, id := range slices.Compact(ids) {
		v, exists := version{}, false
		if o := a.live[id]; o != nil {
			v, exists = o.at(seen)
		}
		m, wanted := want[id]
		if !exists && !wanted {
			continue
		}
		c.compareObject(id, m, wanted, v, exists, hooks[id] || v.hook != "", seen, s.o.InlineHealth)
	}
	slices.Sort(c.summary.Images)
	c.summary.Images = slices.Compact(c.summary.Images)
}

func (c *comparison) compareObject(id verdict.ObjectID, m manifest, wanted bool, v version, exists, hook bool, seen time.Time, inline bool) {
	r := resource{
		Group: id.Group, Kind: id.Kind, Namespace: id.Namespace, Name: id.Name, Version: orElse(m.version, v.group),
		Hook: hook, RequiresPruning: exists && !wanted,
	}
	switch {
	case hook: // never affects sync.status
	case !exists, !wanted, v.drifted, differs(m.fields, v.applied, v.live):
		r.Status, c.sync.Status = verdict.OutOfSync, verdict.OutOfSync
	default:
		r.Status = verdict.Synced
	}
	if isChild(id) && exists {
		c.summary.IsAppOfApps = true
	}
	if exists && runsPods(id) {
		c.summary.Images = append(c.summary.Images, v.running(seen)...)
	}
	if !hook {
		status, message := verdict.HealthMissing, ""
		if exists {
			status, message = healthOf(id, v, seen)
		}
		if hasHealth(id) {
			c.health = worse(c.health, status)
			if inline {
				r.Health = &resourceHealth{Status: status, Message: message}
			}
		}
	}
	c.resources = append(c.resources, r)
}

func typeOf(src Source) string {
	if src.Chart != "" {
		return "Helm"
	}
	return "Directory"
}
