package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/internal/config"
	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/watchd"
)

// The refs under refs/notes/nav/ (design, section 3).
const (
	verdictsRef = "refs/notes/nav/verdicts"
	watchesRef  = "refs/notes/nav/watches"
	peopleRef   = "refs/notes/nav/people"
	statusFile  = "status.json"
)

// remote is what a store pushes to; tests put failures in between.
type remote interface {
	Fetch(ctx context.Context) (gitstore.RemoteRefs, error)
	Push(ctx context.Context, ups []gitstore.RefUpdate) error
}

// store is the repository as the daemon's only store: a mirror, and the remote
// that it is of.
type store struct {
	repo    *gitstore.Repo
	remote  remote
	watcher config.Watcher
	sign    string // the key that signs notes; "" = they are not signed
	signed  bool   // only signed notes count
	signers *signers
	log     *slog.Logger // of what is no failure; nil: of nothing
	pushes  int          // since the mirror was last packed
	wrote   [2]string    // the last tip of verdicts that was made here, and its parent

	refs             map[string]string // as of the last fetch
	verdicts, watchs *gitstore.NotesTree
	people           *gitstore.Notes
}

func (s *store) Fetch(ctx context.Context) (watchd.View, error) {
	s.maintain(ctx)
	got, err := s.remote.Fetch(ctx)
	if err != nil {
		return watchd.View{}, err
	}
	s.refs = got.Refs
	v := watchd.View{
		Branches: map[string]string{}, Default: strings.TrimPrefix(got.HEAD, "refs/heads/"),
		Verdicts: got.Refs[verdictsRef], Status: got.Refs[gitstore.StatusRef],
	}
	for ref, id := range got.Refs {
		if b, ok := strings.CutPrefix(ref, "refs/heads/"); ok {
			v.Branches[b] = id
		}
	}
	if s.signed {
		v.Unsigned, err = s.unsigned(ctx)
	}
	return v, err
}

func (s *store) Verdicts(ctx context.Context, fn func(commit string, note []byte) error) error {
	return s.since(ctx, &s.verdicts, verdictsRef, fn)
}

func (s *store) VerdictsOf(ctx context.Context, commits []string) (map[string][]byte, error) {
	return s.repo.NotesOf(ctx, verdictsRef, commits)
}

func (s *store) Arrivals(ctx context.Context) (map[string][]byte, error) {
	out := map[string][]byte{}
	err := s.since(ctx, &s.watchs, watchesRef, func(object string, note []byte) error {
		out[object] = note
		return nil
	})
	return out, err
}

// since reads the notes of a ref that differ from those at n. No process is
// started for a ref that stands where it stood.
func (s *store) since(ctx context.Context, n **gitstore.NotesTree, ref string, fn func(string, []byte) error) error {
	if *n != nil && (*n).Tip == s.refs[ref] {
		return nil
	}
	now, err := s.repo.NotesAt(ctx, *n, ref, s.refs[ref], fn)
	if err == nil {
		*n = now
	}
	return err
}

func (s *store) People(ctx context.Context) ([][]byte, error) {
	if s.people == nil || s.people.Tip != s.refs[peopleRef] {
		n, err := s.repo.Notes(ctx, peopleRef)
		if err != nil {
			return nil, err
		}
		s.people = n
	}
	var out [][]byte
	for _, o := range s.people.Objects() {
		data, _ := s.people.Get(o)
		out = append(out, data)
	}
	return out, nil
}

func (s *store) Status(ctx context.Context) ([]byte, error) {
	tip := s.refs[gitstore.StatusRef]
	if tip == "" {
		return nil, nil
	}
	data, there, err := s.repo.Blob(ctx, tip, statusFile)
	if err != nil || there {
		return data, err
	}
	return nil, fmt.Errorf("%s holds no %s", gitstore.StatusRef, statusFile)
}

func (s *store) Descends(ctx context.Context, tip, from string) (bool, error) {
	if s.wrote == [2]string{tip, from} {
		return true, nil
	}
	got, err := s.repo.Resolve(ctx, []string{from + "^{commit}"})
	if err != nil || got[from+"^{commit}"].Missing {
		return false, err
	}
	in, err := s.repo.Contains(ctx, []string{from}, []string{tip})
	return in[from][tip], err
}

// maintainAfter is after how many pushes git may pack the mirror: each leaves a
// few small files in it.
const maintainAfter = 100

func (s *store) maintain(ctx context.Context) {
	if s.pushes < maintainAfter {
		return
	}
	s.pushes = 0
	if err := s.repo.Maintain(ctx); err != nil && s.log != nil {
		s.log.Warn("the mirror was not packed", "error", err)
	}
}

func (s *store) identity(at time.Time) gitstore.Identity {
	return gitstore.Identity{Name: s.watcher.Name, Email: s.watcher.Email, When: at, Key: s.sign}
}

func (s *store) BuildRevert(ctx context.Context, r watchd.RevertOrder) (string, error) {
	who := s.identity(r.At)
	return s.repo.BuildRevert(ctx, r.Commit, r.Tip, r.Message, who, who, s.watcher.SigningKey)
}

// Write pushes a revert, the verdicts and the status together. Each ref moves
// from the value of the last fetch or not at all.
func (s *store) Write(ctx context.Context, w watchd.Write) error {
	var ups []gitstore.RefUpdate
	add := func(ref, id string) {
		if id != s.refs[ref] {
			ups = append(ups, gitstore.RefUpdate{Ref: ref, Old: s.refs[ref], New: id})
		}
	}
	if w.Revert != "" {
		ups = append(ups, gitstore.RefUpdate{Ref: "refs/heads/" + w.Branch, Old: w.Tip, New: w.Revert})
	}
	verdicts := s.refs[verdictsRef]
	if len(w.Verdicts) > 0 {
		tip, err := s.repo.WriteNotes(ctx, s.verdicts, w.Verdicts, w.Message, s.identity(w.At))
		if err != nil {
			return err
		}
		s.wrote = [2]string{tip, s.verdicts.Tip}
		verdicts = tip
		add(verdictsRef, tip)
	}
	if len(w.People) > 0 {
		tip, err := s.writePeople(ctx, w)
		if err != nil {
			return err
		}
		add(peopleRef, tip)
	}
	status := s.refs[gitstore.StatusRef]
	if w.Status != nil {
		files := map[string][]byte{statusFile: w.Status(verdicts)}
		if w.Inventory != nil {
			files[arming.InventoryFile] = w.Inventory
		}
		tip, err := s.repo.WriteBlobCommit(ctx, files, "nav: status", s.identity(w.At))
		if err != nil {
			return err
		}
		add(gitstore.StatusRef, tip)
		status = tip
	}
	if len(ups) == 0 {
		return nil
	}
	s.pushes++
	err := s.push(ctx, ups, w.Revert == "")
	if err == nil { // the last one, at the end, comes without another fetch
		s.refs = maps.Clone(s.refs)
		s.refs[gitstore.StatusRef] = status
	}
	return outcome(err)
}

// push pushes all refs or none. Where the server cannot do that, notes are
// pushed one after the other: each stands by itself, and the status, which comes
// last, is only behind. A revert is never parted from its verdict.
func (s *store) push(ctx context.Context, ups []gitstore.RefUpdate, mayPart bool) error {
	err := s.remote.Push(ctx, ups)
	if !errors.Is(err, gitstore.ErrNoAtomic) || !mayPart {
		return err
	}
	for _, u := range ups {
		if err := s.remote.Push(ctx, []gitstore.RefUpdate{u}); err != nil {
			return err
		}
	}
	return nil
}

// writePeople appends lines to the note that holds what people said of the
// whole repository: it stands on the empty tree, which every repository has.
func (s *store) writePeople(ctx context.Context, w watchd.Write) (string, error) {
	object, err := s.repo.EmptyTree(ctx)
	if err != nil {
		return "", err
	}
	n, err := s.repo.Notes(ctx, peopleRef)
	if err != nil {
		return "", err
	}
	old, _ := n.Get(object)
	note := append([]byte(nil), old...)
	if len(note) > 0 && note[len(note)-1] != '\n' {
		note = append(note, '\n')
	}
	for _, l := range w.People {
		line := l.Line() + "\n"
		if !strings.Contains("\n"+string(note), "\n"+line) { // a push that was not heard of
			note = append(note, line...)
		}
	}
	return s.repo.WriteNotes(ctx, &n.NotesTree, map[string][]byte{object: note}, w.Message, s.identity(w.At))
}

// outcome says in the daemon's words what became of a push.
func outcome(err error) error {
	for _, pair := range [][2]error{
		{gitstore.ErrNoAtomic, watchd.ErrNoAtomic},
		{gitstore.ErrStale, watchd.ErrStale},
		{gitstore.ErrUnknown, watchd.ErrUnknown},
		{gitstore.ErrRefused, watchd.ErrRefused},
	} {
		if !errors.Is(err, pair[0]) {
			continue
		}
		var push *gitstore.PushError
		switch {
		case errors.Is(pair[1], watchd.ErrNoAtomic):
			return fmt.Errorf("%w: %w: %w", watchd.ErrRefused, pair[1], err)
		case errors.Is(pair[1], watchd.ErrRefused) && errors.As(err, &push) && len(push.Status) > 0:
			return fmt.Errorf("%w: %w: %w", watchd.ErrRefused, watchd.ErrDeclined, err)
		}
		return fmt.Errorf("%w: %w", pair[1], err)
	}
	return err
}
