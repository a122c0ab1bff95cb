package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// hookedCommand puts the pre-receive hook into the server's repository, told by
// the environment who pushes, as in a drill.
func hookedCommand(s *script, _ []string) error {
	for key, value := range map[string]string{"nav.host": "plain", "nav.watcher": "navbot"} {
		if _, err := s.git("config", key, value); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Join(s.srv.Dir, "hooks"), 0o755); err != nil {
		return err
	}
	s.env = s.pushEnv("navbot")
	return os.WriteFile(filepath.Join(s.srv.Dir, "hooks", "pre-receive"), []byte("#!/bin/sh\nexec navwatchd drill-hook pre-receive\n"), 0o755)
}

// pushEnv is what the hook must be told of who pushes.
func (s *script) pushEnv(who string) []string {
	return []string{"PATH=" + s.ts.Getenv("PATH"), drillUser + "=" + who, drillNow + "=" + s.now.Format(time.RFC3339)}
}

// saysCommand runs navwatchd as a person does.
func saysCommand(s *script, args []string) error {
	who, args := args[0], append([]string{"navwatchd"}, args[1:]...)
	if !slices.Contains(args, "--by") {
		args = append(args, "--by", who)
	}
	now := s.now
	e := env{
		stdout: s.ts.Stdout(), stderr: s.ts.Stderr(), environ: append(s.srv.Env(), s.pushEnv(who)...),
		now: func() time.Time { return now },
	}
	return run(context.Background(), append(args, "--repo", s.srv.Dir), e)
}

func refusedCommand(s *script, args []string) error {
	err := saysCommand(s, args[1:])
	switch {
	case err == nil:
		return fmt.Errorf("not refused with %q", args[0])
	case !strings.Contains(err.Error(), args[0]):
		return fmt.Errorf("not refused with %q: %w", args[0], err)
	}
	return nil
}

// keysCommand makes SSH keys as ssh-keygen does.
func keysCommand(s *script, args []string) error {
	for _, name := range args {
		cmd := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", s.ts.MkAbs(name))
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("making a key: %w\n%s", err, out)
		}
	}
	return nil
}
