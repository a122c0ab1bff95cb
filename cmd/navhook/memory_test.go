package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m := memoryIn(dir)
	if _, _, ok := m.Recall(); ok {
		t.Error("something is remembered of nothing")
	}
	for _, files := range []map[string]string{{"a\nb": "1", "c": "2"}, {}} {
		m.Keep("commit", files)
		commit, got, ok := m.Recall()
		if diff := cmp.Diff(files, got); diff != "" || commit != "commit" || !ok {
			t.Errorf("%s, %v: %s", commit, ok, diff)
		}
	}
	if left, err := filepath.Glob(dir + "/*"); err != nil || len(left) != 1 {
		t.Errorf("%q, %v", left, err)
	}
	for _, bad := range []string{"", "x", memoryVersion + "\x00commit\x00path\x00", memoryVersion + "\x00commit\x00path\x00id", "nav-manifests 2\x00commit\x00", memoryVersion} {
		if err := os.WriteFile(m.file, []byte(bad), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, files, ok := m.Recall(); ok {
			t.Errorf("%q is remembered as %q", bad, files)
		}
	}
	if err := m.forget(); err != nil {
		t.Error(err)
	}
	if err := m.forget(); err != nil {
		t.Error(err)
	}
	memoryIn(filepath.Join(dir, "nosuch")).Keep("commit", nil) // cannot, and says nothing
}
