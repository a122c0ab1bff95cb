package cluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// process is one part of the cluster. It can be stopped and started again.
type process struct {
	name string
	bin  string
	args []string
	env  []string
	log  string

	mu   sync.Mutex
	cmd  *exec.Cmd
	done chan struct{}
}

// nice is the scheduling priority of all parts: tests that run beside them
// must not wait for them.
const nice = 19

func (p *process) start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("opening the log of %s: %w", p.name, err)
	}
	cmd := exec.Command(p.bin, p.args...)
	cmd.Env = append(os.Environ(), p.env...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := cmd.Start(); err != nil {
		_ = out.Close()
		return fmt.Errorf("starting %s: %w", p.name, err)
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

func (p *process) stop() {
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

// running reports whether the process is there; a part that ended by itself is
// an error that its log explains.
func (p *process) running() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.done:
		return fmt.Errorf("%s ended; see %s", p.name, p.log)
	default:
		return nil
	}
}

// add starts a process under a name; its log is NAME.log.
func (c *Cluster) add(name, bin string, args ...string) error {
	p := &process{
		name: name, bin: filepath.Join(c.o.Bin, bin), args: args,
		env: c.env, log: filepath.Join(c.o.Dir, name+".log"),
	}
	if filepath.IsAbs(bin) {
		p.bin = bin
	}
	if err := p.start(); err != nil {
		return err
	}
	c.order = append(c.order, name)
	c.parts[name] = p
	return nil
}

// await polls until ok says nil, and watches that the part lives.
func (c *Cluster) await(ctx context.Context, name string, ok func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	for {
		err := ok(ctx)
		if err == nil {
			return nil
		}
		if dead := c.parts[name].running(); dead != nil {
			return dead
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", name, err)
		case <-time.After(300 * time.Millisecond):
		}
	}
}
