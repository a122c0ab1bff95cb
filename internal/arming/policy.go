package arming

import (
	"time"

	"github.com/nav-watchdog/nav-watchdog/pkg/trailer"
)

// Policy is `.nav-watchdog.yaml`, parsed (design section 7). internal/config
// makes one; Default is what counts where there is no file.
type Policy struct {
	Exists       bool     // false: no file, so nobody may arm or propose
	Branches     []string // watched branches, patterns without refs/heads/; empty: the default branch
	Repositories []string // names by which Argo CD knows this repository
	Owners       []string // users and @groups
	Manifests    []string // globs of files that hold Applications; empty: they are looked for
	Groups       map[string][]string
	Trailer      trailer.Policy
	Arm          Arm
	Circuit      Circuit
}

// Arm is the part of a policy that says who may arm what.
type Arm struct {
	Allow       []Allow
	Progressing string // "revert" (default) or "hold"
	NeverPaths  []string
	Accept      []Accept
}

// Allow lets users arm Applications; both are patterns or names, "*" is all.
type Allow struct{ Apps, By []string }

// Accept waives one arming rule for some Applications.
type Accept struct {
	Rule   string
	Apps   []string
	Reason string
	When   string // "", or for the rule prune "deletes-nothing"
}

// Circuit holds the limits after which a person must look (design section 6).
type Circuit struct {
	Consecutive       int           // reverts of one app since its last CONFIRMED
	PerDay            int           // reverts of one app in 24 h
	RepositoryReverts int           // reverts in the repository ...
	RepositoryWithin  time.Duration // ... within this time
	StormApps         int           // apps that turned bad ...
	StormWithin       time.Duration // ... within this time
}

// Default is the policy of a repository without one: the default branch is
// watched, and nobody may arm.
func Default() Policy {
	return Policy{
		Trailer: trailer.DefaultPolicy(),
		Arm:     Arm{Progressing: "revert"},
		Circuit: Circuit{
			Consecutive: 2, PerDay: 4,
			RepositoryReverts: 3, RepositoryWithin: 24 * time.Hour,
			StormApps: 3, StormWithin: 5 * time.Minute,
		},
	}
}
