// Navhook is what a Git server and a clone run.
//
// Usage:
//
//	navhook install [--host HOST] [--watcher NAME] [--no-queue] REPO
//	navhook install --host gitlab|gitolite --global DIR [--repo-specific] [--watcher NAME] [--no-queue]
//	navhook install --clone REPO
//	navhook install --uninstall [--clone] REPO
//	navhook doctor [--clone] [--global DIR] REPO
//	navhook pre-receive  < refs
//	navhook post-receive < refs
//	navhook commit-msg FILE
//
// install puts shims in place that run pre-receive, post-receive or commit-msg;
// a hook that was there is kept and runs first. doctor says what is missing or
// wrong. On a server, pre-receive refuses a push whose messages ask for a watch
// in a way that cannot be carried out, and post-receive queues what arrived on a
// watched branch. In a clone, commit-msg lints a message before it is committed.
//
// The exit code is 0 if all is well, 1 if something was refused, 2 for a usage
// error, 3 if it could not be decided, which refuses as well; post-receive
// always exits with 0. See docs/hooks.md and docs/hosts.md.
package main
