package verdict_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// Which commits may have broken the Application (gate attribution, R28): all
// whose paths are not all inside the source path of another one. What a merge
// brought in is its content.
func TestSuspects(t *testing.T) {
	own := []verdict.Source{source()}
	values := append([]verdict.Source{{RepoURL: repoURL, Ref: "values"}}, own...)
	for _, tt := range []struct {
		what    string
		own     []verdict.Source
		paths   []string
		others  []string
		suspect bool
	}{
		{"in its own path", own, []string{"apps/web/a"}, []string{"apps/api"}, true},
		{"in the path of another", own, []string{"apps/api/a"}, []string{"apps/api"}, false},
		{"in both", own, []string{"apps/api/a", "apps/web/a"}, []string{"apps/api"}, true},
		{"in nobody's path", own, []string{"lib/base.yaml"}, []string{"apps/api"}, true},
		{"partly in nobody's path", own, []string{"apps/api/a", "lib/base.yaml"}, []string{"apps/api"}, true},
		{"in the path of another that lies in its own", own, []string{"apps/web/sub/a"}, []string{"apps/web/sub"}, true},
		{"a source that is the whole repository suspects all", values, []string{"apps/api/a"}, []string{"apps/api"}, true},
		{"an empty path of another says nothing", own, []string{"lib/x"}, []string{"", "."}, true},
		{"a commit without paths", own, nil, nil, false},
	} {
		t.Run(tt.what, func(t *testing.T) {
			got := verdict.Suspects([]verdict.Change{{Commit: newCommit, Paths: tt.paths}}, nil, tt.own, tt.others)
			if (len(got) == 1) != tt.suspect {
				t.Errorf("Suspects = %v", got)
			}
		})
	}
	changes := []verdict.Change{{oldCommit, []string{"apps/web/a"}}, {sideCommit, []string{"apps/web/b"}}, {newCommit, []string{"apps/web/b"}}}
	if got := verdict.Suspects(changes, map[string]bool{sideCommit: true}, own, nil); !slices.Equal(got, []string{oldCommit, newCommit}) {
		t.Errorf("with the content of a merge: %v", got)
	}
}

// The range of suspects goes from the last good revision to the one that is
// applied: the operation's, where that contains the commit.
func TestSpans(t *testing.T) {
	for _, tt := range []struct {
		what   string
		change func(*verdict.State, *world)
		want   []verdict.Span
	}{
		{"an operation", func(*verdict.State, *world) {}, []verdict.Span{{oldCommit, newCommit}}},
		{"a later commit is compared, not applied", func(_ *verdict.State, w *world) { w.say(start, "OutOfSync@later") }, []verdict.Span{{oldCommit, newCommit}}},
		{"a later commit is applied", func(_ *verdict.State, w *world) { w.say(start, "OutOfSync@later op:run@later") }, []verdict.Span{{oldCommit, laterCommit}}},
		{"the operation is an older one", func(_ *verdict.State, w *world) { w.say(start, "Synced@later op:run@old") }, []verdict.Span{{oldCommit, laterCommit}}},
		{"a self-heal is not what applied it", func(_ *verdict.State, w *world) { w.say(start, "Synced@later op:heal@new") }, []verdict.Span{{oldCommit, laterCommit}}},
		{"no baseline", func(s *verdict.State, _ *world) { s.Baseline = nil }, nil},
		{"a bad baseline after a good look", func(s *verdict.State, _ *world) { s.Baseline.Good = false }, []verdict.Span{{oldCommit, newCommit}}},
		{"no good look at all", func(s *verdict.State, _ *world) { s.Baseline.Good, s.Baseline.Revisions = false, nil }, nil},
		{"a baseline without revision", func(s *verdict.State, _ *world) { s.Baseline.Revisions = []string{""} }, nil},
		{"a source more than then", func(s *verdict.State, _ *world) { s.Baseline.Revisions = nil }, nil},
		{"somebody edited the Application", func(s *verdict.State, _ *world) { s.Baseline.Inputs = "0123456789ab" }, nil},
		{"applied is not known here", func(_ *verdict.State, w *world) { w.say(start, "Synced@bad op:run@bad") }, nil},
	} {
		t.Run(tt.what, func(t *testing.T) {
			s, _ := failed()
			w := newWorld()
			w.say(start, "Synced@new op:run@new")
			tt.change(&s, w)
			o := w.seen(clock(60), true, newCommit)
			got, why := verdict.Spans(s, o.Look, o.Git)
			if !slices.Equal(got, tt.want) || (why == "") != (tt.want != nil) {
				t.Errorf("Spans = %v, %q; want %v", got, why, tt.want)
			}
		})
	}
}

// What moves beside the judged sources makes the suspects unknown: another
// repository, a chart, another branch. What follows the judged branch moves
// with it.
func TestSpansOtherSource(t *testing.T) {
	other, one := verdict.Source{RepoURL: "https://git.example.com/other.git", Path: "x", TargetRevision: "main"}, strings.Repeat("1", 40)
	for _, tt := range []struct {
		what     string
		source   verdict.Source
		then, at string
		want     bool
	}{
		{"another repository, unmoved", other, one, one, true},
		{"another repository, moved", other, one, strings.Repeat("2", 40), false},
		{"a chart, moved", verdict.Source{Kind: verdict.SourceChart, RepoURL: "https://charts.example.com", Chart: "web", TargetRevision: "1.*"}, "1.0.0", "1.1.0", false},
		{"another branch, moved", verdict.Source{RepoURL: repoURL, Path: "more", TargetRevision: "release"}, sideCommit, laterCommit, false},
		{"the same branch", verdict.Source{RepoURL: repoURL, Path: "more", TargetRevision: "main"}, oldCommit, newCommit, true},
	} {
		t.Run(tt.what, func(t *testing.T) {
			w := newWorld()
			look := func(second int, text, rev string) *verdict.Observation {
				w.say(clock(second-5), text)
				o := w.seen(clock(second), true, newCommit)
				o.Look.Spec = append(slices.Clone(o.Look.Spec), tt.source)
				o.Look.Compared = append(slices.Clone(o.Look.Compared), verdict.Revision{Source: tt.source, Rev: rev})
				return o
			}
			before := look(10, "Synced@old op:run@old op:succeed Healthy", tt.then)
			after := look(60, "Synced@new op:run@new op:succeed Degraded", tt.at)
			s, _ := verdict.Step(verdict.New(watch(), "test"), verdict.Input{
				Now: clock(60), Poll: poll, Seen: after, Memory: verdict.Memory{}.Remember(before.Look, refresh),
			})
			_, why := verdict.Spans(s, after.Look, after.Git)
			if (why == "") != tt.want {
				t.Errorf("Spans says %q\n%+v", why, s.Baseline)
			}
		})
	}
}
