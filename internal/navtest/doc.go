// Package navtest makes repositories for tests: real ones, by the git
// executable, whose object ids are the same on every machine.
//
// The environment is scrubbed of everything that `git rev-parse
// --local-env-vars` lists and of every other GIT_ variable, so that tests pass
// when they are started from a hook; HOME and the system's configuration are
// blank; author and committer are fixed, and the clock moves a minute a commit.
//
// The layer test of the house (layers_test.go) lives here too.
package navtest
