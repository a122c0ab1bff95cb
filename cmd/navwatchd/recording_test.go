package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
)

// recording is a recorded timeline that a test changes before it is judged.
type recording struct {
	header  map[string]any
	entries []map[string]any
	repo    string // bundle or repository
}

func record(t *testing.T, name string) *recording {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(timelines, name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return readRecording(t, data, filepath.Join(timelines, name+".bundle"))
}

func readRecording(t *testing.T, data []byte, repo string) *recording {
	t.Helper()
	r := &recording{repo: repo}
	for line := range bytes.Lines(data) {
		var fields map[string]any
		if err := json.Unmarshal(line, &fields); err != nil {
			t.Fatal(err)
		}
		if r.header == nil {
			r.header = fields
		} else {
			r.entries = append(r.entries, fields)
		}
	}
	return r
}

func (r *recording) bytes(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for _, fields := range append([]map[string]any{r.header}, r.entries...) {
		if err := enc.Encode(fields); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// objects calls fn for every recorded Application.
func (r *recording) objects(fn func(app map[string]any)) {
	for _, e := range r.entries {
		if app, ok := e["object"].(map[string]any); ok {
			fn(app)
		}
	}
}

// cut drops what was recorded once drop says so.
func (r *recording) cut(drop func(e map[string]any) bool) {
	if i := slices.IndexFunc(r.entries, drop); i >= 0 {
		r.entries = r.entries[:i]
	}
}

// replace writes one commit for another, everywhere.
func (r *recording) replace(t *testing.T, old, with string) {
	t.Helper()
	data := bytes.ReplaceAll(r.bytes(t), []byte(old), []byte(with))
	*r = *readRecording(t, bytes.ReplaceAll(data, []byte(old[:12]), []byte(with[:12])), r.repo)
}

func (r *recording) commit() string { return r.header["commit"].(string) }

// at is a field below a map of maps; nil where there is none.
func at(m map[string]any, path ...string) any {
	var v any = m
	for _, key := range path {
		next, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = next[key]
	}
	return v
}

func put(m map[string]any, value any, path ...string) {
	for _, key := range path[:len(path)-1] {
		next, ok := m[key].(map[string]any)
		if !ok {
			next = map[string]any{}
			m[key] = next
		}
		m = next
	}
	m[path[len(path)-1]] = value
}

// replay judges the recording as it is now.
func (r *recording) replay(t *testing.T, flags ...string) (replayJSON, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "edited.jsonl")
	if err := os.WriteFile(file, r.bytes(t), 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	args := append([]string{"navwatchd", "replay", "--json", "--repo", r.repo}, flags...)
	e := env{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr, environ: os.Environ(), now: navtest.Start}
	if err := run(context.Background(), append(args, file), e); err != nil {
		return replayJSON{}, err
	}
	var out replayJSON
	if err := json.Unmarshal(stdout.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	return out, nil
}

// clone makes a repository of the bundle, to which a test adds commits.
func (r *recording) clone(t *testing.T) {
	t.Helper()
	bundle, err := filepath.Abs(r.repo)
	if err != nil {
		t.Fatal(err)
	}
	r.repo = filepath.Join(t.TempDir(), "repo")
	gitIn(t, ".", "", "clone", "--quiet", "--no-checkout", bundle, r.repo)
}

// add makes a commit with the tree of another, its first parent (or itself as
// the parent), and one more file if it has a name. The branch main follows.
func (r *recording) add(t *testing.T, like, parent, file, message string) string {
	t.Helper()
	gitIn(t, r.repo, "", "read-tree", like)
	if file != "" {
		blob := gitIn(t, r.repo, "x: 1\n", "hash-object", "-w", "--stdin")
		gitIn(t, r.repo, "", "update-index", "--add", "--cacheinfo", "100644,"+blob+","+file)
	}
	tree := gitIn(t, r.repo, "", "write-tree")
	id := gitIn(t, r.repo, message, "commit-tree", tree, "-p", parent)
	gitIn(t, r.repo, "", "update-ref", "refs/heads/main", id)
	return id
}

func gitIn(t *testing.T, dir, stdin string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_AUTHOR_DATE=1795966200 +0000",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_COMMITTER_DATE=1795966200 +0000",
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// later is a moment after the start of the watch.
func later(t *testing.T, r *recording, d time.Duration) string {
	t.Helper()
	for _, e := range r.entries {
		if e["sha"] == r.commit() {
			start, err := time.Parse(time.RFC3339, e["at"].(string))
			if err != nil {
				t.Fatal(err)
			}
			return start.Add(d).UTC().Format("2006-01-02T15:04:05.000Z")
		}
	}
	t.Fatal("the recording has no start")
	return ""
}

// kept repeats the last state until the end, as a controller that goes on
// comparing would: one that is silent for three refreshes is stale.
func kept(t *testing.T, r *recording) {
	t.Helper()
	end, err := time.Parse(time.RFC3339, r.header["end"].(string))
	if err != nil {
		t.Fatal(err)
	}
	last := r.entries[len(r.entries)-1]
	from, err := time.Parse(time.RFC3339, last["at"].(string))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(last)
	if err != nil {
		t.Fatal(err)
	}
	for now := from.Add(15 * time.Second); now.Before(end); now = now.Add(15 * time.Second) {
		var e map[string]any
		if err := json.Unmarshal(text, &e); err != nil {
			t.Fatal(err)
		}
		e["at"] = now.UTC().Format("2006-01-02T15:04:05.000Z")
		put(e, now.UTC().Format(time.RFC3339), "object", "status", "reconciledAt")
		r.entries = append(r.entries, e)
	}
}

// another writes the watched commit anew with another message.
func another(t *testing.T, r *recording, message string) {
	t.Helper()
	r.clone(t)
	watched := r.commit()
	r.replace(t, watched, r.add(t, watched, watched+"^", "", message))
	delete(r.header, "revert")
}

// follow lets the Application follow another revision, which resolves to `to`
// wherever the recording says from.
func follow(r *recording, target, from, to string) {
	r.objects(func(app map[string]any) {
		put(app, target, "spec", "source", "targetRevision")
		if app["status"] == nil {
			return
		}
		if at(app, "status", "sync", "comparedTo", "source") != nil {
			put(app, target, "status", "sync", "comparedTo", "source", "targetRevision")
		}
		if from != "" {
			for _, path := range [][]string{{"status", "sync", "revision"}, {"status", "operationState", "syncResult", "revision"}, {"status", "operationState", "operation", "sync", "revision"}} {
				if at(app, path...) == from {
					put(app, to, path...)
				}
			}
			put(app, nil, "status", "history")
		}
	})
}

func policyOf(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
