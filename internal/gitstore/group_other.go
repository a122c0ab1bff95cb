//go:build !unix

package gitstore

import "os/exec"

// Without process groups a time-out ends git alone.
func ownGroup(*exec.Cmd) {}

func killGroup(*exec.Cmd) {}
