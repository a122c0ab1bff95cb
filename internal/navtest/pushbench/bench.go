package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/navtest/measure"
)

// The folders of hooks that take turns.
const (
	hooksNone = "hooks-none"
	hooksLog  = "hooks-log"
	hooksOurs = "hooks" // where navhook install puts them
)

// logHook is what a hook must do at least: ask git once which commits are new
// and what their trailers are.
const logHook = `#!/bin/sh
while read -r old new ref; do
	git log --format='%H%x00%(trailers:key=Nav-Watchdog,valueonly,unfold)' "$new" "^$old"
done >/dev/null
`

const policy = `version: 1
repositories: [https://git.example.com/team/deploy.git]
arm:
  allow:
    - {apps: ["*"], by: ["*"]}
`

// named says in a policy where the manifests of Applications are.
const named = "manifests: [/argocd/*.yaml]\n"

const policyFile = ".nav-watchdog.yaml"

// changed is a file of the app that pushes name.
const changed = "apps/group-0/service-0/web/deployment.yaml"

// bench is a server and a clone of it.
type bench struct {
	server, clone string
	env           []string
	tip           string
	n             int
}

func newBench(ctx context.Context, dir string, c config) (*bench, error) {
	b := &bench{
		server: filepath.Join(dir, "server.git"), clone: filepath.Join(dir, "clone"),
		env: []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C", "TZ=UTC",
			"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
			"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*", // of -repo
			"GIT_AUTHOR_NAME=Bench", "GIT_AUTHOR_EMAIL=bench@example.com",
			"GIT_COMMITTER_NAME=Bench", "GIT_COMMITTER_EMAIL=bench@example.com",
		},
	}
	navhook := filepath.Join(dir, "navhook")
	if err := measure.Build(ctx, navhook, "navhook"); err != nil {
		return nil, err
	}
	if _, err := b.git(ctx, "", "init", "-q", "--bare", "-b", "main", b.server); err != nil {
		return nil, err
	}
	from := b.server
	if c.repo != "" {
		var err error
		if from, err = filepath.Abs(c.repo); err != nil {
			return nil, err
		}
	} else if err := b.fill(ctx, c); err != nil {
		return nil, fmt.Errorf("making the history: %w", err)
	}
	for _, args := range [][]string{
		{"-C", b.server, "config", "gc.auto", "0"}, // no housekeeping in the middle
		{"-C", b.server, "config", "maintenance.auto", "false"},
		{"clone", "-q", "--bare", from, b.clone},
	} {
		if _, err := b.git(ctx, "", args...); err != nil {
			return nil, err
		}
	}
	if err := b.installHooks(ctx, navhook); err != nil {
		return nil, err
	}
	if c.repo != "" {
		return b, nil
	}
	var err error
	b.tip, err = b.git(ctx, "", "-C", b.server, "rev-parse", "refs/heads/main")
	return b, err
}

// fill makes the history with one fast-import: a line of commits, each of which
// changes one of 200 files, and refs spread over it, every second one a tag.
func (b *bench) fill(ctx context.Context, c config) error {
	pipe, w, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd := b.command(ctx, "-C", b.server, "fast-import", "--quiet")
	cmd.Stdin = pipe
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err = cmd.Start()
	_ = pipe.Close() // the process has its own
	if err != nil {
		_ = w.Close()
		return err
	}
	_, writing := w.Write(history(c))
	if err := w.Close(); writing == nil {
		writing = err
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("running fast-import: %w\n%s", err, stderr.Bytes())
	}
	return writing
}

func history(c config) []byte {
	var s bytes.Buffer
	commits, refs := c.commits, c.refs
	step := max(commits/max(refs, 1), 1)
	for i := range commits {
		text := fmt.Sprintf("Bump service %d to %d\n\nThe body of commit %d.\n", i%200, i, i)
		fmt.Fprintf(&s, "commit refs/heads/main\nmark :%d\ncommitter Bench <bench@example.com> %d +0000\ndata %d\n%s",
			i+1, 1_600_000_000+i*60, len(text), text)
		data := fmt.Sprintf("image: example.com/service:%d\n", i)
		fmt.Fprintf(&s, "M 100644 inline apps/group-%d/service-%d/values.yaml\ndata %d\n%s", i%20, i%200, len(data), data)
		if i == commits-1 {
			inline(&s, policyFile, policy)
			tree(&s, c.files, c.apps)
		}
		s.WriteByte('\n')
	}
	for i := range refs {
		name := fmt.Sprintf("refs/heads/topic-%d", i)
		if i%2 == 1 {
			name = fmt.Sprintf("refs/tags/v%d", i)
		}
		fmt.Fprintf(&s, "reset %s\nfrom :%d\n\n", name, min(i*step+1, commits))
	}
	return s.Bytes()
}

func inline(s *bytes.Buffer, path, data string) {
	fmt.Fprintf(s, "M 100644 inline %s\ndata %d\n%s\n", path, len(data), data)
}

// tree writes files with an object each, a hundred in a folder, and the manifests
// of Applications that deploy the first folders.
func tree(s *bytes.Buffer, files, apps int) {
	inline(s, changed, "kind: Deployment\n")
	for i := range files {
		inline(s, fmt.Sprintf("deploy/%d/%d.yaml", i/100, i), fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c-%d}\ndata: {n: %q}\n", i, fmt.Sprint(i)))
	}
	for i := range apps {
		name, path := fmt.Sprintf("app-%d", i), fmt.Sprintf("deploy/%d", i)
		if i == 0 {
			name, path = "web", "apps/group-0/service-0/web"
		}
		inline(s, "argocd/"+name+".yaml", application(name, path))
	}
}

func application(name, path string) string {
	return fmt.Sprintf(`apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: %s
  namespace: argocd
  labels: {team: team-%s}
spec:
  project: default
  source:
    repoURL: https://git.example.com/team/deploy.git
    path: %s
    targetRevision: main
  destination: {server: https://kubernetes.default.svc, namespace: %s}
  syncPolicy:
    automated: {selfHeal: true}
    retry: {limit: 5, refresh: true}
    syncOptions: [CreateNamespace=true]
`, name, name, path, name)
}

func (b *bench) installHooks(ctx context.Context, navhook string) error {
	for _, dir := range []string{hooksNone, hooksLog} {
		if err := os.Mkdir(filepath.Join(b.server, dir), 0o755); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(b.server, hooksLog, "pre-receive"), []byte(logHook), 0o755); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, navhook, "install", b.server)
	cmd.Env = b.env
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("running navhook install: %w\n%s", err, out)
	}
	return nil
}

func (b *bench) writeGraph(ctx context.Context) error {
	_, err := b.git(ctx, "", "-C", b.server, "commit-graph", "write", "--reachable")
	return err
}

// push makes one commit, pushes it and says how much cpu the push took.
func (b *bench) push(ctx context.Context, hooks, trailer string) (time.Duration, error) {
	b.n++
	msg := fmt.Sprintf("Push %d\n\nA body.\n", b.n)
	if trailer != "" {
		msg += "\n" + trailer
	}
	id, err := b.commit(ctx, msg, changed, fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {n: %q}\n", fmt.Sprint(b.n)))
	if err != nil {
		return 0, err
	}
	cpu, err := b.measured(ctx, hooks, id)
	if err == nil {
		b.tip = id
	}
	return cpu, err
}

// measured pushes a commit to main.
func (b *bench) measured(ctx context.Context, hooks, id string) (time.Duration, error) {
	if _, err := b.git(ctx, "", "-C", b.server, "config", "core.hooksPath", filepath.Join(b.server, hooks)); err != nil {
		return 0, err
	}
	cmd := b.command(ctx, "-C", b.clone, "push", "-q", b.server, id+":refs/heads/main")
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("pushing: %w\n%.2000s", err, out)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}

// commit makes a commit in the clone that writes one file; nothing of it is
// measured.
func (b *bench) commit(ctx context.Context, msg, path, data string) (string, error) {
	blob, err := b.git(ctx, data, "-C", b.clone, "hash-object", "-w", "--stdin")
	if err != nil {
		return "", err
	}
	for _, args := range [][]string{{"read-tree", b.tip}, {"update-index", "--add", "--cacheinfo", "100644," + blob + "," + path}} {
		if _, err := b.git(ctx, "", append([]string{"-C", b.clone}, args...)...); err != nil {
			return "", err
		}
	}
	root, err := b.git(ctx, "", "-C", b.clone, "write-tree")
	if err != nil {
		return "", err
	}
	return b.git(ctx, msg, "-C", b.clone, "commit-tree", root, "-p", b.tip)
}

// rules gives the server another policy, as a push without hooks.
func (b *bench) rules(ctx context.Context, text string) error {
	id, err := b.commit(ctx, "policy", policyFile, text)
	if err != nil {
		return err
	}
	if _, err := b.git(ctx, "", "-C", b.clone, "push", "-q", "--receive-pack=git -c core.hooksPath=/dev/null receive-pack", "origin", id+":refs/heads/main"); err != nil {
		return err
	}
	b.tip = id
	return nil
}

func (b *bench) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Env = b.env
	return cmd
}

func (b *bench) git(ctx context.Context, stdin string, args ...string) (string, error) {
	cmd := b.command(ctx, args...)
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("running git %s: %w\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}
