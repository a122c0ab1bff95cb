// Package process runs the real programs of the end-to-end tests.
package process

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Process is one program. It can be stopped and started again.
type Process struct {
	Name string
	Bin  string
	Args []string
	Env  []string // added to the environment of the tests, unless Alone
	// Alone lets the program have Env and nothing else.
	Alone bool
	Dir   string
	Log   string // a file; appended to

	mu   sync.Mutex
	cmd  *exec.Cmd
	done chan struct{}
}

// nice is the scheduling priority of all programs: tests that run beside them
// must not wait for them.
const nice = 19

// Start starts it, and returns at once.
func (p *Process) Start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	out, err := os.OpenFile(p.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("opening the log of %s: %w", p.Name, err)
	}
	cmd := exec.Command(p.Bin, p.Args...)
	cmd.Dir = p.Dir
	cmd.Env = p.Env
	if !p.Alone {
		cmd.Env = append(os.Environ(), p.Env...)
	}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := cmd.Start(); err != nil {
		_ = out.Close()
		return fmt.Errorf("starting %s: %w", p.Name, err)
	}
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, cmd.Process.Pid, nice)
	done := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		_ = out.Close()
		close(done)
	}()
	p.cmd, p.done = cmd, done
	return nil
}

// Stop asks it, and all that it started, to end, and then makes it.
func (p *Process) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return
	}
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(5 * time.Second):
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
		<-p.done
	}
	p.cmd = nil
}

// Kill ends the program itself with SIGKILL, and leaves alone what it started:
// as a machine that runs out of memory does.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Kill()
	<-p.done
	p.cmd = nil
}

// Done is closed when the program ended. It must have been started.
func (p *Process) Done() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.done
}

// Running reports whether the process is there; a program that ended by itself
// is an error that its log explains.
func (p *Process) Running() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.done:
		return fmt.Errorf("%s ended (%s); see %s", p.Name, p.cmd.ProcessState, p.Log)
	default:
		return nil
	}
}

// Await polls until ok says nil, and watches that the program lives.
func (p *Process) Await(ctx context.Context, ok func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	for {
		err := ok(ctx)
		if err == nil {
			return nil
		}
		if dead := p.Running(); dead != nil {
			return dead
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", p.Name, err)
		case <-time.After(300 * time.Millisecond):
		}
	}
}

// Port is a TCP port on 127.0.0.1 that nobody listens on.
func Port() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("looking for a port: %w", err)
	}
	defer l.Close() //nolint:errcheck // nobody connected
	return l.Addr().(*net.TCPAddr).Port, nil
}
