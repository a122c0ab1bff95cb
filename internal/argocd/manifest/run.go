package manifest

import (
	"context"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
)

// coming are the commits that are going to be asked about, in that order, each
// with its first parent, and where in it a commit and a parent stand.
type coming struct {
	steps              []arming.TreeAsk
	byCommit, byParent map[string]int
}

func comingOf(asks []arming.TreeAsk) coming {
	c := coming{asks, make(map[string]int, len(asks)), make(map[string]int, len(asks))}
	for i, ask := range asks {
		c.byCommit[ask.Commit], c.byParent[ask.Parent] = i, i
	}
	return c
}

// after gives a pair and those that follow if the same is asked of each commit
// that is coming: of the commit itself, or of its parent. Where one is the other's
// parent, it is known what differs.
func (c coming) after(from, to string, most int) [][2]string {
	pairs := [][2]string{{from, to}}
	side := func(ask arming.TreeAsk) string { return ask.Commit }
	at, known := c.byCommit[to]
	if !known {
		side = func(ask arming.TreeAsk) string { return ask.Parent }
		if at, known = c.byParent[to]; !known {
			return pairs
		}
	}
	for i := at + 1; i < len(c.steps) && len(pairs) < most; i++ {
		last, next := c.steps[i-1].Commit, c.steps[i]
		if to := side(next); to != "" && next.Parent != last {
			pairs = append(pairs, [2]string{last, to})
		}
	}
	return pairs
}

// run is what was found out ahead of a line of questions. As long as all of it
// is used, the next time is ahead by more.
type run struct {
	differs map[[2]string]map[string]string
	size    int
}

// A process for each of a thousand commits costs more than the rest of their
// push; what is asked in vain must cost little.
const (
	runGrows = 8
	runMost  = 1024
)

// between is Repository.Between below the folder of a scope.
func (r *Reader) between(ctx context.Context, from, to string, in scope) (map[string]string, error) {
	pair := [2]string{from, to}
	ahead := r.runs[in.key]
	if ahead == nil {
		ahead = &run{}
		r.runs[in.key] = ahead
	}
	if differs, known := ahead.differs[pair]; known {
		delete(ahead.differs, pair)
		return differs, nil
	}
	if len(ahead.differs) > 0 {
		ahead.size = 0
	}
	ahead.differs, ahead.size = nil, min(max(1, ahead.size*runGrows), runMost)
	pairs := r.coming.after(from, to, ahead.size)
	if len(pairs) == 1 {
		return r.repo.Between(ctx, from, to)
	}
	found := make([]map[string]string, len(pairs))
	for i := range pairs {
		found[i] = map[string]string{}
	}
	err := r.repo.Compare(ctx, pairs, in.dir, func(i int, path, id string) { found[i][path] = id })
	if err != nil { // too much, or one of the others cannot be read
		return r.repo.Between(ctx, from, to)
	}
	ahead.differs = make(map[[2]string]map[string]string, len(pairs))
	for i, p := range pairs[1:] {
		ahead.differs[p] = found[i+1]
	}
	return found[0], nil
}
