//go:build unix

package main

import (
	"fmt"
	"syscall"
)

// replace makes this process the program at path, with the same arguments and
// environment. It returns only if that fails.
func replace(path string, args, environ []string) error {
	return fmt.Errorf("starting %s in place: %w", path, syscall.Exec(path, args, environ))
}
