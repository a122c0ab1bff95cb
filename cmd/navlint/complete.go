package main

import "github.com/nav-watchdog/nav-watchdog/internal/lint"

// flagValues are the words that a shell completes behind a flag.
func flagValues(command, flag string) []string {
	switch {
	case flag == "mode" && command == "manifests":
		return modes()
	case flag != "format":
		return nil
	case command == "message" || command == "commits" || command == "manifests":
		return lint.Formats()
	default:
		return plainFormats()
	}
}
