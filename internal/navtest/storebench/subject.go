package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
)

// subject is a repository that is measured.
type subject struct {
	*bench
	repo, tip string
	count     int
	watched   []string // commits, spread over the history
}

func (b *bench) subject(ctx context.Context, repo string, watches int) (*subject, error) {
	out, err := b.git(ctx, nil, "-C", repo, "rev-list", "HEAD")
	if err != nil {
		return nil, err
	}
	ids := strings.Fields(out)
	if len(ids) == 0 {
		return nil, fmt.Errorf("%q has no commits", repo)
	}
	s := &subject{bench: b, repo: repo, tip: ids[0], count: len(ids)}
	n := min(watches, len(ids))
	for i := range n {
		s.watched = append(s.watched, ids[i*len(ids)/n])
	}
	return s, nil
}

func (s *subject) pairs() []pair {
	asked := []byte(s.tip + "\n" + strings.Join(s.watched, "\n") + "\n")
	messages, list := []string{"log", "--format=%H%x00%B", s.tip}, []string{"rev-list", s.tip}
	return []pair{
		{
			name: "all messages, linted", beside: "git log %H%x00%B", limit: "1.3", reading: true,
			ours: s.lint, git: s.program(s.repo, nil, "git", messages...),
		}, {
			name: "the same log, read by cat", beside: "git log %H%x00%B", limit: "none", reading: true,
			ours: s.readByCat(messages), git: s.program(s.repo, nil, "git", messages...),
		}, {
			name: fmt.Sprintf("%d watches contained", len(s.watched)), beside: "git rev-list", limit: "2", reading: true,
			ours: s.program(s.repo, asked, s.self, "-child", "contains", "-dir", s.repo), git: s.program(s.repo, nil, "git", list...),
		}, {
			name: "the same list, read by cat", beside: "git rev-list", limit: "none", reading: true,
			ours: s.readByCat(list), git: s.program(s.repo, nil, "git", list...),
		}, {
			name: fmt.Sprintf("%d notes appended", len(s.watched)), beside: "git fast-import", limit: "3",
			ours: s.append, git: s.fastImport,
		},
	}
}

// readByCat is what any program pays that reads what git writes: git beside us
// writes for nobody.
func (s *subject) readByCat(args []string) func(context.Context, int) (used, error) {
	return s.program(s.repo, nil, "sh", append([]string{"-c", `git "$@" | cat >/dev/null`, "sh"}, args...)...)
}

// lint lints the whole history. That it finds something there is no failure.
func (s *subject) lint(ctx context.Context, _ int) (used, error) {
	return s.run(ctx, s.repo, nil, s.navlint, "commits", s.tip)
}

// append writes notes that no run before it wrote.
func (s *subject) append(ctx context.Context, n int) (used, error) {
	in := fmt.Sprintf("refs/notes/nav/ours-%d-%d\n%s\n", n, time.Now().UnixNano(), strings.Join(s.watched, "\n"))
	return s.run(ctx, s.repo, []byte(in), s.self, "-child", "append", "-dir", s.repo)
}

func (s *subject) fastImport(ctx context.Context, n int) (used, error) {
	var in bytes.Buffer
	run := fmt.Sprintf("%d-%d", n, time.Now().UnixNano())
	fmt.Fprintf(&in, "commit refs/notes/nav/git-%s\ncommitter Bench <bench@example.com> 1600000000 +0000\ndata 1\nx\n", run)
	for _, c := range s.watched {
		line := noteLine(c, run) + "\n"
		fmt.Fprintf(&in, "N inline %s\ndata %d\n%s\n", c, len(line), line)
	}
	return s.run(ctx, s.repo, in.Bytes(), "git", "fast-import", "--quiet")
}

// noteLine is about what a line of `watches` holds.
func noteLine(commit, run string) string {
	return fmt.Sprintf(`{"v":1,"commit":%q,"branch":"main","apps":["web"],"by":"alice","host":"plain","at":"2026-01-01T00:00:00Z","run":%q}`, commit, run)
}

// child is this program's other half: what is measured as a whole process.
func child(ctx context.Context, c config) error {
	in, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	lines := strings.Fields(string(in))
	repo, err := gitstore.Open(ctx, c.dir, gitstore.Options{Env: os.Environ(), Timeout: time.Hour})
	if err != nil {
		return err
	}
	first, rest := lines[0], lines[1:]
	switch c.child {
	case "contains":
		got, err := repo.Contains(ctx, rest, []string{first})
		for _, commit := range rest {
			if err == nil && !got[commit][first] {
				err = fmt.Errorf("%s does not contain %s", first, commit)
			}
		}
		return err
	case "append":
		notes := map[string][]string{}
		for _, commit := range rest {
			notes[commit] = []string{noteLine(commit, first)}
		}
		who := gitstore.Identity{Name: "Bench", Email: "bench@example.com", When: time.Unix(1_600_000_000, 0)}
		added, err := repo.AppendNotes(ctx, first, notes, "bench", who)
		if err == nil && added != len(notes) {
			err = fmt.Errorf("%d of %d were added", added, len(notes))
		}
		return err
	}
	return fmt.Errorf("%q is nothing that can be done", c.child)
}
