package hook

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/hooks"
	"github.com/nav-watchdog/nav-watchdog/internal/exit"
)

// Home is the repository whose hooks are installed.
type Home interface {
	// Dir is the git directory, absolute.
	Dir() string
	Bare(ctx context.Context) (bool, error)
	// HooksDir is absolute and is where git looks, so core.hooksPath counts: for
	// the hooks of a push, or for those that run in a work tree.
	HooksDir(ctx context.Context, atWorkTree bool) (string, error)
	// Config returns all values of the keys in the repository's own
	// configuration, system and user left out.
	Config(ctx context.Context, keys ...string) (map[string][]string, error)
	SetConfig(ctx context.Context, key, value string) error // replaces
	AddConfig(ctx context.Context, key, value string) error
	UnsetConfig(ctx context.Context, key, value string) error // that value only, wherever it stands
}

// Install puts the shims in place, in the host's own layout. Doing it twice
// changes nothing.
type Install struct {
	Home    Home // nil with Global
	Out     io.Writer
	Command []string // what the shims run: an absolute path and leading arguments
	Clone   bool     // a developer's clone: commit-msg, and notes are fetched and shown
	Host    string   // one of Hosts; "": as it was, at first plain
	Watcher string   // who may push refs/notes/nav/*; "": as it was, at first nobody
	// Knows reports whether the machine knows a user of that name; nil: nobody is asked.
	Knows   func(ctx context.Context, name string) bool
	NoQueue *bool // post-receive only prints; nil: as it was, at first it queues
	// Global is a folder for all repositories of a host: GitLab's
	// custom_hooks_dir, or gitolite's LOCAL_CODE.
	Global   string
	Specific bool // of LOCAL_CODE, hooks/repo-specific instead of hooks/common
}

// Run installs. A hook that is there already is kept as NAME.chained and runs
// first; one that cannot be kept is an error and nothing is changed. Shims that
// an earlier install put into another host's layout are taken back.
func (in Install) Run(ctx context.Context) error {
	if err := in.check(); err != nil {
		return err
	}
	if in.Global != "" {
		return in.global()
	}
	bare, err := in.Home.Bare(ctx)
	if err != nil {
		return err
	}
	if in.Clone {
		return in.clone(ctx, bare)
	}
	return in.server(ctx, bare)
}

// check refuses what does not belong together.
func (in Install) check() error {
	switch {
	case in.Clone && in.Watcher != "":
		return exit.Usagef("--watcher belongs on the server, not in a clone")
	case in.Clone && (in.Host != "" || in.NoQueue != nil || in.Global != ""):
		return exit.Usagef("--host, --no-queue and --global belong on the server, not in a clone")
	case in.Specific && (in.Global == "" || in.Host != hostGitolite):
		return exit.Usagef("--repo-specific is for --host gitolite --global LOCAL_CODE")
	case in.Watcher != exit.Line(in.Watcher, maxUser):
		return exit.Usagef("%q is no name of a user", exit.Line(in.Watcher, maxUser))
	case in.Host != "":
		if err := checkHost(in.Host); err != nil {
			return err
		}
	}
	if in.Global != "" && in.Host != hostGitLab && in.Host != hostGitolite {
		return exit.Hint(exit.Usagef("--global is for --host gitlab (its custom_hooks_dir) and --host gitolite (its LOCAL_CODE)"),
			"Gitea has no such folder: install for each repository")
	}
	return nil
}

func (in Install) clone(ctx context.Context, bare bool) error {
	if bare {
		return exit.Hint(exit.Usagef("--clone is for a clone, this is a bare repository"),
			"without --clone, the hooks of a server are installed")
	}
	dir, err := in.Home.HooksDir(ctx, true)
	if err != nil {
		return err
	}
	if err := in.shims(placesOf("", "", dir, hooks.Clone()), nil); err != nil {
		return err
	}
	return in.fetchNotes(ctx)
}

func (in Install) server(ctx context.Context, bare bool) error {
	have, err := Options{}.over(ctx, in.Home)
	if err != nil {
		return err
	}
	want := have
	in.wish(&want)
	if err := checkHost(want.Host); err != nil {
		return err
	}
	if !bare && (want.Host == hostGitea || want.Host == hostGitLab) {
		return exit.Usagef("the repositories of %s are bare, this one has a work tree", want.Host)
	}
	plain, err := in.Home.HooksDir(ctx, false)
	if err != nil {
		return err
	}
	places := placesOf(want.Host, in.Home.Dir(), plain, hooks.Server())
	if err := in.shims(places, nil); err != nil {
		return err
	}
	if err := in.strays(places, plain); err != nil {
		return err
	}
	if !bare {
		in.say("this repository has a work tree; --clone would install the hook of a developer's clone")
	}
	if want.Host == hostGitea {
		for _, name := range hooks.Server() {
			if odd := delegates(in.Home.Dir(), name); odd != "" {
				in.say("%s, so Gitea will not run ours: regenerate Gitea's hooks (site administration, or gitea doctor check --run hooks --fix)", odd)
			}
		}
	}
	return in.settings(ctx, have, want)
}

// wish puts what was asked for in the place of what was there.
func (in Install) wish(o *Options) {
	if in.Host != "" {
		o.Host = in.Host
	}
	if o.Host == "" {
		o.Host = hostPlain
	}
	if in.Watcher != "" {
		o.Watcher = in.Watcher
	}
	if in.NoQueue != nil {
		o.NoQueue = *in.NoQueue
	}
}

// shims checks every hook before it touches one.
func (in Install) shims(places []place, options []string) error {
	files := make([]hookFile, len(places))
	for i, p := range places {
		// Of a place with a name of its own, the hook is still the same.
		shim, err := hooks.Shim(p.hook, in.Command, options...)
		if err != nil {
			return fmt.Errorf("making the %s hook: %w", p.hook, err)
		}
		if files[i], err = inspect(p, shim); err != nil {
			return err
		}
	}
	for _, f := range files {
		if err := os.MkdirAll(filepath.Dir(f.path), 0o777); err != nil {
			return fmt.Errorf("making the hooks directory: %w", err)
		}
		did, err := f.install()
		if err != nil {
			return fmt.Errorf("installing %s: %w", f.path, err)
		}
		in.say("%s: %s", f.path, did)
	}
	return nil
}

func (in Install) settings(ctx context.Context, have, want Options) error {
	for _, s := range []struct{ key, have, want string }{
		{keyHost, have.Host, want.Host},
		{keyWatcher, have.Watcher, want.Watcher},
		{keyQueue, strconv.FormatBool(!have.NoQueue), strconv.FormatBool(!want.NoQueue)},
	} {
		if s.have == s.want {
			continue
		}
		if err := in.Home.SetConfig(ctx, s.key, s.want); err != nil {
			return err
		}
	}
	in.tellOptions(want)
	if why, hint := stranger(ctx, in.Knows, want); why != "" {
		in.say("warning: %s\n  hint: %s", why, hint)
	}
	return nil
}

func (in Install) tellOptions(o Options) {
	if o.Watcher == "" {
		in.say("no watcher is named, so nobody can push refs/notes/nav/verdicts: --watcher NAME names the user it runs as")
	} else {
		in.say("the watcher is %q, as user of this host (%s)", o.Watcher, o.Host)
	}
	if o.NoQueue {
		in.say("nothing is queued: the watcher finds what arrives by walking the branches, and does not know who pushed it;\n" +
			"  so an armed commit is held, unless the policy allows \"*\"")
	}
}

// global installs for all repositories of a host. The options stand in the shims,
// because no repository is at hand whose configuration could hold them.
func (in Install) global() error {
	dir, err := in.globalDir()
	if err != nil {
		return err
	}
	places := globalPlaces(in.Host, dir, in.Specific, hooks.Server())
	var want Options
	for _, p := range places {
		if content, err := os.ReadFile(p.path); err == nil {
			if _, words, ok := hooks.Words(p.hook, content); ok {
				want = parseOptions(words)
			}
		}
	}
	in.wish(&want)
	if err := in.shims(places, want.words()); err != nil {
		return err
	}
	in.tellOptions(want)
	switch {
	case in.Specific:
		for _, p := range places {
			in.say("in gitolite.conf, for the repositories that have it: option hook.%s = %s", p.hook, specificName(p.hook))
		}
		in.say("in .gitolite.rc: LOCAL_CODE, and 'repo-specific-hooks' in ENABLE")
	case in.Host == hostGitolite:
		in.say("gitolite setup --hooks-only links them into every repository")
	}
	return nil
}

func (in Install) globalDir() (string, error) {
	dir, err := filepath.Abs(in.Global)
	if err != nil {
		return "", fmt.Errorf("looking for --global: %w", err)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", exit.Usagef("--global %s is not a folder", in.Global)
	}
	return dir, nil
}

// words are the options on the command line of a hook.
func (o Options) words() []string {
	words := []string{"--host=" + o.Host}
	if o.Watcher != "" {
		words = append(words, "--watcher="+o.Watcher)
	}
	if o.NoQueue {
		words = append(words, "--no-queue")
	}
	return words
}

func parseOptions(words []string) Options {
	o := Options{NoQueue: slices.Contains(words, "--no-queue")}
	for _, w := range words {
		if v, ok := strings.CutPrefix(w, "--host="); ok {
			o.Host = v
		} else if v, ok := strings.CutPrefix(w, "--watcher="); ok {
			o.Watcher = v
		}
	}
	return o
}

func (in Install) say(format string, args ...any) {
	// What could not be printed does not undo what was installed.
	_, _ = fmt.Fprintln(in.Out, exit.Printable(fmt.Sprintf(format, args...)))
}
