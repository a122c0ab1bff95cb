package argocd_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd"
	"github.com/nav-watchdog/nav-watchdog/internal/argocd/folder"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

var (
	oldCommit = strings.Repeat("a", 40)
	newCommit = strings.Repeat("b", 40)
	lookedAt  = time.Date(2026, 11, 29, 12, 2, 0, 0, time.UTC)
)

// fixtures are the Applications of testdata/apps by name; each file is named
// after the one that it holds.
func fixtures(t *testing.T) map[string]*argocd.Application {
	t.Helper()
	apps, err := folder.New("testdata/apps").List(context.Background(), lookedAt)
	if err != nil {
		t.Fatal(err)
	}
	byName := make(map[string]*argocd.Application, len(apps))
	for _, app := range apps {
		byName[app.App().Name] = app
	}
	return byName
}

// Each fixture says in a comment which row or rule it shows, and has the name
// of its file.
func TestFixturesSayWhatTheyShow(t *testing.T) {
	files, err := filepath.Glob("testdata/apps/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	apps := fixtures(t)
	if len(files) != len(apps) {
		t.Errorf("%d files hold %d Applications", len(files), len(apps))
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(text, []byte("# ")) {
			t.Errorf("%s does not begin with a comment that cites its row or rule", name)
		}
		if apps[strings.TrimSuffix(filepath.Base(name), ".yaml")] == nil {
			t.Errorf("%s holds no Application of its name", name)
		}
	}
}

// summary is a Look in a line: the fields by which the rows of the table
// differ.
func summary(l verdict.Look) string {
	var b strings.Builder
	word := func(format string, args ...any) { fmt.Fprintf(&b, " "+format, args...) }
	flag := func(on bool, name string) {
		if on {
			word("%s", name)
		}
	}
	switch {
	case !l.HasStatus:
		word("no-status")
	default:
		word("%s@%s %s", l.SyncStatus, revs(l.Compared), l.Health)
	}
	flag(l.SpecChanged != "", "spec-changed")
	flag(l.Deleting, "deleting")
	flag(l.SkipReconcile, "skip-reconcile")
	flag(!l.AutoSync, "manual")
	flag(l.OwnedBySet, "owned-by-set")
	flag(l.Hydrator, "hydrator")
	flag(l.HasStatus && l.HealthInline, "inline")
	flag(l.AppOfApps, "app-of-apps")
	if op := l.Operation; op.Present || op.Requested {
		word("op:")
		flag(op.Requested, "requested")
		flag(op.Phase != "", op.Phase)
		word("%s", revs(op.Revisions))
		flag(op.HasResult, "result")
		flag(op.DryRun, "dry-run")
		flag(op.Local, "local")
		flag(op.Selective, "selective")
		flag(op.AutoHeal, "auto-heal")
		flag(op.Automated, "automated")
		flag(op.Username != "", "by="+op.Username)
		flag(op.Present && op.FinishedAt.IsZero(), "unfinished")
		flag(!op.FinishedAt.IsZero() && l.ReconciledAt.Before(op.FinishedAt), "stale")
		if op.RetryCount > 0 || op.RetryLimit != 5 {
			word("retries=%d/%d", op.RetryCount, op.RetryLimit)
		}
		for _, r := range op.Resources {
			flag(r.HookType != "", r.HookType+"="+r.HookPhase)
			flag(r.Status == "SyncFailed", "failed="+r.Kind)
		}
	}
	if l.History != nil {
		word("history: %d %s", l.History.ID, revs(l.History.Revisions))
	}
	for _, c := range l.Conditions {
		word("!%s", c.Type)
	}
	for _, r := range l.Resources {
		flag(r.RequiresPruning, r.Kind+"/"+r.Status+"/prune")
		flag(r.Health != "", r.Kind+"/"+r.Health)
	}
	for _, c := range l.Children {
		word("child=%s", c)
	}
	return strings.TrimSpace(b.String())
}

// revs writes revisions with the two commits by name.
func revs(all []verdict.Revision) string {
	if len(all) == 0 {
		return "none"
	}
	words := make([]string, len(all))
	for i, r := range all {
		switch r.Rev {
		case oldCommit:
			words[i] = "OLD"
		case newCommit:
			words[i] = "NEW"
		default:
			words[i] = fmt.Sprintf("%.12q", r.Rev)
		}
	}
	return strings.Join(words, ",")
}
