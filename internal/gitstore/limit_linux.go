package gitstore

import (
	"syscall"
	"unsafe"
)

// maxDiffMemory bounds the memory of a git that compares trees, in bytes. It
// gathers all differences of a commit before it writes the first: some hundred
// bytes each, and a few kilobytes that somebody pushes can be trees with a
// hundred million paths. Packs, which are mapped, do not count.
const maxDiffMemory = 512 << 20

// limitMemory bounds the heap of a process that was just started. Where that
// cannot be done, the time-out is the only bound.
func limitMemory(pid int) {
	const rlimitData = 2 // RLIMIT_DATA; since Linux 4.7 it counts all private memory
	limit := syscall.Rlimit{Cur: maxDiffMemory, Max: maxDiffMemory}
	_, _, _ = syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(pid), rlimitData, uintptr(unsafe.Pointer(&limit)), 0, 0, 0)
}
