package verdict_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// The commits of the tests. NEW is the watched one.
var (
	oldCommit    = strings.Repeat("a", 40)
	newCommit    = strings.Repeat("b", 40)
	sideCommit   = strings.Repeat("c", 40) // on another branch: does not contain NEW
	laterCommit  = strings.Repeat("d", 40) // contains NEW
	revertCommit = strings.Repeat("e", 40) // contains NEW, reverts it
	badTag       = strings.Repeat("f", 40) // no commit here
)

const (
	repoURL = "https://git.example.com/team/deploy.git"
	poll    = 5 * time.Second
	refresh = 180 * time.Second
)

// start is when the commit was pushed: second 0 of every scenario.
var start = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func clock(second int) time.Time { return start.Add(time.Duration(second) * time.Second) }

// watch is what the tests ask, unless they say otherwise.
func watch() verdict.Watch {
	return verdict.Watch{
		Commit: newCommit, App: verdict.App{Name: "web"}, Deadline: 180 * time.Second, Reach: 300 * time.Second,
		Stable: 120 * time.Second, Mode: verdict.Arm, Expect: verdict.Healthy, By: "alice", Queued: start,
	}
}

// source is what web deploys.
func source() verdict.Source {
	return verdict.Source{RepoURL: repoURL, Path: "apps/web", TargetRevision: "main", Plain: true}
}

// Nobody changes what Git says of a revision, so it is put together once.
var answersOf = map[string]verdict.Answers{newCommit: makeAnswers(newCommit), revertCommit: makeAnswers(revertCommit)}

// answers is what Git says of a commit: NEW, or the revert.
func answers(commit string) verdict.Answers {
	a := answersOf[commit]
	a.Branches = map[string]verdict.Tri{"main": verdict.Yes, "env/prod": verdict.No}
	return a
}

func makeAnswers(commit string) verdict.Answers {
	in := func(c string, yes ...string) verdict.Rev {
		return verdict.Rev{Looked: true, Commit: c, Contains: verdict.TriOf(slices.Contains(yes, c))}
	}
	containing := []string{newCommit, laterCommit, revertCommit}
	if commit == revertCommit {
		containing = []string{revertCommit}
	}
	a := verdict.Answers{
		Commit: commit, Names: []string{repoURL}, Paths: []string{"apps/web/deployment.yaml"}, Default: "main",
		Revs: map[string]verdict.Rev{badTag: {Looked: true}},
	}
	for _, c := range []string{oldCommit, newCommit, sideCommit, laterCommit, revertCommit} {
		a.Revs[c] = in(c, containing...)
	}
	return a
}

var revisions = map[string]string{
	"old": oldCommit, "new": newCommit, "side": sideCommit, "later": laterCommit,
	"revert": revertCommit, "bad": badTag, "raw": "main", "empty": "",
}

// world is one Application and what is known of it, changed by words.
type world struct {
	look      verdict.Look
	git       verdict.Answers
	source    verdict.Source
	silent    bool // the controller does not compare
	away      bool // the daemon does not look
	blind     bool // it looks and cannot see
	takenBack verdict.Reason
	refresh   time.Duration
}

// newWorld is an Application that was deployed an hour ago and is well.
func newWorld() *world {
	w := &world{git: answers(newCommit), source: source(), refresh: refresh}
	w.look = verdict.Look{
		App: verdict.App{Namespace: "argocd", Name: "web"}, UID: "u1", Project: "default", AutoSync: true, HasStatus: true,
		Spec: []verdict.Source{w.source}, Health: verdict.Healthy, HealthSince: clock(-3600),
		Operation: verdict.Operation{
			Present: true, Phase: verdict.PhaseSucceeded, StartedAt: clock(-3610), FinishedAt: clock(-3605),
			RetryLimit: 5, Automated: true, HasResult: true, Revisions: w.at(oldCommit),
		},
		History: &verdict.HistoryEntry{ID: 6, DeployedAt: clock(-3605), Revisions: w.at(oldCommit)},
	}
	w.say(start, "Synced@old")
	return w
}

func (w *world) at(rev string) []verdict.Revision {
	return []verdict.Revision{{Source: w.source, Rev: rev}}
}

// say changes the world: what a line of a scenario says.
func (w *world) say(now time.Time, line string) {
	for _, word := range strings.Fields(line) {
		key, value, _ := strings.Cut(word, ":")
		state, rev, atRev := strings.Cut(word, "@")
		switch {
		case strings.HasPrefix(word, "op:"):
			w.operate(now, value)
		case atRev:
			w.look.SyncStatus, w.look.Compared = state, w.at(revisions[rev])
		case key == "branch":
			w.git.Branches["main"] = map[string]verdict.Tri{"yes": verdict.Yes, "no": verdict.No, "unknown": verdict.Unknown}[value]
		case key == "uid":
			w.look.UID = value
		case key == "error":
			w.look.Conditions = []verdict.Condition{{Type: value, Message: "it says why", Since: now}}
		case key == "child":
			w.look.Children = []verdict.App{{Namespace: "argocd", Name: value}}
		case key == "follow":
			w.look.Spec = slices.Clone(w.look.Spec)
			w.look.Spec[0].TargetRevision = value
		case key == "reverted":
			w.takenBack = verdict.Reason{Code: "reverted-by", Detail: revertCommit}
		case w.flag(now, word):
		default:
			if w.look.Health != word {
				w.look.HealthSince = now
			}
			w.look.Health = word
		}
	}
}

func (w *world) flag(now time.Time, word string) bool {
	switch word {
	case "silent", "awake":
		w.silent = word == "silent"
	case "away", "back":
		w.away = word == "away"
	case "blind", "sighted":
		w.blind = word == "blind"
	case "absent", "there":
		w.look.Absent = word == "absent"
	case "deleting":
		w.look.Deleting = true
	case "manual":
		w.look.AutoSync = false
	case "flip": // Healthy went away and came back between two looks
		w.look.HealthSince = now
	case "no-transition-time":
		w.look.HealthSince = time.Time{}
	case "calm":
		w.look.Conditions = nil
	case "unsure":
		w.look.SpecChanged = "source.path"
	case "sure":
		w.look.SpecChanged = ""
	case "chart":
		w.look.Spec = []verdict.Source{{Kind: verdict.SourceChart, RepoURL: "https://charts.example.com", Chart: "web", TargetRevision: "1.0.0"}}
	default:
		return false
	}
	return true
}

// operate moves the operation: `run@new`, `succeed`, `fail`, `error`, `retry`,
// `again`, `heal@new`, `window@new`, `lost`.
func (w *world) operate(now time.Time, what string) {
	op := &w.look.Operation
	verb, rev, _ := strings.Cut(what, "@")
	switch verb {
	case "run", "heal", "part", "dry", "window":
		*op = verdict.Operation{
			Requested: true, Present: true, Phase: verdict.PhaseRunning, StartedAt: now, RetryLimit: 5, Automated: true,
			HasResult: verb != "window", Revisions: w.at(revisions[rev]),
			Selective: verb == "heal" || verb == "part", AutoHeal: verb == "heal", DryRun: verb == "dry",
		}
		if verb == "window" {
			op.Message = "Sync operation blocked by sync window"
		}
	case "succeed", "fail", "error":
		op.Requested, op.FinishedAt = false, now
		op.Phase = map[string]string{"succeed": verdict.PhaseSucceeded, "fail": verdict.PhaseFailed, "error": verdict.PhaseError}[verb]
		op.Message = "one or more objects failed to apply"
		if verb == "succeed" {
			op.Message = "successfully synced (all tasks run)"
			if op.Full() {
				w.look.History = &verdict.HistoryEntry{ID: w.look.History.ID + 1, DeployedAt: now, Revisions: op.Revisions}
			}
		}
	case "retry":
		op.Phase, op.FinishedAt, op.RetryCount = verdict.PhaseRunning, now, op.RetryCount+1
	case "again":
		op.FinishedAt = time.Time{}
	case "lost":
		op.Requested = false
	default:
		panic("no such operation: " + what)
	}
}

// seen is the look of a moment together with Git's answers.
func (w *world) seen(now time.Time, direct bool, commit string) *verdict.Observation {
	if !w.silent {
		w.look.ReconciledAt = now
	}
	l := w.look
	l.At, l.Direct = now, direct
	git := answersOf[commit]
	git.Branches, git.Names = w.git.Branches, w.git.Names
	return &verdict.Observation{Look: l, Git: git, Refresh: w.refresh}
}

// script is a scenario: `SECOND WORDS...` a line.
type script struct {
	at    []int
	words []string
}

func parseScript(t *testing.T, text string) script {
	t.Helper()
	var s script
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		first, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.Atoi(first)
		if err != nil {
			t.Fatalf("line %q does not begin with a second", line)
		}
		s.at, s.words = append(s.at, n), append(s.words, rest)
	}
	return s
}

// run is one play of a scenario.
type run struct {
	watch    verdict.Watch
	script   script
	restart  func(now int) bool // forget all but the note after the look at now
	overtook []string           // what Git says of a range
	conclude func(verdict.State, verdict.Observation, time.Time) verdict.State
	end      int
}

// result is how it came out.
type result struct {
	state verdict.State
	at    int // second of the terminal verdict, -1: none
}

// play steps a scenario from its first line to its end, a look every poll. A
// FAIL that would ask the gates ends it as FAIL, unless conclude says what they
// say: gates have tests of their own.
func (r run) play(t *testing.T) result {
	t.Helper()
	w, memory := newWorld(), verdict.Memory{}
	s := verdict.New(r.watch, "test")
	out := result{at: -1}
	line := 0
	for now := r.script.at[0]; now <= r.end; now += int(poll / time.Second) {
		for ; line < len(r.script.at) && r.script.at[line] <= now; line++ {
			w.say(clock(r.script.at[line]), r.script.words[line])
		}
		if w.away {
			continue
		}
		o := w.seen(clock(now), false, s.Subject())
		memory = memory.Remember(o.Look, w.refresh)
		if now < 0 {
			continue
		}
		in := verdict.Input{Now: clock(now), Poll: poll, Seen: o, Memory: memory, TakenBack: w.takenBack}
		if w.blind {
			in.Seen, in.Unseen = nil, verdict.Reason{Code: "cluster-unreadable", Detail: "no answer"}
		}
		next := stepOnce(t, w, &s, in, r.overtook)
		if next.Conclude && r.conclude != nil {
			s = r.conclude(s, *w.seen(clock(now), true, newCommit), clock(now))
		} else if next.Conclude {
			s = verdict.CloseHeld(s, clock(now))
		}
		if s.Verdict == verdict.Waiting {
			out.at = -1
		} else if out.at < 0 {
			out.at = now
		}
		if r.restart != nil && r.restart(now) {
			s, memory = reopen(t, s), verdict.Memory{}
		}
		if s.Final(clock(now)) {
			break
		}
	}
	out.state = s
	return out
}

// stepOnce is one pass of a caller: it answers what the step needs.
func stepOnce(t *testing.T, w *world, s *verdict.State, in verdict.Input, overtook []string) verdict.Next {
	t.Helper()
	after, next := verdict.Step(*s, in)
	cached := in.Seen != nil && in.TakenBack.IsZero() && s.Watch.Unsupported == "" // else no look decides
	decided := after.Verdict != verdict.Waiting && after.Verdict != s.Verdict || after.Recovery != s.Recovery
	if cached && !next.Needs() && decided && after.Reason.Code != "too-old" && after.RecoveryWhy.Code != "too-old" {
		t.Errorf("a look from a cache decided %s %s (R26)", after.Verdict, after.Reason)
	}
	for range 3 {
		if !next.Needs() {
			break
		}
		if next.Need.Direct {
			in.Seen = w.seen(in.Now, true, s.Subject())
		}
		if next.Need.Between != [2]string{} {
			in.Overtook, in.OvertookKnown = overtook, true
		}
		after, next = verdict.Step(*s, in)
	}
	if next.Needs() {
		t.Fatalf("the step asks again for what it has: %+v", next.Need)
	}
	*s = after
	return next
}

// reopen is what a restart leaves of a state: its note.
func reopen(t *testing.T, s verdict.State) verdict.State {
	t.Helper()
	note := verdict.FormatNote([]verdict.State{s})
	got, err := verdict.Fold(s.Watch.Commit, note)
	if err != nil {
		t.Fatalf("a note that was just written cannot be read: %v\n%s", err, note)
	}
	return got[0]
}

// outcome is a result in a line: `FAIL@320 deadline health=Degraded`.
func (r result) outcome() string {
	if r.at < 0 {
		return fmt.Sprintf("%s %s", r.state.Verdict, r.state.Reason)
	}
	return fmt.Sprintf("%s@%d %s", r.state.Verdict, r.at, r.state.Reason)
}
