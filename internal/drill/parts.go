package drill

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// The shortest watch that the default limits allow: the drill's clock is fast,
// but every look of the watcher costs a moment.
const (
	armed  = "mode=arm deadline=60 reach=60 stable=30"
	shadow = "mode=shadow deadline=60 reach=60 stable=30"
)

// takenBack is what came out where everything went as an armed watch wishes.
const takenBack = "REVERTED, RECOVERED"

// parts are in the order of the story. No more than two apps are unwell at a
// time (three are a storm), and web alone is reverted: three reverts within a
// day would open the circuit of the whole repository too early.
func parts() []part {
	return []part{
		{
			"A trailer with a mistake is refused", "refused", (*Drill).badTrailer,
			"Nothing got in: a misspelt field would have been another watch than she asked for.",
		},
		{
			"A healthy commit is confirmed", "CONFIRMED", (*Drill).healthy,
			"Reached, healthy, and that for as long as she asked for.",
		},
		{
			"An image that does not exist is taken back", takenBack, (*Drill).reverted,
			"The revert and the verdict went in by one atomic push: both, or neither.",
		},
		{
			"The same in shadow is only judged", "FAIL, held by mode", (*Drill).onlyJudged,
			"The verdict is all that shadow does: every team can begin with it.",
		},
		{
			"A chart cannot be watched", "ERROR_UNWATCHABLE", (*Drill).chart,
			"Said at once, instead of a success or a failure that would mean nothing.",
		},
		{
			"A commit that never arrives is not to blame", "NOT_REACHED", (*Drill).neverReached,
			"It was armed, but never tried: suspect the pipeline, not the commit.",
		},
		{
			"Nor is one that met a broken app", "FAIL, held by baseline", (*Drill).innocent,
			"The app was not healthy before: to revert the commit would mend nothing.",
		},
		{
			"DRY_RUN reverts nothing", "FAIL, held by dry-run", (*Drill).dryRun,
			"No other gate held: without DRY_RUN it would have been reverted.",
		},
		{
			"Two reverts in a row open the circuit", "FAIL, held by circuit", (*Drill).circuit,
			"It could be the judge that is wrong, so a person must look first.",
		},
		{
			"A person looks, and closes it", takenBack, (*Drill).reset,
			"The reason stands in the notes, for those who come later.",
		},
	}
}

func (d *Drill) badTrailer(ctx context.Context) (string, error) {
	before, err := d.Repo.Tip(ctx)
	if err != nil {
		return "", err
	}
	d.tell.say("%s deploys a new web, and would have it reverted if it does not work:", developer)
	p, err := d.push(ctx, update(developer, "web", "1.1", strings.Replace(armed, "stable", "stabel", 1)))
	if err != nil {
		return "", err
	}
	after, err := d.Repo.Tip(ctx)
	switch {
	case err != nil:
		return "", err
	case !p.Refused:
		return "accepted", nil
	case after.Commit != before.Commit:
		return "refused, but the branch moved", nil
	case !strings.Contains(strings.Join(p.Said, "\n"), "[nav-field-unknown]"):
		return "refused for another reason", nil
	}
	return "refused", nil
}

func (d *Drill) healthy(ctx context.Context) (string, error) {
	d.tell.say("She mends the line and pushes again:")
	w, err := d.watch(ctx, "web", update(developer, "web", "1.1", armed))
	if err != nil {
		return "", err
	}
	d.show(w)
	s, err := d.until(ctx, w, decided)
	return outcome(s), err
}

func (d *Drill) reverted(ctx context.Context) (string, error) {
	d.tell.say("She deploys a tag that nobody built:")
	return d.takeBack(ctx, missing)
}

// takeBack breaks web, and sees it reverted.
func (d *Drill) takeBack(ctx context.Context, tag string) (string, error) {
	w, err := d.watch(ctx, "web", update(developer, "web", tag, armed))
	if err != nil {
		return "", err
	}
	if tag == missing {
		d.show(w)
	}
	s, err := d.until(ctx, w, decided)
	if err != nil || s.Verdict != verdict.Reverted {
		return outcome(s), err
	}
	tip, err := d.Repo.Tip(ctx)
	if err != nil {
		return "", err
	}
	if s, err = d.until(ctx, w, recovered); err != nil {
		return "", err
	}
	h, err := d.Cluster.Show(w.app)
	if err != nil {
		return "", fmt.Errorf("looking at %s: %w", w.app, err)
	}
	d.tell.command("git log -1 --oneline main")
	d.tell.block(short(tip.Commit) + " " + tip.Subject)
	got := outcome(s)
	switch {
	case tip.Commit != s.Revert || tip.Parent != w.commit:
		got += ", but the branch does not hold the revert"
	case tip.Tree != tip.GrandTree:
		got += ", but not exactly"
	case h.Sync != verdict.Synced || h.Health != verdict.Healthy || h.Revision != s.Revert:
		got += ", but the cluster does not run it"
	}
	return got, nil
}

func (d *Drill) onlyJudged(ctx context.Context) (string, error) {
	d.tell.say("%s makes the same mistake in api, with mode=shadow:", colleague)
	w, err := d.watch(ctx, "api", update(colleague, "api", missing, shadow))
	if err != nil {
		return "", err
	}
	s, err := d.until(ctx, w, decided)
	if err != nil {
		return "", err
	}
	got, err := d.untouched(ctx, w, outcome(s))
	if err != nil {
		return "", err
	}
	d.tell.say("He takes it back himself:")
	return got, d.mend(ctx, colleague, w, s)
}

// untouched adds to what came out if the branch is not as it was pushed.
func (d *Drill) untouched(ctx context.Context, w pushed, got string) (string, error) {
	tip, err := d.Repo.Tip(ctx)
	if err == nil && tip.Commit != w.commit {
		got += ", but the branch moved"
	}
	return got, err
}

func (d *Drill) chart(ctx context.Context) (string, error) {
	d.tell.say("metrics is a Helm chart from elsewhere. A commit here deploys nothing of it:")
	w, err := d.watch(ctx, "metrics", Change{
		Who: colleague, Files: map[string]string{"apps/metrics/README.md": "A chart: see its own repository.\n"},
		Message: "metrics: say where it comes from\n\nNav-Watchdog: app=metrics " + shadow + "\n",
	})
	if err != nil {
		return "", err
	}
	s, err := d.until(ctx, w, decided)
	return outcome(s), err
}

func (d *Drill) neverReached(ctx context.Context) (string, error) {
	d.tell.say("A sync window forbids Argo CD to deploy shop. The commit is broken, too:")
	if err := d.Cluster.CloseWindow("shop"); err != nil {
		return "", err
	}
	w, err := d.watch(ctx, "shop", update(developer, "shop", missing, armed))
	if err != nil {
		return "", err
	}
	s, err := d.until(ctx, w, decided)
	if err != nil {
		return "", err
	}
	return d.untouched(ctx, w, outcome(s))
}

func (d *Drill) innocent(ctx context.Context) (string, error) {
	d.tell.say("A node takes the pods of legacy down; that is in no commit. Then a commit comes:")
	if err := d.Cluster.Degrade("legacy"); err != nil {
		return "", err
	}
	if err := d.pass(ctx, 1); err != nil {
		return "", err
	}
	w, err := d.watch(ctx, "legacy", update(developer, "legacy", "1.1", armed))
	if err != nil {
		return "", err
	}
	d.show(w)
	s, err := d.until(ctx, w, decided)
	if err != nil {
		return "", err
	}
	got := outcome(s)
	if slices.Contains(holding(s), "baseline") {
		got = "FAIL, held by baseline" // others may hold beside it: nothing was good before
	}
	if got, err = d.untouched(ctx, w, got); err != nil {
		return "", err
	}
	if err := d.Cluster.Repair("legacy"); err != nil {
		return "", err
	}
	return got, d.well(ctx, "legacy")
}

func (d *Drill) dryRun(ctx context.Context) (string, error) {
	d.tell.say("The operator restarts the watcher with DRY_RUN=true, and %s pushes:", developer)
	if err := d.Watcher.Restart(true); err != nil {
		return "", err
	}
	if err := d.pass(ctx, 1); err != nil {
		return "", err
	}
	w, err := d.watch(ctx, "mail", update(developer, "mail", missing, armed))
	if err != nil {
		return "", err
	}
	s, err := d.until(ctx, w, decided)
	if err != nil {
		return "", err
	}
	got, err := d.untouched(ctx, w, outcome(s))
	if err != nil {
		return "", err
	}
	d.tell.say("She takes it back herself:")
	if err := d.mend(ctx, developer, w, s); err != nil {
		return "", err
	}
	d.tell.say("The watcher is started without DRY_RUN again.")
	if err := d.Watcher.Restart(false); err != nil {
		return "", err
	}
	return got, d.pass(ctx, 1)
}

func (d *Drill) circuit(ctx context.Context) (string, error) {
	d.tell.say("web was reverted once, and now once more:")
	second, err := d.takeBack(ctx, "2.1-does-not-exist")
	if err != nil {
		return "", err
	}
	if second != takenBack {
		return "no second revert: " + second, nil
	}
	d.tell.say("Two in a row, and never confirmed in between. The third time:")
	w, err := d.watch(ctx, "web", update(developer, "web", "2.2-does-not-exist", armed))
	if err != nil {
		return "", err
	}
	s, err := d.until(ctx, w, decided)
	if err != nil {
		return "", err
	}
	got, err := d.untouched(ctx, w, outcome(s))
	if err != nil {
		return "", err
	}
	d.tell.say("She takes it back herself:")
	return got, d.mend(ctx, developer, w, s)
}

func (d *Drill) reset(ctx context.Context) (string, error) {
	const reason = "the tags were wrong indeed"
	d.tell.command("navwatchd circuit reset --reason '" + reason + "' web")
	said, err := d.Watcher.ResetCircuit(ctx, "web", reason)
	if err != nil {
		return "", fmt.Errorf("resetting the circuit: %w", err)
	}
	d.tell.block(said)
	d.tell.say("And once more:")
	return d.takeBack(ctx, "2.3-does-not-exist")
}
