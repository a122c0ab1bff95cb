package trailer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lines prints findings as the tables below have them.
func lines(fs []Finding) []string {
	var out []string
	for _, f := range fs {
		s := fmt.Sprintf("%d:%d %s", f.Pos.Line, f.Pos.Col, strings.TrimPrefix(string(f.Rule), "nav-"))
		if f.Severity == Warning {
			s += " (warning)"
		}
		out = append(out, s)
	}
	return out
}

// TestLintFields has the rules about one trailer; each value stands alone in
// the last paragraph.
func TestLintFields(t *testing.T) {
	long := strings.Repeat("a", 254)
	for _, c := range []struct{ value, want string }{
		{"app=web", ""},
		{"app=argocd/web deadline=900 reach=15m stable=2m30s mode=arm expect=Suspended", ""},
		{"app=web deadline=1.5m", ""},
		{"app=web.v1-2 deadline=60 reach=86400 stable=3600", ""},
		{"app=web deadline=24h stable=30s", ""},
		{"", "3:1 app-missing"},
		{"deadline=900", "3:1 app-missing"},
		{"web", "3:15 field-syntax"},
		{"web deadline=900", "3:15 field-syntax"},
		{"Web", "3:1 app-missing, 3:15 field-syntax"},
		{"app", "3:1 app-missing, 3:15 field-syntax"},
		{"app = web", "3:15 field-syntax, 3:19 field-syntax, 3:21 field-syntax"},
		{"app= web", "3:15 field-syntax, 3:20 field-syntax"},
		{"app=", "3:15 field-syntax"},
		{"app=web =900", "3:23 field-syntax"},
		{"app=web 900", "3:23 field-syntax"},
		{"app=web deadline", "3:23 field-syntax"},
		{"app=web deadline=", "3:23 field-syntax"},
		{"app=web dedline=900", "3:23 field-unknown"},
		{"app=web Deadline=900", "3:23 field-unknown"},
		{"app=web colour=red", "3:23 field-unknown"},
		{"ap=web", "3:15 field-unknown"},
		{"application=web", "3:15 field-unknown"},
		{"app=web app=web", "3:23 field-twice"},
		{"app=web mode=arm mode=shadow", "3:32 field-twice"},
		{"app=Web", "3:15 app-name"},
		{"app=web,api", "3:15 app-name"},
		{"app=web_1", "3:15 app-name"},
		{"app=-web", "3:15 app-name"},
		{"app=web-", "3:15 app-name"},
		{"app=web..api", "3:15 app-name"},
		{"app=.web", "3:15 app-name"},
		{"app=a/b/c", "3:15 app-name"},
		{"app=/web", "3:15 app-name"},
		{"app=argocd/", "3:15 app-name"},
		{"app=argo.cd/web", "3:15 app-name"},
		{"app=" + long, "3:15 app-name"},
		{"app=" + long[1:], ""},
		{"app=" + long[:64] + "/web", "3:15 app-name"},
		{"app=\"web\"", "3:15 app-name"},
		{"app=web\u00a0deadline=900", "3:15 app-name"},
		{"app=w\u0435b", "3:15 app-name"},
		{"app=w\xffb", "3:15 app-name"},
		{"app=web deadline=-5", "3:23 time-syntax"},
		{"app=web deadline=+900", "3:23 time-syntax"},
		{"app=web deadline=1.5", "3:23 time-syntax"},
		{"app=web deadline=1500ms", "3:23 time-syntax"},
		{"app=web deadline=1h0.0000000001s", "3:23 time-syntax"},
		{"app=web deadline=9999999999999999999999", "3:23 time-syntax"},
		{"app=web deadline=9223372037", "3:23 time-syntax"},
		{"app=web deadline=2562048h", "3:23 time-syntax"},
		{"app=web deadline=15min", "3:23 time-syntax"},
		{"app=web deadline=15M", "3:23 time-syntax"},
		{"app=web deadline=1d", "3:23 time-syntax"},
		{"app=web deadline=1h30", "3:23 time-syntax"},
		{"app=web deadline=0x10", "3:23 time-syntax"},
		{"app=web deadline=9e2", "3:23 time-syntax"},
		{"app=web deadline=soon", "3:23 time-syntax"},
		{"app=web deadline=0", "3:23 time-limit"},
		{"app=web deadline=59", "3:23 time-limit"},
		{"app=web deadline=86401", "3:23 time-limit"},
		{"app=web reach=59s", "3:23 time-limit"},
		{"app=web reach=25h", "3:23 time-limit"},
		{"app=web stable=29", "3:23 time-limit"},
		{"app=web stable=3601", "3:23 time-limit"},
		{"app=web mode=armed", "3:23 mode-unknown"},
		{"app=web mode=Arm", "3:23 mode-unknown"},
		{"app=web mode=off", "3:23 mode-unknown"},
		{"app=web expect=healthy", "3:23 expect-unknown"},
		{"app=web expect=Degraded", "3:23 expect-unknown"},
		{"app=web expect=Healthy,Suspended", "3:23 expect-unknown"},
		{"app=web expect=Healthy,", "3:23 expect-unknown"},
		{"app=web expect=probe:", "3:23 expect-unknown"},
		{"app=web expect=probe:a,probe:a", "3:23 expect-unknown"},
		{"app=web expect=probe:A", "3:23 expect-unknown"},
		{"app=web expect=" + manyProbes(17), "3:23 expect-unknown"},
		{"app=web expect=" + manyProbes(16), "3:1 not-supported"},
		{"app=web expect=Healthy,probe:smoke", "3:1 not-supported"},
		{"app=web mode=propose", "3:1 not-supported"},
		{"appset=web", "3:1 not-supported"},
		{"appset=Web", "3:15 app-name"},
		{"app=web appset=web", "3:1 app-and-appset"},
		{"app=web\n  deadline=5\n\tmode=off", "4:3 time-limit, 5:2 mode-unknown"},
		{"app=Web deadline=5 mode=off x", "3:15 app-name, 3:23 time-limit, 3:34 mode-unknown, 3:43 field-syntax"},
		{"app=web" + strings.Repeat(" x=y", 40), "3:147 field-syntax"},
		{"app=" + strings.Repeat("a", 5000), "3:1 field-syntax"},
	} {
		got := strings.Join(lines(Lint([]byte("T\n\nNav-Watchdog: "+c.value+"\n"), DefaultPolicy())), ", ")
		if got != c.want {
			t.Errorf("%.70q\n  got: %s\n want: %s", c.value, got, c.want)
		}
	}
}

func manyProbes(n int) string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("probe:p%d", i))
	}
	return strings.Join(names, ",")
}

// TestLintCommit has the rules about all trailers of a commit.
func TestLintCommit(t *testing.T) {
	const revert = "Revert \"T\"\n\nThis reverts commit 1234567890123456789012345678901234567890.\n\n"
	for _, c := range []struct{ name, msg, want string }{
		{"two apps", "T\n\n" + ours + "Nav-Watchdog: app=api\n", ""},
		{"key in lower case", "T\n\nnav-watchdog: app=web\n", ""},
		{"same app", "T\n\n" + ours + "A: b\n" + ours, "5:1 app-twice"},
		{"same app three times", "T\n\n" + ours + ours + ours, "4:1 app-twice, 5:1 app-twice"},
		{"same name elsewhere", "T\n\n" + ours + "Nav-Watchdog: app=argocd/web\n", ""},
		{"same name of another kind", "T\n\n" + ours + "Nav-Watchdog: appset=web\n", "4:1 not-supported"},
		{"mixed modes", "T\n\n" + ours + "Nav-Watchdog: app=api mode=arm\nNav-Watchdog: app=db mode=arm\n", "4:1 mode-mixed"},
		{"all armed", "T\n\nNav-Watchdog: app=web mode=arm\nNav-Watchdog: app=api mode=arm\n", ""},
		{"too many", "T\n\n" + manyWatches(18), "19:1 too-many-watches"},
		{"just enough", "T\n\n" + manyWatches(16), ""},
		{"revert, shadow", revert + ours, "5:1 revert-watch (warning)"},
		{"revert, arm", revert + "Nav-Watchdog: app=web mode=arm\n", "5:1 revert-watch"},
		{"revert, propose", revert + "Nav-Watchdog: app=web mode=propose\n", "5:1 revert-watch, 5:1 not-supported"},
		{"revert by its subject", "Revert \"T\"\n\n" + ours, "3:1 revert-watch (warning)"},
		{"reapply", "Reapply \"T\"\n\n" + ours, "3:1 revert-watch (warning)"},
		{"revert by its body", "Take it back\n\nThis reverts commit 1234567890123456789012345678901234567890, reversing\nchanges made to 1234567890123456789012345678901234567890.\n\n" + ours, "6:1 revert-watch (warning)"},
		{"revert without a watch", revert, ""},
		{"revert, and a bad watch", revert + "Nav-Watchdog: app=Web\n", "5:15 app-name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(lines(Lint([]byte(c.msg), DefaultPolicy())), ", "); got != c.want {
				t.Errorf("got: %s\nwant: %s", got, c.want)
			}
		})
	}
}

func manyWatches(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "Nav-Watchdog: app=web-%d\n", i)
	}
	return b.String()
}

// TestLintOutside has lines that look like our trailer and are none.
func TestLintOutside(t *testing.T) {
	const body = "T\n\nbody\n\n"
	squash := "T\n\nSquashed commit of the following:\n\ncommit 99887766\nAuthor: A\n\n    Bump\n\n    "
	for _, c := range []struct{ name, msg, want string }{
		{"title", ours, "1:1 outside-block"},
		{"subject that only starts so", "nav-watchdog: fix the parser\n\nbody\n", ""},
		{"glued to the title", "T\n" + ours, "2:1 outside-block"},
		{"not last", "T\n\n" + ours + "\nbody\n", "3:1 outside-block"},
		{"two paragraphs of trailers", "T\n\n" + ours + "\n" + signed, "3:1 outside-block"},
		{"the first of two", "T\n\n" + ours + "\nNav-Watchdog: app=api\n", "3:1 outside-block"},
		{"voided above", "T\n\nwords\n" + ours, "4:1 outside-block"},
		{"voided below", "T\n\n" + ours + "words\n", "3:1 outside-block"},
		{"voided, two of ours", "T\n\nwords\n" + ours + ours, "4:1 outside-block, 5:1 outside-block"},
		{"below a quarter", "T\n\n" + strings.Repeat("words\n", 7) + ours + signed, "10:1 outside-block"},
		{"in a block that git recognises", "T\n\nwords\n" + ours + signed, ""},
		{"indented first line", "T\n\n x\n" + ours, "4:1 outside-block"},
		{"comment, then indented", "T\n\n" + ours + "# c\n  deadline=600\n", "3:1 outside-block"},
		{"GitLab merge", "Merge branch 'a'\n\n" + ours + "\nSee merge request g/p!7\n", "3:1 outside-block"},
		{"GitLab merge, glued", "Merge branch 'a'\n\n" + ours + "See merge request g/p!7\n", "3:1 outside-block"},
		{"below NUL", "T\n\n\x00\n\n" + ours, "5:1 outside-block"},
		{"below the cut line", "T\n\n" + cutLine + "\n" + ours, "5:1 outside-block"},
		{"folded into another trailer", "T\n\nA: b\n  " + ours, "4:3 outside-block"},
		{"folded into ours", "T\n\n" + ours + "  Nav-Watchdog: app=api\n", "4:3 field-syntax, 4:17 field-twice"},
		{"indented in a block", "T\n\n  " + ours + signed, "3:3 outside-block"},
		{"quoted in a block", "T\n\n> " + ours + signed, ""},
		{"without a value", body + "Nav-Watchdog:\n\nend\n", "5:1 outside-block"},
		{"spaces before the colon", "T\n\nNav-Watchdog : app=web\n\nend\n", "3:1 outside-block"},

		{"mentioned in a line", body + "Use Nav-Watchdog: app=web for that\n", ""},
		{"mentioned at the start", body + "The Nav-Watchdog: app=web line\n", ""},
		{"more words at the start", body + "Nav-Watchdog is on: app=web\n", ""},
		{"a sentence", body + "Nav-Watchdog now reads app=web deadline=5\n", ""},
		{"in backticks", body + "`Nav-Watchdog: app=web`\n", ""},
		{"indented", body + "    Nav-Watchdog: app=web\n", ""},
		{"indented by a tab", body + "\tNav-Watchdog: app=web\n\nend\n", ""},
		{"quoted", body + "> Nav-Watchdog: app=web\n", ""},
		{"quoted twice", body + ">> Nav-Watchdog: app=web\n", ""},
		{"fenced", body + "```\n" + ours + "```\n", ""},
		{"fenced with a language", body + "```text\n" + ours + "```\n", ""},
		{"fenced with tildes", body + "~~~\n" + ours + "```\n" + ours + "~~~\n", ""},
		{"fenced and indented", body + "  ```\n" + ours + "  ```\n", ""},
		{"fence closed by a longer one", body + "```\n" + ours + "`````\n", ""},
		{"fence not closed by a shorter one", body + "````\n" + ours + "```\n", "6:1 outside-block"},
		{"fence not closed by one with a word", body + "```\n" + ours + "``` text\n", "6:1 outside-block"},
		{"fence in a fence", body + "````\n```\n" + ours + "```\n" + ours + "````\n", ""},
		{"fence never closed", body + "```\n" + ours, "6:1 outside-block"},
		{"below a fence", body + "```\nx\n```\n\n" + ours + "\nend\n", "9:1 outside-block"},
		{"in a list with dashes", body + "- Nav-Watchdog: app=web\n- other\n", ""},
		{"commented", body + "# Nav-Watchdog: app=web\n", ""},

		{"squash", squash + ours, "10:5 squash-lost"},
		{"squash, quoted", "T\n\nSquashed commit of the following:\n\n> " + ours, "5:3 squash-lost"},
		{"squash, fenced", "T\n\nSquashed commit of the following:\n\n```\n" + ours + "```\n\nend\n", "6:1 squash-lost"},
		{"squash, at the first column", "T\n\nSquashed commit of the following:\n\n" + ours + "\nend\n", "5:1 squash-lost"},
		{"squash, and a real one", squash + ours + "\nNav-Watchdog: app=api\n", "10:5 squash-lost"},
		{"above the squash", "T\n\n    " + ours + "\nSquashed commit of the following:\n\nx\n", ""},
		{"GitHub squash", "T (#7)\n\n* Bump\n\n" + ours + "\n* typo\n\n---------\n\nCo-authored-by: P <p@example.com>\n", "5:1 squash-lost"},
		{"GitHub squash, last commit", "T (#7)\n\n* typo\n\n* Bump\n\n" + ours, ""},
		{"GitHub squash, both", "T (#7)\n\n* Bump\n\n" + ours + "\n* Bump\n\nNav-Watchdog: app=api\n", "5:1 squash-lost"},
		{"GitLab squash", "T\n\n* Bump\n\n  " + ours + "\n* typo\n", "5:3 squash-lost"},
		{"GitLab squash, tight", "T\n\n* Bump\n  " + ours + "* typo\n", "4:3 squash-lost"},
		{"below the rule of a list", "T\n\n* Bump\n\n---------\n\n    " + ours, ""},
		{"list, then prose", "T\n\n* one\n* two\n\nExample:\n\n    " + ours, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(lines(Lint([]byte(c.msg), DefaultPolicy())), ", "); got != c.want {
				t.Errorf("got: %s\nwant: %s", got, c.want)
			}
		})
	}
}

// TestLintStray holds the texts that name what voids a block.
func TestLintStray(t *testing.T) {
	for _, c := range []struct{ name, msg, want, hint string }{
		{"above", "T\n\nSee the ticket.\n" + ours, `git reads no trailer here: line 3, "See the ticket.", is no trailer, so the whole paragraph is text to git`, "put a blank line between line 3 and the trailers"},
		{"below", "T\n\n" + ours + "bye\n", `git reads no trailer here: line 4, "bye", is no trailer, so the whole paragraph is text to git`, "move line 4 to a paragraph of its own above, or make it a trailer"},
		{"quarter", "T\n\n" + strings.Repeat("w\n", 7) + ours + signed, `git reads no trailer here: the paragraph has 7 lines that are no trailers, more than three times its 2 trailers; the first is line 3, "w"`, "put a blank line between line 3 and the trailers"},
		{"fold", "T\n\n" + ours + "# c\n  mode=arm\n", `git reads no trailer here: line 5, "  mode=arm", is no trailer, so the whole paragraph is text to git`, "move line 5 to a paragraph of its own above, or make it a trailer"},
		{"title", "T\n" + ours, "git reads no trailer here: the message is one paragraph, and its first paragraph is the title", "leave a blank line above the trailer"},
		{"title of more", "T\n" + ours + "\nbody\n", "git reads no trailer here: the first paragraph is the title", "move it to the last paragraph of the message"},
		{"last", "T\n\n" + ours + "\nbody\n", "git reads no trailer here: only the last paragraph can hold trailers, and that starts on line 5", "move it to the last paragraph, without a blank line between trailers"},
		{"NUL", "T\n\n" + signed + "\x00\n" + ours, "git reads no trailer here: a NUL byte above it ends the message", "remove the NUL byte"},
		{"cut", "T\n\n" + signed + "\n" + cutLine + ours, "git reads no trailer here: it stands below the cut line on line 5", "move it above the cut line"},
		{"folded", "T\n\n" + signed + " " + ours, "git reads no trailer here: indented, the line belongs to the value of \"Signed-off-by\" on line 3", "start the line at the first column"},
		{"text in a block", "T\n\n " + ours + signed, "git reads no trailer here: indented, the line is text in the trailer block", "start the line at the first column"},
		{"squash", "T\n\n* a\n\n" + ours + "\n* b\n", "git reads no trailer here: it belongs to a commit in the list on line 3, and is lost by the squash", "move it to the last paragraph of the message, at the first column"},
		{"escaped", "T\n\n\x1b[2Jx\u202e\xff" + strings.Repeat("y", 100) + "\n" + ours, `git reads no trailer here: line 3, "\x1b[2Jx\u202e` + strings.Repeat("y", 51) + `"..., is no trailer, so the whole paragraph is text to git`, "put a blank line between line 3 and the trailers"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fs := Lint([]byte(c.msg), DefaultPolicy())
			if len(fs) != 1 {
				t.Fatalf("got %v", fs)
			}
			if diff := cmp.Diff([]string{c.want, c.hint}, []string{fs[0].Message, fs[0].Hint}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestLintNearMiss has keys that are almost ours, alone in the last paragraph.
func TestLintNearMiss(t *testing.T) {
	const app = " app=web"
	for _, c := range []struct {
		line string
		miss bool
	}{
		{"Nav-Watch-Dog:" + app, true},
		{"Nav-Watchdogs:" + app, true},
		{"NavWatchdog:" + app, true},
		{"Nav-Watcdog: x", true},
		{"Nav-Watchdog-:" + app, true},
		{"Nav_Watchdog:" + app, true},
		{"Nav.Watchdog:" + app, true},
		{"Nav Watchdog:" + app, true},
		{"Nav-Watchdog now:" + app, true},
		{"Nav-Watch:" + app, true},
		{"Watchdog:" + app, true},
		{"Nav-Watchdog" + app, true},
		{"Nav-Watchdog =" + app, true},
		{"Nav-Watchdog=app=web", true},
		{"Nav-Watchdog\uff1a" + app, true},
		{"Nav-Watchdog\ufe55" + app, true},
		{"Nav-Watchdog\u2236" + app, true},
		{"N\u0430v-Watchdog:" + app, true},
		{"\u039dav-Watchdog:" + app, true},
		{"Nav\u2010Watchdog:" + app, true},
		{"Nav\u2011Watchdog:" + app, true},
		{"Nav\u2212Watchdog:" + app, true},
		{"Nav\u00adWatchdog:" + app, true},
		{"Nav-Watch\u200bdog:" + app, true},
		{"Nav-Watchdog\u00a0:" + app, true},
		{"\u00a0Nav-Watchdog:" + app, true},
		{"\ufeffNav-Watchdog:" + app, true},
		{"\uff2e\uff41\uff56-Watchdog:" + app, true},
		{"N\xe4v-Watchdog:" + app, true},
		{"Nav-Watchdog:" + app, false},
		{"nav-watchdog:" + app, false},
		{"Nav-Watcher: v0.1.0", false},
		{"Nav-Verdict: FAIL", false},
		{"Watchdog-Timeout: 30", false},
		{"Reviewed-by: app=web", false},
		{"the Nav-Watchdog:" + app, false},
		{"A note on the watchdog:" + app, false},
		{"(Nav-Watchdog:" + app, false},
		{"Nav Watchdog is a tool", false},
		{"Nav Watchdog: a tool", false},
	} {
		fs := Lint([]byte("T\n\n"+c.line+"\n"), DefaultPolicy())
		if got := len(fs) == 1 && fs[0].Rule == KeyNearMiss; got != c.miss || !c.miss && len(fs) > 0 {
			t.Errorf("%q: got %v", c.line, fs)
		}
	}
}

func TestLintLimits(t *testing.T) {
	p := DefaultPolicy()
	p.DeadlineLimit = Range{}
	p.WatchesPerCommit = 1
	got := lines(Lint([]byte("T\n\nNav-Watchdog: app=a deadline=1 reach=1\nNav-Watchdog: app=b\n"), p))
	if diff := cmp.Diff([]string{"3:32 time-limit", "4:1 too-many-watches"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestLintBounded gives messages that could have any number of findings.
func TestLintBounded(t *testing.T) {
	for _, msg := range []string{
		"T\n\n" + strings.Repeat("Nav-Watchdogs: app=web\n", 10000),
		"T\n\n" + strings.Repeat(ours, 10000) + "\nend\n",
		"T\n\n" + strings.Repeat(ours, 10000),
		"T\n\n" + strings.Repeat("Nav-Watchdog: "+strings.Repeat("x ", 30)+"\n", 10000),
		"T\n\nA: b\n" + strings.Repeat(" "+ours, 10000),
		"T\n\n" + ours + strings.Repeat(" "+ours, 10000),
		"T\n\n" + strings.Repeat("```\n"+ours+"``\n", 5000) + "\nend\n",
		"T\n\nSquashed commit of the following:\n\n" + strings.Repeat("    "+ours, 10000),
		"T\n\n" + strings.Repeat("* x\n\n"+ours+"\n", 5000),
	} {
		fs := Lint([]byte(msg), DefaultPolicy())
		if len(fs) == 0 || len(fs) > maxFindings {
			t.Errorf("%.60q...: %d findings", msg, len(fs))
		}
		for _, f := range fs {
			if len(f.Message) > 500 || len(f.Hint) > 200 {
				t.Errorf("%.60q...: long text %q", msg, f.Message)
			}
		}
	}
}

// TestInOrder cuts a list of which only the last finding is an error.
func TestInOrder(t *testing.T) {
	var fs []Finding
	for i := range maxFindings + 5 {
		fs = append(fs, Finding{Rule: RevertWatch, Severity: Warning, Pos: Pos{Line: 100 - i, Col: 1}})
	}
	fs[0].Severity = Error
	fs = inOrder(fs)
	last := fs[len(fs)-1]
	if len(fs) != maxFindings || last.Severity != Error || !strings.Contains(last.Message, "not shown") {
		t.Errorf("got %d findings, the last %+v", len(fs), last)
	}
	if fs[0].Pos.Line != 100-maxFindings-4 {
		t.Errorf("first is %+v", fs[0])
	}
}
