package watchd

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// Header is the first line of a recorded timeline.
type Header struct {
	Timeline       int       `json:"timeline"` // version of the format
	Name           string    `json:"name"`
	Commit         string    `json:"commit"`
	Watch          string    `json:"watch"` // the fields to judge with
	Revert         string    `json:"revert"`
	End            time.Time `json:"end"`
	Reconciliation string    `json:"reconciliation"`
}

// Entry is any other line: a note of what was done, or an Application as a
// watch delivered it.
type Entry struct {
	Line     int
	At       time.Time
	Type     string // NOTE, ADDED, MODIFIED, DELETED
	Text     string
	SHA      string
	Snapshot Snapshot // of ADDED, MODIFIED and DELETED
}

// Timeline is a recording.
type Timeline struct {
	Header
	Refresh time.Duration
	Entries []Entry
}

// LineError is a line of a recording that cannot be read.
type LineError struct {
	File string
	Line int
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }
func (e *LineError) Unwrap() error { return e.Err }

// defaultRefresh is Argo CD's own since 3.0: timeout.reconciliation and jitter.
const defaultRefresh = 120*time.Second + 60*time.Second

// maxEntry bounds one line of a recording; an Application has at most about
// 1.5 MB (etcd's limit).
const maxEntry = 8 << 20

// ReadTimeline reads a recording. Decode turns an Application's JSON into a
// snapshot as of a moment.
func ReadTimeline(r io.Reader, file string, decode func(raw []byte, at time.Time) (Snapshot, error)) (*Timeline, error) {
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 64<<10), maxEntry)
	t := &Timeline{}
	line := 0
	for sc.Scan() {
		line++
		if len(bytes.TrimSpace(sc.Bytes())) == 0 {
			continue
		}
		var err error
		if t.Timeline == 0 {
			err = t.readHeader(sc.Bytes())
		} else {
			err = t.readEntry(sc.Bytes(), line, decode)
		}
		if err != nil {
			return nil, &LineError{File: file, Line: line, Err: err}
		}
	}
	if err := sc.Err(); err != nil {
		return nil, &LineError{File: file, Line: line + 1, Err: err}
	}
	if t.Timeline == 0 {
		return nil, &LineError{File: file, Line: 1, Err: errors.New("the recording is empty")}
	}
	if t.End.IsZero() && len(t.Entries) > 0 {
		t.End = t.Entries[len(t.Entries)-1].At
	}
	return t, nil
}

func (t *Timeline) readHeader(raw []byte) error {
	if err := json.Unmarshal(raw, &t.Header); err != nil {
		return fmt.Errorf("reading the header: %w", err)
	}
	if t.Timeline != 1 {
		return fmt.Errorf("timeline format %d is not known", t.Timeline)
	}
	if t.Reconciliation == "" {
		t.Refresh = defaultRefresh
		return nil
	}
	d, err := time.ParseDuration(t.Reconciliation)
	if err != nil || d < 0 {
		return fmt.Errorf("reconciliation %q is no duration", t.Reconciliation)
	}
	t.Refresh = d
	return nil
}

func (t *Timeline) readEntry(raw []byte, line int, decode func([]byte, time.Time) (Snapshot, error)) error {
	var e struct {
		At     time.Time       `json:"at"`
		Type   string          `json:"type"`
		Text   string          `json:"text"`
		SHA    string          `json:"sha"`
		Object json.RawMessage `json:"object"`
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		return err
	}
	out := Entry{Line: line, At: e.At, Type: e.Type, Text: e.Text, SHA: e.SHA}
	switch e.Type {
	case "NOTE":
	case "ADDED", "MODIFIED", "DELETED":
		if kind(e.Object) != "Application" { // ApplicationSets may stand beside
			return nil
		}
		snap, err := decode(e.Object, e.At)
		if err != nil {
			return err
		}
		if e.Type == "DELETED" {
			snap.Look = verdict.Look{App: snap.Look.App, At: e.At, Direct: true, Absent: true}
		}
		out.Snapshot = snap
	default:
		return fmt.Errorf("type %q is not known", e.Type)
	}
	if n := len(t.Entries); n > 0 && e.At.Before(t.Entries[n-1].At) {
		return fmt.Errorf("%s is before the line above", e.At.Format(time.RFC3339Nano))
	}
	t.Entries = append(t.Entries, out)
	return nil
}

func kind(object json.RawMessage) string {
	var k struct {
		Kind string `json:"kind"`
	}
	_ = json.Unmarshal(object, &k) // what has no kind is no Application
	return k.Kind
}
