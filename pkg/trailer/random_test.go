package trailer

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"strings"
	"testing"
)

// More messages, and others, by hand:
//
//	go test ./pkg/trailer -run Random -messages 50000 -seed 7
var (
	randomMessages = flag.Int("messages", 1500, "messages that the random tests ask git about")
	randomSeed     = flag.Uint64("seed", 1, "seed of the random tests")
)

// pieces are lines, or parts of lines, that mean something to git.
var pieces = []string{
	"\n", "\n", "\n", "\n", " \n", "\t\r\n", "\r\n", "\n\n", "\v\n", "\f\n", "\u00a0\n",
	"Title\n", "words and words\n", "words\n", "A line: with a colon\n", "---\n", "--- x\n", "```\n", "> quoted: x\n",
	ours, ours, "nav-watchdog:app=b\n", "Nav_Watchdog: app=c\n", "Nav-Watchdog : app=d\r\n", "Nav-Watchdog\n", "Nav-Watchdog:\n",
	"A: b\n", "A: b\n", "A:b\n", "A : b\n", "A:\n", ": b\n", "-: b\n", "1: 2 \n", "Note: prose\n", "https://example.com\n", "A\u00e9: b\n", "A.b: c\n", "A=b\n",
	signed, signed, "signed-off-by: x\n", "Signed-off-by:x\n", "Signed-off-by: \n", picked, "(cherry picked from commit \n", "(Cherry picked from commit 1)\n",
	" folded\n", "\tfolded\n", " A: folded\n", "\rfolded\n", "  \n", " x\r\n",
	"# comment\n", "#\n", "# A: b\n", "#\tx\n", " # indented\n", "; c\n",
	cutLine, cutLine[2:], "#" + cutLine, "Conflicts:\n", "Conflicts:\n\ta\n", "\tpath\n", "Conflicts: x\n", "# Conflicts:\n#\ta\n",
	"\x00", "\xff", "\xe4\n", "\r", " ", "\t", ":", "#", "A", "\n", "\u2028", "K\u212a: v\n",
}

// blocks are paragraphs that are, or nearly are, trailer blocks.
var blocks = []string{
	"\n" + ours, "\n" + ours + signed, "\nwords\n" + ours + picked, "\nA: b\n c\n", "\n# c\n" + ours, "\n" + signed + "# c\n d\n",
	"\n" + ours + "\n" + signed, "\n" + strings.Repeat("w\n", 6) + "A: b\n" + signed, "\n" + strings.Repeat("w\n", 7) + "A: b\n" + signed,
}

// randomMessage makes a message that git finds hard, more often than not with
// something like a title and a block.
func randomMessage(r *rand.Rand) []byte {
	var b strings.Builder
	if r.IntN(4) > 0 {
		b.WriteString("Title\n\n")
	}
	for range r.IntN(9) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	if r.IntN(3) > 0 {
		b.WriteString(blocks[r.IntN(len(blocks))])
		for range r.IntN(4) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
	}
	msg := []byte(b.String())
	if r.IntN(6) == 0 {
		msg = bytes.ReplaceAll(msg, []byte("\n"), []byte("\r\n"))
	}
	for len(msg) > 0 && r.IntN(8) == 0 { // change a byte or leave it out
		i := r.IntN(len(msg))
		if r.IntN(2) == 0 {
			msg[i] = "\n\r\t :#-Ax"[r.IntN(9)]
		} else {
			msg = append(msg[:i], msg[i+1:]...)
		}
	}
	if bytes.HasSuffix(text(msg), []byte("Conflicts:")) || bytes.HasSuffix(text(msg), []byte(strings.TrimSuffix(cutLine, "\n"))) {
		// Since 2.46, interpret-trailers adds the line feed that is missing
		// here, and sees what `git log` does not.
		msg = append(text(msg), '\n')
	}
	return msg
}

func randomMessagesOf(n int) [][]byte {
	r := rand.New(rand.NewPCG(*randomSeed, 0))
	msgs := make([][]byte, n)
	for i := range msgs {
		msgs[i] = randomMessage(r)
	}
	return msgs
}

func TestRandomParse(t *testing.T) {
	msgs := randomMessagesOf(*randomMessages)
	trailers, wrong := 0, 0
	for i, want := range gitParse(t, msgs) {
		trailers += bytes.Count(want, newline)
		if got := printed(msgs[i]); !bytes.Equal(got, want) {
			if wrong++; wrong <= 10 {
				t.Errorf("message %q\n  git: %q\n ours: %q", msgs[i], want, got)
			}
		}
	}
	if trailers < len(msgs)/4 {
		t.Errorf("only %d trailers in %d messages: the generator tests too little", trailers, len(msgs))
	}
	if wrong > 10 {
		t.Errorf("%d messages differ", wrong)
	}
}
