package main

// examples are shown by --help; the hooks themselves are started by git.
func examples() map[string]string {
	return map[string]string{
		"": `The hooks of nav-watchdog: in a clone they lint messages, on a Git server they
refuse what cannot be watched, and queue what arrived.

Examples:
    navhook install --clone .
    navhook install --watcher nav-watchdog /srv/git/deploy.git
    navhook doctor /srv/git/deploy.git

Exit codes: 0 done, or let pass; 1 refused, or something is missing; 2 usage; 3
could not be decided, which refuses a push.`,
		"install": `What was there is kept and runs first. Doing it again changes nothing.

Examples:
    navhook install --clone .
    navhook install --watcher nav-watchdog /srv/git/deploy.git
    navhook install --host gitea --watcher nav-watchdog /var/lib/gitea/git/repositories/team/deploy.git
    navhook install --uninstall /srv/git/deploy.git`,
		"doctor": `Examples:
    navhook doctor /srv/git/deploy.git
    navhook doctor --clone .`,
		"commit-msg": `Git runs it; "navhook install --clone" puts it in place.

Examples:
    navhook commit-msg .git/COMMIT_EDITMSG`,
		"pre-receive": `Git runs it, with what is pushed on its standard input; "navhook install" puts it
in place.

Examples:
    echo "$old $new refs/heads/main" | navhook pre-receive`,
		"post-receive": `Git runs it, with what was pushed on its standard input; "navhook install" puts it
in place.

Examples:
    echo "$old $new refs/heads/main" | navhook post-receive`,
	}
}
