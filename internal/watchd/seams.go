package watchd

import (
	"context"
	"errors"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// Commit is a commit as the daemon reads it.
type Commit struct {
	ID      string
	Parents []string
	Message []byte
}

// Change is what one commit changed by itself: an ordinary commit against its
// parent, a merge only what no side had.
type Change struct {
	Commit string
	Paths  []string
}

// Standing is how the paths of a commit stand at a later tip.
type Standing struct {
	Paths    int      // that the commit changed
	Changed  []string // that stand against putting them back exactly
	Gone     bool     // none of them is what the commit left
	Restored bool     // all of them are what they were before the commit
	Root     bool     // the commit has no parent
}

// History is the reading of commits. Everything in it is immutable, so it may
// be cached; ids that are asked about have been resolved before.
type History interface {
	// Resolve peels revision strings to commits; one that is no commit here is
	// left out.
	Resolve(ctx context.Context, revs []string) (map[string]string, error)
	// Contains answers for many commits at once which of the revisions that are
	// asked of each contain it: [commit][rev]. It starts a constant number of
	// processes.
	Contains(ctx context.Context, asked map[string][]string) (map[string]map[string]bool, error)
	Commits(ctx context.Context, ids []string) ([]Commit, error)
	// Walk calls fn for what tips contain and exclude do not, oldest first.
	Walk(ctx context.Context, tips, exclude []string, fn func(Commit) error) error
	// Paths are those that each commit changed against its first parent.
	Paths(ctx context.Context, ids []string) (map[string][]string, error)
	// Changes lists what each commit of a range changed by itself.
	Changes(ctx context.Context, tips, exclude []string) ([]Change, error)
	Standing(ctx context.Context, commit, tip string) (Standing, error)
	// Remain says of many commits at once which are gone and which are restored,
	// in the sense of Standing. It starts a constant number of processes.
	Remain(ctx context.Context, commits []string, tip string) (gone, restored map[string]bool, err error)
	// Policy reads .nav-watchdog.yaml at a revision; false: there is none.
	Policy(ctx context.Context, rev string) ([]byte, bool, error)
	// Manifests tells for plain manifests whether the commit changed them. An
	// object that is not in the map is not known.
	Manifests(ctx context.Context, commit string, sources []verdict.Source) (map[verdict.ObjectID]verdict.Tri, error)
	// Content is what the plain manifests of sources hold at a branch's tip, and
	// what of them a revert of the commit, put on that tip, takes away.
	Content(ctx context.Context, commit, tip string, sources []verdict.Source) arming.Content
}

// Snapshot is one Application as a source of Applications shows it.
type Snapshot struct {
	Look  verdict.Look
	Facts arming.Facts
}

// Cluster reads Applications. It never writes.
type Cluster interface {
	// List returns every Application that can be seen, in a stable order, and
	// the looks in between that were delivered since the last call, oldest
	// first. An error says that the picture may be incomplete; what could be
	// read comes back all the same.
	List(ctx context.Context, now time.Time) (apps, between []Snapshot, err error)
	// Get reads one Application from the API server itself. An Application that
	// is not there is a Look with Absent set, no error.
	Get(ctx context.Context, app verdict.App, now time.Time) (Snapshot, error)
}

// Surroundings is what a Cluster may offer besides: the objects that stand around
// Applications (ApplicationSets, AppProjects, ImageUpdaters, global projects).
// What of them cannot be read is not known, and the error says why; what could
// be read comes back all the same. Fresh asks for what is read now, and not from
// a cache of the last minute.
type Surroundings interface {
	Around(ctx context.Context, now time.Time, fresh bool) (arming.Place, error)
}

// Events is what a Cluster may offer besides: it tells when an Application
// changed, so that its watches are judged then and not at the next pass.
type Events interface {
	// Changed is written to when something changed: a reason to ask, several
	// changes may be one. Only the daemon reads it. nil: it never is.
	Changed() <-chan struct{}
	// Passed returns the looks that were delivered since the last call of it or of
	// List, oldest first.
	Passed() []Snapshot
}

// View is the repository as of one fetch.
type View struct {
	Branches map[string]string // short name -> commit
	Default  string            // short name of the branch that HEAD names
	Verdicts string            // tip of refs/notes/nav/verdicts; empty: there is none
	Status   string
	// Unsigned are refs, by their names below refs/notes/nav/, that nobody signed
	// who may, with the reason; empty where signatures are not asked for.
	Unsigned map[string]string
}

// Store is the repository as the only store. Reads are of the last Fetch.
type Store interface {
	Fetch(ctx context.Context) (View, error)
	// Verdicts hands over the notes of `verdicts`, each once: all, or those that
	// differ since the last call that succeeded (nil: gone). VerdictsOf reads some
	// again. Descends tells whether the tip descends from an older one.
	Verdicts(ctx context.Context, fn func(commit string, note []byte) error) error
	VerdictsOf(ctx context.Context, commits []string) (map[string][]byte, error)
	Descends(ctx context.Context, tip, from string) (bool, error)
	// Arrivals returns the notes of `watches` that differ since the last call.
	Arrivals(ctx context.Context) (map[string][]byte, error)
	People(ctx context.Context) ([][]byte, error)
	Status(ctx context.Context) ([]byte, error) // nil: there is none

	// BuildRevert makes the revert in the object database; no ref moves.
	BuildRevert(ctx context.Context, r RevertOrder) (commit string, err error)
	// Write pushes everything in one atomic push. See the errors below.
	Write(ctx context.Context, w Write) error
}

// RevertOrder is a revert to be built.
type RevertOrder struct {
	Commit, Branch, Tip string
	Message             []byte
	At                  time.Time
}

// Write is one push: all of it arrives or nothing.
type Write struct {
	Verdicts map[string][]byte // commit -> its whole note
	Message  string            // of the notes commit
	Branch   string            // short name; with Tip and Revert, or empty
	Tip      string            // what the branch must be at
	Revert   string
	People   []verdict.PeopleLine
	// Status makes the status, told at which tip `verdicts` stands after this
	// write; nil: unchanged.
	Status func(verdicts string) []byte
	// Inventory is written beside the status: the same bytes are the same object,
	// so that only changes cost anything.
	Inventory []byte
	At        time.Time
}

// What a Write can end in, besides nil. Found out by looking at the remote
// after the failure, never by the words of an error.
var (
	ErrStale    = errors.New("the repository moved since it was fetched")
	ErrRefused  = errors.New("the repository refused the push")
	ErrUnknown  = errors.New("whether the push arrived is not known")
	ErrNoAtomic = errors.New("the server does not offer atomic pushes")
	// ErrDeclined goes with ErrRefused where the server itself said so.
	ErrDeclined = errors.New("the server declined it")
)
