package hook

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/internal/exit"
)

// The hosts that install knows (design, section 8).
const (
	hostPlain    = "plain"
	hostHTTP     = "http" // git http-backend behind a web server that authenticates
	hostGitea    = "gitea"
	hostGitLab   = "gitlab"
	hostGitolite = "gitolite"
)

// Hosts are the values of nav.host and --host.
func Hosts() []string { return []string{hostGitea, hostGitLab, hostGitolite, hostHTTP, hostPlain} }

func checkHost(host string) error {
	if slices.Contains(Hosts(), host) {
		return nil
	}
	return exit.Hint(exit.Usagef("there is no host %q", host), "hosts: %s", strings.Join(Hosts(), ", "))
}

// fileName is ours in a folder where every file is a hook. It sorts before
// Gitea's own "gitea", but Gitea runs all of them whatever one said.
const fileName = "50-nav-watchdog"

// place is where one hook belongs.
type place struct {
	hook, path string
	// crowd: the folder is one of many hooks, all of which the host runs. So
	// nothing is chained there, and nothing else may be left there either.
	crowd bool
}

// dropIn is a place in a folder NAME.d.
func dropIn(dir, hook string) place {
	return place{hook: hook, path: filepath.Join(dir, hook+".d", fileName), crowd: true}
}

// placesOf are the places of the server's hooks in one repository: dir is its
// git directory, plain is where git itself looks. Gitea's scripts look below
// the git directory whatever core.hooksPath says, and so does Gitaly.
func placesOf(host, dir, plain string, names []string) []place {
	places := make([]place, len(names))
	for i, name := range names {
		switch host {
		case hostGitea:
			places[i] = dropIn(filepath.Join(dir, "hooks"), name)
		case hostGitLab:
			places[i] = dropIn(filepath.Join(dir, "custom_hooks"), name)
		default:
			places[i] = place{hook: name, path: filepath.Join(plain, name)}
		}
	}
	return places
}

// globalPlaces are those in a folder that serves all repositories of a host:
// GitLab's custom_hooks_dir, or gitolite's LOCAL_CODE.
func globalPlaces(host, dir string, specific bool, names []string) []place {
	places := make([]place, len(names))
	for i, name := range names {
		switch {
		case host == hostGitLab:
			places[i] = dropIn(dir, name)
		case specific:
			places[i] = place{hook: name, path: filepath.Join(dir, "hooks", "repo-specific", specificName(name)), crowd: true}
		default:
			places[i] = place{hook: name, path: filepath.Join(dir, "hooks", "common", name)}
		}
	}
	return places
}

// specificName is what `option hook.pre-receive` of a gitolite.conf names.
func specificName(hook string) string { return "nav-watchdog-" + hook }
