//go:build unix

package gitstore

import (
	"os/exec"
	"syscall"
)

// ownGroup puts git and what it starts (ssh, remote helpers, hooks) into a
// process group of their own, so that a time-out ends them all. SIGTERM first:
// git then removes its lock files.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
}

// killGroup ends what is left of the group of a process that was waited for.
func killGroup(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
}
