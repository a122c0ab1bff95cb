package verdict

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Change is what one commit changed by itself: an ordinary commit against its
// parent, a merge only what no side had.
type Change struct {
	Commit string
	Paths  []string
}

// Judged names the sources by which a commit is judged in an Application and
// the branch whose containment counts; none when it cannot be judged.
func (a Answers) Judged(l Look) (sources []Source, branch string) {
	rel, why, _ := a.relevant(l)
	if !why.IsZero() {
		return nil, ""
	}
	return rel.sources, rel.branch
}

// Ours lists the sources of an Application that are this repository.
func (a Answers) Ours(l Look) []Source {
	var out []Source
	for _, s := range l.Spec {
		if is, _ := a.ours(l, s); is == Yes {
			out = append(out, s)
		}
	}
	return out
}

// Span is the range in which the culprit must be: from the revision at which
// the Application was last good to the one that is applied, a source at a time.
type Span struct{ Good, Applied string }

// Spans finds the ranges for the gate `attribution` (R28). The string is why
// they are not known.
func Spans(s State, l Look, a Answers) ([]Span, string) {
	b := s.Baseline
	sources, _ := a.Judged(l)
	switch {
	case b == nil || len(b.Revisions) == 0:
		return nil, "no last good revision"
	case len(sources) == 0 || len(b.Revisions) != len(sources):
		return nil, "the sources changed since the last good revision"
	case b.Inputs != inputsOf(l.SpecDigest, l.Compared, sources):
		return nil, "another source of the Application, or its own spec, changed since it was last good"
	}
	applied := l.Compared
	if in, _ := a.contain(l.Operation.Revisions, sources); in == Yes && l.Operation.Full() {
		applied = l.Operation.Revisions
	}
	spans := make([]Span, 0, len(sources))
	for i, src := range sources {
		rev, _ := at(applied, src)
		span := Span{Good: b.Revisions[i], Applied: a.Revs[rev].Commit}
		if span.Good == "" || span.Applied == "" {
			return nil, "a revision of the range is not known here"
		}
		spans = append(spans, span)
	}
	return spans, ""
}

// inputsOf is a fingerprint of what an Application is made from beside the
// judged sources: its spec, and the revisions of the other sources. Those that
// follow a judged source's branch move with it. Empty: nothing is known.
func inputsOf(spec string, revs []Revision, judged []Source) string {
	b := []byte(spec)
	for _, r := range revs {
		with := false
		for _, j := range judged {
			with = with || r.Source.Kind == j.Kind && r.Source.RepoURL == j.RepoURL && r.Source.TargetRevision == j.TargetRevision
		}
		if !with {
			b = fmt.Appendf(b, "\n%q %q %q %q %q", r.Source.RepoURL, r.Source.Chart, r.Source.Path, r.Source.Ref, r.Rev)
		}
	}
	if len(b) == 0 {
		return ""
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:6])
}

// Suspects lists the commits of a range that may touch the Application: all
// but those whose paths all lie inside the source path of another Application
// and outside of its own. What a merge brought in is its content, no suspect.
func Suspects(changes []Change, content map[string]bool, own []Source, others []string) []string {
	var out []string
	for _, c := range changes {
		if !content[c.Commit] && MayTouch(c.Paths, own, others) {
			out = append(out, c.Commit)
		}
	}
	return out
}

// MayTouch is the strict form: a path counts unless it is known to be another
// Application's. Others are source paths of other Applications; one that is the
// whole repository tells nothing and must be left out.
func MayTouch(paths []string, own []Source, others []string) bool {
	for _, p := range paths {
		if Touches(own, []string{p}) {
			return true
		}
		elsewhere := false
		for _, dir := range others {
			elsewhere = elsewhere || (cleanDir(dir) != "" && inside(p, cleanDir(dir)))
		}
		if !elsewhere {
			return true
		}
	}
	return false
}

// Touches tells whether one of the paths lies in what one of the sources
// deploys; a source without a path counts as the whole repository.
func Touches(sources []Source, paths []string) bool {
	for _, s := range sources {
		if touches(s, paths) {
			return true
		}
	}
	return false
}
