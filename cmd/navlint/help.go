package main

// What --help says below the usage line, for somebody who has read nothing else.
const (
	helpApp = `A commit asks to be watched with a trailer in the last paragraph of its message:

    Nav-Watchdog: app=web deadline=10m

navlint says whether git and nav-watchdog will read it, before a server does.

Examples:
    navlint message .git/COMMIT_EDITMSG    the message that is being written
    navlint commits origin/main..          what is about to be pushed
    navlint manifests                      the Applications in this worktree
    navlint explain                        which of them could be armed first
    navlint wait HEAD --remote origin      until the cluster has answered

Exit codes: 0 no error, 1 at least one, 2 usage, 3 it could not be decided.`

	helpParse = `Prints what "git interpret-trailers --parse --no-divider" prints: if your trailer
is missing here, git does not see it.

Examples:
    navlint parse .git/COMMIT_EDITMSG
    git log -1 --format=%B | navlint parse -`

	helpMessage = `Lints the file that git hands to a commit-msg hook, after the cleanup that git is
going to do; "-" is standard input. Positions are those of the file.

Examples:
    navlint message .git/COMMIT_EDITMSG
    navlint message --strict "$1"                    in .git/hooks/commit-msg
    navlint message --format json - <message.txt`

	helpCommits = `Lints what a range A..B holds, all that one revision reaches, or exactly the
commits on standard input. It needs the history of the range: in CI, fetch it
whole (fetch-depth: 0).

Examples:
    navlint commits origin/main..
    navlint commits --format github "origin/$GITHUB_BASE_REF..HEAD"
    navlint commits --format gitlab "$CI_MERGE_REQUEST_DIFF_BASE_SHA..HEAD" >quality.json
    git rev-list --since=1.week HEAD | navlint commits --stdin`

	helpManifests = `Reads Application, ApplicationSet, AppProject and ImageUpdater manifests as they
are in the worktree: the PATHs, folders with all below them, "-" for standard
input; without any, what the policy's manifests names, else all of the worktree.
It needs no commit and no cluster.

An error is what is wrong whatever you want, such as a RollingSync step that
matches nothing. What stands in the way of arming is a warning where the policy
lets somebody arm the Application, else a note; --mode arm makes it an error,
--mode shadow asks what cannot be watched.

Examples:
    navlint manifests
    navlint manifests --mode arm argocd/web.yaml
    navlint manifests --argocd-version 2.14 --format github argocd
    helm template charts/apps | navlint manifests -`

	helpExplain = `Prints every fact that is known of an Application, where it comes from, and what
that means for a commit in mode shadow, propose and arm: what is refused, waived
by the policy, not assessed. Without a name, all known Applications in short,
those first that are best for a first arm.

Facts come from the watcher's inventory (refs/notes/nav/status), the manifests in
the tree of HEAD, and, where asked, a running Argo CD. It exits with 0 whatever
the answer is, and with 3 for an Application that nobody knows.

Examples:
    navlint explain
    navlint explain argocd/web
    ARGOCD_AUTH_TOKEN=... navlint explain --argocd-server https://argocd.example.com web
    navlint explain --format json | jq -r '.apps[] | select(.arm == "yes").app'`

	helpShow = `Prints the verdicts of a commit from refs/notes/nav/verdicts as this clone has them:
what was decided for each Application, why, and what each gate said.

Examples:
    git fetch origin '+refs/notes/nav/*:refs/notes/nav/*'
    navlint show HEAD
    navlint show --format json v1.4`

	helpWait = `Waits until every watch of a commit has its verdict, and prints each verdict: a
gate for what may only happen once the cluster is healthy. Exit code 0: all
CONFIRMED; 1: one is FAIL, REVERTED or PROPOSED, which ends the wait at once; 3: any
other verdict, the timeout, or a commit that carries no watch.

Verdicts are read from this repository; --remote fetches them first. Without
it, something else must fetch refs/notes/nav/*.

Examples:
    navlint wait HEAD --remote origin --timeout 45m
    navlint wait "$GITHUB_SHA" --remote origin --app web && ./promote.sh
    navlint wait v1.4 --format json`

	helpFix = `Moves a Nav-Watchdog trailer that stands where git reads none into the trailer
block, and corrects a key that is almost Nav-Watchdog. Nothing else of the message
changes. What it did is shown as a difference; what only a person can decide is
left and said.

A FILE is changed with --write only; without, exit code 1 says that it would be.
"-" and --commit print the whole message to standard output, for git.

Examples:
    navlint fix .git/COMMIT_EDITMSG
    navlint fix --write "$1"                  in .git/hooks/commit-msg
    navlint fix --commit HEAD | git commit --amend --cleanup=verbatim -F -
    git rebase origin/main --exec 'navlint commits HEAD~1..HEAD ||
        navlint fix --commit HEAD | git commit --amend --cleanup=verbatim -F -'`
)
