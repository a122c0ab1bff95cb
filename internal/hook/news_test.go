package hook

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// The history of the table, oldest first; it stands for what git would walk:
//
//	a - b - c     main at b
//	     \ d - e  feature
func history() map[string][]string {
	return map[string][]string{"a": nil, "b": {"a"}, "c": {"b"}, "d": {"b"}, "e": {"d"}, "m": {"c", "e"}}
}

// reach is what git log TIPS ^EXCLUDE would list.
func reach(tips, exclude []string) map[string]bool {
	parents := history()
	walk := func(from []string) map[string]bool {
		seen := map[string]bool{}
		for todo := slices.Clone(from); len(todo) > 0; {
			id := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if !seen[id] {
				seen[id] = true
				todo = append(todo, parents[id]...)
			}
		}
		return seen
	}
	in := walk(tips)
	for id := range walk(exclude) {
		delete(in, id)
	}
	return in
}

// arrivals writes what every branch of the push gets: "main: c d e".
func arrivals(ups []Update, held map[string]string) []string {
	var out []string
	for _, s := range News(ups, held) {
		in := reach(s.Tips, s.Exclude)
		parents := map[string][]string{}
		for id := range in {
			parents[id] = history()[id]
		}
		byRef := map[string][]string{}
		for ref := range s.Branches {
			byRef[ref] = nil
		}
		for id, refs := range s.Owners(parents, slices.Collect(maps.Keys(in))) {
			for _, ref := range refs {
				byRef[ref] = append(byRef[ref], id)
			}
		}
		for ref, ids := range byRef {
			slices.Sort(ids)
			out = append(out, strings.TrimSpace(short(ref)+": "+strings.Join(ids, " ")))
		}
	}
	slices.Sort(out)
	return out
}

func TestNews(t *testing.T) {
	t.Parallel()
	const none = ""
	up := func(old, now, ref string) Update {
		if !strings.HasPrefix(ref, "refs/") {
			ref = heads + ref
		}
		return Update{Old: old, New: now, Ref: ref}
	}
	tests := []struct {
		name string
		ups  []Update
		now  map[string]string // refs before the push
		want []string
	}{
		{
			"a branch moves on", []Update{up("b", "c", "main")},
			map[string]string{"main": "b"}, []string{"main: c"},
		}, {
			"fast-forward to a feature branch that was pushed before", []Update{up("b", "e", "main")},
			map[string]string{"main": "b", "feature": "e"}, []string{"main: d e"},
		}, {
			"the commit came as a tag first", []Update{up("b", "c", "main")},
			map[string]string{"main": "b", "refs/tags/v1": "c"}, []string{"main: c"},
		}, {
			"the tag itself brings nothing", []Update{up(none, "c", "refs/tags/v1")},
			map[string]string{"main": "b"}, nil,
		}, {
			"nor do refs/pull and notes", []Update{up(none, "c", "refs/pull/1/head"), up("b", "c", "refs/notes/x")},
			map[string]string{"main": "b"}, nil,
		}, {
			"two refs in one push", []Update{up("b", "c", "main"), up("b", "e", "topic")},
			map[string]string{"main": "b", "topic": "b"}, []string{"main: c", "topic: d e"},
		}, {
			"two refs in one push, one on top of the other", []Update{up("b", "d", "main"), up("b", "e", "topic")},
			map[string]string{"main": "b", "topic": "b"}, []string{"main: d", "topic: d e"},
		}, {
			"the same commit to two new branches at once", []Update{up(none, "e", "one"), up(none, "e", "two")},
			map[string]string{"main": "b"}, []string{"one: d e", "two: d e"},
		}, {
			"two new branches, one on top of the other", []Update{up(none, "d", "one"), up(none, "e", "two")},
			map[string]string{"main": "b"}, []string{"one: d", "two: d e"},
		}, {
			"main moves in the same push: a new branch gets it, too", []Update{up("b", "c", "main"), up(none, "c", "one")},
			map[string]string{"main": "b"}, []string{"main: c", "one: c"},
		}, {
			"a branch cut from the default one", []Update{up(none, "b", "one")},
			map[string]string{"main": "b"}, []string{"one:"},
		}, {
			"cut from a watched one", []Update{up(none, "e", "one")},
			map[string]string{"main": "b", "release/1": "d"}, []string{"one: e"},
		}, {
			"cut from an unwatched one", []Update{up(none, "e", "one")},
			map[string]string{"main": "b", "feature": "d"}, []string{"one: d e"},
		}, {
			"force-push: what the new tip has and the old had not", []Update{up("c", "e", "main")},
			map[string]string{"main": "c"}, []string{"main: d e"},
		}, {
			"forced back: nothing", []Update{up("e", "b", "feature")},
			map[string]string{"main": "b", "feature": "e"}, []string{"feature:"},
		}, {
			"deletion", []Update{up("e", none, "feature")},
			map[string]string{"main": "b", "feature": "e"}, nil,
		}, {
			"deleted and made under another name", []Update{up("e", none, "release/1"), up(none, "e", "release/2")},
			map[string]string{"main": "b", "release/1": "e"}, []string{"release/2:"},
		}, {
			"a merge brings both sides", []Update{up("b", "m", "main")},
			map[string]string{"main": "b"}, []string{"main: c d e m"},
		}, {
			"the first push of all", []Update{up(none, "c", "main"), up(none, "d", "topic")},
			map[string]string{}, []string{"main: a b c", "topic: a b d"},
		},
	}
	interest := func(ref string) bool {
		return ref == "refs/heads/main" || strings.HasPrefix(ref, "refs/heads/release/")
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			before := map[string]string{}
			for ref, id := range tt.now {
				if !strings.HasPrefix(ref, "refs/") {
					ref = heads + ref
				}
				before[ref] = id
			}
			after := maps.Clone(before)
			for _, u := range tt.ups {
				if after[u.Ref] = u.New; u.New == "" {
					delete(after, u.Ref)
				}
			}
			// Both hooks ask the same, one before the refs move, one after.
			for hook, now := range map[string]map[string]string{"pre-receive": before, "post-receive": after} {
				got := arrivals(tt.ups, HeldBefore(tt.ups, now, interest))
				if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("%s (-want +got):\n%s", hook, diff)
				}
			}
		})
	}
}
