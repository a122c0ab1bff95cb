package arming

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// InventoryFile is where the inventory stands in the tree of
// refs/notes/nav/status.
const InventoryFile = "inventory.json"

// MaxInventory bounds an inventory, in bytes: whoever reads it reads no larger
// file. What does not fit is counted.
const MaxInventory = 1 << 20

// inventory is the file. It holds no time: as long as nothing changes it is the
// same blob, and what it says is as old as the heartbeat beside it.
type inventory struct {
	V        int               `json:"v"`
	Every    int64             `json:"every,omitempty"` // seconds between two heartbeats
	Signs    bool              `json:"signs,omitempty"`
	Circuits map[string]string `json:"circuits,omitempty"`
	Apps     []inventoryApp    `json:"apps"`
	Sets     []AppSet          `json:"sets,omitempty"`
	Projects []AppProject      `json:"projects,omitempty"`
	Updaters []Updater         `json:"updaters,omitempty"`
	CRD      string            `json:"imageUpdaterResources"` // yes, no, unknown
	More     int               `json:"more,omitempty"`        // Applications that did not fit
}

type inventoryApp struct {
	App           string            `json:"app"`
	Project       string            `json:"project,omitempty"`
	Controller    string            `json:"controller,omitempty"`
	Labels        map[string]string `json:"labels,omitempty"`
	Destination   Destination       `json:"destination"`
	Sources       []inventorySource `json:"sources"`
	Hydrator      bool              `json:"hydrator,omitempty"`
	SkipReconcile bool              `json:"skipReconcile,omitempty"`
	AutoSync      bool              `json:"autoSync"`
	Prune         bool              `json:"prune"`
	OwnedBySet    bool              `json:"ownedBySet,omitempty"`
	Set           string            `json:"set,omitempty"`
	RetryLimit    int64             `json:"retryLimit"`
	RetryRefresh  bool              `json:"retryRefresh,omitempty"`
	SyncOptions   []string          `json:"syncOptions,omitempty"`
	Ignored       []Ignored         `json:"ignored,omitempty"`
	ImageUpdater  ImageUpdater      `json:"imageUpdater"`
	State         *State            `json:"state,omitempty"`
}

type inventorySource struct {
	Kind           string   `json:"kind"` // git, chart, oci
	RepoURL        string   `json:"repoURL,omitempty"`
	Path           string   `json:"path,omitempty"`
	TargetRevision string   `json:"targetRevision,omitempty"`
	Chart          string   `json:"chart,omitempty"`
	Ref            string   `json:"ref,omitempty"`
	Plain          bool     `json:"plain,omitempty"`
	Recurse        bool     `json:"recurse,omitempty"`
	GeneratePaths  []string `json:"generatePaths,omitempty"`
	Ours           bool     `json:"ours,omitempty"`
}

// FormatInventory writes what a place knows of the Applications that use this
// repository, and of the objects around them. isOurs tells which addresses are
// this repository.
func FormatInventory(p Place, isOurs func(url string) bool) []byte {
	in := inventory{V: 1, Apps: []inventoryApp{}, CRD: p.Whole.Updaters.String()}
	if w := p.Watcher; w != nil {
		in.Every, in.Signs, in.Circuits = int64(w.Every/time.Second), w.Signs == verdict.Yes, w.Circuits
	}
	room := MaxInventory - 64<<10 // for what stands around the Applications
	for _, f := range p.Apps {
		if !slices.ContainsFunc(f.Sources, func(s verdict.Source) bool { return s.Kind == verdict.SourceGit && f.ours(isOurs, s.RepoURL) }) {
			continue
		}
		app := toInventory(f, isOurs)
		text, err := json.Marshal(app)
		if room -= len(text) + 200; err != nil || room < 0 { // and for those of this one
			room = min(room, -1)
			in.More++
			continue
		}
		in.Apps = append(in.Apps, app)
		room -= in.around(p.Around(f))
	}
	out, err := json.MarshalIndent(in, "", " ")
	if err != nil || len(out) > MaxInventory {
		out, err = json.Marshal(in)
	}
	if err != nil || len(out) > MaxInventory { // windows without end, say
		in.Sets, in.Projects, in.Updaters, in.CRD = nil, nil, nil, verdict.Unknown.String()
		if out, err = json.Marshal(in); err != nil {
			return nil // texts, numbers and lists of our own always encode
		}
	}
	return append(out, '\n')
}

// around adds the objects around an Application, each once, and says how much
// room they take.
func (in *inventory) around(f Facts) (size int) {
	text := func(v any) int {
		b, _ := json.Marshal(v) // our own types always encode
		return len(b)
	}
	if s := f.Template; s != nil && !slices.Contains(in.Sets, *s) {
		in.Sets = append(in.Sets, *s)
		size += text(s)
	}
	if r := f.Rules; r != nil && !slices.ContainsFunc(in.Projects, func(p AppProject) bool { return p.Name == r.Name && p.Namespace == r.Namespace }) {
		in.Projects = append(in.Projects, *r)
		size += text(r)
	}
	for _, u := range f.Updaters {
		if u.picks(f) != nil && !slices.ContainsFunc(in.Updaters, func(v Updater) bool { return v.Name == u.Name && v.Namespace == u.Namespace }) {
			in.Updaters = append(in.Updaters, u)
			size += text(u)
		}
	}
	return size
}

func toInventory(f Facts, isOurs func(url string) bool) inventoryApp {
	a := inventoryApp{
		App: f.App.String(), Project: f.Project, Controller: f.Controller, Labels: f.Labels, Destination: f.Destination,
		Hydrator: f.Hydrator, SkipReconcile: f.SkipReconcile, AutoSync: f.AutoSync, Prune: f.Prune, OwnedBySet: f.OwnedBySet, Set: f.Set,
		RetryLimit: f.RetryLimit, RetryRefresh: f.RetryRefresh, SyncOptions: f.SyncOptions, Ignored: f.Ignored,
		ImageUpdater: f.ImageUpdater, State: f.State,
	}
	for _, s := range f.Sources {
		a.Sources = append(a.Sources, inventorySource{
			Kind: s.Kind.String(), RepoURL: s.RepoURL, Path: s.Path, TargetRevision: s.TargetRevision, Chart: s.Chart, Ref: s.Ref,
			Plain: s.Plain, Recurse: s.Recurse, GeneratePaths: s.GeneratePaths,
			Ours: s.Kind == verdict.SourceGit && f.ours(isOurs, s.RepoURL),
		})
	}
	return a
}

// ParseInventory reads an inventory; at is the heartbeat beside it.
func ParseInventory(data []byte, at time.Time) (Place, error) {
	var in inventory
	if err := json.Unmarshal(data, &in); err != nil {
		return Place{}, fmt.Errorf("reading the inventory: %w", err)
	}
	if in.V != 1 {
		return Place{}, fmt.Errorf("reading the inventory: version %d is not known", in.V)
	}
	p := Place{
		From: "inventory", At: at, Sets: in.Sets, Projects: in.Projects, Updaters: in.Updaters,
		Watcher: &Watcher{At: at, Every: time.Duration(in.Every) * time.Second, Signs: verdict.TriOf(in.Signs), Circuits: in.Circuits},
		Whole:   Whole{Apps: in.More == 0, Global: true, Updaters: triOf(in.CRD)},
	}
	for _, a := range in.Apps {
		f, err := a.facts()
		if err != nil {
			return Place{}, fmt.Errorf("reading the inventory: %w", err)
		}
		f.From, f.At = p.From, p.At
		p.Apps = append(p.Apps, f)
	}
	return p, nil
}

func triOf(s string) verdict.Tri {
	for _, t := range []verdict.Tri{verdict.Yes, verdict.No} {
		if t.String() == s {
			return t
		}
	}
	return verdict.Unknown
}

func (a inventoryApp) facts() (Facts, error) {
	app, err := verdict.ParseApp(a.App)
	if err != nil {
		return Facts{}, err
	}
	f := Facts{
		App: app, Project: a.Project, Controller: a.Controller, Labels: a.Labels, Destination: a.Destination,
		Hydrator: a.Hydrator, SkipReconcile: a.SkipReconcile, AutoSync: a.AutoSync, Prune: a.Prune, OwnedBySet: a.OwnedBySet, Set: a.Set,
		RetryLimit: a.RetryLimit, RetryRefresh: a.RetryRefresh, SyncOptions: a.SyncOptions, Ignored: a.Ignored,
		ImageUpdater: a.ImageUpdater, State: a.State,
	}
	for _, s := range a.Sources {
		src := verdict.Source{
			RepoURL: s.RepoURL, Path: s.Path, TargetRevision: s.TargetRevision, Chart: s.Chart, Ref: s.Ref,
			Plain: s.Plain, Recurse: s.Recurse, GeneratePaths: s.GeneratePaths,
		}
		switch s.Kind {
		case verdict.SourceGit.String():
		case verdict.SourceChart.String():
			src.Kind = verdict.SourceChart
		case verdict.SourceOCI.String():
			src.Kind = verdict.SourceOCI
		default:
			return Facts{}, fmt.Errorf("a source of %s is of kind %q", app, clip(s.Kind))
		}
		f.Sources = append(f.Sources, src)
		if s.Ours {
			f.Ours = append(f.Ours, s.RepoURL)
		}
	}
	return f, nil
}
