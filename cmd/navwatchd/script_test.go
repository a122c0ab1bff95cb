package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/nav-watchdog/nav-watchdog/internal/argosim"
	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// TestScript runs scenarios in words: a real repository, a simulated Argo CD,
// the daemon's passes, and a clock that only `at` moves. The commands:
//
//	repo [poll=10s] [policy=FILE|none] [inline-health] [sim-poll=120s] [settle=200ms] [apply=500ms] APP...
//	app NAME [key=value...]            an Application (appCommand)
//	commit NAME [key=value...]         a commit on the server (commitCommand); $NAME is its id
//	pushed BRANCH OLD NEW [by=WHO]     what was pushed with git: watches lines, webhook
//	sim VERB ARGS...                   people and fate in the cluster (simVerbs)
//	at DURATION                        the clock and everything with it, poll by poll
//	fails DURATION TEXT                the same, and some pass fails with TEXT
//	daemon start|stop|kill|forget [NAME]
//	set dry-run|notes|names|signing-key|allowed-signers VALUE   settings of daemons that start from now on
//	verdict COMMIT APP WANT [TEXT]     the note on the server says so; TEXT is in the reason
//	recovery COMMIT APP WANT
//	decided COMMIT APP DURATION        when, at most one poll later
//	gate COMMIT APP NAME pass|hold [TEXT]
//	held COMMIT APP NAME...            exactly these gates hold; none: all pass
//	[!] note COMMIT TEXT               what the whole note says
//	unnoted COMMIT                     there is no note
//	reverts BRANCH N                   how many reverts the branch holds
//	tip BRANCH COMMIT                  where the branch is
//	noticed KIND N [TEXT]              exactly N notices of this kind were sent
//	webhook down|up                    whether notices are taken
//	person TEXT                        the log called a person so; `! person` nobody at all
//	logged TEXT
//	people KIND BY [APP]               a line in people
//	hooked                             the server has navhook's pre-receive, and the watcher is navbot
//	says WHO ARGS...                   navwatchd ARGS, by WHO, who is also the one that pushes
//	refused TEXT WHO ARGS...           the same, and the error says TEXT
//	keys NAME...                       SSH keys in files NAME and NAME.pub
//	around [FILE]                      the AppProjects, ApplicationSets and ImageUpdaters of the cluster
//	save NAME                          the last stdout becomes a variable
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup:               setupScript,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"repo": repoCommand, "app": words(appCommand), "commit": words(commitCommand), "pushed": words(pushedCommand),
			"sim": words(simCommand), "at": words(atCommand), "fails": words(failsCommand), "daemon": words(daemonCommand),
			"set": words(setCommand), "verdict": words(verdictCommand), "recovery": words(recoveryCommand),
			"decided": words(decidedCommand), "gate": words(gateCommand), "held": words(heldCommand), "note": noteCommand,
			"unnoted": words(unnotedCommand), "reverts": words(revertsCommand), "tip": words(tipCommand), "logged": words(loggedCommand),
			"people": words(peopleCommand), "hooked": words(hookedCommand), "keys": words(keysCommand), "says": words(saysCommand), "refused": words(refusedCommand),
			"around": words(aroundCommand), "save": words(saveCommand), "person": personCommand, "noticed": words(noticedCommand),
			"webhook": words(webhookCommand),
		},
	})
}

// script is one scenario: its world, and the words to change it.
type script struct {
	*world
	ts *testscript.TestScript
}

type worldKey struct{}

func setupScript(e *testscript.Env) error {
	home := filepath.Join(e.WorkDir, "home")
	if err := os.MkdirAll(home, 0o777); err != nil {
		return err
	}
	for _, kv := range navtest.Env(home) {
		if strings.HasPrefix(kv, "GIT_") || strings.HasPrefix(kv, "HOME=") || strings.HasPrefix(kv, "LC_ALL=") {
			e.Vars = append(e.Vars, kv)
		}
	}
	e.Values[worldKey{}] = &script{}
	e.Values["t"] = e.T()
	return nil
}

// words makes a command of a function that returns its complaint.
func words(f func(*script, []string) error) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		s := ts.Value(worldKey{}).(*script)
		if neg || s.world == nil {
			ts.Fatalf("the scenario has no repo yet, or ! is not understood here")
		}
		s.ts = ts
		if err := f(s, args); err != nil {
			ts.Logf("%s", s.log.String())
			ts.Logf("%s", s.sim.sim.Dump())
			ts.Fatalf("%v", err)
		}
	}
}

// split takes key=value words from the others; a key may stand several times.
func split(args []string) (plain []string, kv map[string][]string) {
	kv = map[string][]string{}
	for _, a := range args {
		if k, v, ok := strings.Cut(a, "="); ok {
			kv[k] = append(kv[k], v)
		} else {
			plain = append(plain, a)
		}
	}
	return plain, kv
}

func one(kv map[string][]string, key, otherwise string) string {
	if v := kv[key]; len(v) > 0 {
		return v[len(v)-1]
	}
	return otherwise
}

func repoCommand(ts *testscript.TestScript, neg bool, args []string) {
	s := ts.Value(worldKey{}).(*script)
	plain, kv := split(args)
	policy := openPolicy
	switch f := one(kv, "policy", ""); f {
	case "":
	case "none":
		policy = ""
	default:
		policy = ts.ReadFile(f)
	}
	var o argosim.Options
	o.InlineHealth = slices.Contains(plain, "inline-health")
	plain = slices.DeleteFunc(plain, func(a string) bool { return a == "inline-health" })
	o.Image = fate
	var err error
	o.Poll, err = time.ParseDuration(one(kv, "sim-poll", "120s"))
	ts.Check(err)
	o.Delays.Settle, err = time.ParseDuration(one(kv, "settle", "0s"))
	ts.Check(err)
	o.Delays.Apply, err = time.ParseDuration(one(kv, "apply", "0s"))
	ts.Check(err)
	s.world = newWorld(ts.Value("t").(testing.TB), ts.MkAbs("."), policy, o, plain...)
	if s.poll, err = time.ParseDuration(one(kv, "poll", "10s")); err != nil || neg {
		ts.Fatalf("bad repo command: %v", err)
	}
	s.set.Interval = s.poll
	for _, a := range plain {
		ts.Check(s.app(simple(a)))
	}
	ts.Setenv("first", s.srv.Tip("main"))
}

// fate is argosim.FateByTag; a tag that ends in -slowDURATION takes that long.
func fate(image string) argosim.Image {
	ready := 5 * time.Second
	if _, slow, ok := strings.Cut(image, "-slow"); ok {
		if d, err := time.ParseDuration(slow); err == nil {
			ready = d
		}
	}
	return argosim.FateByTag(image, ready)
}

// appCommand adds an Application: path=, branch=, chart=, repo=, ns=,
// auto=off, heal=off, prune, retry=N, refresh-retry, annotate=K:V.
func appCommand(s *script, args []string) error {
	plain, kv := split(args)
	spec := simple(plain[0])
	spec.Sources[0] = argosim.Source{
		Path: one(kv, "path", "apps/"+plain[0]), TargetRevision: one(kv, "branch", ""), RepoURL: one(kv, "repo", ""),
	}
	if c := one(kv, "chart", ""); c != "" {
		spec.Sources[0] = argosim.Source{Chart: c, RepoURL: one(kv, "repo", "https://charts.example.com"), TargetRevision: "1.0.0"}
	}
	spec.Namespace = one(kv, "ns", "")
	spec.Automated.Prune = slices.Contains(plain, "prune")
	spec.Automated.SelfHeal = one(kv, "heal", "") != "off"
	if one(kv, "auto", "") == "off" {
		spec.Automated = nil
	}
	if n := one(kv, "retry", ""); n != "" {
		limit, err := strconv.ParseInt(n, 10, 64)
		if err != nil {
			return err
		}
		spec.Retry = &argosim.Retry{Limit: limit, Refresh: slices.Contains(plain, "refresh-retry")}
	}
	for _, a := range kv["annotate"] {
		k, v, _ := strings.Cut(a, ":")
		spec.Annotations[k] = v
	}
	return s.app(spec)
}

// commitCommand commits to the server as a push with hooks does: on=BRANCH,
// by=WHO (by=nobody: the host vouched for nobody; by=hookless: no line is
// written), watch=FIELDS a trailer, merge=COMMIT, from=COMMIT the first parent,
// message=FILE, date=DURATION, quiet: no webhook. Files: NAME=IMAGE is the
// Deployment of an app, file:PATH=FILE one of the script's, gone:PATH=.
func commitCommand(s *script, args []string) error {
	plain, kv := split(args)
	branch, by := one(kv, "on", "main"), one(kv, "by", "alice")
	c := navtest.Commit{Branch: branch, Files: navtest.Files{}, Message: plain[0] + "\n\nSomething happened.\n\n"}
	for _, w := range kv["watch"] {
		c.Message += "Nav-Watchdog: " + w + "\n"
	}
	if f := one(kv, "message", ""); f != "" {
		c.Message = s.ts.ReadFile(f)
	}
	for k, v := range kv {
		path, isFile := strings.CutPrefix(k, "file:")
		gone, isGone := strings.CutPrefix(k, "gone:")
		switch {
		case isFile:
			c.Files[path] = navtest.Text(s.ts.ReadFile(v[0]))
		case isGone:
			c.Files[gone] = navtest.Gone()
		case !slices.Contains([]string{"on", "by", "watch", "merge", "from", "message"}, k):
			c.Files[manifestPath(k)] = navtest.Text(deployment(k, v[0]))
		}
	}
	if from := one(kv, "from", ""); from != "" {
		c.Parents = []string{from}
	}
	if m := one(kv, "merge", ""); m != "" {
		c.Parents = []string{s.srv.Tip(branch), m}
	}
	s.srv.Clock = s.now
	id := s.srv.Commit(c)
	s.ts.Setenv(plain[0], id)
	switch {
	case by == "hookless" || len(kv["watch"]) == 0 && kv["message"] == nil:
	case by == "nobody":
		s.queue(id, branch, "")
	default:
		s.queue(id, branch, by)
	}
	if !slices.Contains(plain, "quiet") {
		s.webhook(branch)
	}
	return nil
}

// pushedCommand does what post-receive does for a push made with git.
func pushedCommand(s *script, args []string) error {
	plain, kv := split(args)
	list, err := s.git("rev-list", plain[2], "^"+plain[1], "--grep=^Nav-Watchdog: ")
	if err != nil {
		return err
	}
	for _, c := range strings.Fields(list) {
		s.queue(c, plain[0], one(kv, "by", "alice"))
	}
	s.webhook(plain[0])
	return nil
}

func atCommand(s *script, args []string) error {
	d, err := time.ParseDuration(args[0])
	if err != nil {
		return err
	}
	return s.advance(d)
}

func failsCommand(s *script, args []string) error {
	err := atCommand(s, args)
	switch {
	case err == nil:
		return fmt.Errorf("no pass until %s failed, want %q", args[0], args[1])
	case !strings.Contains(err.Error(), args[1]):
		return fmt.Errorf("want %q in: %w", args[1], err)
	}
	return nil
}

func daemonCommand(s *script, args []string) error {
	name := "d"
	if len(args) > 1 {
		name = args[1]
	}
	switch args[0] {
	case "start":
		return s.launch(name)
	case "stop":
		return s.stop(name)
	case "kill":
		s.kill(name)
		return nil
	case "forget":
		return s.forget(name)
	}
	return fmt.Errorf("daemon %q is not known", args[0])
}

func setCommand(s *script, args []string) error {
	switch args[0] {
	case "dry-run":
		yes := args[1] == "true"
		s.set.DryRun = &yes
	case "names":
		s.set.Names = nil
	case "notes":
		s.set.Notes = args[1]
	case "signing-key":
		s.set.Watcher.SigningKey = s.ts.MkAbs(args[1])
	case "allowed-signers":
		s.set.Watcher.AllowedSigners = s.ts.MkAbs(args[1])
	default:
		return fmt.Errorf("setting %q is not known", args[0])
	}
	return nil
}

func peopleCommand(s *script, args []string) error {
	l := verdict.PeopleLine{Kind: args[0], By: args[1], At: s.now, Reason: "said in the script"}
	if len(args) > 2 {
		l.App = args[2]
	}
	tree, err := s.git("hash-object", "-w", "-t", "tree", os.DevNull)
	if err != nil {
		return err
	}
	s.append("people", strings.TrimSpace(tree), l.Line())
	return nil
}

// saveCommand puts the last stdout, without its line end, into a variable.
func saveCommand(s *script, args []string) error {
	s.ts.Setenv(args[0], strings.TrimSpace(s.ts.ReadFile("stdout")))
	return nil
}
