package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd/folder"
	"github.com/nav-watchdog/nav-watchdog/internal/argocd/kube"
	"github.com/nav-watchdog/nav-watchdog/internal/config"
	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/watchd"
)

func onceCommand(e env) *cli.Command {
	return &cli.Command{
		Name:  "once",
		Usage: "make one pass and end",
		Flags: settingFlags(),
		Action: func(c *cli.Context) error {
			return withDaemon(c, e, func(ctx context.Context, d *watchd.Daemon) error {
				if err := d.Pass(ctx); err != nil {
					return err
				}
				return d.Unread() // whoever runs a single pass wants to know whether it could look
			})
		},
	}
}

// settingFlags are --config and a flag for every setting of the file, but those
// whose names a command needs itself.
func settingFlags(without ...string) []cli.Flag {
	flags := []cli.Flag{&cli.StringFlag{Name: "config", Usage: "`FILE` with the settings (docs/navwatchd.yaml)"}}
	for _, s := range config.Settings() {
		if slices.Contains(without, s.Flag) {
			continue
		}
		usage := s.Usage + " [" + s.Env + "]"
		if s.Bool {
			flags = append(flags, &cli.BoolFlag{Name: s.Flag, Usage: usage})
		} else {
			// An empty one takes back what the file says.
			flags = append(flags, &cli.StringFlag{Name: s.Flag, Usage: usage, Action: func(*cli.Context, string) error { return nil }})
		}
	}
	return flags
}

// settings puts file, environment and flags together. More are settings that a
// command makes itself; empty ones are left out.
func settings(c *cli.Context, e env, more map[string]string) (config.Daemon, error) {
	d := config.DefaultDaemon()
	if file := c.String("config"); file != "" {
		data, err := os.ReadFile(file)
		if err != nil {
			return d, exit.Misused(fmt.Errorf("reading the settings: %w", err))
		}
		if d, err = config.ParseDaemon(data, file); err != nil {
			return d, exit.Misused(err)
		}
	}
	flags := map[string]string{}
	for _, s := range config.Settings() {
		if v := more[s.Flag]; v != "" {
			flags[s.Flag] = v
		} else if _, own := more[s.Flag]; !own && c.IsSet(s.Flag) {
			flags[s.Flag] = fmt.Sprint(c.Value(s.Flag))
		}
	}
	d, err := config.Overlay(d, getenv(e.environ), flags)
	if err == nil {
		err = d.Validate()
	}
	if err != nil {
		return d, exit.Misused(err)
	}
	if d.Mirror == "" {
		cache, err := cacheDir(getenv(e.environ))
		if err != nil {
			return d, exit.Misused(err)
		}
		d.Mirror = d.DefaultMirror(cache)
	}
	return d, nil
}

func getenv(environ []string) func(string) string {
	return func(name string) string {
		for i := len(environ) - 1; i >= 0; i-- {
			if v, ok := strings.CutPrefix(environ[i], name+"="); ok {
				return v
			}
		}
		return ""
	}
}

func cacheDir(getenv func(string) string) (string, error) {
	if d := getenv("XDG_CACHE_HOME"); d != "" {
		return d, nil
	}
	if h := getenv("HOME"); h != "" {
		return h + "/.cache", nil
	}
	return "", exit.Hint(fmt.Errorf("no place for the mirror is known"), "say --mirror")
}

// withDaemon puts a daemon together and hands it over.
func withDaemon(c *cli.Context, e env, do func(context.Context, *watchd.Daemon) error) error {
	if err := noArguments(c); err != nil {
		return err
	}
	set, err := settings(c, e, nil)
	if err != nil {
		return err
	}
	log := logger(e, set.Log, redact(set, e.environ))
	e.digest, _ = digestOf(e.executable) // without it notes name the version alone
	log.Info("settings", "effective", strings.ReplaceAll(strings.TrimSpace(set.Effective()), "\n", "; "))
	ctx, cancel := context.WithCancel(c.Context)
	defer cancel()
	conf, err := assemble(ctx, e, set, log)
	if err != nil {
		return err
	}
	d, err := watchd.New(conf)
	if err != nil {
		return err
	}
	return do(ctx, d)
}

// assemble opens the repository and the cluster, and makes a daemon's
// configuration of them. What it starts ends with ctx.
func assemble(ctx context.Context, e env, set config.Daemon, log *slog.Logger) (watchd.Config, error) {
	repo, rem, err := openMirror(ctx, e, set)
	if err != nil {
		return watchd.Config{}, err
	}
	apps, err := openCluster(ctx, set)
	if err != nil {
		return watchd.Config{}, err
	}
	conf := daemonConfig(e, set, repo, rem, apps, log)
	if s, ok := conf.Store.(*store); ok && s.signed {
		if err := s.trust(ctx); err != nil {
			return watchd.Config{}, exit.Misused(err)
		}
	}
	return conf, nil
}

func logger(e env, l config.Log, clean redactor) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(l.Level)) // Validate knows the levels
	o := &slog.HandlerOptions{Level: level, ReplaceAttr: clean.attr}
	if l.Format == "json" {
		return slog.New(slog.NewJSONHandler(e.stderr, o))
	}
	return slog.New(slog.NewTextHandler(e.stderr, o))
}

// longestGit is the limit of one git process: the first fetch of a large
// repository takes its time.
const longestGit = 15 * time.Minute

// openMirror makes or opens the mirror. The process that it keeps ends with ctx.
func openMirror(ctx context.Context, e env, set config.Daemon) (*gitstore.Repo, *gitstore.Remote, error) {
	repo, err := gitstore.Init(ctx, set.Mirror, gitstore.Options{Env: e.environ, Timeout: longestGit, Keep: true, SSH: set.Notes == config.NotesSigned})
	if err != nil {
		return nil, nil, fmt.Errorf("opening the mirror %s: %w", set.Mirror, err)
	}
	context.AfterFunc(ctx, repo.Close)
	return repo, repo.Remote(set.Repository), nil
}

// openCluster starts the source of Applications and waits until it was read
// once.
func openCluster(ctx context.Context, set config.Daemon) (watchd.Cluster, error) {
	if set.Source.Folder != "" {
		return cluster{"folder", folder.New(set.Source.Folder)}, nil
	}
	r, err := kube.New(kube.Config{Kubeconfig: set.Source.Kubeconfig, Namespaces: set.Source.Namespaces})
	if err != nil {
		return nil, exit.Misused(fmt.Errorf("opening the cluster: %w", err))
	}
	r.Start(ctx)
	// Once is not told later what it did not see at first. A list that fails is
	// reported by List, and tried again meanwhile.
	first, cancel := context.WithTimeout(ctx, firstList)
	defer cancel()
	for !r.Synced() && !slices.ContainsFunc(r.States(), func(s kube.State) bool { return s.Err != nil }) {
		select {
		case <-r.Changed():
		case <-first.Done():
			return cluster{"live", r}, nil
		}
	}
	return cluster{"live", r}, nil
}

// firstList is how long the first list of Applications may take.
const firstList = 30 * time.Second

// daemonConfig brings the parts together.
func daemonConfig(e env, set config.Daemon, repo *gitstore.Repo, rem remote, apps watchd.Cluster, log *slog.Logger) watchd.Config {
	s := &store{repo: repo, remote: rem, watcher: set.Watcher, log: log}
	if set.Notes == config.NotesSigned {
		s.signed, s.sign = true, set.Watcher.SigningKey
	}
	return watchd.Config{
		Store: s, Git: history{repo}, Cluster: apps,
		Now: e.now, Log: log,
		Names: append([]string{set.Repository}, set.Names...), Interval: set.Interval,
		Refresh: set.Refresh.Total(), StatusInterval: set.StatusInterval,
		Signs: set.Watcher.SigningKey != "", DryRun: *set.DryRun, Guard: guard(set), WatcherName: set.Watcher.Name, Watcher: programOf(e) + " config=" + set.Digest(),
		ParsePolicy: config.ParsePolicy,
	}
}

// guard says why the notes are not guarded; empty: they are (design, section 8).
func guard(set config.Daemon) string {
	switch set.Notes {
	case config.NotesHook, config.NotesSigned:
		return ""
	}
	return "nobody said how the notes are guarded (notes: hook, or notes: signed)"
}
