package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/nav-watchdog/nav-watchdog/internal/config"
	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/internal/notify"
	"github.com/nav-watchdog/nav-watchdog/internal/watchd"
)

// exitUpdated is how `run` ends when its file was updated and on-update is exit:
// EX_TEMPFAIL of sysexits, start me again.
const exitUpdated = 75

func runCommand(e env) *cli.Command {
	return &cli.Command{
		Name:  "run",
		Usage: "judge until it is stopped",
		Flags: settingFlags(),
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			s := &served{e: e, read: func() (config.Daemon, error) { return settings(c, e, nil) }, config: c.String("config")}
			err := s.serve(c.Context)
			if !errors.Is(err, errUpdated) {
				return err
			}
			if s.set.OnUpdate == config.UpdateExit {
				return &exit.Error{Code: exitUpdated, Err: err}
			}
			return replace(s.bin.path, s.e.args, s.e.environ)
		},
	}
}

// served is one `run`: what it is made of now, and how that is renewed.
type served struct {
	e      env
	read   func() (config.Daemon, error)
	config string // the file of the settings; "" none

	set    config.Daemon
	secret []byte
	clean  redactor
	site   site
	next   *site // another repository or cluster to go on with
	out    outlets
	became outcomes // of notices
	bin    *binary

	metrics *metrics
	probed  atomic.Pointer[probed]
	taken   string    // contents of the files: in force, or refused
	seen    string    // the same, as last seen
	refused time.Time // when those on disk were tried last, and refused; zero: they are in force
}

// probed is what the answers to probes ask of the settings, in goroutines of
// their own.
type probed struct {
	interval time.Duration
	clean    redactor
}

// site is what settings cannot change in place: which repository is judged by
// which cluster, and whose notes count.
type site struct {
	conf  watchd.Config
	close func()
}

// outlets are where a daemon tells what it does, besides the repository.
type outlets struct {
	log  *slog.Logger
	hook *notify.Webhook
	ping *notify.Pinger
	web  *web
}

// serve makes daemons until one ends for good.
func (s *served) serve(ctx context.Context) (err error) {
	if s.bin, err = openBinary(s.e.executable, s.e.args[0]); err != nil {
		return err
	}
	s.e.digest = s.bin.digest
	limitMemory(s.e.environ)
	s.metrics = newMetrics(s.e.now())
	file := s.file()
	set, secret, err := s.settings()
	if err != nil {
		return err
	}
	if err = s.put(set, secret, nil); err != nil {
		return err
	}
	s.taken = contents(file, secret, nil)
	s.seen = s.taken
	defer func() { s.out.close() }()
	s.say("settings")
	if s.site, err = openSite(ctx, s.e, s.set, s.out.log); err != nil {
		return err
	}
	defer func() { s.site.close() }()
	for {
		d, err := watchd.New(s.daemonConfig(ctx))
		if err != nil {
			return err
		}
		err = d.Run(ctx)
		if s.next == nil {
			return err
		}
		s.site.close()
		s.site, s.next = *s.next, nil
		s.metrics.anew()
	}
}

// settings reads all that is configured.
func (s *served) settings() (config.Daemon, []byte, error) {
	set, err := s.read()
	if err != nil {
		return set, nil, err
	}
	secret, err := webhookSecret(s.e, set)
	return set, secret, err
}

func openSite(ctx context.Context, e env, set config.Daemon, log *slog.Logger) (site, error) {
	ctx, cancel := context.WithCancel(ctx)
	conf, err := assemble(ctx, e, set, log)
	if err != nil {
		cancel()
		return site{}, err
	}
	return site{conf, func() {
		conf.Store.(*store).repo.Close() // before this process is another program, which would not wait for it
		cancel()
	}}, nil
}

// daemonConfig is the daemon of these settings at this site.
func (s *served) daemonConfig(ctx context.Context) watchd.Config {
	at := s.site.conf
	st := at.Store.(*store)
	c := daemonConfig(s.e, s.set, st.repo, st.remote, at.Cluster, s.out.log)
	c.Store, c.Look, c.Passed, c.Clean = st, s.e.look, s.passed, s.clean.text
	c.Renew = func(d *watchd.Daemon) error { return s.renew(ctx, d) }
	if s.out.hook != nil {
		c.Notifier = notices{s.out.hook, s.set.Shown(), s.clean, &s.became}
	}
	return c
}

func (s *served) passed(r watchd.Report) {
	limitMemory(s.e.environ)
	s.metrics.passed(r)
	if r.Good() && s.out.ping != nil {
		s.out.ping.Ping()
	}
}

// say logs all settings: first of all at the start, because the clone of a large
// repository, or a cluster that does not answer, takes its time.
func (s *served) say(msg string) {
	s.out.log.Info(msg, "program", s.bin.path, "version", version, "binary", s.bin.digest, "config", s.set.Digest(),
		"effective", strings.ReplaceAll(strings.TrimSpace(s.set.Effective()), "\n", "; "))
}

// put opens the outlets of settings and, only if all of them can be opened,
// replaces those of the settings before by them. What has not changed stays.
func (s *served) put(set config.Daemon, secret []byte, before *config.Daemon) (err error) {
	out, was := s.out, s.out
	clean := redact(set, s.e.environ, string(secret))
	out.log = logger(s.e, set.Log, clean)
	defer func() {
		if err != nil {
			out.closeBut(was)
		}
	}()
	if before == nil || set.Notify != before.Notify || string(secret) != string(s.secret) {
		if out.hook, err = openWebhook(set, secret, out.log, s.metrics.notice, &s.became); err != nil {
			return exit.Misused(err)
		}
	}
	if before == nil || set.AliveURL != before.AliveURL {
		if out.ping, err = openPinger(set, out.log, s.metrics.called); err != nil {
			return exit.Misused(err)
		}
	}
	if before == nil || set.Listen != before.Listen {
		if out.web, err = s.listen(set, out.log); err != nil {
			return exit.Misused(err)
		}
	}
	s.set, s.secret, s.clean, s.out = set, secret, clean, out
	s.probed.Store(&probed{set.Interval, clean})
	s.metrics.runs(s.bin.digest, set.Digest())
	go was.closeBut(out) // what waits there is still delivered
	return nil
}

func (s *served) listen(set config.Daemon, log *slog.Logger) (*web, error) {
	if set.Listen == "" {
		return nil, nil
	}
	w, err := listen(context.Background(), set.Listen, handler(s.metrics, s.e.now, s.probed.Load), func(err error) {
		log.Error("metrics and health are not served any more", "error", err)
	})
	if err == nil {
		log.Info("serving metrics and health", "address", w.addr.String())
	}
	return w, err
}

// lastNotices is how long notices that wait may take at the end.
const lastNotices = 5 * time.Second

func (o outlets) close() { o.closeBut(outlets{}) }

// closeBut closes what is not part of kept.
func (o outlets) closeBut(kept outlets) {
	if o.web != kept.web {
		o.web.close()
	}
	if o.ping != nil && o.ping != kept.ping {
		o.ping.Close()
	}
	if o.hook != nil && o.hook != kept.hook {
		ctx, cancel := context.WithTimeout(context.Background(), lastNotices)
		defer cancel()
		o.hook.Close(ctx)
	}
}

func noArguments(c *cli.Context) error {
	if c.NArg() > 0 {
		return exit.Hint(exit.Usagef("%s wants no arguments, got %q", c.Command.Name, c.Args().First()), "navwatchd %s --help shows the flags", c.Command.Name)
	}
	return nil
}

func programOf(e env) string {
	if e.digest == "" {
		return "navwatchd " + version
	}
	return fmt.Sprintf("navwatchd %s %s", version, e.digest)
}
