package gitstore

import "strings"

// kept in both environments: where git itself is found, and limits of discovery.
var keptAlways = []string{"GIT_EXEC_PATH", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM"}

// kept only in hooks: the repository and the quarantine of the push.
var keptInHooks = []string{
	"GIT_DIR", "GIT_COMMON_DIR", "GIT_SHALLOW_FILE",
	"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH",
}

// What `git rev-parse --local-env-vars` lists (2.39 to 2.55), but for the
// configuration that a user hands over by environment: that is how many a CI
// system passes credentials.
var localVars = []string{
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG", "GIT_OBJECT_DIRECTORY", "GIT_DIR",
	"GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE", "GIT_INDEX_FILE",
	"GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_PREFIX", "GIT_INTERNAL_SUPER_PREFIX",
	"GIT_SHALLOW_FILE", "GIT_COMMON_DIR", "GIT_QUARANTINE_PATH",
}

// environments makes the two environments in which git is started: neutral,
// where nothing but the repository's own configuration counts, and the user's
// own.
func environments(from []string, hook bool) (neutral, own []string) {
	for _, kv := range from {
		name, _, _ := strings.Cut(kv, "=")
		forced := strings.HasPrefix(name, "LC_") || name == "LANG" || name == "LANGUAGE" || name == "GIT_TERMINAL_PROMPT"
		switch {
		case forced, name == "":
		case contains(keptAlways, name), hook && contains(keptInHooks, name):
			neutral, own = append(neutral, kv), append(own, kv)
		case contains(localVars, name):
		case strings.HasPrefix(name, "GIT_"):
			own = append(own, kv)
		default:
			neutral, own = append(neutral, kv), append(own, kv)
		}
	}
	both := []string{
		"LC_ALL=C", "LANGUAGE=", "GIT_TERMINAL_PROMPT=0",
		"GIT_NO_REPLACE_OBJECTS=1", // anybody may push refs/replace/*
	}
	neutral = append(neutral, both...)
	// These would also reach the hooks of a server on this machine, so they stand
	// here alone. A path is a path, whatever it contains; and a reflog wants a
	// name, without which git guesses from the host.
	// A history is what its commits say, without info/grafts.
	neutral = append(neutral, "GIT_LITERAL_PATHSPECS=1", "GIT_OPTIONAL_LOCKS=0", "GIT_GRAFT_FILE=/dev/null",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1",
		"GIT_COMMITTER_NAME=nav-watchdog", "GIT_COMMITTER_EMAIL=nav-watchdog@localhost")
	// Into a pipe git writes each commit by itself, which takes as long as finding
	// it. Nobody waits for a single one.
	neutral = append(neutral, "GIT_FLUSH=0")
	return neutral, append(own, both...)
}

// baseArgs stand before every subcommand: settings of the repository's own
// configuration that would change an answer.
func baseArgs() []string {
	return []string{
		"--no-pager",
		"-c", "core.quotePath=false", "-c", "core.fsmonitor=false", "-c", "core.attributesFile=/dev/null",
		"-c", "core.filesRefLockTimeout=1000", "-c", "core.packedRefsTimeout=2000",
		"-c", "advice.graftFileDeprecated=false", "-c", "log.showSignature=false", "-c", "log.mailmap=false", "-c", "log.follow=false",
		"-c", "diff.renames=false",
		"-c", "gc.auto=0", "-c", "maintenance.auto=false",
	}
}

func without(env []string, name string) []string {
	kept := make([]string, 0, len(env)+1)
	for _, kv := range env {
		if !strings.HasPrefix(kv, name+"=") {
			kept = append(kept, kv)
		}
	}
	return kept
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}
