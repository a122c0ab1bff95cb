package verdict_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// deploy is an ordinary deployment of NEW, up to its rollout.
const deploy = `
	-60 Synced@old
	0   OutOfSync@new
	5   op:run@new
	10  op:succeed Synced@new Progressing
`

// The scenarios, each citing its rule. `want` is the verdict, the second of it
// and how the reason begins; a verdict without a second is one still open.
var scenarios = []struct {
	name     string
	watch    func(*verdict.Watch)
	script   string
	overtook []string
	end      int // of the looks, default 900
	want     string
}{
	// Confirmed, R19, R23, R24.
	{name: "healthy for stable", script: deploy + `40 Healthy`, want: "CONFIRMED@160 stable"},
	{name: "stable begins 10 s after the operation, R23", script: `
		-60 Synced@old
		0   OutOfSync@new
		5   op:run@new
		10  op:succeed Synced@new`, want: "CONFIRMED@140 stable"},
	{name: "R23: a new operation restarts stable", script: deploy + `
		40  Healthy
		100 op:heal@new
		105 op:succeed`, want: "CONFIRMED@235 stable"},
	{name: "R23, R24: a flip between two looks restarts stable", script: deploy + `
		40  Healthy
		100 flip`, want: "CONFIRMED@220 stable"},
	{name: "R23: a gap that lastTransitionTime bridges", script: deploy + `
		40  Healthy
		60  away
		120 back`, want: "CONFIRMED@160 stable"},
	{name: "R23: a gap without proof restarts stable", script: deploy + `
		40  Healthy
		45  no-transition-time
		60  away
		120 back`, want: "CONFIRMED@240 stable"},
	{name: "R19: an indeterminate look breaks stable", script: deploy + `
		40  Healthy
		100 Unknown@new
		105 Synced@new`, want: "CONFIRMED@225 stable"},
	{name: "R26: healthy at the deadline waits for stable", script: deploy + `170 Healthy`, want: "CONFIRMED@290 stable"},
	{name: "R13, row 4: nothing to deploy", script: `
		-60 Synced@old
		0   Synced@new`, want: "CONFIRMED@120 nothing-to-deploy"},
	{name: "R9, row 18: leftovers to be pruned", script: `
		-60 Synced@old
		0   OutOfSync@new
		5   op:run@new
		10  op:succeed Synced@new`, want: "CONFIRMED@140 stable"},
	{name: "design, section 5: a short break restarts stable and is no failure", script: deploy + `
		100 Healthy
		200 Degraded
		208 Healthy`, want: "CONFIRMED@330 stable"},
	{name: "R21: who expects Suspended", watch: func(w *verdict.Watch) { w.Expect = verdict.Suspended },
		script: deploy + `40 Suspended`, want: "CONFIRMED@160 stable"},

	// Fail, R26.
	{name: "R26: never healthy", script: deploy + `60 Degraded`, want: "FAIL@185 deadline health=Degraded"},
	{name: "R33: Degraded before the deadline is no failure", script: deploy + `
		20  Degraded
		100 Healthy`, want: "CONFIRMED@220 stable"},
	{name: "design, section 5: healthy once, broken for good", script: deploy + `
		100 Healthy
		200 Degraded`, want: "FAIL@320 deadline health=Degraded"},
	{name: "design, section 5: flapping is neither", script: deploy + flap(40, 860), want: "WAITING"},
	{name: "R11: the operation failed and all is green", script: `
		-60 Synced@old
		0   OutOfSync@new
		5   op:run@new
		10  op:fail Synced@new`, want: "FAIL@185 deadline operation-failed"},
	{name: "R7, row 14: retried until the deadline", script: `
		-60 Synced@old
		0   OutOfSync@new
		5   op:run@new
		10  op:retry
		20  op:again
		30  op:retry`, want: "FAIL@185 deadline operation-failed"},
	{name: "R7, row 11: a wave that waits for ever", script: `
		-60 Synced@old
		0   OutOfSync@new
		5   op:run@new Progressing`, want: "FAIL@185 deadline operation-running"},
	{name: "R19: a status older than the operation is indeterminate", script: deploy + `
		20  Healthy silent
		21  op:run@new
		30  op:succeed`, want: "WAITING"},

	// Budgets of observed time.
	{name: "a gap counts twice the poll, no more", script: deploy + `
		60  Degraded
		100 away
		600 back`, end: 1000, want: "FAIL@680 deadline health=Degraded"},
	{name: "indeterminate time does not count", script: deploy + `
		60  Degraded
		100 unsure
		200 sure`, want: "FAIL@280 deadline health=Degraded"},
	{name: "blind time does not count", script: deploy + `
		60  Degraded
		100 blind
		200 sighted`, want: "FAIL@280 deadline health=Degraded"},
	{name: "R5: a silent controller decides nothing", script: deploy + `
		60  Degraded silent`, end: 2000, watch: func(w *verdict.Watch) { w.Deadline = 600 * time.Second }, want: "WAITING stale"},
	{name: "R5: what was counted beyond a refresh is taken back", script: deploy + `
		60  Degraded silent
		900 awake`, end: 2000, watch: func(w *verdict.Watch) { w.Deadline = 600 * time.Second }, want: "FAIL@1260 deadline health=Degraded"},
	{name: "R5: late, and then it does compare: all of the time counts", script: deploy + `
		60  Degraded silent
		400 awake`, end: 2000, watch: func(w *verdict.Watch) { w.Deadline = 600 * time.Second }, want: "FAIL@605 deadline health=Degraded"},
	{name: "R5: a break that was counted is taken back, too", script: deploy + `
		40  Healthy
		100 Degraded silent
		700 awake`, end: 2000, watch: func(w *verdict.Watch) { w.Deadline, w.Stable = 600*time.Second, 540*time.Second }, want: "FAIL@1055 deadline health=Degraded"},
	{name: "R8: an orphaned operation decides nothing", script: `
		-60 Synced@old
		0   OutOfSync@new
		5   op:run@new
		10  op:lost`, want: "WAITING orphaned"},

	// Not reached, R14, R15, R16.
	{name: "R14: compared, never attempted", script: `
		-60 Synced@old
		0   OutOfSync@new`, want: "NOT_REACHED@300 not-attempted"},
	{name: "R14: automated sync is off", script: `
		-60 Synced@old manual
		0   OutOfSync@new`, want: "NOT_REACHED@300 auto-sync-off"},
	{name: "not even compared", script: `-60 Synced@old`, want: "NOT_REACHED@300 not-compared"},
	{name: "R15, row 2: a render error since 3.2", script: `
		-60 Synced@old
		10  Unknown@raw error:ComparisonError`, want: "NOT_REACHED@300 comparison-error"},
	{name: "R16, row 2: a render error up to 3.1", script: `
		-60 Synced@old
		10  Unknown@empty error:ComparisonError`, want: "NOT_REACHED@300 comparison-error"},
	{name: "R14: an older operation is in the way", script: `
		-60 Synced@old
		0   OutOfSync@new op:run@old`, want: "NOT_REACHED@300 operation-older"},
	{name: "design, section 5: a window that is seen stops reach", script: `
		-60 Synced@old
		0   OutOfSync@new
		5   op:window@new`, end: 2000, want: "WAITING sync-window"},
	{name: "row 12: after the window it goes on", script: `
		-60 Synced@old
		0   OutOfSync@new
		5   op:window@new
		1000 op:run@new
		1010 op:succeed Synced@new`, end: 2000, want: "CONFIRMED@1140 stable"},
	{name: "R10: a dry run reaches nothing", script: `
		-60 Synced@old
		0   OutOfSync@new
		5   op:dry@new
		10  op:succeed`, want: "NOT_REACHED@300 not-attempted"},
	{name: "R10, row 8: a selective sync reaches nothing", script: `
		-60 Synced@old
		0   OutOfSync@new
		5   op:part@new
		10  op:succeed`, want: "NOT_REACHED@300 not-attempted"},
	{name: "R4: time does not count while the spec is another", script: `
		-60 Synced@old
		0   OutOfSync@new unsure
		100 sure`, want: "NOT_REACHED@400 not-attempted"},
	{name: "R6: never seen", script: `-60 absent`, want: "NOT_REACHED@300 app-not-found"},
	{name: "seen late", script: `
		-60 absent
		100 there Synced@new op:run@new
		110 op:succeed`, want: "CONFIRMED@240 stable"},
	{name: "design, section 3: on no branch of the app", script: `
		-60 Synced@old branch:no`, want: "NOT_REACHED@300 not-on-main"},
	{name: "design, section 3: the clocks start when it lands", script: `
		-60 Synced@old branch:no
		200 branch:yes OutOfSync@new`, want: "NOT_REACHED@500 not-attempted"},
	{name: "the branch is not known", script: `-60 Synced@old branch:unknown`, want: "WAITING branch-unknown"},

	// Late.
	{name: "design, section 3: not on the branch, then it lands", script: `
		-60 Synced@old branch:no
		400 branch:yes OutOfSync@new
		405 op:run@new
		410 op:succeed Synced@new`, want: "CONFIRMED@540 stable"},
	{name: "design, section 5: reached late, and bad", script: `
		-60 Synced@old
		0   OutOfSync@new
		400 op:run@new
		410 op:succeed Synced@new Degraded`, want: "FAIL@580 deadline health=Degraded"},
	{name: "R6: reached late in another Application of the name", script: `
		-60 Synced@old
		0   OutOfSync@new
		400 uid:u2 op:run@new
		410 op:succeed Synced@new`, want: "NOT_REACHED@300 not-attempted"},

	// What speaks against a verdict.
	{name: "R6: deleted", script: deploy + `60 deleting`, want: "INCONCLUSIVE@60 app-deleted"},
	{name: "R6: gone after it was seen", script: deploy + `60 absent`, want: "INCONCLUSIVE@60 app-deleted"},
	{name: "R6: another of the same name", script: deploy + `60 uid:u2`, want: "INCONCLUSIVE@60 app-replaced"},
	{name: "R1: a chart", script: `-60 chart`, want: "ERROR_UNWATCHABLE@0 chart-source"},
	{name: "R1: it follows no branch", script: `-60 follow:v1.2.*`, want: "ERROR_UNWATCHABLE@0 follows-no-branch"},
	{name: "R29: rolled back by an operation", script: deploy + `
		30  Healthy
		60  op:run@old
		70  op:succeed`, want: "INCONCLUSIVE@70 rolled-back"},
	{name: "R29: rolled back, and only the history tells", script: deploy + `
		30  Healthy
		60  op:run@old op:succeed op:heal@new`, want: "INCONCLUSIVE@60 rolled-back"},
	{name: "R29: the compared revision went backwards", script: deploy + `
		60  Synced@old`, want: "INCONCLUSIVE@60 rolled-back"},
	{name: "R16: an empty revision is no rollback", script: deploy + `
		30  Healthy
		60  Unknown@empty
		70  Synced@new`, want: "CONFIRMED@190 stable"},
	{name: "force-push: the branch lost it", script: deploy + `60 branch:no`, want: "SUPERSEDED@60 branch-rewritten"},
	{name: "reverted by somebody", script: deploy + `60 reverted:yes`, want: "SUPERSEDED@60 reverted-by"},
	{name: "R34: drift without self-heal", script: deploy + `
		30  Healthy
		60  OutOfSync@new`, want: "INCONCLUSIVE@185 drift"},
	{name: "R34: drift that is healed and does not help", script: deploy + `
		30  Healthy
		60  OutOfSync@new
		65  op:heal@new
		70  op:succeed Synced@new Degraded`, want: "INCONCLUSIVE@185 drift"},
	{name: "R34: healed before anybody looked, and it does not help", script: deploy + `
		30  Healthy
		60  op:heal@new op:succeed Degraded`, want: "INCONCLUSIVE@185 drift"},
	{name: "R34: healed drift is no failure", script: deploy + `
		30  Healthy
		60  OutOfSync@new
		65  op:heal@new
		70  op:succeed Synced@new`, want: "CONFIRMED@200 stable"},
	{name: "R11: phase Error is Argo CD's own", script: `
		-60 Synced@old
		0   OutOfSync@new
		5   op:run@new
		10  op:error`, want: "INCONCLUSIVE@185 operation-error"},
	{name: "R21: paused", script: deploy + `30 Suspended`, want: "INCONCLUSIVE@185 suspended"},
	{name: "4.3: an app of apps that is well", script: deploy + `30 Healthy child:leaf`, want: "INCONCLUSIVE@150 children-not-assessed argocd/leaf"},
	{name: "4.3: an app of apps, and nothing of its own", script: `
		-60 Synced@old child:leaf
		0   Synced@new`, want: "INCONCLUSIVE@120 children-not-assessed"},
	{name: "4.3: an app of apps that is not", script: deploy + `30 Degraded child:leaf`, want: "INCONCLUSIVE@185 children-not-assessed"},
	{name: "a later commit mends it", script: deploy + `
		30  Degraded
		60  OutOfSync@later op:run@later
		70  op:succeed Synced@later Healthy`, overtook: []string{laterCommit}, want: "SUPERSEDED@200 fixed-by"},
	{name: "a later commit of another app does not", script: deploy + `
		30  Degraded
		60  Synced@later Healthy`, want: "CONFIRMED@180 stable"},
	{name: "unsupported", watch: func(w *verdict.Watch) { w.Unsupported = "appset" },
		script: `-60 Synced@old`, want: "INCONCLUSIVE@0 not-supported-yet appset"},
	{name: "somebody points the app to another branch", script: deploy + `60 follow:env/prod`, want: "INCONCLUSIVE@60 source-changed"},
}

// flap alternates Degraded and Healthy every 50 s: never long enough for stable,
// nor for a failure.
func flap(from, to int) string {
	var b strings.Builder
	word := "Degraded"
	for at := from; at < to; at += 50 {
		b.WriteString("\n" + itoa(at) + " " + word)
		word = map[string]string{"Degraded": "Healthy", "Healthy": "Degraded"}[word]
	}
	return b.String()
}

func TestStep(t *testing.T) {
	for _, tt := range scenarios {
		t.Run(tt.name, func(t *testing.T) {
			got := newRun(t, tt.watch, tt.script, tt.overtook, tt.end).play(t)
			if !strings.HasPrefix(got.outcome(), tt.want) {
				t.Errorf("got  %s\nwant %s\n%s", got.outcome(), tt.want, events(got.state))
			}
		})
	}
}

// A daemon that restarts at any moment (every third look, beginning with another
// one in each scenario) comes to the same verdict: what counts is in the note.
// `stable` starts from zero, so it may come later (R25).
func TestStepRestarted(t *testing.T) {
	for i, tt := range scenarios {
		if strings.HasPrefix(tt.want, "WAITING") {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			straight := newRun(t, tt.watch, tt.script, tt.overtook, tt.end).play(t)
			look := int(poll / time.Second)
			for at := i % 3 * look; at < straight.at; at += 3 * look {
				r := newRun(t, tt.watch, tt.script, tt.overtook, 2000)
				r.restart = func(now int) bool { return now == at }
				got := r.play(t)
				if got.state.Verdict != straight.state.Verdict || got.state.Reason.Code != straight.state.Reason.Code || got.at < straight.at {
					t.Fatalf("restarted after %d: %s, else %s\n%s", at, got.outcome(), straight.outcome(), events(got.state))
				}
			}
		})
	}
}

func newRun(t *testing.T, change func(*verdict.Watch), text string, overtook []string, end int) run {
	t.Helper()
	w := watch()
	if change != nil {
		change(&w)
	}
	if end == 0 {
		end = 900
	}
	return run{watch: w, script: parseScript(t, text), overtook: overtook, end: end}
}
