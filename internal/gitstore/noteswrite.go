package gitstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// WriteNotes writes the commit that base becomes when the notes of some objects
// are replaced (by empty content: removed, as `git notes` does). It moves no
// ref: push the new tip, or hand it to UpdateRefs, with base.Tip as the old
// value. Where nothing changes, the new tip is base.Tip.
//
// All paths of an edited object are replaced by one; whatever is no note stays.
func (r *Repo) WriteNotes(ctx context.Context, base *NotesTree, edits map[string][]byte, message string, who Identity) (newTip string, err error) {
	if base.Tip != base.read {
		return "", fmt.Errorf("writing notes of %q: the tip %q is not the one that was read", base.Ref, base.Tip)
	}
	b, err := r.openBatch(ctx)
	if err != nil {
		return "", fmt.Errorf("writing notes of %q: %w", base.Ref, err)
	}
	p := r.newPack()
	t := &trees{batch: b, under: base.trees, known: map[string][]treeEntry{}}
	tree, changed, err := p.notes(t, base.read, base.tree, edits)
	if err = b.close(err); err == nil && changed {
		newTip, err = p.finish(ctx, tree, parentsOf(base.read), message, who)
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("writing notes of %q: %w", base.Ref, err)
	case !changed:
		return base.read, nil
	}
	return newTip, nil
}

func parentsOf(tip string) []string {
	if tip == "" {
		return nil
	}
	return []string{tip}
}

// notes takes in the objects of an edited notes tree; false: it is as it was.
func (p *pack) notes(t *trees, tip, tree string, edits map[string][]byte) (now string, changed bool, err error) {
	paths := map[string]Entry{}
	t.coming = len(edits)
	for object, data := range edits {
		if err := p.repo.checkID(object); err != nil {
			return "", false, err
		}
		if len(data) > MaxNote {
			return "", false, &SizeError{What: "the note of " + object, Size: int64(len(data)), Limit: MaxNote}
		}
		at, err := t.locate(tree, object)
		if err != nil {
			return "", false, err
		}
		for _, f := range at.found {
			paths[f.path] = Entry{}
		}
		if len(data) > 0 {
			paths[at.path] = Entry{Mode: modeFile, ID: p.add("blob", data)}
		}
	}
	if len(paths) == 0 {
		return tree, false, nil
	}
	ed := &editor{trees: t, pack: p}
	if now, err = ed.apply(tree, newEdit(paths), ""); err != nil {
		return "", false, err
	}
	if len(ed.conflicts) > 0 {
		return "", false, fmt.Errorf("a folder stands where a note belongs: %q", ed.conflicts[0])
	}
	return now, now != tree || tip == "", nil
}

const (
	maxRaces    = 500 // lost in a row
	maxRefusals = 3   // by something that is no race (design, section 3)
	longestWait = 500 * time.Millisecond
)

// AppendNotes adds lines to the notes of objects and moves the ref, against any
// number of other writers: nobody's line is lost. A line that an object has
// already is not added again; added counts the others. Processes: four for each
// attempt, however many notes there are.
func (r *Repo) AppendNotes(ctx context.Context, ref string, lines map[string][]string, message string, who Identity) (added int, err error) {
	return r.AppendNotesFunc(ctx, ref, lines, func(line string) string { return line }, message, who)
}

// AppendNotesFunc is AppendNotes where two lines count as the same when key
// gives the same for both.
func (r *Repo) AppendNotesFunc(ctx context.Context, ref string, lines map[string][]string, key func(line string) string, message string, who Identity) (added int, err error) {
	tip, err := r.notesTip(ctx, ref)
	if err != nil {
		return 0, fmt.Errorf("appending to notes of %q: %w", ref, err)
	}
	return r.AppendNotesFrom(ctx, ref, tip, lines, key, message, who)
}

// AppendNotesFrom is AppendNotesFunc for a caller who has just read the ref: tip
// is its value, "" if it was not there. Where it moved since, it is read again.
func (r *Repo) AppendNotesFrom(ctx context.Context, ref, tip string, lines map[string][]string, key func(line string) string, message string, who Identity) (added int, err error) {
	a := appending{repo: r, ref: ref, lines: lines, key: key, message: message, who: who}
	refused := 0
	for race := 0; ; race++ {
		if race > 0 {
			if tip, err = r.notesTip(ctx, ref); err != nil {
				break
			}
		}
		added, err = a.once(ctx, tip)
		if errors.Is(err, ErrRefused) {
			refused++
		}
		again := errors.Is(err, ErrStale) || errors.Is(err, ErrRefused)
		if !again || refused == maxRefusals || race == maxRaces {
			break
		}
		if waitErr := pause(ctx, race); waitErr != nil {
			err = errors.Join(err, waitErr)
			break
		}
	}
	if err != nil {
		return 0, fmt.Errorf("appending to notes of %q: %w", ref, err)
	}
	return added, nil
}

// pause waits a random while, so that writers who met do not meet again.
func pause(ctx context.Context, race int) error {
	most := min(longestWait, 5*time.Millisecond<<min(race, 10))
	t := time.NewTimer(rand.N(most) + time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// appending is one call of AppendNotes.
type appending struct {
	repo    *Repo
	ref     string
	lines   map[string][]string
	key     func(string) string
	message string
	who     Identity
}

// once reads, adds and swaps.
func (a *appending) once(ctx context.Context, tip string) (added int, err error) {
	b, err := a.repo.openBatch(ctx)
	if err != nil {
		return 0, err
	}
	p := a.repo.newPack()
	added, tree, err := a.build(b, p, tip)
	if err := b.close(err); err != nil {
		return 0, err
	}
	if added == 0 {
		return 0, nil
	}
	newTip, err := p.finish(ctx, tree, parentsOf(tip), a.message, a.who)
	if err != nil {
		return 0, err
	}
	return added, a.repo.UpdateRefs(ctx, RefUpdate{Ref: a.ref, Old: tip, New: newTip})
}

func (a *appending) build(b *batch, p *pack, tip string) (added int, tree string, err error) {
	if tip != "" {
		if tree, err = b.commitTree(tip); err != nil {
			return 0, "", err
		}
	}
	t := &trees{batch: b, known: map[string][]treeEntry{}}
	edits := map[string][]byte{}
	for object, lines := range a.lines {
		was, _, err := t.note(tree, object)
		if err != nil {
			return 0, "", err
		}
		now, n, err := a.extend(was, lines)
		if err != nil {
			return 0, "", fmt.Errorf("note of %q: %w", object, err)
		}
		if n > 0 {
			edits[object], added = now, added+n
		}
	}
	tree, _, err = p.notes(t, tip, tree, edits)
	return added, tree, err
}

// note reads the note of one object; false: it has none.
func (t *trees) note(root, of string) ([]byte, bool, error) {
	if err := t.batch.repo.checkID(of); err != nil {
		return nil, false, err
	}
	at, err := t.locate(root, of)
	if err != nil || len(at.found) == 0 {
		return nil, false, err
	}
	if len(at.found) > maxParts {
		return nil, false, fmt.Errorf("the note of %s: %w", of, errNotesBomb)
	}
	var note []byte
	err = t.batch.notes([]noteBlobs{{of, at.blobs()}}, func(_ string, data []byte) error {
		note = data
		return nil
	})
	return note, err == nil, err
}

// extend adds the lines that are not there yet.
func (a *appending) extend(was []byte, lines []string) (now []byte, added int, err error) {
	key := a.key
	if len(was) == 0 && len(lines) == 1 { // most of what is queued: nothing to compare with
		key = func(string) string { return "" }
	}
	there := map[string]bool{}
	for line := range strings.Lines(string(was)) {
		there[key(strings.TrimSuffix(line, "\n"))] = true
	}
	now = append(now, was...)
	if len(now) > 0 && now[len(now)-1] != '\n' {
		now = append(now, '\n')
	}
	for _, line := range lines {
		if line == "" || strings.ContainsAny(line, "\n\x00") {
			return nil, 0, fmt.Errorf("%q is not one line", line)
		}
		if k := key(line); !there[k] {
			there[k] = true
			now = append(append(now, line...), '\n')
			added++
		}
	}
	return now, added, nil
}
