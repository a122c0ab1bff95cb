// Package folder reads Applications from a folder of files, for whoever has no
// access to the cluster, and for tests and drills.
//
// It takes what `kubectl get applications -o yaml` (or `-o json`) prints, as it
// is: a List, an ApplicationList, single objects, several YAML documents in a
// file. Objects of other kinds are passed over and counted. The files are
// those of the folder itself that end in .yaml, .yml or .json and do not begin
// with a dot; a mounted ConfigMap (links to files) works.
//
// All times are those that the files state. When a file was changed says
// nothing about when Argo CD last looked, so it is not asked; an old dump shows
// as a stale reconciledAt (R5).
//
// A file that cannot be read never makes an Application look absent: List
// returns what the others hold together with an error that names file and
// line, and Get reports "not known" instead of argocd.ErrNotFound. For the same
// reason a file without any object is an error: so a file looks that is just
// being written. And a folder without any Application is one: so it looks when
// the only dump was taken away, or was not mounted.
package folder

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd"
	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// Limits.
const (
	MaxFile  = 32 << 20 // bytes of one file
	MaxFiles = 10000    // in the folder
)

// ErrNone is wrapped by the error of a folder that can be read and holds no
// Application.
var ErrNone = errors.New("no Application in any .yaml, .yml or .json file")

const noneHint = "let something write there what `kubectl get applications -A -o yaml` prints: to a name such as .new, which is not read, and then rename it to applications.yaml"

// Reader reads one folder, anew each time.
type Reader struct{ dir string }

// New reads from the folder dir. Nothing is read yet.
func New(dir string) *Reader { return &Reader{dir: dir} }

// Snapshot is what the folder holds at one moment.
type Snapshot struct {
	Applications []*argocd.Application // by namespace, then name
	Ignored      int                   // objects of other kinds
	Files        int                   // files read, the broken ones included
}

// List returns the Applications of the folder by namespace and name. With an
// error it returns those that could be read: one that is not among them is
// then not known, which is not the same as absent. The time is not used; a
// folder has no age of its own.
func (r *Reader) List(ctx context.Context, _ time.Time) ([]*argocd.Application, error) {
	s, err := r.Read(ctx)
	return s.Applications, err
}

// Get reads one Application from the disk. The error is argocd.ErrNotFound only
// if every file could be read and none has it, and argocd.ErrAmbiguous if app
// has no namespace and several have its name.
func (r *Reader) Get(ctx context.Context, app verdict.App, now time.Time) (*argocd.Application, error) {
	apps, listErr := r.List(ctx, now)
	var found *argocd.Application
	for _, a := range apps {
		if !app.Matches(a.App()) {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("reading Application %s: %w: %s and %s", app, argocd.ErrAmbiguous, found.App(), a.App())
		}
		found = a
	}
	switch {
	case found != nil && (listErr == nil || app.Namespace != ""):
		return found, nil
	case listErr != nil: // it, or another of its name, may stand in what is broken
		return nil, fmt.Errorf("reading Application %s: %w", app, listErr)
	default:
		return nil, fmt.Errorf("reading Application %s from %q: %w", app, r.dir, argocd.ErrNotFound)
	}
}

// Around is what the folder holds besides Applications: ApplicationSets,
// AppProjects, ImageUpdaters. Of none of them it is known that there are no more.
func (r *Reader) Around(ctx context.Context, _ time.Time, _ bool) (arming.Place, error) {
	var p arming.Place
	names, err := r.files()
	errs := []error{err}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return p, fmt.Errorf("reading folder %q: %w", r.dir, err)
		}
		f, _ := readAll(filepath.Join(r.dir, name)) // List reports what is wrong with Applications
		p.Sets = append(p.Sets, f.around.Sets...)
		p.Projects = append(p.Projects, f.around.Projects...)
		p.Updaters = append(p.Updaters, f.around.Updaters...)
		errs = append(errs, f.blind...)
	}
	return p, errors.Join(errs...)
}

// Read reads the whole folder. What could be read is returned also with an
// error. That nothing was wrong and there is no Application is the error
// ErrNone: of none of them it is then known whether it is gone.
func (r *Reader) Read(ctx context.Context) (Snapshot, error) {
	names, err := r.files()
	if err != nil {
		return Snapshot{}, err
	}
	var s Snapshot
	var all []placed
	var errs []error
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return Snapshot{}, fmt.Errorf("reading folder %q: %w", r.dir, err)
		}
		found, ignored, err := readFile(filepath.Join(r.dir, name))
		if err != nil {
			errs = append(errs, err)
		}
		all = append(all, found...)
		s.Ignored += ignored
		s.Files++
	}
	var twice []error
	s.Applications, twice = unique(all)
	if errs = append(errs, twice...); len(errs) == 0 && len(all) == 0 {
		errs = append(errs, fmt.Errorf("reading folder %q: %w (files: %d, other objects: %d)\nhint: %s", r.dir, ErrNone, s.Files, s.Ignored, noneHint))
	}
	return s, errors.Join(errs...)
}

// files are the names of the files to read, sorted.
func (r *Reader) files() ([]string, error) {
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return nil, fmt.Errorf("reading folder of Applications: %w", err)
	}
	var names []string
	for _, e := range entries {
		name := e.Name()
		switch strings.ToLower(filepath.Ext(name)) {
		case ".yaml", ".yml", ".json":
		default:
			continue
		}
		if !strings.HasPrefix(name, ".") && !e.IsDir() {
			names = append(names, name)
		}
	}
	if len(names) > MaxFiles {
		return nil, fmt.Errorf("reading folder %q: %d files are more than %d", r.dir, len(names), MaxFiles)
	}
	return names, nil
}

// placed is an Application and the file:line where it begins.
type placed struct {
	app   *argocd.Application
	place string
}

// unique sorts, and takes out Applications that stand in several places: which
// of them is the true one cannot be told.
func unique(all []placed) (apps []*argocd.Application, errs []error) {
	slices.SortStableFunc(all, func(a, b placed) int { return argocd.ByName(a.app, b.app) })
	for i := 0; i < len(all); {
		j := i + 1
		for j < len(all) && all[j].app.App() == all[i].app.App() {
			j++
		}
		if j == i+1 {
			apps = append(apps, all[i].app)
		} else {
			errs = append(errs, fmt.Errorf("%s: Application %s stands there and in %s\nhint: keep one of them",
				all[i+1].place, all[i].app.App(), all[i].place))
		}
		i = j
	}
	return apps, errs
}
