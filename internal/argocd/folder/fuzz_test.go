package folder_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd/folder"
)

// FuzzRead: whatever stands in a file, reading ends, and an Application that
// comes out of it has a name.
func FuzzRead(f *testing.F) {
	f.Add([]byte(one("argocd", "web")))
	f.Add([]byte("kind: List\nitems:\n- &a {kind: Application}\n- *a\n"))
	f.Add([]byte(one("a", "b") + "x: &x [*x, 2020-01-01, 0x1F, ~, <<, !!binary aGk=]\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "a.yaml"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		apps, err := folder.New(dir).List(context.Background(), at)
		for _, a := range apps {
			if a.App().Name == "" {
				t.Errorf("an Application without a name (error %v)", err)
			}
		}
	})
}
