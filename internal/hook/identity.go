package hook

import (
	"context"
	"fmt"

	"github.com/nav-watchdog/nav-watchdog/internal/exit"
)

// Where install keeps the host and the watcher, in the repository's own
// configuration: nothing a pusher sets reaches it.
const (
	keyHost    = "nav.host"
	keyWatcher = "nav.watcher"
	hostPlain  = "plain"
)

// Settings reads the repository's own configuration.
type Settings interface {
	Config(ctx context.Context, keys ...string) (map[string][]string, error)
}

// Identity is whom the host vouches for (design, section 8). An empty User is
// nobody: not allowed anything, and never equal to a watcher.
type Identity struct{ Host, User, Watcher string }

// IsWatcher reports whether the pusher is the watcher.
func (i Identity) IsWatcher() bool { return i.User != "" && i.User == i.Watcher }

func (i Identity) String() string {
	if i.User == "" {
		return "nobody whom this host vouches for"
	}
	return fmt.Sprintf("%q", i.User)
}

// identify asks only the variable of the host that install wrote down. On a
// plain host that is the operating system's user who runs the hook; no host
// written down: nobody. Other hosts have their place in this switch.
func identify(ctx context.Context, s Settings, user func() (string, error)) (Identity, error) {
	conf, err := s.Config(ctx, keyHost, keyWatcher)
	if err != nil {
		return Identity{}, err
	}
	id := Identity{Host: lastOf(conf[keyHost]), Watcher: lastOf(conf[keyWatcher])}
	switch id.Host {
	case "":
		return id, nil
	case hostPlain:
		if id.User, err = user(); err != nil {
			return id, fmt.Errorf("asking who pushes: %w", err)
		}
		return id, nil
	default:
		return id, exit.Hint(exit.Usagef("%s is %q, which is not supported yet", keyHost, id.Host),
			"git config %s %s, if pushes run as the user who pushes", keyHost, hostPlain)
	}
}

// lastOf is the value that counts for git: the last one.
func lastOf(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}
