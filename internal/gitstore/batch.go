package gitstore

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
)

// Object is what a name stands for. A name is taken as it is written: append
// ^{commit} to see through tags.
type Object struct {
	ID, Type string
	Missing  bool // nothing, or several things, by this name
}

// Resolve asks what names stand for, in one process.
func (r *Repo) Resolve(ctx context.Context, names []string) (map[string]Object, error) {
	objects := make(map[string]Object, len(names))
	var asked []string
	for _, n := range names {
		if _, twice := objects[n]; twice {
			continue
		}
		objects[n] = Object{Missing: true}
		// No object has such a name, and it would break the protocol.
		if n != "" && !strings.ContainsAny(n, "\n\x00") {
			asked = append(asked, n)
		}
	}
	if len(asked) == 0 {
		return objects, nil
	}
	if err := r.check(ctx, asked, objects); err != nil {
		return nil, fmt.Errorf("resolving names: %w", err)
	}
	return objects, nil
}

func (r *Repo) check(ctx context.Context, asked []string, objects map[string]Object) error {
	if r.keep {
		b, err := r.openBatch(ctx)
		if err != nil {
			return err
		}
		return b.close(b.info(asked, objects))
	}
	c := command{
		args:  []string{"cat-file", "--batch-check", "--buffer"},
		stdin: strings.NewReader(strings.Join(asked, "\n") + "\n"),
	}
	return r.stream(ctx, c, func(p io.Reader) error { return r.readHeaders(bufio.NewReader(p), asked, objects) })
}

// readHeaders reads an answer a name.
func (r *Repo) readHeaders(from *bufio.Reader, asked []string, objects map[string]Object) error {
	for _, n := range asked {
		line, err := from.ReadString('\n')
		if err != nil {
			return fmt.Errorf("reading the answer for %q: %w", n, endedEarly(err))
		}
		if o, ok := r.parseHeader(line, n); ok {
			objects[n] = Object{ID: o.id, Type: o.kind}
		}
	}
	return nil
}

// object is one answer of cat-file.
type object struct {
	id, kind string
	size     int64
	data     []byte
}

// parseHeader reads "<id> <type> <size>"; anything else ("<name> missing",
// "<name> ambiguous") says that there is no such object. The name may look like
// anything, so it is ruled out first.
func (r *Repo) parseHeader(line, name string) (object, bool) {
	line = strings.TrimSuffix(line, "\n")
	if line == name+" missing" || line == name+" ambiguous" {
		return object{}, false
	}
	f := strings.Split(line, " ")
	if len(f) != 3 || r.checkID(f[0]) != nil {
		return object{}, false
	}
	size, err := strconv.ParseInt(f[2], 10, 64)
	if err != nil {
		return object{}, false
	}
	return object{id: f[0], kind: f[1], size: size}, true
}

// batch is a running `git cat-file --batch-command`: one process for any number
// of objects.
type batch struct {
	repo *Repo
	p    *process
	in   io.WriteCloser
	out  *bufio.Reader
	back func() bool // ends that the present question's context ends the process
}

// openBatch starts a process, or takes the one that was kept.
func (r *Repo) openBatch(ctx context.Context) (*batch, error) {
	if b := r.kept.Swap(nil); b != nil {
		b.lend(ctx)
		if b.p.mayBeUsed() && b.lives() {
			return b, nil
		}
		_ = b.end(nil) // its answers were read, and it was asked nothing since
	}
	in, w := io.Pipe()
	owner := ctx
	if r.keep { // it is there for those who ask later, too
		owner = context.WithoutCancel(ctx)
	}
	p, err := r.start(owner, command{args: []string{"cat-file", "--batch-command", "--buffer"}, stdin: in})
	if err != nil {
		return nil, err
	}
	b := &batch{repo: r, p: p, in: w, out: bufio.NewReaderSize(p.out, 64<<10)}
	b.lend(ctx)
	return b, nil
}

// lend lets the context of a question end the process while it lasts.
func (b *batch) lend(ctx context.Context) {
	b.p.parent = ctx
	b.back = context.AfterFunc(ctx, b.p.cancel)
}

// lives asks for what nobody has. A process that was killed while nobody asked
// must not be what a gate holds for; a hook is over before that.
func (b *batch) lives() bool {
	if b.repo.hook {
		return true
	}
	zero, said := b.repo.zero(), ""
	err := b.ask("info", []string{zero}, func() (err error) {
		said, err = b.out.ReadString('\n')
		return err
	})
	return err == nil && said == zero+" missing\n" && b.out.Buffered() == 0
}

// close ends the process, or keeps it for the next question where nothing went
// wrong and the repository keeps one. err is what the caller met, and is
// returned first.
func (b *batch) close(err error) error {
	r := b.repo
	if r.keep && err == nil && b.back() && r.kept.CompareAndSwap(nil, b) {
		return nil
	}
	return b.end(err)
}

func (b *batch) end(err error) error {
	defer b.back() // a process that hangs at its end is ended by the question's context, too
	_ = b.in.Close()
	return b.p.end(err)
}

// info asks what names stand for.
func (b *batch) info(names []string, objects map[string]Object) error {
	return b.ask("info", names, func() error { return b.repo.readHeaders(b.out, names, objects) })
}

// ask sends a command for every name while read reads the answers: git waits
// until they are read.
func (b *batch) ask(command string, names []string, read func() error) error {
	var sending sync.WaitGroup
	var sendErr error
	sending.Go(func() { sendErr = b.send(command, names) })
	err := read()
	if err != nil {
		_ = b.in.Close() // lets the sender go
	}
	sending.Wait()
	if err != nil {
		return err
	}
	return sendErr
}

// each asks for names and hands the objects over in the same order; one that is
// missing comes with an empty kind. Contents above limit bytes are an error.
func (b *batch) each(names []string, limit int64, fn func(i int, o object) error) error {
	return b.ask("contents", names, func() error {
		for i, n := range names {
			o, err := b.read(n, limit)
			if err == nil {
				err = fn(i, o)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (b *batch) send(command string, names []string) error {
	w := bufio.NewWriter(b.in)
	for _, n := range names {
		if _, err := w.WriteString(command + " " + n + "\n"); err != nil {
			return err
		}
	}
	// Without it git keeps the answers; with a flush each, it would write them one
	// by one.
	if _, err := w.WriteString("flush\n"); err != nil {
		return err
	}
	return w.Flush()
}

func (b *batch) read(name string, limit int64) (object, error) {
	line, err := b.out.ReadString('\n')
	if err != nil {
		return object{}, fmt.Errorf("reading object %q: %w", name, endedEarly(err))
	}
	o, ok := b.repo.parseHeader(line, name)
	if !ok {
		return object{}, nil
	}
	if o.size > limit {
		return object{}, &SizeError{What: o.kind + " " + o.id, Size: o.size, Limit: limit}
	}
	o.data = make([]byte, o.size+1)
	if _, err := io.ReadFull(b.out, o.data); err != nil {
		return object{}, fmt.Errorf("reading object %q: %w", name, endedEarly(err))
	}
	o.data = o.data[:o.size:o.size]
	return o, nil
}

func endedEarly(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
