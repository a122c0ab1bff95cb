package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
)

// memory keeps, in a file of the server's repository, where the manifests of
// Applications were found, so that a push need not search a whole tree. It holds
// nothing that a search would not find again, and whoever can write there can
// change the hooks themselves.
type memory struct{ file string }

const (
	memoryName    = "nav-manifests"
	memoryVersion = "nav-manifests 1"
	maxMemory     = 16 << 20 // bytes
)

func memoryIn(commonDir string) memory { return memory{filepath.Join(commonDir, memoryName)} }

// Recall reads what Keep wrote; a file that is cut off, or of another version,
// is none.
func (m memory) Recall() (commit string, files map[string]string, ok bool) {
	f, err := os.Open(m.file)
	if err != nil {
		return "", nil, false
	}
	defer f.Close() //nolint:errcheck // it was only read
	data, err := io.ReadAll(io.LimitReader(f, maxMemory))
	fields := strings.Split(string(data), "\x00")
	if err != nil || len(fields) < 3 || len(fields)%2 == 0 || fields[0] != memoryVersion || fields[len(fields)-1] != "" {
		return "", nil, false
	}
	files = make(map[string]string, len(fields)/2)
	for i := 2; i+1 < len(fields); i += 2 {
		files[fields[i]] = fields[i+1]
	}
	return fields[1], files, true
}

// Keep replaces the file. What cannot be kept is searched again.
func (m memory) Keep(commit string, files map[string]string) {
	var b strings.Builder
	b.WriteString(memoryVersion + "\x00" + commit + "\x00")
	for path, id := range files {
		b.WriteString(path + "\x00" + id + "\x00")
	}
	if b.Len() > maxMemory {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(m.file), memoryName)
	if err != nil {
		return
	}
	_, err = f.WriteString(b.String())
	if err == nil {
		err = f.Chmod(0o644) // whoever pushes as somebody else reads it, too
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), m.file)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // it is only in the way
	}
}

func (m memory) forget() error {
	if err := os.Remove(m.file); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}
