//go:build !linux

package gitstore

// limitMemory does nothing here: the time-out is the only bound.
func limitMemory(int) {}
