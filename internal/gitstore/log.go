package gitstore

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// MaxMessage is how much of a commit message is read, in bytes.
const MaxMessage = 8 << 20

// Commit is one commit as `git log` shows it.
type Commit struct {
	ID        string
	Parents   []string
	Message   []byte // in UTF-8 where git could re-encode it; ends at a NUL, as in git
	Truncated bool   // the message was longer than MaxMessage
}

// Names and dates are not asked for: nobody needs them, and a commit that was not
// made by git may have none, or a NUL in them.
const logFormat = "--format=tformat:%H %P%x00%B"

// Log hands over the commits that tips reach and exclude does not, oldest
// first by date, in one streaming process. An error of fn ends it and is returned
// as it is. Tips and exclude are ids, ref names or ranges; no tips, no commits.
// Take ids where it matters: git finds a ref name that is missing under other
// names too.
//
// A git that lists in this order has read all commits before it writes the first.
// With one that writes as it reads, two processes wake each other for each 4 KiB,
// which costs a fifth of the whole. In a hook, a few commits in a line need no
// process of their own.
func (r *Repo) Log(ctx context.Context, tips, exclude []string, fn func(Commit) error) error {
	if line, ok := r.straight(ctx, tips, exclude); ok {
		for _, c := range line {
			if err := fn(c); err != nil {
				return err
			}
		}
		return nil
	}
	return r.list(ctx, tips, exclude, fn, "--reverse")
}

// Ordered is Log with parents before their children, whatever their dates.
func (r *Repo) Ordered(ctx context.Context, tips, exclude []string, fn func(Commit) error) error {
	return r.list(ctx, tips, exclude, fn, "--reverse", "--topo-order")
}

func (r *Repo) list(ctx context.Context, tips, exclude []string, fn func(Commit) error, how ...string) error {
	if len(tips) == 0 { // git would take HEAD
		return nil
	}
	in, err := revs(tips, exclude)
	if err != nil {
		return fmt.Errorf("listing commits: %w", err)
	}
	var fnErr error
	err = r.log(ctx, how, in, func(c Commit) error {
		fnErr = fn(c)
		return fnErr
	})
	if fnErr != nil {
		return fnErr
	}
	if err != nil {
		return fmt.Errorf("listing commits: %w", err)
	}
	return nil
}

// Cut has the commits at which history was cut off (gitrepository-layout,
// shallow): what lies behind them is not here, and Log shows them without
// parents. nil where all of it is here.
func (r *Repo) Cut(ctx context.Context) (map[string]bool, error) {
	if !r.shallow {
		return nil, nil
	}
	out, err := r.output(ctx, command{args: []string{"rev-parse", "--path-format=absolute", "--git-path", "shallow"}})
	if err != nil {
		return nil, fmt.Errorf("asking where history is cut off: %w", err)
	}
	data, err := os.ReadFile(strings.TrimSuffix(string(out), "\n"))
	if err != nil {
		return nil, fmt.Errorf("reading where history is cut off: %w", err)
	}
	cut := map[string]bool{}
	for id := range strings.FieldsSeq(string(data)) {
		cut[id] = true
	}
	return cut, nil
}

// Commits reads the given commits, by full id, in one process and in the order
// asked for. One that is missing, or no commit, is an error that names it.
func (r *Repo) Commits(ctx context.Context, ids []string) ([]Commit, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	if err := r.checkIDs(ids); err != nil {
		return nil, fmt.Errorf("reading commits: %w", err)
	}
	found := make(map[string]Commit, len(ids))
	err := r.log(ctx, []string{"--no-walk=unsorted"}, strings.Join(ids, "\n")+"\n", func(c Commit) error {
		found[c.ID] = c
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading commits: %w", r.nameMissing(ctx, ids, err))
	}
	commits := make([]Commit, len(ids))
	for i, id := range ids {
		c, ok := found[id]
		if !ok {
			return nil, fmt.Errorf("reading commits: %s is not a commit", id)
		}
		commits[i] = c
	}
	return commits, nil
}

// nameMissing finds out which object made git give up.
func (r *Repo) nameMissing(ctx context.Context, ids []string, err error) error {
	objects, lookErr := r.Resolve(ctx, ids)
	if lookErr != nil {
		return err
	}
	for _, id := range ids {
		if objects[id].Missing {
			return fmt.Errorf("%s is missing: %w", id, err)
		}
	}
	return err
}

// log runs git log with revisions on standard input.
func (r *Repo) log(ctx context.Context, how []string, in string, fn func(Commit) error) error {
	args := append([]string{
		"log", "-z", "--encoding=UTF-8", "--no-color", "--no-decorate", "--no-notes",
		"--no-show-signature", "--no-patch", logFormat,
	}, how...)
	c := command{args: append(args, "--stdin"), stdin: strings.NewReader(in)}
	return r.stream(ctx, c, func(p io.Reader) error {
		records := bufio.NewReaderSize(p, 64<<10)
		for {
			commit, err := readCommit(records)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			if err := fn(commit); err != nil {
				return err
			}
		}
	})
}

// maxHead bounds the ids of a commit and its parents, in bytes.
const maxHead = 1 << 20

func readCommit(in *bufio.Reader) (Commit, error) {
	head, cut, err := readField(in, maxHead)
	if errors.Is(err, io.EOF) && len(head) == 0 {
		return Commit{}, io.EOF
	}
	if err != nil {
		return Commit{}, endedEarly(err)
	}
	id, parents, _ := strings.Cut(string(head), " ")
	if cut {
		return Commit{}, &SizeError{What: "the list of parents of commit " + id, Size: maxHead + 1, Limit: maxHead}
	}
	message, cut, err := readField(in, MaxMessage)
	if err != nil {
		return Commit{}, endedEarly(err)
	}
	return Commit{ID: id, Parents: strings.Fields(parents), Message: bytes.Clone(message), Truncated: cut}, nil
}

// readField reads up to the next NUL, keeps at most limit bytes and says
// whether there were more. The field is good until the next is read.
func readField(in *bufio.Reader, limit int) (field []byte, cut bool, err error) {
	for {
		part, err := in.ReadSlice(0)
		if err == nil {
			part = part[:len(part)-1]
		}
		if room := limit - len(field); len(part) > room {
			part, cut = part[:room], true
		}
		if field == nil && err == nil { // whole, as nearly all are
			return part, cut, nil
		}
		field = append(field, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return field, cut, err
		}
	}
}

// revs writes revisions as `--stdin` reads them.
func revs(tips, exclude []string) (string, error) {
	var b strings.Builder
	for i, list := range [][]string{tips, exclude} {
		for _, rev := range list {
			if rev == "" || rev[0] == '-' || rev[0] == '^' || strings.ContainsAny(rev, "\n\x00") {
				return "", fmt.Errorf("%q is not a revision", rev)
			}
			if i == 1 {
				b.WriteByte('^')
			}
			b.WriteString(rev)
			b.WriteByte('\n')
		}
	}
	return b.String(), nil
}
