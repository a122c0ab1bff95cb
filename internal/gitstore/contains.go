package gitstore

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Contains says for every commit which revs contain it: [commit][rev]. A commit
// contains itself. All are full ids of commits that exist.
//
// One `git rev-list` lists the history of all of them from the tips downwards,
// and is stopped as soon as everything that it could still list lies below
// every commit asked for: then none of it can lead to one. So a question about
// commits near the tips reads no more than what is above them, and needs no
// trust in commit dates, which only make it faster.
func (r *Repo) Contains(ctx context.Context, commits, revs []string) (map[string]map[string]bool, error) {
	asked := make(map[string][]string, len(commits))
	for _, c := range commits {
		asked[c] = revs
	}
	return r.ContainsEach(ctx, asked)
}

// ContainsEach is Contains where each commit has revs of its own: what nobody
// asks, of thousands of commits and as many revs, would be most of the answer.
func (r *Repo) ContainsEach(ctx context.Context, asked map[string][]string) (map[string]map[string]bool, error) {
	var revs []string
	seen := map[string]bool{}
	for c, of := range asked {
		if err := r.checkID(c); err != nil {
			return nil, fmt.Errorf("asking what contains commits: %w", err)
		}
		for _, rev := range of {
			if !seen[rev] {
				seen[rev] = true
				revs = append(revs, rev)
			}
		}
	}
	slices.Sort(revs)
	if err := r.checkIDs(revs); err != nil {
		return nil, fmt.Errorf("asking what contains commits: %w", err)
	}
	if len(revs) == 1 && len(asked) > maxColours {
		all, err := r.holdsAll(ctx, revs[0], asked)
		if err != nil {
			return nil, fmt.Errorf("asking what contains commits: %w", err)
		}
		if all {
			return yesToAll(revs[0], asked), nil
		}
	}
	return r.containsEach(ctx, asked, revs)
}

// yesToAll is the answer of one rev that contains everything.
func yesToAll(rev string, asked map[string][]string) map[string]map[string]bool {
	yes := map[string]bool{rev: true} // the same of all: nobody writes to an answer
	answers := make(map[string]map[string]bool, len(asked))
	for c, revs := range asked {
		if answers[c] = yes; len(revs) == 0 {
			answers[c] = nil
		}
	}
	return answers
}

func (r *Repo) containsEach(ctx context.Context, asked map[string][]string, revs []string) (map[string]map[string]bool, error) {
	commits := slices.Sorted(maps.Keys(asked))
	answers := make(map[string]map[string]bool, len(asked))
	for _, c := range commits {
		answers[c] = make(map[string]bool, len(asked[c]))
	}
	if len(revs) == 0 {
		return answers, nil
	}
	g := newGraph(commits, revs)
	if err := r.walkGraph(ctx, g); err != nil {
		return nil, fmt.Errorf("asking what contains commits: %w", err)
	}
	bit := make(map[string]int, len(g.revs))
	for i, rev := range g.revs {
		bit[rev] = i
	}
	for _, c := range commits {
		for _, rev := range asked[c] {
			yes := g.nodes[c].bits.has(bit[rev])
			if !yes && r.shallow {
				return nil, fmt.Errorf("asking whether %s contains %s: %w", rev, c, ErrShallow)
			}
			answers[c][rev] = yes
		}
	}
	return answers, nil
}

func (r *Repo) walkGraph(ctx context.Context, g *graph) error {
	asked := append(append([]string{}, g.commits...), g.revs...)
	c := command{
		args:  []string{"rev-list", "--parents", "--stdin"},
		stdin: strings.NewReader(strings.Join(asked, "\n") + "\n"),
	}
	err := r.stream(ctx, c, func(p io.Reader) error {
		lines := bufio.NewReaderSize(p, 64<<10)
		for {
			line, err := lines.ReadString('\n')
			if errors.Is(err, io.EOF) && line == "" {
				return nil
			}
			if err != nil {
				return endedEarly(err)
			}
			if ids := strings.Fields(line); g.add(ids[0], ids[1:]) {
				return errSettled
			}
		}
	})
	if err != nil && !errors.Is(err, errSettled) {
		return r.nameMissing(ctx, asked, err)
	}
	for _, id := range asked {
		// Told apart from a commit that nothing contains: rev-list drops what is
		// no commit without a word.
		if n := g.nodes[id]; !n.listed && !errors.Is(err, errSettled) {
			return fmt.Errorf("%s is not a commit", id)
		}
	}
	return nil
}

// holdsAll reports whether all commits lie in the history of one rev, as those
// that are watched on a branch nearly always do: then nobody need know how.
func (r *Repo) holdsAll(ctx context.Context, rev string, commits map[string][]string) (bool, error) {
	missing := make(map[string]struct{}, len(commits))
	c := command{args: []string{"rev-list", "--end-of-options", rev}}
	err := r.stream(ctx, c, func(p io.Reader) error {
		for c := range commits { // while git starts
			missing[c] = struct{}{}
		}
		lines := bufio.NewReaderSize(p, 64<<10)
		for {
			line, err := lines.ReadSlice('\n')
			if errors.Is(err, io.EOF) && len(line) == 0 {
				return nil
			}
			if err != nil {
				return endedEarly(err)
			}
			if delete(missing, string(line[:len(line)-1])); len(missing) == 0 {
				return errSettled
			}
		}
	})
	if err != nil && !errors.Is(err, errSettled) {
		return false, r.nameMissing(ctx, []string{rev}, err)
	}
	return len(missing) == 0, nil
}

// errSettled stops rev-list: the rest of history has no say.
var errSettled = errors.New("settled")

// Above this many commits, the colours of each would cost more memory than the
// walk to the end costs time.
const maxColours = 1024

// graph is the part of history that was listed. Every node carries bits that
// flow from children to parents: of each rev that contains it (the rev itself
// included), and of each commit that lies strictly above it.
type graph struct {
	revs, commits []string
	colour        map[string]int // of a commit: its bit
	nodes         map[string]*node
	open          int // nodes that were named as a parent or asked for, not listed yet, and may lead to a commit
}

type node struct {
	bits    bits
	parents []*node
	own     int // its bit as a commit; -1 for none
	listed  bool
	below   bool // every commit: nothing under it matters
	closed  bool // not counted in graph.open any more
}

func newGraph(commits, revs []string) *graph {
	g := &graph{revs: unique(revs), commits: unique(commits), colour: map[string]int{}, nodes: map[string]*node{}}
	if len(g.commits) <= maxColours {
		for i, c := range g.commits {
			g.colour[c] = len(g.revs) + i
		}
	}
	for _, c := range g.commits {
		g.node(c)
	}
	for i, rev := range g.revs {
		g.node(rev).bits.set(i)
	}
	return g
}

func (g *graph) node(id string) *node {
	n := g.nodes[id]
	if n == nil {
		n = &node{bits: make(bits, (len(g.revs)+len(g.colour)+63)/64), own: -1}
		if c, ok := g.colour[id]; ok {
			n.own = c
		}
		g.nodes[id] = n
		g.open++
	}
	return n
}

// add takes a listed commit in and says whether the answers are settled.
func (g *graph) add(id string, parents []string) bool {
	n := g.node(id)
	n.listed = true
	g.close(n)
	for _, p := range parents {
		n.parents = append(n.parents, g.node(p))
	}
	g.flow(n)
	return g.open == 0
}

// flow hands a node's bits down. A parent may have been listed before its child
// (dates lie), so whatever it changes is handed on.
func (g *graph) flow(n *node) {
	work := []*node{n}
	for len(work) > 0 {
		n, work = work[len(work)-1], work[:len(work)-1]
		for _, p := range n.parents {
			grew := p.bits.merge(n.bits)
			if n.own >= 0 && !p.bits.has(n.own) {
				p.bits.set(n.own)
				grew = true
			}
			if !grew {
				continue
			}
			if !p.below && len(g.colour) > 0 && p.bits.hasAll(len(g.revs), len(g.revs)+len(g.colour)) {
				p.below = true
				g.close(p)
			}
			if p.listed {
				work = append(work, p)
			}
		}
	}
}

func (g *graph) close(n *node) {
	if !n.closed {
		n.closed = true
		g.open--
	}
}

type bits []uint64

func (b bits) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }
func (b bits) set(i int)      { b[i/64] |= 1 << (i % 64) }

func (b bits) hasAll(from, to int) bool {
	for i := from; i < to; i++ {
		if !b.has(i) {
			return false
		}
	}
	return true
}

func (b bits) merge(from bits) (grew bool) {
	for i, w := range from {
		if w&^b[i] != 0 {
			b[i] |= w
			grew = true
		}
	}
	return grew
}

func unique(list []string) []string {
	seen := make(map[string]bool, len(list))
	var out []string
	for _, s := range list {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}
