package arming

import (
	"slices"
	"strings"
)

// combine asks rules of every place and takes the strictest answer to each. Of
// places that do not agree the finding says so. A place that could not assess a
// rule says nothing where another could.
func combine(r Request, places []Facts, rules []func(Request, Facts) []Finding) []Finding {
	said := make([]map[string][]Finding, len(places)) // of each place, by rule
	var ids []string
	for i, f := range places {
		said[i] = map[string][]Finding{}
		for _, rule := range rules {
			for _, finding := range rule(r, f) {
				if !slices.Contains(ids, finding.Rule) {
					ids = append(ids, finding.Rule)
				}
				said[i][finding.Rule] = append(said[i][finding.Rule], finding)
			}
		}
	}
	var fs []Finding
	for _, id := range ids {
		fs = append(fs, strictest(r, places, said, id)...)
	}
	return fs
}

func strictest(r Request, places []Facts, said []map[string][]Finding, id string) []Finding {
	outcome, at := NotAssessed, -1
	var silent, passed []int
	for i := range places {
		fs := said[i][id]
		switch {
		case len(fs) == 0:
			passed = append(passed, i)
		case worst(fs) == NotAssessed:
			silent = append(silent, i)
		case at < 0 || strictness(worst(fs)) > strictness(outcome):
			outcome, at = worst(fs), i
		}
	}
	switch {
	case at >= 0:
	case len(passed) > 0:
		return nil // another place could assess it, and it passes
	default:
		at = silent[0]
	}
	fs := slices.Clone(said[at][id])
	var other []string
	for i := range places {
		differs := worst(said[i][id]) != outcome || len(said[i][id]) == 0
		if i != at && differs && !slices.Contains(silent, i) {
			other = append(other, places[i].source(r.Now))
		}
	}
	for i := range fs {
		if from := places[at].source(r.Now); from != "" {
			fs[i].Message += " (" + from + ")"
		}
		if len(other) > 0 && (outcome == Refuse || outcome == Warned) {
			fs[i].Message += "; it is otherwise in " + strings.Join(other, " and in ") + ", and the stricter counts"
		}
	}
	return fs
}

func worst(fs []Finding) Outcome {
	out := Noted
	for i, f := range fs {
		if i == 0 || strictness(f.Outcome) > strictness(out) {
			out = f.Outcome
		}
	}
	return out
}

func strictness(o Outcome) int {
	switch o {
	case Refuse:
		return 3
	case NotAssessed:
		return 2
	case Warned:
		return 1
	default:
		return 0
	}
}
