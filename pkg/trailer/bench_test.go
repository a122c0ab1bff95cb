package trailer

import (
	"strings"
	"testing"
)

// large are the messages that would be slow in a parser that is not linear. The
// aim is 1 to 2 ms each, about a tenth of the git process that it replaces.
var large = []struct{ name, msg string }{
	{"Body", "T\n\n" + strings.Repeat("a line of the body\n", 10000) + "\n" + ours},
	{"Continuations", "T\n\nA: b\n" + strings.Repeat(" continued\n", 10000)},
	{"Trailers", "T\n\n" + strings.Repeat("A: b\n", 10000)},
	{"Comments", "T\n\n" + ours + strings.Repeat("# c\n", 10000)},
	{"Blanks", "T\n\n" + ours + strings.Repeat(" \n", 10000)},
	{"Key", "T\n\n" + strings.Repeat("k", 1<<16) + ": v\n"},
	{"OneLine", strings.Repeat("word ", 1<<15)},
}

func BenchmarkParse(b *testing.B) {
	bench(b, func(msg []byte) { Parse(msg) })
}

func BenchmarkDecode(b *testing.B) {
	p := DefaultPolicy()
	bench(b, func(msg []byte) { Decode(msg, p) })
}

func BenchmarkLint(b *testing.B) {
	p := DefaultPolicy()
	bench(b, func(msg []byte) { Lint(msg, p) })
	for _, c := range []struct{ name, msg string }{
		{"Usual", "Bump shop to 4.5\n\nIt has the fix for the cart.\nSee the ticket.\n\n" + signed},
		{"Fences", "T\n\n" + strings.Repeat("```x\n"+ours, 5000) + "\nend\n"},
		{"Strays", "T\n\n" + strings.Repeat(ours+"\n", 5000) + "end\n"},
		{"Squash", "T\n\n" + strings.Repeat("* x\n\n    "+ours+"\n", 5000)},
		{"Folded", "T\n\n" + strings.Repeat("A: b\n "+ours, 5000)},
		{"Ours", "T\n\n" + strings.Repeat(ours, 10000)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Lint([]byte(c.msg), p)
			}
		})
	}
}

func BenchmarkFormat(b *testing.B) {
	bench(b, func(msg []byte) { Format(msg, Trailer{Key: "A", Value: "b"}) })
}

func bench(b *testing.B, do func(msg []byte)) {
	b.Helper()
	for _, c := range large {
		b.Run(c.name, func(b *testing.B) {
			msg := []byte(c.msg)
			b.SetBytes(int64(len(msg)))
			b.ReportAllocs()
			for b.Loop() {
				do(msg)
			}
		})
	}
}
