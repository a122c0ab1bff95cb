package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/nav-watchdog/nav-watchdog/internal/argosim"
	"github.com/nav-watchdog/nav-watchdog/internal/drill"
	"github.com/nav-watchdog/nav-watchdog/internal/exit"
)

func drillCommand(e env) *cli.Command {
	return &cli.Command{
		Name:  "drill",
		Usage: "show, on a repository and a cluster of its own, what becomes of watched commits",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "keep", Usage: "leave the folder with the repository and the log, and say where it is"},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return exit.Usagef("drill wants no arguments")
			}
			return playDrill(c.Context, e, c.Bool("keep"), nil)
		},
	}
}

// playDrill plays the drill in a temporary folder. Image decides what becomes
// of an image; nil: its tag tells.
func playDrill(ctx context.Context, e env, keep bool, image func(string) argosim.Image) (err error) {
	if !filepath.IsAbs(e.executable) {
		return errors.New("the path of this program is not known, so the drill's hooks could not start it")
	}
	dir, err := os.MkdirTemp(getenv(e.environ)("TMPDIR"), "nav-drill-")
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return fmt.Errorf("making the drill's folder: %w", err)
	}
	defer func() {
		if keep {
			_, say := fmt.Fprintf(e.stdout, "\nThe folder is kept: %s\n  git -C %s log --notes=nav/verdicts\n", dir, filepath.Join(dir, serverDir))
			err = errors.Join(err, say)
			return
		}
		if gone := os.RemoveAll(dir); gone != nil {
			err = errors.Join(err, fmt.Errorf("removing the drill's folder: %w", gone))
		}
	}()
	clock := drill.NewClock(e.now())
	repo, err := newDrillRepo(ctx, dir, e, clock)
	if err != nil {
		return fmt.Errorf("making the drill's repository: %w", err)
	}
	cluster := newDrillCluster(repo.server, clock, image)
	watcher, err := newDrillWatcher(ctx, dir, e, clock, repo, cluster)
	if err != nil {
		return fmt.Errorf("making the drill's watcher: %w", err)
	}
	defer watcher.close()
	return drill.Run(ctx, drill.Config{Out: e.stdout, Clock: clock, Repo: repo, Cluster: cluster, Watcher: watcher})
}

// drillEnv is an environment in which git sees no setting of the user's or of
// the host's, and the drill's hooks see who pushes, and when.
func drillEnv(environ []string, dir, user string, clock *drill.Clock) []string {
	var out []string
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		switch {
		case strings.HasPrefix(name, "GIT_") && name != "GIT_EXEC_PATH", strings.HasPrefix(name, "LC_"):
		case name == "HOME", name == "XDG_CONFIG_HOME", name == "LANG", name == "LANGUAGE", name == "TZ", name == "EMAIL":
		case name == drillUser, name == drillNow:
		default:
			out = append(out, kv)
		}
	}
	home := filepath.Join(dir, "home")
	at := clock.Now().Format("2006-01-02T15:04:05Z")
	mail := user + "@example.com"
	return append(out,
		"HOME="+home, "XDG_CONFIG_HOME="+filepath.Join(home, ".config"), "LC_ALL=C", "TZ=UTC",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=true", "GIT_PAGER=cat",
		"GIT_AUTHOR_NAME="+user, "GIT_AUTHOR_EMAIL="+mail, "GIT_AUTHOR_DATE="+at,
		"GIT_COMMITTER_NAME="+user, "GIT_COMMITTER_EMAIL="+mail, "GIT_COMMITTER_DATE="+at,
		drillUser+"="+user, drillNow+"="+at)
}
