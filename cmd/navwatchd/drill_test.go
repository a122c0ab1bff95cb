package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/argosim"
	"github.com/nav-watchdog/nav-watchdog/internal/drill"
	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
)

// buildDaemon makes a real navwatchd: the drill's hooks start the drill's own
// executable, which the test's is not.
func buildDaemon(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "navwatchd")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("building navwatchd: %v\n%s", err, out)
	}
	return bin
}

// hostile is the environment of a user with settings that would spoil the
// drill, started from a hook of another repository.
func hostile(t *testing.T, tmp string) []string {
	t.Helper()
	home := t.TempDir()
	settings := "[commit]\n\tgpgSign = true\n[core]\n\thooksPath = /nonexistent\n[init]\n\tdefaultBranch = trunk\n" +
		"[push]\n\tdefault = nothing\n[user]\n\tname = Somebody Else\n[log]\n\tshowSignature = true\n\tdate = relative\n"
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(settings), 0o644); err != nil {
		t.Fatal(err)
	}
	return append(os.Environ(), "HOME="+home, "TMPDIR="+tmp, "GIT_DIR=/nonexistent", "GIT_INDEX_FILE=/nonexistent",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=commit.gpgSign", "GIT_CONFIG_VALUE_0=true",
		"GIT_CONFIG_PARAMETERS='core.hooksPath'='/nonexistent'", "GIT_QUARANTINE_PATH=/nonexistent",
		"DRY_RUN=true", "NAV_DRILL_USER=mallory", "NO_COLOR=1")
}

// TestDrill plays the drill as a user does, and asks git what it left.
func TestDrill(t *testing.T) {
	t.Parallel()
	tmp := t.TempDir()
	cmd := exec.Command(buildDaemon(t), "drill", "--keep")
	cmd.Env, cmd.Dir = hostile(t, tmp), t.TempDir()
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil || stderr.Len() > 0 {
		t.Fatalf("drill: %v\n%s\n%s", err, out.String(), stderr.String())
	}
	text := out.String()
	for _, want := range []string{
		`there is no field "stabel" [nav-field-unknown]`, "$ git log --notes=nav/verdicts", "Notes (nav/verdicts):",
		"web: CONFIRMED: ", "web: REVERTED: ", "recovery RECOVERED", "ERROR_UNWATCHABLE", "10 of 10 parts came out as they must.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the transcript lacks %q", want)
		}
	}
	if i := strings.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\n' }); i >= 0 {
		t.Errorf("the transcript has a control character: %q", text[max(0, i-40):i+1])
	}
	kept := regexp.MustCompile(`(?m)^The folder is kept: (.*)$`).FindStringSubmatch(text)
	if kept == nil || filepath.Dir(kept[1]) != tmp {
		t.Fatalf("no folder in %s is named:\n%s", tmp, text)
	}
	checkKept(t, filepath.Join(kept[1], serverDir))
}

// checkKept reads with git what the drill wrote.
func checkKept(t *testing.T, server string) {
	t.Helper()
	navtest.Git(t, server, "fsck", "--strict")
	// Oldest first, and only the first line of a note: its headline.
	log := navtest.Git(t, server, "log", "--reverse", "--notes=nav/verdicts", "--format=%an|%s|%N%x00")
	want := []string{
		`olga|the policy, and what is deployed|`,
		`alice|web: deploy 1.1|web: CONFIRMED: `,
		`alice|web: deploy 2.0-does-not-exist|web: REVERTED: `,
		`navwatchd|Revert "web: deploy 2.0-does-not-exist"|`,
		`bob|api: deploy 2.0-does-not-exist|api: FAIL (not reverted: mode: mode=shadow): `,
		`bob|Revert "api: deploy 2.0-does-not-exist"|`,
		`bob|metrics: say where it comes from|metrics: ERROR_UNWATCHABLE: `,
		`alice|shop: deploy 2.0-does-not-exist|shop: NOT_REACHED: `,
		`alice|legacy: deploy 1.1|legacy: FAIL (not reverted: baseline: `,
		`alice|mail: deploy 2.0-does-not-exist|mail: FAIL (not reverted: dry-run: DRY_RUN is set): `,
		`alice|Revert "mail: deploy 2.0-does-not-exist"|`,
		`alice|web: deploy 2.1-does-not-exist|web: REVERTED: `,
		`navwatchd|Revert "web: deploy 2.1-does-not-exist"|`,
		`alice|web: deploy 2.2-does-not-exist|web: FAIL (not reverted: circuit: `,
		`alice|Revert "web: deploy 2.2-does-not-exist"|`,
		`alice|web: deploy 2.3-does-not-exist|web: REVERTED: `,
		`navwatchd|Revert "web: deploy 2.3-does-not-exist"|`,
	}
	var got []string
	for entry := range strings.SplitSeq(strings.TrimRight(log, "\x00\n"), "\x00") {
		line, _, _ := strings.Cut(strings.TrimPrefix(entry, "\n"), "\n")
		got = append(got, line)
	}
	if len(got) != len(want) {
		t.Fatalf("%d commits, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) || (strings.HasSuffix(want[i], "|") && got[i] != want[i]) {
			t.Errorf("commit %d is %q, want %q", i+1, got[i], want[i])
		}
	}
	if people := navtest.Git(t, server, "log", "-p", "--format=", "refs/notes/nav/people"); !strings.Contains(people, "the tags were wrong indeed") {
		t.Errorf("people do not hold the reset:\n%s", people)
	}
}

// What must not come out as it does makes the drill fail: each part is played
// on a world in which something does not do what it is for.
func TestDrillWrong(t *testing.T) {
	t.Parallel()
	bin := buildDaemon(t)
	t.Run("a cluster in which every image is there", func(t *testing.T) {
		t.Parallel()
		tmp := t.TempDir()
		var out bytes.Buffer
		e := env{stdout: &out, environ: hostile(t, tmp), now: navtest.Start, executable: bin}
		err := playDrill(context.Background(), e, false, func(string) argosim.Image { return argosim.Image{Ready: time.Second} })
		// Nothing ever needs to be taken back.
		checkWrong(t, err, out.String(), map[string]string{
			"3": "CONFIRMED", "4": "CONFIRMED", "8": "CONFIRMED", "9": "no second revert: CONFIRMED", "10": "CONFIRMED",
		})
		if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
	t.Run("nobody does what they are told", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		var out bytes.Buffer
		e := env{stdout: &out, environ: hostile(t, dir), now: navtest.Start, executable: bin}
		clock := drill.NewClock(e.now())
		repo, err := newDrillRepo(context.Background(), dir, e, clock)
		if err != nil {
			t.Fatal(err)
		}
		cluster := newDrillCluster(repo.server, clock, nil)
		watcher, err := newDrillWatcher(context.Background(), dir, e, clock, repo, cluster)
		if err != nil {
			t.Fatal(err)
		}
		defer watcher.close()
		err = drill.Run(context.Background(), drill.Config{
			Out: &out, Clock: clock, Repo: repo, Cluster: openWindow{cluster}, Watcher: deafWatcher{watcher},
		})
		checkWrong(t, err, out.String(), map[string]string{
			"6": "REVERTED, but the branch moved", "7": "CONFIRMED", "8": "REVERTED, but the branch moved",
			"9": "no second revert: FAIL, held by circuit", "10": "FAIL, held by attribution and baseline and circuit",
		})
	})
}

// openWindow is a cluster that closes no window and breaks nothing.
type openWindow struct{ *drillCluster }

func (openWindow) CloseWindow(string) error { return nil }
func (openWindow) Degrade(string) error     { return nil }

// deafWatcher hears neither DRY_RUN nor that a person looked.
type deafWatcher struct{ *drillWatcher }

func (w deafWatcher) Restart(bool) error { return w.drillWatcher.Restart(false) }
func (deafWatcher) ResetCircuit(context.Context, string, string) (string, error) {
	return "circuit reset", nil
}

// checkWrong holds the summary against what must be wrong in it.
func checkWrong(t *testing.T, err error, transcript string, want map[string]string) {
	t.Helper()
	if exit.Code(err) != exit.Findings {
		t.Fatalf("error %v, code %d, want code %d\n%s", err, exit.Code(err), exit.Findings, transcript)
	}
	_, summary, _ := strings.Cut(transcript, "\nSummary\n")
	row := regexp.MustCompile(`^(ok|WRONG) +(\d+)\. .*?  .*  (\S.*)$`)
	rows := 0
	for line := range strings.Lines(summary) {
		m := row.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			continue
		}
		rows++
		got, wrong := want[m[2]]
		if wrong != (m[1] == "WRONG") || (wrong && m[3] != got) {
			t.Errorf("part %s is %s with %q, want %q", m[2], m[1], m[3], got)
		}
	}
	if rows != 10 {
		t.Errorf("%d rows in the summary, want 10", rows)
	}
	if t.Failed() {
		t.Log(transcript)
	}
}

// The drill's hooks belong to the drill: afterwards they refuse every push.
func TestDrillHookAlone(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"pre-receive", "post-receive"} {
		e := env{stdin: strings.NewReader(""), stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}, now: navtest.Start}
		err := run(context.Background(), []string{"navwatchd", drillHook, name}, e)
		if exit.Code(err) != exit.Usage || !strings.Contains(err.Error(), "drill") {
			t.Errorf("%s: error %v, want a usage error that names the drill", name, err)
		}
	}
}
