package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/config"
	"github.com/nav-watchdog/nav-watchdog/internal/watchd"
)

// retryRefused is how often settings that were refused are tried again though
// their file has not changed: a cluster may have been away.
const retryRefused = time.Minute

// errAnew: another repository or cluster is to be served.
var errAnew = errors.New("another repository or cluster")

// renew is called between two passes.
func (s *served) renew(ctx context.Context, d *watchd.Daemon) error {
	s.metrics.touch(s.e.now())
	if err := s.renewProgram(ctx, d); err != nil {
		return err
	}
	return s.renewSettings(ctx, d)
}

// renewProgram ends the daemon when the file of this program is another that
// starts. Where it must not, log and status say that the old code runs.
func (s *served) renewProgram(ctx context.Context, d *watchd.Daemon) error {
	changed, err := s.bin.changed(ctx, s.e.environ)
	switch {
	case !changed:
		d.Complain("program", err)
		return nil
	case s.set.OnUpdate == config.UpdateIgnore:
		d.Complain("program", errors.New("its file was updated, and the old code still runs (on-update: ignore)"))
		return nil
	}
	s.out.log.Info("the file of this program was updated", "program", s.bin.path, "on_update", s.set.OnUpdate)
	return errUpdated
}

// renewSettings takes new settings. They must be the same at two looks in a row,
// so that a file that is being written is none; a mounted ConfigMap changes in
// one step. Settings that cannot be read, or do not work, leave the old ones.
func (s *served) renewSettings(ctx context.Context, d *watchd.Daemon) error {
	secret, err := webhookSecret(s.e, s.set)
	now := contents(s.file(), secret, err)
	settled := now == s.seen
	s.seen = now
	again := !s.refused.IsZero() && s.e.now().Sub(s.refused) >= retryRefused
	if !settled || now == s.taken && !again {
		return nil
	}
	s.taken = now
	err = s.take(ctx, d)
	s.refused = time.Time{}
	s.metrics.configRefused.Set(0)
	switch {
	case errors.Is(err, errAnew):
		return err
	case err != nil:
		s.refused = s.e.now()
		s.metrics.configRefused.Set(1)
		err = fmt.Errorf("the new settings are refused, the old ones stay: %w", err)
	}
	d.Complain("settings", err)
	return nil
}

// take brings the settings on disk into force.
func (s *served) take(ctx context.Context, d *watchd.Daemon) error {
	file := s.file()
	set, secret, err := s.settings()
	if err != nil {
		return err
	}
	before := s.set
	var next *site
	if !sameSite(set, before) {
		w, err := openSite(ctx, s.e, set, s.out.log)
		if err != nil {
			return err
		}
		next = &w
	}
	if err := s.put(set, secret, &before); err != nil {
		if next != nil {
			next.close()
		}
		return err
	}
	s.taken = contents(file, secret, nil)
	s.say("settings changed")
	if next != nil {
		s.next = next
		return errAnew
	}
	return d.Configure(s.daemonConfig(ctx))
}

// sameSite reports whether a daemon can go on with what it knows.
func sameSite(a, b config.Daemon) bool {
	return a.Repository == b.Repository && a.Mirror == b.Mirror && a.Notes == b.Notes && a.Watcher == b.Watcher &&
		a.Source.Folder == b.Source.Folder && a.Source.Kubeconfig == b.Source.Kubeconfig && a.Source.InCluster == b.Source.InCluster &&
		slices.Equal(a.Source.Namespaces, b.Source.Namespaces)
}

// file is what the file with the settings holds: links are followed, as a
// mounted ConfigMap needs it, and times mean nothing.
func (s *served) file() string {
	if s.config == "" {
		return ""
	}
	data, err := os.ReadFile(s.config)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// contents tells whether one of the files that hold settings has changed.
func contents(file string, secret []byte, err error) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %v", file, secret, err))
	return string(sum[:])
}
