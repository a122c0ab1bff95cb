package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/config"
	"github.com/nav-watchdog/nav-watchdog/internal/lint"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

const verdictsRef = shownNotes

// maxSick is how many unreadable notes of a ref are named.
const maxSick = 10

// defaultBranch looks at the branch that HEAD names, and at its policy.
func (d Doctor) defaultBranch(ctx context.Context) error {
	const hint = "git symbolic-ref HEAD refs/heads/NAME names another"
	def, err := d.Repo.DefaultBranch(ctx)
	if err != nil {
		d.bad(hint, "the default branch: %v", err)
		return nil
	}
	refs, err := d.Repo.Refs(ctx, def)
	if err != nil {
		return err
	}
	tip := refs[def]
	if tip == "" {
		d.bad("push it; "+hint, "HEAD names %s, which does not exist: there is no policy, and nothing is watched yet", def)
		return nil
	}
	d.ok("default branch: %s", short(def))
	data, odd, err := d.Repo.FileAt(ctx, tip, lint.PolicyFile)
	switch {
	case err != nil:
		return err
	case odd != "":
		d.bad("make it a file", "policy: %s on %s: %s; it counts as none", lint.PolicyFile, short(def), odd)
		return nil
	case data == nil:
		d.ok("policy: none, so %s is watched and nobody may arm", short(def))
		return nil
	}
	policy, err := config.ParsePolicy(data, lint.PolicyFile)
	if err != nil {
		d.bad("mend it and push; until then it counts as none", "policy: %v", err)
		return nil
	}
	d.ok("policy: %s on %s", lint.PolicyFile, short(def))
	if len(policy.Owners) == 0 {
		d.note("policy: it names no owners, so whoever may push may change it")
	}
	if !policy.WatchesBranch(def, def) {
		d.note("policy: it does not watch the default branch")
	}
	return nil
}

// notes looks at every ref below refs/notes/nav/.
func (d Doctor) notes(ctx context.Context) error {
	const under = "refs/notes/nav"
	refs, err := d.Repo.Refs(ctx, under)
	if err != nil {
		return err
	}
	readers := map[string]func(object string, note []byte) error{
		watchesRef:  func(_ string, note []byte) error { _, err := verdict.ParseArrivals(note); return err },
		peopleRef:   func(_ string, note []byte) error { _, err := verdict.ParsePeople(note); return err },
		verdictsRef: func(object string, note []byte) error { _, err := verdict.Fold(object, note); return err },
	}
	for _, ref := range slices.Sorted(maps.Keys(refs)) {
		read := readers[ref]
		switch {
		case ref == statusRef:
			d.status(ctx, refs[ref])
		case read != nil:
			d.sound(ctx, ref, read)
		case ref == under:
			d.bad("git update-ref -d "+under, "%s is in the way of the refs below it", ref)
		default:
			d.note("%s: nothing of ours", ref)
		}
	}
	if refs[verdictsRef] == "" {
		d.note("%s does not exist: nothing was judged yet", verdictsRef)
	}
	if refs[statusRef] == "" {
		d.note("%s does not exist: the watcher was never here", statusRef)
	}
	return nil
}

// sound reads all notes of a ref.
func (d Doctor) sound(ctx context.Context, ref string, read func(string, []byte) error) {
	total, sick := 0, 0
	err := d.Repo.EachNote(ctx, ref, func(object string, note []byte) {
		total++
		if err := read(object, note); err != nil {
			if sick++; sick <= maxSick {
				d.bad("git notes --ref="+strings.TrimPrefix(ref, "refs/notes/")+" show "+object, "%s: the note of %s cannot be read: %v", ref, object, err)
			}
		}
	})
	switch {
	case err != nil:
		d.bad("", "%s: %v", ref, err)
	case sick > maxSick:
		d.bad("", "%s: and %d more that cannot be read", ref, sick-maxSick)
	case sick == 0:
		d.ok("%s: %s", ref, plural(total, "note"))
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// status looks at the heartbeat. Its age is told, not judged: doctor does not
// know how often the watcher writes.
func (d Doctor) status(ctx context.Context, tip string) {
	at, err := readHeartbeat(ctx, d.Repo, tip)
	switch {
	case errors.Is(err, errNever):
		d.bad("delete it, and the daemon starts anew from today's tips", "%s: %v", statusRef, err)
	case err != nil:
		d.bad("delete it, and the daemon starts anew from today's tips", "%s: cannot be read: %v", statusRef, err)
	default:
		d.ok("%s: the watcher was last seen %s", statusRef, at.UTC().Format(time.RFC3339))
	}
}

// files is the part of a repository in which the heartbeat is.
type files interface {
	FileAt(ctx context.Context, commit, path string) (data []byte, odd string, err error)
}

var errNever = errors.New("there is no heartbeat")

// readHeartbeat is when the watcher last wrote its status; errNever: not yet.
func readHeartbeat(ctx context.Context, repo files, tip string) (time.Time, error) {
	if tip == "" {
		return time.Time{}, errNever
	}
	data, odd, err := repo.FileAt(ctx, tip, statusFile)
	switch {
	case err != nil:
		return time.Time{}, err
	case odd != "":
		return time.Time{}, errors.New(odd)
	case data == nil:
		return time.Time{}, errNever
	}
	var status struct {
		At time.Time `json:"at"`
	}
	if err := json.Unmarshal(data, &status); err != nil {
		return time.Time{}, fmt.Errorf("reading %s: %w", statusFile, err)
	}
	if status.At.IsZero() {
		return time.Time{}, errNever
	}
	return status.At, nil
}
