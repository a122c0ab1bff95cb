//go:build unix

package gitstore

import (
	"os"
	"syscall"
)

// owner tells whether a folder belongs to the user of this process, and on
// which file system it is.
func owner(dir string) (mine bool, device uint64, ok bool) {
	info, err := os.Stat(dir)
	if err != nil {
		return false, 0, false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false, 0, false
	}
	return int(stat.Uid) == os.Geteuid(), uint64(stat.Dev), true // Dev has another type elsewhere
}
