package lint

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/internal/exit"
)

const (
	around   = 3       // lines around a change, as everybody shows
	maxTable = 4 << 20 // pairs of lines that are compared; beyond it, all between first and last change is one
)

// edit is a line of a difference: ' ', '-' or '+', and the line.
type edit struct {
	sign byte
	text string
}

// diff writes how b differs from a as a unified diff; nothing if it does not.
// git apply takes it, unless a line had to be escaped.
func diff(w io.Writer, name, a, b string) error {
	edits := editsOf(strings.SplitAfter(a, "\n"), strings.SplitAfter(b, "\n"))
	out := bufio.NewWriter(w)
	headed := false
	for i, lineA, lineB := 0, 1, 1; i < len(edits); {
		if edits[i].sign == ' ' {
			i, lineA, lineB = i+1, lineA+1, lineB+1
			continue
		}
		from, to := max(i-around, 0), hunkEnd(edits, i)
		hunk := edits[from:to]
		startA, startB := lineA-(i-from), lineB-(i-from)
		countA, countB := 0, 0
		for _, e := range hunk {
			if e.sign != '+' {
				countA++
			}
			if e.sign != '-' {
				countB++
			}
		}
		if !headed {
			headed = true
			_, _ = fmt.Fprintf(out, "--- a/%s\n+++ b/%s\n", exit.Line(name, 0), exit.Line(name, 0)) // errors stay in out until Flush
		}
		_, _ = fmt.Fprintf(out, "@@ -%s +%s @@\n", span(startA, countA), span(startB, countB))
		for _, e := range hunk {
			text, whole := strings.CutSuffix(e.text, "\n")
			_, _ = fmt.Fprintf(out, "%c%s\n", e.sign, exit.Line(text, 0))
			if !whole {
				_, _ = fmt.Fprintln(out, `\ No newline at end of file`)
			}
		}
		i, lineA, lineB = to, startA+countA, startB+countB
	}
	return out.Flush()
}

// span is a range of lines in a hunk's head; one of no lines is named by the
// line above it.
func span(start, count int) string {
	if count == 0 {
		start--
	}
	return fmt.Sprintf("%d,%d", start, count)
}

// hunkEnd is where the hunk with the change at i ends: after its context, but
// not before another change whose context would meet it.
func hunkEnd(edits []edit, i int) int {
	last := i
	for j := i; j < len(edits) && j-last <= 2*around; j++ {
		if edits[j].sign != ' ' {
			last = j
		}
	}
	return min(last+1+around, len(edits))
}

func editsOf(a, b []string) []edit {
	a, b = dropEmpty(a), dropEmpty(b)
	var head, tail []edit
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		head, a, b = append(head, edit{' ', a[0]}), a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		tail, a, b = append(tail, edit{' ', a[len(a)-1]}), a[:len(a)-1], b[:len(b)-1]
	}
	slices.Reverse(tail)
	return slices.Concat(head, middle(a, b), tail)
}

// dropEmpty drops what SplitAfter leaves behind the last line feed.
func dropEmpty(lines []string) []string {
	if lines[len(lines)-1] == "" {
		return lines[:len(lines)-1]
	}
	return lines
}

// middle finds the longest common subsequence of lines.
func middle(a, b []string) []edit {
	var out []edit
	if len(a)*len(b) > maxTable {
		for _, line := range a {
			out = append(out, edit{'-', line})
		}
		for _, line := range b {
			out = append(out, edit{'+', line})
		}
		return out
	}
	common := make([][]int, len(a)+1) // of a[i:] and b[j:]
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if common[i][j] = max(common[i+1][j], common[i][j+1]); a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out, i, j = append(out, edit{' ', a[i]}), i+1, j+1
		case i < len(a) && (j == len(b) || common[i+1][j] >= common[i][j+1]):
			out, i = append(out, edit{'-', a[i]}), i+1
		default:
			out, j = append(out, edit{'+', b[j]}), j+1
		}
	}
	return out
}
