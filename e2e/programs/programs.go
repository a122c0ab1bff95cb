// Package programs builds the product's three programs, as a release does.
package programs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Programs are the built programs.
type Programs struct{ Hook, Lint, Watchd string }

// Build builds them into a folder. NAV_E2E_PROGRAMS names a folder of programs
// that are taken instead, to try a release.
func Build(ctx context.Context, dir string) (Programs, error) {
	made := os.Getenv("NAV_E2E_PROGRAMS")
	if made != "" {
		dir = made
	}
	p := Programs{Hook: filepath.Join(dir, "navhook"), Lint: filepath.Join(dir, "navlint"), Watchd: filepath.Join(dir, "navwatchd")}
	if made != "" {
		return p, nil
	}
	root, err := Root(ctx)
	if err != nil {
		return p, err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-X main.version=v0.0.0-e2e", "-o", dir+"/",
		"./cmd/navhook", "./cmd/navlint", "./cmd/navwatchd")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return p, fmt.Errorf("building the programs: %w\n%s", err, out)
	}
	return p, nil
}

// Root is the folder of the product's module.
func Root(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/nav-watchdog/nav-watchdog").Output()
	if err != nil {
		return "", fmt.Errorf("looking for the product: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// Parts is the folder of the parts that build.sh made, and what of them is
// missing.
func Parts(names ...string) (bin string, missing []string) {
	cache := os.Getenv("NAV_E2E_CACHE")
	if cache == "" {
		home, _ := os.UserHomeDir()
		cache = filepath.Join(home, ".cache", "nav-watchdog-e2e")
	}
	bin = filepath.Join(cache, "bin")
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(bin, name)); err != nil {
			missing = append(missing, name)
		}
	}
	return bin, missing
}
