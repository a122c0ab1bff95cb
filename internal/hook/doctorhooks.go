package hook

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/hooks"
)

// server looks at the hooks of a repository that is pushed to, and at what
// install wrote down.
func (d Doctor) server(ctx context.Context) error {
	conf, err := d.Repo.Config(ctx, keyHost)
	if err != nil {
		return err
	}
	plain, err := d.Repo.HooksDir(ctx, false)
	if err != nil {
		return err
	}
	host := lastOf(conf[keyHost])
	var shims Options // of a global install
	for _, name := range hooks.Server() {
		o, found := d.hook(ctx, name, plain, host)
		if found {
			shims = o
		}
	}
	o, err := shims.over(ctx, d.Repo)
	if err != nil {
		d.bad("git config "+keyQueue+" true, or false where refs that a hook writes are not replicated", "%v", err)
	}
	d.options(ctx, o)
	if o.Host == hostGitea || o.Host == hostGitolite {
		d.hostHooks(o.Host, plain)
	}
	return d.writers(ctx, o)
}

// hook looks at one hook of the server, wherever it is.
func (d Doctor) hook(ctx context.Context, name, plain, host string) (o Options, found bool) {
	here := d.candidates(name, plain, host)
	var ours []place
	for _, p := range here {
		if content, err := os.ReadFile(p.path); err == nil && hooks.Ours(content) {
			ours = append(ours, p)
		}
	}
	if len(ours) == 0 {
		d.bad("navhook install --host HOST REPO", "%s: no hook of ours, so %s", here[0].path, withoutHook(name))
		return o, false
	}
	if len(ours) > 1 {
		d.bad("navhook install --uninstall takes back what is in this repository", "%s: runs %d times: %s", name, len(ours), paths(ours))
	}
	for _, p := range ours {
		if !d.runsHere(host, p, plain) {
			d.bad("navhook install --host "+host+" REPO", "%s: that is not where %s looks for hooks", p.path, host)
		}
		if got, ok := d.shim(ctx, p); ok {
			o, found = got, true
		}
	}
	return o, found
}

func withoutHook(name string) string {
	if name == "pre-receive" {
		return "nothing is refused, and whoever may push may write the verdicts"
	}
	return "nothing is queued"
}

// candidates are all places where the hook could be, the host's own first.
func (d Doctor) candidates(name, plain, host string) []place {
	one := []string{name}
	places := placesOf(host, d.Repo.Dir(), plain, one)
	for _, h := range []string{hostPlain, hostGitea, hostGitLab} {
		if p := placesOf(h, d.Repo.Dir(), plain, one)[0]; p != places[0] {
			places = append(places, p)
		}
	}
	if d.Global != "" {
		places = append(places, globalPlaces(hostGitLab, d.Global, false, one)...)
	}
	return places
}

// runsHere tells whether the host runs what is at a place.
func (d Doctor) runsHere(host string, p place, plain string) bool {
	if host == "" || (host == hostGitLab && d.Global != "" && p == globalPlaces(host, d.Global, false, []string{p.hook})[0]) {
		return true
	}
	return p == placesOf(host, d.Repo.Dir(), plain, []string{p.hook})[0]
}

func paths(places []place) string {
	names := make([]string, len(places))
	for i, p := range places {
		names[i] = p.path
	}
	return strings.Join(names, ", ")
}

// shim looks at one script of ours and at the program that it runs.
func (d Doctor) shim(ctx context.Context, p place) (o Options, ok bool) {
	content, err := os.ReadFile(p.path)
	if err != nil {
		d.bad("", "%s: %v", p.path, err)
		return o, false
	}
	command, options, current := hooks.Words(p.hook, content)
	if !current {
		d.bad("navhook install writes it anew", "%s: not as this version of navhook writes it", p.path)
		return o, false
	}
	if !executable(p.path) {
		d.bad("chmod 755 "+p.path, "%s: not executable, so it is not run", p.path)
	} else {
		d.ok("%s", p.path)
	}
	d.chained(p)
	if said, err := d.Program(ctx, command[0]); err != nil {
		d.bad("put navhook there again, or run navhook install from where it is now", "%s: %s does not run: %v", p.hook, command[0], err)
	} else {
		d.ok("%s: runs %s (%s)", p.hook, command[0], said)
	}
	return parseOptions(options), true
}

func (d Doctor) chained(p place) {
	path := p.path + hooks.Chained
	switch _, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case p.crowd:
		d.bad("give it another name", "%s: in this folder the host runs it, and so does our hook", path)
	case executable(path):
		d.ok("%s: runs first", path)
	default:
		d.note("%s: is kept, but not executable, so it is not run", path)
	}
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

// hostHooks looks at the host's own scripts on which ours, or access, depend.
func (d Doctor) hostHooks(host, plain string) {
	own := filepath.Join(d.Repo.Dir(), "hooks")
	if host == hostGitolite {
		if !executable(filepath.Join(plain, "update")) {
			d.bad("gitolite setup --hooks-only", "%s: gitolite's own hook is missing, so nobody controls access", filepath.Join(plain, "update"))
		}
		return
	}
	if plain != own {
		d.bad("unset core.hooksPath", "core.hooksPath is %s, so the hooks of Gitea in %s are not run", plain, own)
	}
	for _, name := range hooks.Server() {
		if odd := delegates(d.Repo.Dir(), name); odd != "" {
			d.bad("regenerate Gitea's hooks: site administration, or gitea doctor check --run hooks --fix", "%s", odd)
		}
	}
}

// delegates says what is wrong with Gitea's generated script, which runs the
// folder NAME.d (modules/gitrepo/hooks.go); "" if nothing.
func delegates(dir, name string) string {
	path := filepath.Join(dir, "hooks", name)
	content, err := os.ReadFile(path)
	switch {
	case err != nil:
		return fmt.Sprintf("%s: Gitea's own hook cannot be read: %v", path, err)
	case !executable(path):
		return path + ": Gitea's own hook is not executable"
	case !strings.Contains(string(content), ".d/"):
		return path + ": not Gitea's own hook, it does not run " + name + ".d"
	}
	return ""
}
