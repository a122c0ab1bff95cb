// Navhook is what a Git server and a clone run.
//
// Usage:
//
//	navhook install [--clone] [--watcher NAME] REPO
//	navhook pre-receive  < refs
//	navhook post-receive < refs
//	navhook commit-msg FILE
//
// install puts shims in place that run the other three; a hook that was there
// is kept and runs first. On a server, pre-receive refuses a push whose messages
// ask for a watch in a way that cannot be carried out, and post-receive queues
// what arrived on a watched branch. In a clone, commit-msg lints a message
// before it is committed.
//
// The exit code is 0 if all is well, 1 if something was refused, 2 for a usage
// error, 3 if it could not be decided, which refuses as well; post-receive
// always exits with 0. See docs/hooks.md.
package main
