package kube

import (
	"sync"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd"
)

// maxPassed bounds what is kept between two calls of Between. What is dropped
// then is the oldest: an operation that nobody saw is one that nothing is
// concluded from.
const maxPassed = 2000

// passed are the states that Applications went through since they were last
// asked for. The cache has only the latest, and the next one no longer shows
// what an operation did.
type passed struct {
	mu     sync.Mutex
	states []argocd.Delivery
}

// Between returns what the API server delivered since the last call, oldest
// first, each with the moment it came. What the first list held is no change
// and not among it, and neither is what cannot be decoded: List reports that.
func (r *Reader) Between() []argocd.Delivery {
	r.passed.mu.Lock()
	defer r.passed.mu.Unlock()
	states := r.passed.states
	r.passed.states = nil
	return states
}

func (r *Reader) added(o any, first bool) {
	if !first {
		r.deliver(o)
	}
	r.signal()
}

func (r *Reader) updated(old, o any) {
	was, ok := old.(*cached)
	is, isOK := o.(*cached)
	if !ok || !isOK || was.ResourceVersion != is.ResourceVersion {
		r.deliver(o)
	}
	r.signal()
}

func (r *Reader) deliver(o any) {
	c, ok := o.(*cached)
	if !ok || c.err != nil {
		return
	}
	at := r.now()
	r.passed.mu.Lock()
	defer r.passed.mu.Unlock()
	if n := len(r.passed.states); n >= maxPassed {
		r.passed.states = r.passed.states[n-maxPassed+1:]
	}
	r.passed.states = append(r.passed.states, argocd.Delivery{App: c.app, At: at})
}
