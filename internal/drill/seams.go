package drill

import (
	"context"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// Change is what a person commits in a clone of the repository, on top of what
// the branch has, and pushes.
type Change struct {
	Who     string
	Files   map[string]string // path -> content; empty with Revert
	Message string
	Revert  string // `git revert` of this commit instead
}

// Pushed is how a push ended.
type Pushed struct {
	Commit  string   // of the clone, also when it was refused
	Refused bool     // by the server
	Said    []string // by the server's hooks, without the "remote: " before it
}

// Tip is the commit at the tip of a branch.
type Tip struct {
	Commit, Parent, Subject string
	Tree, GrandTree         string // trees of the commit and of its parent's parent
}

// Repo is the repository that is deployed from, with its hooks.
type Repo interface {
	// Push commits and runs a real `git push` as a person. A push that the
	// server refuses is no error.
	Push(ctx context.Context, c Change) (Pushed, error)
	Tip(ctx context.Context) (Tip, error)
	// Verdicts reads the note of a commit; none is no error.
	Verdicts(ctx context.Context, commit string) ([]verdict.State, error)
	// Log is what `git log` prints of the commits, with the notes of verdicts.
	Log(ctx context.Context, commits []string) (string, error)
}

// App is an Application of the cluster.
type App struct {
	Name  string
	Path  string // of its manifests in the repository
	Chart string // instead: a chart from elsewhere
}

// Health is what the cluster shows of an Application.
type Health struct {
	Sync, Health, Revision string
}

// Cluster is a cluster with an Argo CD that follows the repository.
type Cluster interface {
	Add(app App) error
	// Advance brings the cluster to where the clock stands.
	Advance(ctx context.Context) error
	Show(app string) (Health, error)
	// Degrade breaks the app's Deployment for a reason that is in no commit,
	// Repair ends that. CloseWindow forbids Argo CD to sync the app.
	Degrade(app string) error
	Repair(app string) error
	CloseWindow(app string) error
}

// Watcher is the daemon, and the operator's command beside it.
type Watcher interface {
	Pass(ctx context.Context) error
	// Restart ends the daemon and starts another one, which knows only what is
	// in the repository.
	Restart(dryRun bool) error
	// ResetCircuit is `navwatchd circuit reset APP --reason`; it gives what the
	// command says.
	ResetCircuit(ctx context.Context, app, reason string) (string, error)
}
