package main

import (
	"github.com/nav-watchdog/nav-watchdog/internal/argocd/manifest"
	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// aroundCommand says what stands around the Applications: the objects of a file,
// and no others; without a file it is not known.
func aroundCommand(s *script, args []string) error {
	p := arming.Place{}
	if len(args) > 0 {
		p.Whole = arming.Whole{Sets: true, Projects: true, Global: true, Updaters: verdict.Yes}
		if err := manifest.Find(&p, []byte(s.ts.ReadFile(args[0]))); err != nil {
			return err
		}
	}
	s.sim.mu.Lock()
	defer s.sim.mu.Unlock()
	s.sim.around = p
	return nil
}
