package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/nav-watchdog/nav-watchdog/internal/config"
	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/watchd"
)

func selfcheckCommand(e env) *cli.Command {
	return &cli.Command{
		Name:  "selfcheck",
		Usage: "make one real pass with every write off, and say what is missing",
		Description: "For an init container, or before an update: what cannot really run must not\n" +
			"roll out. Ends with 1 if anything is missing, and says how to mend it.",
		Flags: settingFlags(),
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			set, err := settings(c, e, nil)
			if err != nil {
				return err
			}
			secret, err := webhookSecret(e, set)
			if err != nil {
				return err
			}
			k := &checkup{out: e.stdout, e: e, set: set, clean: redact(set, e.environ, string(secret))}
			return k.run(c.Context, len(secret) > 0)
		},
	}
}

// checkup is one selfcheck.
type checkup struct {
	out   io.Writer
	e     env
	set   config.Daemon
	clean redactor
	bad   int
	err   error // of writing

	conf watchd.Config
	st   *store
	rem  *gitstore.Remote
	view watchd.View
}

func (k *checkup) say(grade, what, text string, hints ...string) {
	line := fmt.Sprintf("%-5s %s: %s\n", grade, what, exit.Line(k.clean.text(text), 0))
	for _, h := range hints {
		line += "      hint: " + exit.Line(k.clean.text(h), 0) + "\n"
	}
	if _, err := io.WriteString(k.out, line); err != nil {
		k.err = err
	}
}

func (k *checkup) ok(what, format string, args ...any) {
	k.say("ok", what, fmt.Sprintf(format, args...))
}

func (k *checkup) warn(what, text, hint string) { k.say("warn", what, text, hint) }

// fail is what a real pass needs and does not have. The hints of the error, if
// it has some, say better what to do than hint.
func (k *checkup) fail(what string, err error, hint string) {
	k.bad++
	text, hints := advice(err)
	if len(hints) == 0 {
		hints = []string{hint}
	}
	k.say("FAIL", what, text, hints...)
}

// advice takes the hints out of an error: those that packages write as lines of
// its text, and those of exit.Hint.
func advice(err error) (text string, hints []string) {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		hints = append(hints, h.Hint())
	}
	var kept []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if hint, ok := strings.CutPrefix(line, "hint: "); ok {
			hints = append(hints, hint)
		} else {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "; "), hints
}

// run checks everything that can be, in the order of a pass.
func (k *checkup) run(ctx context.Context, signed bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	k.e.digest, _ = digestOf(k.e.executable) // it is only told
	k.ok("program", "%s config=%s", programOf(k.e), k.set.Digest())
	var err error
	if k.conf, err = assemble(ctx, k.e, k.set, slog.New(slog.DiscardHandler)); err != nil {
		k.fail("set-up", err, k.source("the repository's mirror cannot be made from these settings",
			"the repository's mirror, or the cluster's client, cannot be made from these settings"))
		return k.result()
	}
	k.st = k.conf.Store.(*store)
	k.rem = k.st.remote.(*gitstore.Remote)
	k.st.remote = dryRemote{k.rem} // from here on nothing is written but the mirror
	if k.repository(ctx) {
		k.atomic(ctx)
		k.push(ctx)
		k.policy(ctx)
		k.commitClock(ctx)
	}
	k.guard()
	k.cluster(ctx)
	k.people(signed)
	k.pass(ctx)
	k.say("note", "dry run", "it cannot see the server's hooks and branch protection: whether they take notes, and a revert, shows with the first of them")
	return k.result()
}

func (k *checkup) result() error {
	if k.err != nil {
		return k.err
	}
	if k.bad > 0 {
		return exit.Found(fmt.Errorf("%d things that a real pass needs are missing", k.bad))
	}
	return nil
}

// dryRemote pushes without effect.
type dryRemote struct{ *gitstore.Remote }

func (d dryRemote) Push(ctx context.Context, ups []gitstore.RefUpdate) error {
	return d.DryPush(ctx, ups)
}

func (k *checkup) repository(ctx context.Context) bool {
	var err error
	if k.view, err = k.st.Fetch(ctx); err != nil {
		k.fail("repository", err, "log in by git's own means (SSH key, credential helper) as a user who may read it, and look at the address")
		return false
	}
	if k.view.Branches[k.view.Default] == "" {
		k.fail("repository", errors.New("its HEAD names no branch that exists"), "set HEAD of the server's repository to the branch that is deployed")
		return false
	}
	k.ok("repository", "%s, %d branches, HEAD names %s", k.set.Shown(), len(k.view.Branches), k.view.Default)
	return true
}

func (k *checkup) atomic(ctx context.Context) {
	switch yes, err := k.rem.Atomic(ctx); {
	case err != nil:
		k.fail("atomic push", err, "a user who may push is needed: log in by git's own means")
	case !yes:
		k.fail("atomic push", errors.New("the server does not offer it, so nothing can be reverted"), "set receive.advertiseAtomic on the server, or take another one")
	default:
		k.ok("atomic push", "offered")
	}
}

// push tries the notes that a pass writes, real commits, on their own values.
func (k *checkup) push(ctx context.Context) {
	now := k.e.now()
	_, err := k.st.repo.CommitTime(ctx, k.view.Branches[k.view.Default])
	if err == nil {
		err = k.st.Verdicts(ctx, func(string, []byte) error { return nil })
	}
	if err == nil {
		err = k.st.Write(ctx, watchd.Write{
			Verdicts: map[string][]byte{k.view.Branches[k.view.Default]: []byte("selfcheck\n")}, Message: "nav: selfcheck", At: now,
			Status: func(string) []byte { return []byte("{}\n") },
		})
	}
	if err != nil {
		k.fail("push of notes", err, "push as the user whom `navhook install --watcher` named on the server")
		return
	}
	k.st.verdicts, k.st.watchs, k.st.people = nil, nil, nil // the pass reads anew
	k.ok("push of notes", "verdicts and status would be sent (dry run)")
}

// guard says how the notes are guarded. Without it nothing is reverted, which is
// an error only where something shall be.
func (k *checkup) guard() {
	switch {
	case k.conf.Guard == "" && k.set.Notes == config.NotesHook:
		k.ok("notes", "guarded by the hook on the server, as you say; it cannot be seen from here")
	case k.conf.Guard == "":
		k.ok("notes", "guarded by signatures")
	case *k.set.DryRun:
		k.warn("notes", k.conf.Guard+": every revert is held, as dry-run holds it anyway", "say notes: hook once navhook is installed on the server")
	default:
		k.fail("notes", errors.New(k.conf.Guard+": every revert is held"), "say notes: hook where navhook is installed on the server, or dry-run: true")
	}
}

func (k *checkup) policy(ctx context.Context) {
	data, there, err := k.conf.Git.Policy(ctx, k.view.Branches[k.view.Default])
	if err == nil && there {
		_, err = config.ParsePolicy(data, policyFile)
	}
	switch {
	case err != nil:
		k.fail("policy", err, "mend "+policyFile+" on "+k.view.Default+": a broken one counts as none")
	case !there:
		k.ok("policy", "none: %s is watched, and nobody may arm", k.view.Default)
	default:
		k.ok("policy", "%s of %s can be read", policyFile, k.view.Default)
	}
}

// people says where a person is called.
func (k *checkup) people(signed bool) {
	how := "not signed"
	if signed {
		how = "signed"
	}
	if k.set.Notify.Webhook == "" {
		k.ok("notices", "no webhook: a person is called in the log only")
		return
	}
	k.ok("notices", "to %s, %s; not tried", k.set.Webhook(), how)
}

// pass makes the real pass.
func (k *checkup) pass(ctx context.Context) {
	began := k.e.now()
	d, err := watchd.New(k.conf)
	if err == nil {
		err = d.Pass(ctx)
	}
	if err != nil {
		k.fail("pass", err, "what failed above is the cause; otherwise run `navwatchd once` and read its log")
		return
	}
	r := d.Report(nil, k.e.now().Sub(began))
	if r.Unread != nil {
		k.fail("pass", r.Unread, "what failed above is the cause")
		return
	}
	k.ok("pass", "%d watches open, %d Applications of this repository, in %s", r.Open, r.Ours, r.Took.Round(time.Millisecond))
	if r.Ours == 0 && r.Applications > 0 {
		k.warn("applications", "none of those that are seen deploys from this repository",
			k.source("look whether the files are of all namespaces (-A), and of this cluster,", "look at source.namespaces,")+
				" and add the addresses by which Argo CD knows it to repositories")
	}
	for what, why := range r.Sick {
		k.warn(what, why, "docs/operations.md, cannot be read")
	}
}
