package hook

import (
	"bytes"
	"context"
	"io"
	"strings"
)

// GitLab's page shows only what stands behind this mark at the beginning of a
// line (or behind "GitLab:", which is its own); a terminal shows all.
const pageMark = "GL-HOOK-ERR:"

// Voice is what a hook of receive-pack says, line by line, in the form in which
// the host hands it on: behind the mark where a page will show it (GitLab, a
// merge or an edit in the browser), plain everywhere else, never both. No line
// that quotes a pusher can begin with a mark of its own.
//
// Which form it is, is asked at the first word, because most pushes say nothing.
// Without a Repo, which could not be opened, the host is not known.
func Voice(ctx context.Context, c Config) io.Writer {
	if v, ok := c.Out.(*voice); ok {
		return v
	}
	if c.env("GL_PROTOCOL") != "web" {
		return &voice{w: c.Out}
	}
	return &voice{w: c.Out, page: func() bool {
		// A host that cannot be found out is taken for the one that the variable
		// is of: marked, the words still reach everybody.
		if c.Repo == nil {
			return true
		}
		o, err := c.Options.over(ctx, c.Repo)
		return err != nil || o.Host == hostGitLab
	}}
}

type voice struct {
	w    io.Writer
	page func() bool // nil: never
	mark string
	asks bool // mark is known
	mid  bool // in the middle of a line, whose beginning is written
	head []byte
}

// Write keeps back the beginning of a line until it can be told whether it is a
// mark: whoever writes cuts lines anywhere. What is written here ends its last line.
func (v *voice) Write(p []byte) (int, error) {
	if !v.asks {
		v.asks = true
		if v.page != nil && v.page() {
			v.mark = pageMark + " "
		}
	}
	var b bytes.Buffer
	for line := range bytes.Lines(p) {
		ended := bytes.HasSuffix(line, []byte("\n"))
		if !v.mid {
			v.head = append(v.head, line...)
			if !ended && len(v.head) < len(pageMark) {
				continue
			}
			b.WriteString(v.mark)
			if marked(string(v.head)) {
				b.WriteString("    ")
			}
			line, v.head = v.head, nil
		}
		b.Write(line)
		v.mid = !ended
	}
	if _, err := v.w.Write(b.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// marked tells what Gitlab::Git::PreReceiveError would show as its own.
func marked(line string) bool {
	return strings.HasPrefix(line, pageMark) || strings.HasPrefix(line, "GitLab:")
}
