// Package hook is one push: which refs it moves, what that brings to which
// branch, whether it may pass (PreReceive), and what is queued once it has
// (PostReceive). CommitMsg is the same lint in a clone; Install puts the shims
// in place.
//
// Everything it asks of the repository goes through small interfaces that
// cmd/navhook (and the drill) fill; it starts no process but hooks' shims do.
package hook

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxLine bounds a line of stdin. Git's own limit on a pkt-line is 65520.
const maxLine = 1 << 16

// Update is one ref that a push moves. Old is empty when the ref is being
// made, New when it is deleted; both are full lower-case object ids.
type Update struct{ Old, New, Ref string }

// Branch is the name without refs/heads/, or "" for any other ref.
func (u Update) Branch() string {
	if b, ok := strings.CutPrefix(u.Ref, heads); ok {
		return b
	}
	return ""
}

const heads = "refs/heads/"

// LineError is a malformed line of a hook's stdin. It is never skipped: the
// line might name a ref that must be judged.
type LineError struct {
	Line int // from 1
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("stdin:%d: %v", e.Line, e.Err) }

// Unwrap returns the cause.
func (e *LineError) Unwrap() error { return e.Err }

// ReadUpdates reads what git writes to pre-receive and post-receive: lines of
// "OLD SP NEW SP REF LF", all zeroes where there is no object (builtin/
// receive-pack.c). Anything else is a *LineError. Updates of the refs that
// concern nobody here (tags, refs/pull/) are read and returned as well.
func ReadUpdates(r io.Reader) ([]Update, error) {
	var ups []Update
	seen := map[string]bool{}
	br := bufio.NewReaderSize(r, maxLine)
	for line := 1; ; line++ {
		text, err := br.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF) && len(text) == 0:
			return ups, nil
		case errors.Is(err, io.EOF):
			return nil, &LineError{line, errors.New("the last line has no line end: input was cut")}
		case errors.Is(err, bufio.ErrBufferFull):
			return nil, &LineError{line, fmt.Errorf("line longer than %d bytes", maxLine)}
		case err != nil:
			return nil, fmt.Errorf("reading the pushed refs: %w", err)
		}
		u, err := parseUpdate(text[:len(text)-1])
		if err != nil {
			return nil, &LineError{line, err}
		}
		if seen[u.Ref] { // receive-pack would move it twice, through a state that nobody judged
			return nil, &LineError{line, fmt.Errorf("%q is named twice", clip([]byte(u.Ref)))}
		}
		seen[u.Ref] = true
		ups = append(ups, u)
	}
}

func parseUpdate(text []byte) (Update, error) {
	// Only the first two spaces separate: git allows none in a ref, and one
	// there must not be mistaken for a shorter name.
	parts := bytes.SplitN(text, []byte{' '}, 3)
	if len(parts) != 3 {
		return Update{}, fmt.Errorf("%q is not OLD NEW REF", clip(text))
	}
	o, n, ref := string(parts[0]), string(parts[1]), string(parts[2])
	if len(o) != len(n) || !objectID(o) || !objectID(n) {
		return Update{}, fmt.Errorf("%q does not begin with two object ids", clip(text))
	}
	if !strings.HasPrefix(ref, "refs/") || ref == "refs/" || strings.ContainsFunc(ref, isControl) {
		return Update{}, fmt.Errorf("%q is not a ref", clip([]byte(ref)))
	}
	return Update{Old: orNone(o), New: orNone(n), Ref: ref}, nil
}

// objectID tells a SHA-1 or SHA-256 name as git prints it.
func objectID(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

func orNone(id string) string {
	if strings.Trim(id, "0") == "" {
		return ""
	}
	return id
}

func clip(b []byte) string {
	if len(b) > 200 {
		return string(b[:200]) + "..."
	}
	return string(b)
}

// isControl tells what git allows in no ref (check_refname_component).
func isControl(r rune) bool { return r <= ' ' || r == 0x7f }
