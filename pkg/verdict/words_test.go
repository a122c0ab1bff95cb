package verdict_test

import (
	"strings"
	"testing"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// What fails is told in one line (argo-watcher#104: not "timed out").
func TestCause(t *testing.T) {
	job := verdict.ObjectID{Group: "batch", Kind: "Job", Namespace: "web", Name: "smoke"}
	for _, tt := range []struct {
		what, words string
		change      func(*verdict.Look)
		want        string
	}{
		{"what could not be applied", "op:run@new op:fail", func(l *verdict.Look) {
			l.Operation.Resources = []verdict.OperationResource{
				{ObjectID: verdict.ObjectID{Kind: "ConfigMap", Name: "x"}, Status: "Synced", Message: "unchanged"},
				{ObjectID: deployment, Status: "SyncFailed", Message: "field is\nimmutable"},
			}
		}, "apps/Deployment web/web: field is immutable"},
		{"a hook that failed", "op:run@new op:fail", func(l *verdict.Look) {
			l.Operation.Resources = []verdict.OperationResource{{ObjectID: job, HookType: "PostSync", HookPhase: "Failed", Message: "exit 1"}}
		}, "batch/Job web/smoke: exit 1"},
		{"inline health", "op:run@new op:succeed Degraded", func(l *verdict.Look) {
			l.Resources = []verdict.Resource{
				{ObjectID: verdict.ObjectID{Kind: "Service", Name: "x"}, Health: verdict.Healthy},
				{ObjectID: job, Hook: true, Health: verdict.HealthDegraded},
				{ObjectID: deployment, Health: verdict.HealthDegraded, HealthMessage: "exceeded its progress deadline"},
			}
		}, "apps/Deployment web/web: Degraded exceeded its progress deadline"},
		{"the message of 3.6", "op:run@new op:succeed Degraded", func(l *verdict.Look) { l.HealthMessage = "apps/Deployment:web/web" }, "apps/Deployment:web/web"},
		{"nothing that tells", "op:run@new op:succeed Degraded", func(*verdict.Look) {}, ""},
	} {
		t.Run(tt.what, func(t *testing.T) {
			w := newWorld()
			w.say(clock(5), "Synced@new "+tt.words)
			s := verdict.New(watch(), "test")
			for now := 5; s.Cause == "" && s.FailSince.IsZero() && now < 300; now += 5 {
				tt.change(&w.look)
				stepOnce(t, w, &s, verdict.Input{Now: clock(now), Poll: poll, Seen: w.seen(clock(now), false, newCommit)}, nil)
			}
			if s.FailSince.IsZero() || s.Cause != tt.want {
				t.Errorf("cause %q, want %q (%s %s)", s.Cause, tt.want, s.Verdict, s.Reason)
			}
		})
	}
}

// A reader is told once that another address is taken for this repository, and
// without what stands before its host.
func TestOtherAddressIsTold(t *testing.T) {
	w := newWorld()
	w.source.RepoURL = "https://user:secret@mirror.example.com/deploy.git"
	w.look.Spec = []verdict.Source{w.source}
	w.look.Operation, w.look.History = verdict.Operation{}, nil
	w.say(start, "Synced@new")
	s := verdict.New(watch(), "test")
	for now := 0; now <= 120; now += 5 {
		stepOnce(t, w, &s, verdict.Input{Now: clock(now), Poll: poll, Seen: w.seen(clock(now), false, newCommit)}, nil)
		s = reopen(t, s)
	}
	var told []string
	for _, e := range s.Events {
		if e.Kind == "note" {
			told = append(told, e.Text)
		}
	}
	want := "https://mirror.example.com/deploy.git is taken for this repository: a revision of it is a commit here"
	if len(told) != 1 || told[0] != want {
		t.Errorf("told: %q", told)
	}
}

// Many children, many suspects: a few are named.
func TestLongListsAreCut(t *testing.T) {
	w := newWorld()
	w.say(start, "Synced@new")
	for i := range 30 {
		w.look.Children = append(w.look.Children, verdict.App{Name: "child" + itoa(i)})
	}
	s := verdict.New(watch(), "test")
	for now := 0; now <= 130; now += 5 {
		stepOnce(t, w, &s, verdict.Input{Now: clock(now), Poll: poll, Seen: w.seen(clock(now), false, newCommit)}, nil)
	}
	if s.Verdict != verdict.Inconclusive || !strings.HasSuffix(s.Reason.Detail, "child9, and 20 more") {
		t.Errorf("%s %s", s.Verdict, s.Reason)
	}
	f, facts := failed()
	for range 20 {
		facts.Suspects = append(facts.Suspects, laterCommit)
	}
	if got := why(verdict.Evaluate(f, facts), "attribution"); !strings.HasPrefix(got, "21 suspects: bbbbbbbbbbbb, ") || !strings.HasSuffix(got, ", ...") {
		t.Errorf("attribution says %q", got)
	}
}

// Of two daemons each reads the notes of the other; what was running goes on
// only where the note says the same (design, section 8: two by mistake are safe).
func TestResume(t *testing.T) {
	play := func(until int) verdict.State {
		return newRun(t, nil, deploy+`40 Healthy`, nil, until).play(t).state
	}
	own := play(100)
	read := reopen(t, own)
	well := newWorld()
	well.say(clock(5), "Synced@new op:run@new")
	well.say(clock(10), "op:succeed")
	well.look.HealthSince = clock(40)
	after := func(s verdict.State, at int) verdict.Verdict {
		stepOnce(t, well, &s, verdict.Input{Now: clock(at), Poll: poll, Seen: well.seen(clock(at), false, newCommit)}, nil)
		return s.Verdict
	}
	if got := after(read, 165); got != verdict.Waiting {
		t.Errorf("after a restart stable begins anew: %s", got)
	}
	if got := after(read.Resume(own, clock(160), poll), 165); got != verdict.Confirmed {
		t.Errorf("resumed, it is healthy for long enough: %s", got)
	}
	other := own
	other.UID = "u2"
	if got := after(read.Resume(other, clock(160), poll), 165); got != verdict.Waiting {
		t.Errorf("of another Application: %s", got)
	}
	if got := after(read.Resume(play(30), clock(160), poll), 165); got != verdict.Waiting {
		t.Errorf("of a state that never saw it healthy: %s", got)
	}
}
