package trailer

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMessages holds Parse against a collection of messages: against what git
// 2.39.5 printed, and against the git at hand.
func TestMessages(t *testing.T) {
	files, err := filepath.Glob("testdata/messages/*.msg")
	if err != nil || len(files) < 60 {
		t.Fatalf("found %d messages, error %v", len(files), err)
	}
	var names []string
	var msgs [][]byte
	for _, file := range files {
		base := strings.TrimSuffix(file, ".msg")
		if _, err := os.Stat(base + ".cfg"); err == nil {
			continue // git was configured to read other keys, separators or comments
		}
		names = append(names, filepath.Base(base))
		msgs = append(msgs, readFile(t, file))
		if got, want := printed(msgs[len(msgs)-1]), readFile(t, base+".parse"); !bytes.Equal(got, want) {
			t.Errorf("%s: Parse differs from git 2.39.5 (-want +got):\n%s", base, cmp.Diff(string(want), string(got)))
		}
	}
	for i, want := range gitParse(t, msgs) {
		if got := printed(msgs[i]); !bytes.Equal(got, want) {
			t.Errorf("%s: Parse differs from the git at hand (-want +got):\n%s", names[i], cmp.Diff(string(want), string(got)))
		}
	}
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

const (
	ours    = "Nav-Watchdog: app=web\n"
	signed  = "Signed-off-by: A <a@example.com>\n"
	picked  = "(cherry picked from commit 99887766554433221100aabbccddeeff00112233)\n"
	cutLine = "# ------------------------ >8 ------------------------\n"
)

// parseCases has a case for each rule of the package comment; want is what git
// prints. The test asks git for every one of them, too.
var parseCases = []struct{ name, msg, want string }{
	// 1. Bytes.
	{"empty", "", ""},
	{"one newline", "\n", ""},
	{"no newline at the end", "T\n\nNav-Watchdog: app=web", ours},
	{"NUL in the body", "T\n\na\x00b\n\n" + ours, ""},
	{"NUL in the block", "T\n\n" + ours + "A: b\x00c\n" + signed, ours + "A: b\n"},
	{"NUL in the key", "T\n\nNav\x00-Watchdog: app=web\n", ""},
	{"not UTF-8", "T\xff\n\nNav-Watchdog: app=\xe9\xff\n", "Nav-Watchdog: app=\xe9\xff\n"},
	{"letter outside ASCII in the key", "T\n\nN\u00e4v-Watchdog: app=web\n", ""},
	{"Kelvin sign in the key", "T\n\nLin\u212a: x\n", ""},
	{"CRLF", "T\r\n\r\nNav-Watchdog: app=web\r\nA: b\r\n", ours + "A: b\n"},
	{"CR alone ends no line", "T\n\nA: b\rNav-Watchdog: app=web\r", "A: b\rNav-Watchdog: app=web\n"},
	{"CR at the start of a line folds", "T\n\nA: b\n\rNav-Watchdog: app=web\n", "A: b Nav-Watchdog: app=web\n"},
	{"VT is no white space", "T\n\nA: \vb\v\n", "A: \vb\v\n"},
	{"FF is no white space", "T\n\nA: \fb\f\n", "A: \fb\f\n"},
	{"FF does not fold", "T\n\nA: b\n\fc\n", ""},
	{"NBSP is no white space", "T\n\nA: \u00a0b\u00a0\n", "A: \u00a0b\u00a0\n"},
	{"NBSP before the colon", "T\n\nA\u00a0: b\n", ""},
	{"NBSP line is not blank", "T\n\nwords\n\u00a0\n" + ours, ""},
	{"FF line is not blank", "T\n\nwords\n\f\n" + ours, ""},
	{"NEL and line separator", "T\n\nA: b\u0085c\u2028d\n", "A: b\u0085c\u2028d\n"},

	// 2. The end.
	{"comments below", "T\n\n" + ours + "\n# Please enter\n#\n# On branch\n", ours},
	{"comment glued below", "T\n\n" + ours + "# c\n", ours},
	{"commented trailer", "T\n\n# " + ours, ""},
	{"only a comment", "# c\n", ""},
	{"only comments", "# c\n# d\n", ""},
	{"comments as title", "# c\n\n" + ours, ours},
	{"blank lines below", "T\n\n" + ours + "\n\n\n", ours},
	{"blanks with spaces below", "T\n\n" + ours + "  \n\t\n", ours},
	{"blank lines of both kinds below", "T\n\n" + ours + " \n\n \n", ours},
	{"cut line", "T\n\n" + ours + "\n" + cutLine + "diff\n\nA: b\n", ours},
	{"cut line first", cutLine + "T\n\n" + ours, ""},
	{"cut line with CR", "T\n\n" + ours + "\n" + strings.TrimSuffix(cutLine, "\n") + "\r\n\nA: b\n", "A: b\n"},
	{"cut line without end", "T\n\n" + ours + strings.TrimSuffix(cutLine, "\n"), ours},
	{"cut line indented", "T\n\n" + ours + "\n " + cutLine + "\nA: b\n", "A: b\n"},
	{"cut line with a tail", "T\n\n" + ours + "\n" + strings.TrimSuffix(cutLine, "\n") + "-\n\nA: b\n", "A: b\n"},
	{"cut line below a divider", "T\n\nK: v\n---\nx\n\n" + cutLine + "y\n", ""},
	{"two cut lines", "T\n\n" + ours + cutLine + "A: b\n" + cutLine + "C: d\n", ours},
	{"old conflicts", "T\n\n" + ours + "\nConflicts:\n\ta.yaml\n\tb.yaml\n", ours},
	{"old conflicts, and text below", "T\n\n" + ours + "\nConflicts:\n\ta.yaml\ntext\n", ""},
	{"old conflicts at offset 0", "Conflicts:\nx\n\n\tbar\n", ""},
	{"old conflicts at offset 0, trailer", "Conflicts:\nx\n\n" + ours + "\n\tbar\n", ""},
	{"conflicts with a word", "T\n\n" + ours + "Conflicts: a\n", ours + "Conflicts: a\n"},
	{"commented conflicts", "T\n\n" + ours + "\n# Conflicts:\n#\ta.yaml\n", ours},
	{"divider is text", "T\n\n" + ours + "---\nA: b\n", ""},
	{"divider and a block", "T\n\nx\n---\n\n" + ours, ours},

	// 3. The title.
	{"title only", "Nav-Watchdog: app=web\n", ""},
	{"glued to the title", "T\n" + ours, ""},
	{"blank first line", "\n" + ours, ours},
	{"blank line with spaces below the title", "T\n \t\r\n" + ours, ours},
	{"comment between title and block", "T\n# c\n" + ours, ""},
	{"comment that looks blank", "T\n\n#\n" + ours, ours},

	// 4. The last paragraph and its lines.
	{"not last", "T\n\n" + ours + "\nwords\n", ""},
	{"two paragraphs", "T\n\n" + ours + "\n" + signed, signed},
	{"key of digits and hyphens", "T\n\n-1-: a\n", "-1-: a\n"},
	{"underscore", "T\n\nNav_Watchdog: app=web\n", ""},
	{"dot", "T\n\nNav.Watchdog: app=web\n", ""},
	{"space in the key", "T\n\nNav Watchdog: app=web\n", ""},
	{"spaces before the colon", "T\n\nNav-Watchdog \t : app=web\n", ours},
	{"no space after the colon", "T\n\nNav-Watchdog:app=web\n", ours},
	{"colon first", "T\n\n: app=web\n", ""},
	{"no colon", "T\n\nNav-Watchdog app=web\n", ""},
	{"equals sign", "T\n\nNav-Watchdog=app=web\n", ""},
	{"two colons", "T\n\nA:: b\n", "A: : b\n"},
	{"URL", "T\n\nhttps://example.com/\n", "https: //example.com/\n"},
	{"prose that is a trailer", "T\n\nNote: this is it\n", "Note: this is it\n"},
	{"indented first line", "T\n\n Nav-Watchdog: app=web\n", ""},
	{"indented line above", "T\n\n x\n" + ours, ""},
	{"fullwidth colon", "T\n\nNav-Watchdog\uff1a app=web\n", ""},

	// 5. The decision.
	{"plain line above", "T\n\nwords\n" + ours, ""},
	{"plain line below", "T\n\n" + ours + "words\n", ""},
	{"plain line between", "T\n\n" + ours + "words\n" + "A: b\n", ""},
	{"quarter", "T\n\n" + strings.Repeat("words\n", 6) + ours + signed, ours + signed},
	{"below a quarter", "T\n\n" + strings.Repeat("words\n", 7) + ours + signed, ""},
	{"sign-off alone, three plain", "T\n\n" + strings.Repeat("words\n", 3) + signed, signed},
	{"sign-off alone, four plain", "T\n\n" + strings.Repeat("words\n", 4) + signed, ""},
	{"continuations do not count", "T\n\nwords\nwords\nwords\n" + signed + " a\n b\n c\n", "Signed-off-by: A <a@example.com> a b c\n"},
	{"indented plain lines count", "T\n\nwords\n a\n b\n c\n" + signed, ""},
	{"sign-off in lower case", "T\n\nwords\nsigned-off-by: A\n" + ours, ""},
	{"sign-off without a space", "T\n\nwords\nSigned-off-by:A\n" + ours, ""},
	{"sign-off without a value", "T\n\nwords\nSigned-off-by: \n" + ours, "Signed-off-by: \n" + ours},
	{"cherry line", "T\n\nwords\n" + ours + picked, ours},
	{"cherry line alone", "T\n\n" + picked, ""},
	{"cherry line counts as a trailer", "T\n\nw\nw\nw\nw\nw\nw\n" + ours + picked, ours},
	{"cherry line in capitals", "T\n\nwords\n" + ours + "(Cherry picked from commit 1)\n", ""},
	{"cherry line, and an indented line", "T\n\n" + ours + picked + "  x\n", ours},
	{"comment in the block", "T\n\n" + ours + "# c\n" + signed, ours + signed},
	{"comment above the block", "T\n\nwords\n\n# c\n" + ours, ours},

	// 6. Values.
	{"empty value", "T\n\nA:\nB: \n", "A: \nB: \n"},
	{"white space around", "T\n\nA: \t b c \t \r\n", "A: b c\n"},
	{"folded", "T\n\nNav-Watchdog: app=web\n  deadline=900\n\tmode=arm\n", "Nav-Watchdog: app=web deadline=900 mode=arm\n"},
	{"folded, value from the second line", "T\n\nA:\n b\n", "A: b\n"},
	{"folded over a line of spaces", "T\n\nA: b\n   \n", "A: b\n"},
	{"folded, spaces at line ends", "T\n\nA: b \n  c  \n", "A: b  c\n"},
	{"folded, CRLF", "T\r\n\r\nA: b\r\n c\r\n", "A: b\r c\n"},
	{"fold broken by a comment", "T\n\nA: b\n# c\n d\n", ""},
	{"fold broken by a comment, recognised", "T\n\n" + signed + "# c\n d\n", signed},
	{"folded trailer", "T\n\nA: b\n Nav-Watchdog: app=web\n", "A: b Nav-Watchdog: app=web\n"},
	{"fold after a plain line", "T\n\n" + signed + "words\n c\n", signed},

	// 7. Order.
	{"repeated", "T\n\n" + ours + "A: b\nnav-watchdog: app=b\n" + ours, ours + "A: b\nnav-watchdog: app=b\n" + ours},
}

func TestParse(t *testing.T) {
	msgs := make([][]byte, len(parseCases))
	for i, c := range parseCases {
		msgs[i] = []byte(c.msg)
	}
	asked := gitParse(t, msgs)
	for i, c := range parseCases {
		t.Run(c.name, func(t *testing.T) {
			if string(asked[i]) != c.want {
				t.Errorf("git prints %q, the case wants %q", asked[i], c.want)
			}
			if got := string(printed(msgs[i])); got != c.want {
				t.Errorf("Parse gives %q, want %q", got, c.want)
			}
		})
	}
}

// TestParseLarge has messages whose size would show in a parser that is not
// linear; git is asked for each.
func TestParseLarge(t *testing.T) {
	var body, many, stray strings.Builder
	for i := range 10000 {
		fmt.Fprintf(&body, "row %d\n", i)
		fmt.Fprintf(&many, "K%d: v\n", i)
		fmt.Fprintf(&stray, "# %d\n", i)
	}
	msgs := [][]byte{
		[]byte("T\n\n" + body.String() + "\n" + ours),
		[]byte("T\n\n" + many.String()),
		[]byte("T\n\nA: b\n" + strings.Repeat(" more\n", 10000)),
		[]byte("T\n\n" + ours + stray.String()),
		[]byte("T\n\n" + ours + strings.Repeat(" \n", 10000)),
		[]byte("T\n\n" + strings.Repeat("k", 1<<16) + ": v\n"),
		[]byte(body.String()),
	}
	for i, want := range gitParse(t, msgs) {
		if got := printed(msgs[i]); !bytes.Equal(got, want) {
			t.Errorf("message %d: %d bytes, git prints %d", i, len(got), len(want))
		}
	}
}

func TestPositions(t *testing.T) {
	msg := "T\n\nbody\n\nA: b\n c\n# d\nNav-Watchdog :x\n"
	b := Parse([]byte(msg))
	want := Block{
		Trailers: []Trailer{{"A", "b c", Pos{5, 1}}, {"Nav-Watchdog", "x", Pos{8, 1}}},
		Start:    len("T\n\nbody\n\n"), End: len(msg),
	}
	if diff := cmp.Diff(want, b); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestGet(t *testing.T) {
	b := Parse([]byte("T\n\nA: 1\nB: 2\na: 3\n"))
	want := []Trailer{{"A", "1", Pos{3, 1}}, {"a", "3", Pos{5, 1}}}
	if diff := cmp.Diff(want, b.Get("a")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := (Block{Trailers: []Trailer{{Key: "Link"}}}).Get("Lin\u212a"); got != nil {
		t.Errorf("the Kelvin sign is no k, but got %v", got)
	}
}
