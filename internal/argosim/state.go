package argosim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// State is what matters of an Application object at a glance, for tests and
// for people who follow a scenario.
type State struct {
	App          verdict.App
	Requested    bool   // .operation is there
	Phase        string // "" when operationState is absent
	HasResult    bool   // operationState.syncResult is there
	Finished     bool   // operationState.finishedAt is there
	Retries      int64
	Selective    bool // operation.sync.resources, as self-heal has it
	Applied      []string
	Sync         string
	Revisions    []string // sync.revision(s)
	Health       string
	History      int
	ReconciledAt string
	FinishedAt   string
	Conditions   []string // their types
	Leftovers    []string // "Kind/name" of what is OutOfSync because it would have to be pruned (R9)
}

// ReadState reads the JSON of an Application, a simulated or a recorded one.
func ReadState(object []byte) (State, error) {
	var o application
	if err := json.Unmarshal(object, &o); err != nil {
		return State{}, fmt.Errorf("reading an application: %w", err)
	}
	st := State{App: verdict.App{Namespace: o.Metadata.Namespace, Name: o.Metadata.Name}, Requested: o.Operation != nil}
	if o.Status == nil {
		return st, nil
	}
	if op := o.Status.OperationState; op != nil {
		st.Phase, st.HasResult, st.Finished, st.FinishedAt = op.Phase, op.SyncResult != nil, op.FinishedAt != "", op.FinishedAt
		st.Retries, st.Selective = op.RetryCount, len(op.Operation.Sync.Resources) > 0
		if op.SyncResult != nil {
			st.Applied = revisionsOf(op.SyncResult.Revision, op.SyncResult.Revisions)
		}
	}
	st.Sync, st.Revisions = o.Status.Sync.Status, revisionsOf(o.Status.Sync.Revision, o.Status.Sync.Revisions)
	st.Health, st.History, st.ReconciledAt = o.Status.Health.Status, len(o.Status.History), o.Status.ReconciledAt
	for _, c := range o.Status.Conditions {
		st.Conditions = append(st.Conditions, c.Type)
	}
	for _, r := range o.Status.Resources {
		if r.RequiresPruning && r.Status == verdict.OutOfSync {
			st.Leftovers = append(st.Leftovers, r.Kind+"/"+r.Name)
		}
	}
	slices.Sort(st.Leftovers)
	return st, nil
}

func revisionsOf(single string, several []string) []string {
	if len(several) > 0 {
		return several
	}
	if single == "" {
		return nil
	}
	return []string{single}
}

// String is one line: what the operation does, then what was compared.
func (s State) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", s.App)
	if s.Requested {
		b.WriteString("requested ")
	}
	b.WriteString(orElse(s.Phase, "no-operation"))
	for _, part := range []struct {
		shown bool
		text  string
	}{
		{s.Selective, "selective"}, {s.HasResult, "result"}, {s.Finished, "finished"},
		{s.Retries > 0, fmt.Sprintf("retry=%d", s.Retries)},
	} {
		if part.shown {
			b.WriteString(" " + part.text)
		}
	}
	fmt.Fprintf(&b, " | %s %s %s history=%d", orElse(s.Sync, "not-compared"), orElse(abbreviated(s.Revisions), "-"), orElse(s.Health, "no-health"), s.History)
	if len(s.Conditions) > 0 {
		b.WriteString(" " + strings.Join(s.Conditions, ","))
	}
	if len(s.Leftovers) > 0 {
		b.WriteString(" leftover=" + strings.Join(s.Leftovers, ","))
	}
	return b.String()
}

func abbreviated(revisions []string) string {
	out := slices.Clone(revisions)
	for i, r := range out {
		out[i] = r[:min(len(r), 12)]
	}
	return strings.Join(out, ",")
}

// State is that of one Application now.
func (s *Sim) State(name string) (State, error) {
	a, err := s.find(name)
	if err != nil {
		return State{}, err
	}
	if a.shown == nil {
		return State{App: a.id}, nil
	}
	return ReadState(a.shown)
}

// Dump is a line for each Application.
func (s *Sim) Dump() string {
	var b strings.Builder
	for _, a := range s.sorted() {
		st, err := s.State(a.id.String())
		if err != nil {
			continue // of our own making, so it can be read
		}
		fmt.Fprintln(&b, st)
	}
	return b.String()
}

// Live is the cluster behind an Application: its objects and their health.
func (s *Sim) Live(name string) (map[string]string, error) {
	a, err := s.find(name)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for id, o := range a.live {
		if v, exists := o.now(); exists {
			status, _ := healthOf(id, v, s.now)
			out[id.Kind+"/"+id.Name] = status
		}
	}
	return out, nil
}
