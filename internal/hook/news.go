package hook

import (
	"maps"
	"slices"
)

// Span is a part of what a push brings: the commits that Tips reach and
// Exclude does not are new to the branches.
type Span struct {
	Tips, Exclude []string
	// Branches maps each ref to its tip. With several of them, a commit of the
	// span is new to those whose tip reaches it.
	Branches map[string]string
}

// News says, for every branch that a push updates or makes, what is new *to
// that branch*. It is the one answer for pre-receive, which refuses, and
// post-receive, which queues:
//
//   - a branch that moves gets NEW without OLD, also when it was forced;
//   - a branch that is made gets NEW without what the default branch and the
//     other watched branches held before the push;
//   - a branch that is deleted, and every ref that is no branch, gets nothing.
//
// held has the tips that the default and the watched branches had before the
// push, by ref; HeldBefore makes it. It is never "--not --all": what came in
// earlier by a tag, by refs/pull/ or by an unwatched branch is new to a
// watched branch when that one moves, and only then.
//
// All branches that are made exclude the same, so one Span serves them and a
// mirror push of a thousand branches costs one walk.
func News(ups []Update, held map[string]string) []Span {
	var spans []Span
	made := Span{Branches: map[string]string{}}
	for _, u := range ups {
		switch {
		case u.Branch() == "" || u.New == "":
		case u.Old != "":
			spans = append(spans, Span{
				Tips: []string{u.New}, Exclude: []string{u.Old},
				Branches: map[string]string{u.Ref: u.New},
			})
		default:
			made.Branches[u.Ref] = u.New
		}
	}
	if len(made.Branches) > 0 {
		made.Tips = distinct(maps.Values(made.Branches))
		made.Exclude = distinct(maps.Values(held))
		spans = append(spans, made)
	}
	return spans
}

// HeldBefore is what the branches that interest had before the push: now are
// the refs as they are at this moment (before it in pre-receive, after it in
// post-receive), ups what the push moves. interest is asked with full refs.
func HeldBefore(ups []Update, now map[string]string, interest func(ref string) bool) map[string]string {
	held := map[string]string{}
	for ref, id := range now {
		if interest(ref) {
			held[ref] = id
		}
	}
	for _, u := range ups {
		if u.Old == "" {
			delete(held, u.Ref)
		} else if u.Branch() != "" && interest(u.Ref) {
			held[u.Ref] = u.Old
		}
	}
	return held
}

func distinct(ids func(func(string) bool)) []string {
	return slices.Compact(slices.Sorted(ids))
}

// Owners says to which of the span's branches each of the commits ids is new.
// parents holds the parents of every commit of the span; a commit that is not
// in it ends the walk, because everything behind it is excluded.
func (s Span) Owners(parents map[string][]string, ids []string) map[string][]string {
	owners := make(map[string][]string, len(ids))
	wanted := make(map[string]bool, len(ids))
	for _, id := range ids {
		wanted[id] = true
	}
	byTip := map[string][]string{}
	for ref, tip := range s.Branches {
		byTip[tip] = append(byTip[tip], ref)
	}
	for tip, refs := range byTip {
		seen := map[string]bool{tip: true}
		for todo := []string{tip}; len(todo) > 0; {
			id := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			next, listed := parents[id]
			if !listed {
				continue
			}
			if wanted[id] {
				owners[id] = append(owners[id], refs...)
			}
			for _, p := range next {
				if !seen[p] {
					seen[p] = true
					todo = append(todo, p)
				}
			}
		}
	}
	for _, refs := range owners {
		slices.Sort(refs)
	}
	return owners
}
