//go:build !unix

package main

import "errors"

// replace: only Unix can put another program into a process.
func replace(string, []string, []string) error {
	return errors.New("this system cannot start a program in place")
}
