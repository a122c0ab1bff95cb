package config

import (
	"time"

	"gopkg.in/yaml.v3"

	"github.com/nav-watchdog/nav-watchdog/pkg/trailer"
)

// positive is duration, but not 0.
func (r *reader) positive(out *time.Duration) field {
	return func(name string, n *yaml.Node) {
		before := *out
		if r.duration(out)(name, n); *out == 0 {
			r.fail(n, "", "%s must be more than 0", name)
			*out = before
		}
	}
}

// noted is positive, and remembers where the value stands.
func (r *policyReader) noted(out *time.Duration) field {
	read := r.positive(out)
	return func(name string, n *yaml.Node) {
		r.at[name] = n
		read(name, n)
	}
}

func (r *policyReader) defaults(name string, n *yaml.Node) {
	t := &r.p.Trailer
	r.mapping(name, n, map[string]field{
		"deadline": r.noted(&t.Deadline), "reach": r.noted(&t.Reach), "stable": r.noted(&t.Stable),
	})
}

func (r *policyReader) limits(name string, n *yaml.Node) {
	t := &r.p.Trailer
	between := func(out *trailer.Range) field {
		return func(name string, n *yaml.Node) {
			r.mapping(name, n, map[string]field{"min": r.noted(&out.Min), "max": r.noted(&out.Max)})
		}
	}
	r.mapping(name, n, map[string]field{
		"deadline": between(&t.DeadlineLimit), "reach": between(&t.ReachLimit), "stable": between(&t.StableLimit),
		"watches-per-commit": r.count(&t.WatchesPerCommit, 1000),
	})
}

// checkLimits holds limits and defaults against each other, those included
// that the file leaves out: a trailer without a field must pass its own lint.
// A minimum below design section 4's is allowed to whoever writes it.
func (r *policyReader) checkLimits() {
	t := r.p.Trailer
	for _, c := range []struct {
		name  string
		limit trailer.Range
		value time.Duration
	}{
		{"deadline", t.DeadlineLimit, t.Deadline}, {"reach", t.ReachLimit, t.Reach}, {"stable", t.StableLimit, t.Stable},
	} {
		limit, value := "limits."+c.name, "defaults."+c.name
		atMin, atMax, atValue := r.at[limit+".min"], r.at[limit+".max"], r.at[value]
		switch {
		case atMin == nil && atMax == nil && atValue == nil:
		case c.limit.Min > c.limit.Max:
			r.fail(first(atMax, atMin), "", "%s: min %s is more than max %s", limit, span(c.limit.Min), span(c.limit.Max))
		case c.value < c.limit.Min:
			r.fail(first(atValue, atMin), "set both", "%s (%s) is less than %s.min (%s)", value, span(c.value), limit, span(c.limit.Min))
		case c.value > c.limit.Max:
			r.fail(first(atValue, atMax), "set both", "%s (%s) is more than %s.max (%s)", value, span(c.value), limit, span(c.limit.Max))
		}
	}
}

func first(a, b *yaml.Node) *yaml.Node {
	if a != nil {
		return a
	}
	return b
}
