package verdict_test

import (
	"testing"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// A sync window that is seen closed is why a commit waits (R14), unless something
// else is: what failed, what runs, or sync that is off. What was reached stays so.
func TestJudgeWindow(t *testing.T) {
	for _, tt := range []struct {
		words  string
		window verdict.Tri
		want   string
	}{
		{"OutOfSync@new", verdict.No, "seen determinate (sync-window)"},
		{"OutOfSync@new", verdict.Yes, "seen determinate (not-attempted)"},
		{"OutOfSync@new", verdict.Unknown, "seen determinate (not-attempted)"},
		{"Synced@old", verdict.No, "synced determinate (sync-window)"},
		{"OutOfSync@new manual", verdict.No, "seen determinate (auto-sync-off)"},
		{"OutOfSync@new op:run@old", verdict.No, "seen running determinate (operation-older)"},
		{"Unknown@empty error:ComparisonError", verdict.No, "counts (comparison-error)"},
		{"OutOfSync@new op:run@new op:fail", verdict.No, "reached=operation seen failed determinate (operation-failed)"},
		{"Synced@new", verdict.No, "reached=synced seen synced healthy determinate"},
	} {
		w, now := newWorld(), clock(60)
		w.look.ReconciledAt, w.silent = now, true
		w.say(now, tt.words)
		o := *w.seen(now, true, newCommit)
		o.Window, o.WindowWhy = tt.window, "closed by deny"
		if got := told(verdict.Judge(watch(), o)); got != tt.want {
			t.Errorf("%s, window %s\n got %s\nwant %s", tt.words, tt.window, got, tt.want)
		}
	}
}
