package lint

import (
	"bytes"
	"context"
	"fmt"
)

// Commit is what a log says of a commit.
type Commit struct {
	ID        string
	Parents   []string
	Message   []byte // in UTF-8 where git could re-encode it
	Truncated bool   // Message is only its beginning
}

// Place is where findings about the commit are.
func (c Commit) Place() Place { return Place{Commit: c.ID, Subject: Subject(c.Message)} }

// parent is the first one, "" of a root.
func (c Commit) parent() string {
	if len(c.Parents) == 0 {
		return ""
	}
	return c.Parents[0]
}

// Subject is the first line of a message that is not blank, at most 1 KiB.
func Subject(msg []byte) string {
	for len(msg) > 0 {
		line := msg
		if i := bytes.IndexByte(msg, '\n'); i >= 0 {
			line, msg = msg[:i], msg[i+1:]
		} else {
			msg = nil
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return string(line[:min(len(line), 1<<10)])
		}
	}
	return ""
}

// TooLong is the one finding about a message that could not be read to its end,
// where its trailers would be.
func (c Commit) TooLong() []Finding {
	return []Finding{{
		Rule: RuleTooLong, Severity: Error,
		Message: fmt.Sprintf("the message goes on after %d bytes, so its trailers cannot be read", len(c.Message)),
		Hint:    "shorten the message",
	}}
}

// RuleTooLong is the rule of TooLong.
const RuleTooLong = "nav-message-too-long"

// History lists commits.
type History interface {
	// Log hands over the commits that tips reach and exclude does not, oldest
	// first by date. An error of fn ends it and is returned.
	Log(ctx context.Context, tips, exclude []string, fn func(Commit) error) error
}
