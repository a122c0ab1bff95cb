package hook

import (
	"context"
	"os"
	"slices"
	"strings"
)

// options looks at what install wrote down.
func (d Doctor) options(ctx context.Context, o Options) {
	const again = "navhook install --host HOST --watcher NAME REPO"
	switch err := checkHost(o.Host); {
	case o.Host == "":
		d.bad(again, "%s is not set: nobody is vouched for, so nobody can arm but by \"*\", and nobody may write verdicts", keyHost)
	case err != nil:
		d.bad(again, "%s: %v", keyHost, err)
	default:
		d.ok("host: %s, which vouches by %s", o.Host, vouchesBy(o.Host))
	}
	if o.Watcher == "" {
		d.bad(again, "%s is not set: nobody may push refs/notes/nav/verdicts", keyWatcher)
	} else {
		d.ok("watcher: %q", o.Watcher)
	}
	if why, hint := stranger(ctx, d.Knows, o); why != "" {
		d.note("%s\nhint: %s", why, hint)
	}
	if o.NoQueue {
		d.note("nothing is queued: the watcher finds what arrives by walking the branches")
	}
}

func vouchesBy(host string) string {
	switch host {
	case hostGitea:
		return "GITEA_PUSHER_NAME"
	case hostGitLab:
		return "GL_USERNAME"
	case hostGitolite:
		return "GL_USER"
	case hostHTTP:
		return "REMOTE_USER"
	default:
		return "the operating system's user"
	}
}

// writers tells who else could write the notes: whoever can write the files of
// the repository needs no push, and can start git with any environment.
func (d Doctor) writers(ctx context.Context, o Options) error {
	const key = "core.sharedRepository"
	conf, err := d.Repo.UserConfig(ctx, key)
	if err != nil {
		return err
	}
	shared := strings.ToLower(lastOf(conf[key]))
	info, err := os.Stat(d.Repo.Dir())
	if err != nil {
		return err
	}
	open := info.Mode().Perm()&0o002 != 0 || !slices.Contains([]string{"", "umask", "false", "0", "no", "off"}, shared)
	switch {
	case !open:
		d.ok("who writes the notes: by a push, as the hook lets them; past it, only who owns the files")
	case o.Host == hostPlain || o.Host == "":
		d.note("who writes the notes: whoever can write the files of this repository (it is shared), past every hook: arm only where they are trusted")
	default:
		d.bad("let only the user of the server write them (core.sharedRepository, chmod o-w)",
			"who writes the notes: others can write the files of this repository, and could say themselves who pushes (%s)", vouchesBy(o.Host))
	}
	return nil
}

// receiving looks at the settings of receive-pack and upload-pack as git reads
// them for the user who runs this.
func (d Doctor) receiving(ctx context.Context) error {
	const atomic, current, smart = "receive.advertiseAtomic", "receive.denyCurrentBranch", "http.receivepack"
	hiding := []string{"transfer.hideRefs", "receive.hideRefs", "uploadpack.hideRefs"}
	conf, err := d.Repo.UserConfig(ctx, append([]string{atomic, current, smart}, hiding...)...)
	if err != nil {
		return err
	}
	if no(conf[atomic]) {
		d.bad("git config "+atomic+" true", "%s is false: a revert and its verdict cannot be pushed together, so there are no reverts", atomic)
	} else {
		d.ok("atomic pushes are offered")
	}
	for _, ref := range []string{watchesRef, statusRef, peopleRef, shownNotes} {
		for _, key := range hiding[1:] {
			if hidden(append(slices.Clone(conf[hiding[0]]), conf[key]...), ref) {
				d.bad("take it out of transfer.hideRefs and "+key, "%s is hidden (%s)", ref, key)
			}
		}
	}
	if no(conf[smart]) {
		d.bad("git config "+smart+" true", "%s is false: nobody can push over HTTP", smart)
	}
	bare, err := d.Repo.Bare(ctx)
	if err != nil || bare {
		return err
	}
	if v := strings.ToLower(lastOf(conf[current])); !slices.Contains([]string{"ignore", "warn", "updateinstead", "false", "no", "off", "0"}, v) {
		d.bad("make it bare", "this repository has a work tree: no push moves its checked out branch (%s)", current)
	}
	return nil
}

// no tells git's ways to say false; what is not set is not false.
func no(values []string) bool {
	return len(values) > 0 && slices.Contains([]string{"false", "no", "off", "0"}, strings.ToLower(lastOf(values)))
}

// hidden is git's ref_is_hidden: the last pattern that fits decides, "!" turns
// it around.
func hidden(patterns []string, ref string) bool {
	for _, p := range slices.Backward(patterns) {
		p, shown := strings.CutPrefix(p, "!")
		p = strings.TrimRight(strings.TrimPrefix(p, "^"), "/")
		if rest, fits := strings.CutPrefix(ref, p); fits && (rest == "" || rest[0] == '/') {
			return !shown
		}
	}
	return false
}
