package trailer

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// stored is how a message that is in a commit already is cleaned up: not at all.
func stored() Cleanup { return Cleanup{Mode: Verbatim, KeepCut: true} }

func TestMend(t *testing.T) {
	const nav = "Nav-Watchdog: app=shop deadline=600\n"
	for _, c := range []struct {
		name, msg, want string
		how             Cleanup
		did, left       string
	}{
		{"nothing to do", "T\n\n" + nav, "T\n\n" + nav, stored(), "", ""},
		{"above a paragraph", "T\n\n" + nav + "\nwords\n", "T\n\nwords\n\n" + nav, stored(), "3 moved", ""},
		{"below words", "T\n\nwords\n" + nav, "T\n\nwords\n\n" + nav, stored(), "4 moved", ""},
		{"above words", "T\n\n" + nav + "words\n", "T\n\nwords\n\n" + nav, stored(), "3 moved", ""},
		{"into the block that is there", "T\n\n" + nav + "\nA: b\nC: d\n", "T\n\nA: b\nC: d\n" + nav, stored(), "3 moved", ""},
		{"in the title", "T\n" + nav, "T\n\n" + nav, stored(), "2 moved", ""},
		{"it is the title", nav, nav, stored(), "", "1 " + whyTitle},
		{"indented in the block", "T\n\nA: b\n  " + nav, "T\n\nA: b\n" + nav, stored(), "4 moved", ""},
		{"with its continuation", "T\n\n" + "Nav-Watchdog: app=shop\n  mode=arm\n\nwords\n", "T\n\nwords\n\nNav-Watchdog: app=shop\n  mode=arm\n", stored(), "3 moved", ""},
		{"without prose below it", "T\n\n" + "Nav-Watchdog: app=shop\n  as we said\n\nwords\n", "T\n\n  as we said\n\nwords\n\nNav-Watchdog: app=shop\n", stored(), "3 moved", ""},
		{"as it was written", "T\n\nnav-watchdog :app=shop\n\nwords\n", "T\n\nwords\n\nnav-watchdog :app=shop\n", stored(), "3 moved", ""},
		{"CRLF", "T\r\n\r\n" + nav[:len(nav)-1] + "\r\n\r\nwords\r\n", "T\r\n\r\nwords\r\n\r\n" + nav[:len(nav)-1] + "\r\n", stored(), "3 moved", ""},
		{"no line feed at the end", "T\n\n" + nav + "\nwords", "T\n\nwords\n\n" + nav, stored(), "3 moved", ""},
		{"two", "T\n\n" + nav + "\nNav-Watchdog: app=cart\n\nwords\n", "T\n\nwords\n\n" + nav + "Nav-Watchdog: app=cart\n", stored(), "3 moved, 5 moved", ""},

		{"a hyphen too much", "T\n\nNav-Watch-Dog: app=shop\n", "T\n\nNav-Watchdog: app=shop\n", stored(), "3 corrected", ""},
		{"the colon of another script", "T\n\nNav-Watchdog\uff1aapp=shop\n", "T\n\nNav-Watchdog: app=shop\n", stored(), "3 corrected", ""},
		{"no colon", "T\n\nA: b\nNav-Watchdog app=shop\n", "T\n\nA: b\nNav-Watchdog: app=shop\n", stored(), "4 corrected", ""},
		{"an equals sign", "T\n\nnav-watchdog=app=shop\n", "T\n\nNav-Watchdog: app=shop\n", stored(), "3 corrected", ""},
		{"long value", "T\n\nNavWatchdog: app=shop expect=Healthy deadline=600 reach=600 stable=120 mode=shadow " + strings.Repeat(" ", 60) + "\n", "T\n\nNav-Watchdog: app=shop expect=Healthy deadline=600 reach=600 stable=120 mode=shadow " + strings.Repeat(" ", 60) + "\n", stored(), "3 corrected", ""},
		{"corrected, then moved", "T\n\nNavWatchdog: app=shop\n\nwords\n", "T\n\nwords\n\nNav-Watchdog: app=shop\n", stored(), "3 corrected, 3 moved", ""},

		{"squashed", "T (#7)\n\n* one\n\n" + nav + "\n* two\n", "T (#7)\n\n* one\n\n* two\n\n" + nav, stored(), "5 moved", ""},
		{"squashed by git merge", "T\n\nSquashed commit of the following:\n\ncommit 1\nAuthor: A\n\n    one\n\n    " + nav, "T\n\nSquashed commit of the following:\n\ncommit 1\nAuthor: A\n\n    one\n\n" + nav, stored(), "10 moved", ""},
		{"squashed twice the same", "T\n\n* one\n\n" + nav + "\n* two\n\nNav-Watchdog: app=shop deadline=10m\n\n* three\n", "T\n\n* one\n\n* two\n\n* three\n\n" + nav, stored(), "5 moved, 9 deleted", ""},
		{"squashed, and they disagree", "T\n\n* one\n\n" + nav + "\n* two\n\nNav-Watchdog: app=shop mode=arm\n\n* three\n", "T\n\n* one\n\n" + nav + "\n* two\n\nNav-Watchdog: app=shop mode=arm\n\n* three\n", stored(), "", "5 " + whyDisagrees + ", 9 " + whyDisagrees},
		{"squashed, and two of three disagree", "T\n\n* one\n\n" + nav + "\n* two\n\nNav-Watchdog: app=shop mode=arm\n\n* three\n\nNav-Watchdog: app=api\n\nend\n",
			"T\n\n* one\n\n" + nav + "\n* two\n\nNav-Watchdog: app=shop mode=arm\n\n* three\n\nend\n\nNav-Watchdog: app=api\n", stored(), "13 moved", "5 " + whyDisagrees + ", 9 " + whyDisagrees},

		{"below an editor's comments", "T\n\nwords\n" + nav + "\n# Please enter\n# the message\n", "T\n\nwords\n\n" + nav + "\n# Please enter\n# the message\n", Cleanup{}, "4 moved", ""},
		{"another comment character", "T\n\n" + nav + "\nwords  \n\n\n; Please enter\n", "T\n\nwords  \n\n" + nav + "\n\n; Please enter\n", Cleanup{Comment: ";"}, "3 moved", ""},
		{"a comment in the middle", "T\n# c\n\n" + nav + "# d\n\nwords\n# e\n", "T\n# c\n\n# d\n\nwords\n\n" + nav + "# e\n", Cleanup{}, "4 moved", ""},
		{"above the diff", "T\n\n" + nav + "words\n" + cutLine + "diff\n" + nav, "T\n\nwords\n\n" + nav + cutLine + "diff\n" + nav, Cleanup{}, "3 moved", ""},
		{"prose about it", "T\n\n> " + nav + "\n```\n" + nav + "```\n\nwords\n", "T\n\n> " + nav + "\n```\n" + nav + "```\n\nwords\n", stored(), "", ""},
		{"other rules are not its business", "T\n\nNav-Watchdog: app=shop stabel=1\n", "T\n\nNav-Watchdog: app=shop stabel=1\n", stored(), "", ""},
		{"moved, with what else is wrong with it", "T\n\nNav-Watchdog: app=shop stabel=1\n\nwords\n", "T\n\nwords\n\nNav-Watchdog: app=shop stabel=1\n", stored(), "3 moved", ""},
		{"empty", "", "", stored(), "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Mend([]byte(c.msg), c.how)
			if string(got.File) != c.want {
				t.Errorf("got  %q\nwant %q", got.File, c.want)
			}
			var did, left []string
			for _, r := range got.Repairs {
				did = append(did, fmt.Sprintf("%d %s", r.Line, strings.Fields(r.What)[0]))
			}
			for _, u := range got.Left {
				left = append(left, fmt.Sprintf("%d %s", u.Pos.Line, u.Why))
			}
			if d, l := strings.Join(did, ", "), strings.Join(left, ", "); d != c.did || l != c.left {
				t.Errorf("did %q, want %q; left %q, want %q", d, c.did, l, c.left)
			}
		})
	}
}

// What docs/rules.md shows as refused by the rules that Mend is about is clean
// once it is mended.
func TestMendRulesDoc(t *testing.T) {
	seen := 0
	for _, s := range readRules(t) {
		for _, e := range s.examples {
			if !Mends(Rule(s.rule)) || e.kind != "Refused" {
				continue
			}
			seen++
			got := Mend([]byte(e.msg), stored())
			if fs := Lint(got.File, DefaultPolicy()); len(fs) > 0 || len(got.Left) > 0 || len(got.Repairs) == 0 {
				t.Errorf("docs/rules.md:%d: mended to %q, which has %v", e.line, got.File, lines(fs))
			}
		}
	}
	if seen < 5 {
		t.Errorf("only %d examples", seen)
	}
}

// astray makes messages in which trailers are misplaced and misspelt.
func astray(n int) [][]byte {
	r := rand.New(rand.NewPCG(*randomSeed, 7))
	more := []string{
		ours, ours, "  " + ours, "> " + ours, "Nav-Watchdog: app=a\n  mode=arm\n", "Nav-Watchdog: app=a mode=arm\n", "Nav-WatchDogs: app=b\n", "Nav_Watchdog: app=c\n",
		"Nav-Watchdog app=d\n", "* item\n", "* item\n\n" + ours, "Squashed commit of the following:\n\n    " + ours, "\n", "\n", "words\n",
	}
	msgs := make([][]byte, n)
	for i := range msgs {
		msg := string(randomMessage(r))
		for range r.IntN(5) {
			lines := strings.SplitAfter(msg, "\n")
			at := r.IntN(len(lines))
			msg = strings.Join(lines[:at], "") + more[r.IntN(len(more))] + strings.Join(lines[at:], "")
		}
		msgs[i] = []byte(msg)
	}
	return msgs
}

// TestRandomMend holds, for messages as they are stored and as an editor leaves
// them: what was mended lints clean for those rules but for what is said to be
// left; nothing but our own lines, and blank ones, comes or goes; mending again
// changes nothing; and git reads what it read before.
func TestRandomMend(t *testing.T) {
	msgs := astray(*randomMessages)
	var before, after [][]byte
	repairs, left := 0, 0
	for i, msg := range msgs {
		how := stored()
		if i%3 == 0 {
			how = Cleanup{}
		}
		got := Mend(msg, how)
		repairs, left = repairs+len(got.Repairs), left+len(got.Left)
		checkMended(t, msg, how, got)
		before, after = append(before, Clean(msg, how)), append(after, Clean(got.File, how))
	}
	if repairs < len(msgs)/3 || left > repairs/5 {
		t.Errorf("%d repairs in %d messages, and %d findings left", repairs, len(msgs), left)
	}
	read, now := gitParse(t, before), gitParse(t, after)
	for i := range msgs {
		if string(now[i]) != string(printed(after[i])) {
			t.Errorf("message %q: git reads %q", after[i], now[i])
		}
		for line := range bytes.Lines(read[i]) {
			// Ours may have been the misspelt one, or hung on another by mistake.
			_, near := nearMiss(line, true)
			if !near && !bytes.Contains(bytes.ToLower(line), []byte("watchdog")) && !bytes.Contains(now[i], line) {
				t.Errorf("message %q, mended %q: git no longer reads %q", before[i], after[i], line)
			}
		}
	}
}

func checkMended(t *testing.T, msg []byte, how Cleanup, got Mended) {
	t.Helper()
	found := 0
	for _, f := range Lint(Clean(got.File, how), DefaultPolicy()) {
		if Mends(f.Rule) {
			found++
		}
	}
	if found != len(got.Left) {
		t.Errorf("message %q, mended %q: %d findings are there, %d said to be left", msg, got.File, found, len(got.Left))
	}
	if len(got.Repairs) == 0 && !bytes.Equal(msg, got.File) {
		t.Errorf("message %q becomes %q, and nothing was done", msg, got.File)
	}
	if again := Mend(got.File, how); !bytes.Equal(again.File, got.File) {
		t.Errorf("message %q, mended %q, mended again %q", msg, got.File, again.File)
	}
	if a, b := foreign(msg), foreign(got.File); a != b {
		t.Errorf("message %q, mended %q: lines that are not ours changed\n%q\n%q", msg, got.File, a, b)
	}
}

// foreign is what Mend has no business with: neither blank, nor a trailer of
// ours, right or nearly so, nor a line of fields that continues one.
func foreign(msg []byte) string {
	var b strings.Builder
	for line := range bytes.Lines(msg) {
		_, near := nearMiss(line, true)
		_, exact := looksOurs(line)
		if near || exact || isBlank(line) || isSpace(line[0]) && allFields(line) {
			continue
		}
		b.Write(line)
	}
	return strings.TrimSuffix(b.String(), "\n") // one may be added to the last line
}

func FuzzMend(f *testing.F) {
	for _, msg := range astray(40) {
		f.Add(msg, true)
		f.Add(msg, false)
	}
	f.Fuzz(func(t *testing.T, msg []byte, edited bool) {
		how := stored()
		if edited {
			how = Cleanup{}
		}
		checkMended(t, msg, how, Mend(msg, how))
	})
}
