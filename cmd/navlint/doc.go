// Navlint reads commit messages that ask nav-watchdog to watch them, and the
// manifests of the Applications that they name, and says what is wrong with them,
// before a server does.
//
// Usage:
//
//	navlint parse   [--format text|json] FILE|-
//	navlint message [--format FORMAT] [--strict] FILE|-
//	navlint commits [--format FORMAT] [--strict] RANGE | --stdin
//	navlint manifests [--format FORMAT] [--strict] [--mode shadow|arm] [PATH...]
//	navlint explain [--format text|json] [--argocd-server URL] [APP]
//	navlint show    [--format text|json] COMMIT
//	navlint wait    [--format text|json] [--remote REMOTE] [--app APP]... [--timeout 1h] COMMIT
//	navlint fix     [--write] FILE|- | --commit COMMIT
//
// parse prints the trailers of a message as git reads them. message lints the
// file of a commit-msg hook, after git's own cleanup. commits lints what a
// range, or a list on standard input, holds. manifests lints files that declare Applications and
// ApplicationSets; explain says what is known of an Application, and what that means
// for arming. show prints the verdicts of a
// commit, from the notes that the watcher wrote; wait waits until they are there.
// fix moves misplaced trailers to where git reads them.
//
// FORMAT is text, json, sarif, github, gitlab or junit. The exit code is 0 without errors (warnings are
// printed), 1 with at least one error, or warning with --strict, 2 for a usage
// error, 3 if it could not be decided. See docs/navlint.md.
package main
