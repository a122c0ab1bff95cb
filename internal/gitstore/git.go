package gitstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// command is one start of git.
type command struct {
	args  []string
	stdin io.Reader
	own   bool     // with the user's configuration
	env   []string // added to the environment
	hide  []string // texts that no error may show
	diff  bool     // it compares trees, which may be made to need any memory
}

const (
	maxStderr = 8 << 10
	maxOutput = 64 << 20 // of a command whose output is gathered, not streamed
	graceKill = 2 * time.Second
)

// Error is a git process that failed.
type Error struct {
	Args   []string // without the settings that stand before every subcommand
	Code   int      // exit code; -1 when the process did not exit by itself
	Stderr string   // at most 8 KiB, credentials blanked, otherwise as git wrote it: escape it before printing
	Err    error    // why it ended: *exec.ExitError, a context's error, ...
}

func (e *Error) Error() string {
	text := fmt.Sprintf("git %s: %v", e.subcommand(), e.Err)
	var said []string
	for line := range strings.Lines(e.Stderr) {
		if line = strings.TrimSpace(line); line != "" { // git pads what a server says
			said = append(said, line)
		}
	}
	if len(said) > 0 {
		text += ": " + strings.Join(said, "; ")
	}
	return text
}

func (e *Error) subcommand() string {
	for i := 0; i < len(e.Args); i++ {
		if e.Args[i] != "-c" {
			return e.Args[i]
		}
		i++ // its setting
	}
	return ""
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// output runs git and gathers what it prints.
func (r *Repo) output(ctx context.Context, c command) ([]byte, error) {
	var out bytes.Buffer
	err := r.stream(ctx, c, func(p io.Reader) error {
		n, err := io.Copy(&out, io.LimitReader(p, maxOutput+1))
		if err == nil && n > maxOutput {
			err = fmt.Errorf("more than %d bytes of output", maxOutput)
		}
		return err
	})
	return out.Bytes(), err
}

// stream runs git and hands its output to fn as it comes. An error of fn ends
// the process and is returned as it is.
func (r *Repo) stream(ctx context.Context, c command, fn func(io.Reader) error) error {
	p, err := r.start(ctx, c)
	if err != nil {
		return err
	}
	return p.end(fn(p.out))
}

// end waits for a process whose reader came to err. Where the output ended too
// early, git's own reason is the better one.
func (p *process) end(err error) error {
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, os.ErrClosed) {
		p.kill()
		return err
	}
	if gone := p.wait(); gone != nil {
		return gone
	}
	return err
}

// process is a git that runs.
type process struct {
	cmd     *exec.Cmd
	args    []string
	out     io.ReadCloser
	stderr  *tail
	ctx     context.Context
	parent  context.Context
	cancel  context.CancelFunc
	hide    []string
	timeout time.Duration
	done    chan struct{}
}

func (r *Repo) start(ctx context.Context, c command) (*process, error) {
	limited, cancel := context.WithTimeout(ctx, r.timeout)
	cmd := exec.CommandContext(limited, "git", append(baseArgs(), c.args...)...)
	env := r.neutral
	if c.own {
		env = r.own
	}
	cmd.Dir, cmd.Stdin, cmd.Env = r.cwd, c.stdin, append(env[:len(env):len(env)], c.env...)
	p := &process{
		cmd: cmd, args: c.args, ctx: limited, parent: ctx, cancel: cancel,
		hide: c.hide, timeout: r.timeout, stderr: &tail{}, done: make(chan struct{}),
	}
	cmd.Stderr, cmd.WaitDelay = p.stderr, graceKill
	ownGroup(cmd)
	out, err := cmd.StdoutPipe()
	if err == nil {
		p.out = out
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		// Of a folder that is not there, the system says that git is not.
		if _, gone := os.Stat(cmd.Dir); gone != nil {
			err = gone
		}
		return nil, &Error{Args: c.args, Code: -1, Err: err}
	}
	if c.diff {
		limitMemory(cmd.Process.Pid)
	}
	context.AfterFunc(limited, p.afterCancel)
	return p, nil
}

// mayBeUsed reports whether a process is well and has at least half of its time
// left.
func (p *process) mayBeUsed() bool {
	end, limited := p.ctx.Deadline()
	return p.ctx.Err() == nil && (!limited || time.Until(end) > p.timeout/2)
}

// afterCancel ends what did not end by SIGTERM: a reader of its output would
// wait for ever.
func (p *process) afterCancel() {
	select {
	case <-p.done:
	case <-time.After(graceKill):
		killGroup(p.cmd)
		_ = p.out.Close()
	}
}

// wait ends a process whose output was read.
func (p *process) wait() error {
	// Whatever is left unread would block git for ever.
	_, copyErr := io.Copy(io.Discard, p.out)
	err := p.cmd.Wait()
	late := p.ctx.Err()
	close(p.done)
	p.cancel()
	if err == nil {
		err = copyErr
	}
	if err == nil {
		return nil
	}
	var exit *exec.ExitError
	code := -1
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	}
	switch {
	case p.parent.Err() != nil:
		err = p.parent.Err()
	case late != nil:
		err = fmt.Errorf("no answer within %s: %w", p.timeout, late)
	}
	return &Error{Args: p.args, Code: code, Stderr: blank(p.stderr.String(), p.hide), Err: err}
}

// kill ends a process whose answer nobody wants any more.
func (p *process) kill() {
	p.cancel()
	_, _ = io.Copy(io.Discard, p.out)
	_ = p.cmd.Wait()
	close(p.done)
}

func blank(text string, hide []string) string {
	for _, h := range hide {
		text = strings.ReplaceAll(text, h, "***")
	}
	return text
}

// tail keeps the end of what is written to it: git says the cause last.
type tail struct{ buf []byte }

func (t *tail) Write(b []byte) (int, error) {
	t.buf = append(t.buf, b...)
	if over := len(t.buf) - maxStderr; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(b), nil
}

func (t *tail) String() string { return string(t.buf) }
