package hook

import (
	"context"
	"fmt"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/internal/exit"
)

// Where install keeps the host, the watcher, and whether arrivals are queued, in
// the repository's own configuration: nothing a pusher sets reaches it.
const (
	keyHost    = "nav.host"
	keyWatcher = "nav.watcher"
	keyQueue   = "nav.queue"
)

// Settings reads the repository's own configuration.
type Settings interface {
	Config(ctx context.Context, keys ...string) (map[string][]string, error)
}

// Options are what install wrote down. A hook that serves many repositories
// (install --global) gets them on its command line; what stands in the
// configuration of a repository comes first.
type Options struct {
	Host, Watcher string
	NoQueue       bool // post-receive writes nothing, the watcher adopts by walking
}

// over is o with what the repository's configuration says put above it.
func (o Options) over(ctx context.Context, s Settings) (Options, error) {
	conf, err := s.Config(ctx, keyHost, keyWatcher, keyQueue)
	if err != nil {
		return o, err
	}
	if host := lastOf(conf[keyHost]); host != "" {
		o.Host = host
	}
	if watcher := lastOf(conf[keyWatcher]); watcher != "" {
		o.Watcher = watcher
	}
	switch queue := strings.ToLower(lastOf(conf[keyQueue])); queue { // git-config(1), boolean
	case "":
	case "true", "yes", "on", "1":
		o.NoQueue = false
	case "false", "no", "off", "0":
		o.NoQueue = true
	default:
		return o, exit.Usagef("%s is %q, neither true nor false", keyQueue, queue)
	}
	return o, nil
}

// Identity is whom the host vouches for (design, section 8). An empty User is
// nobody: not allowed anything, and never equal to a watcher.
type Identity struct{ Host, User, Watcher string }

// stranger says that the watcher is no user of this machine, where such a user is
// who pushes. It is no error: a directory may be away, or not be asked for users
// that nobody logged in as.
func stranger(ctx context.Context, knows func(context.Context, string) bool, o Options) (why, hint string) {
	if o.Host != hostPlain || o.Watcher == "" || knows == nil || knows(ctx, o.Watcher) {
		return "", ""
	}
	return fmt.Sprintf("this machine knows no user %q, so nobody may be able to push refs/notes/nav/verdicts", o.Watcher),
		"make the user, or name the one as whom navwatchd pushes: navhook install --watcher NAME REPO"
}

// IsWatcher reports whether the pusher is the watcher.
func (i Identity) IsWatcher() bool { return i.User != "" && i.User == i.Watcher }

func (i Identity) String() string {
	if i.User == "" {
		return "nobody whom this host vouches for"
	}
	return fmt.Sprintf("%+q", i.User) // in ASCII: a letter that looks like another is another person
}

// maxUser bounds the name of a user, in characters.
const maxUser = 255

// vouched is the user for whom the host vouches, by that host's own variable and
// no other: GL_USER says nothing on Gitea. On a plain host it is the operating
// system's user who runs the hook; no host written down: nobody.
func vouched(host string, getenv func(string) string, user func() (string, error)) (string, error) {
	name := ""
	switch host {
	case "":
		return "", nil
	case hostPlain:
		name, err := user()
		if err != nil {
			return "", fmt.Errorf("asking who pushes: %w", err)
		}
		return name, nil
	case hostGitea:
		// Of a deploy key Gitea says that the owner of the repository pushes
		// (routers/private/serv.go), whoever holds it.
		if key := getenv("GITEA_DEPLOY_KEY_ID"); key != "" && key != "0" {
			return "", nil
		}
		name = getenv("GITEA_PUSHER_NAME")
	case hostGitLab:
		name = getenv("GL_USERNAME")
	case hostGitolite:
		name = getenv("GL_USER")
	case hostHTTP:
		name = getenv("REMOTE_USER")
	default:
		return "", exit.Hint(fmt.Errorf("asking who pushes: %w", checkHost(host)), "on the server: navhook install --host HOST REPO")
	}
	if exit.Line(name, maxUser) != name {
		return "", fmt.Errorf("asking who pushes: the host says %q, which is no name", exit.Line(name, maxUser))
	}
	return name, nil
}

// lastOf is the value that counts for git: the last one.
func lastOf(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}
