package hook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/nav-watchdog/nav-watchdog/hooks"
	"github.com/nav-watchdog/nav-watchdog/internal/exit"
)

// Undo takes back what Run did: shims of every layout are removed, a hook that
// was chained is put back in its place, and the settings are removed. What is
// not ours stays. With Clone, that is the hook and the settings of a clone.
func (in Install) Undo(ctx context.Context) error {
	if in.Watcher != "" || in.NoQueue != nil || in.Specific {
		return exit.Usagef("--uninstall takes all of it back: --watcher, --no-queue and --repo-specific say nothing with it")
	}
	if in.Global != "" {
		return in.undoGlobal()
	}
	if in.Clone {
		if bare, err := in.Home.Bare(ctx); err != nil || bare {
			return cmp.Or(err, exit.Usagef("--clone is for a clone, this is a bare repository"))
		}
	}
	dir, err := in.Home.HooksDir(ctx, in.Clone)
	if err != nil {
		return err
	}
	places, settings := in.all(dir), []setting{{keyHost, ""}, {keyWatcher, ""}, {keyQueue, ""}}
	if in.Clone {
		places = placesOf("", "", dir, hooks.Clone())
		settings = []setting{{keyFetch, notesRefspec}, {keyDisplay, shownNotes}}
	}
	for _, p := range places {
		if in.Clone || in.inside(p.path) {
			err = in.takeBack(p)
		} else {
			in.leave(p)
		}
		if err != nil {
			return err
		}
	}
	return in.unset(ctx, settings)
}

func (in Install) undoGlobal() error {
	dir, err := in.globalDir()
	if err != nil {
		return err
	}
	for _, host := range []string{hostGitLab, hostGitolite} {
		if in.Host != "" && in.Host != host {
			continue
		}
		places := globalPlaces(host, dir, false, hooks.Server())
		if host == hostGitolite {
			places = append(places, globalPlaces(host, dir, true, hooks.Server())...)
		}
		for _, p := range places {
			if err := in.takeBack(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// all are the places of every layout of the repository.
func (in Install) all(plain string) []place {
	var places []place
	for _, host := range []string{hostPlain, hostGitea, hostGitLab} {
		places = append(places, placesOf(host, in.Home.Dir(), plain, hooks.Server())...)
	}
	return places
}

// inside tells a place that belongs to this repository alone: core.hooksPath may
// name a folder that many repositories share.
func (in Install) inside(path string) bool {
	dir := in.Home.Dir()
	// Linked worktrees have one folder of hooks together (gitrepository-layout(5)).
	if data, err := os.ReadFile(filepath.Join(dir, "commondir")); err == nil {
		common := strings.TrimSuffix(string(data), "\n")
		if !filepath.IsAbs(common) {
			common = filepath.Join(dir, common)
		}
		dir = common
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// leave tells of a hook that may be other repositories' as well.
func (in Install) leave(p place) {
	if content, err := os.ReadFile(p.path); err == nil && hooks.Ours(content) {
		in.say("%s: left where it is, because other repositories may run it, too: remove it by hand if none does", p.path)
	}
}

// strays takes back the shims that stand in the layout of another host.
func (in Install) strays(places []place, plain string) error {
	for _, p := range in.all(plain) {
		if !slices.Contains(places, p) && in.inside(p.path) {
			if err := in.takeBack(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// takeBack removes a shim of ours, of whatever version, and puts back the hook
// that it ran first. The rename leaves no moment without that hook.
func (in Install) takeBack(p place) error {
	info, err := os.Lstat(p.path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return nil
	case err != nil:
		return fmt.Errorf("looking at the hook that is there: %w", err)
	case linkToOurs(p.path, info):
		in.say("%s: left, a link to a hook of ours: --uninstall --global removes that one", p.path)
		return nil
	case !info.Mode().IsRegular():
		return nil
	}
	content, err := os.ReadFile(p.path)
	if err != nil {
		return fmt.Errorf("reading the hook that is there: %w", err)
	}
	if !hooks.Ours(content) {
		return nil
	}
	did := "removed"
	_, err = os.Lstat(p.path + hooks.Chained)
	if err == nil && !p.crowd {
		did, err = "the hook that was chained is back", os.Rename(p.path+hooks.Chained, p.path)
	} else {
		err = os.Remove(p.path)
	}
	if err != nil {
		return fmt.Errorf("taking back %s: %w", p.path, err)
	}
	in.say("%s: %s", p.path, did)
	return nil
}

// setting is a value to be removed; value "" is all values of the key.
type setting struct{ key, value string }

func (in Install) unset(ctx context.Context, settings []setting) error {
	for _, s := range settings {
		have, err := in.Home.Config(ctx, s.key)
		if err != nil {
			return err
		}
		var gone []string
		for _, v := range have[s.key] {
			if (s.value == "" || s.value == v) && !slices.Contains(gone, v) {
				gone = append(gone, v)
			}
		}
		for _, v := range gone {
			if err := in.Home.UnsetConfig(ctx, s.key, v); err != nil {
				return err
			}
		}
		if len(gone) > 0 {
			in.say("%s: removed (%s)", s.key, strings.Join(gone, ", "))
		}
	}
	return nil
}
