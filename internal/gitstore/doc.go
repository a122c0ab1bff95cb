// Package gitstore reads and writes one repository through the git executable:
// refs, history, notes, the exact revert, fetch and push.
//
// What a caller may rely on:
//
//   - Git is started in one way only (git.go): scrubbed environment, fixed
//     locale, no terminal, no pager, a time-out, standard error bounded and kept
//     in *Error. Names from outside reach git on standard input or behind
//     --end-of-options, never through a shell.
//   - Commands that only look at the repository run with neutral configuration,
//     so neither the user's nor the system's settings change an answer; replace
//     refs are never obeyed, for anybody may push one. Fetch, push and signing
//     run with the user's own configuration, where authentication and keys live.
//   - A number of questions costs a constant number of processes.
//   - No ref moves without the value it had when it was read. Whether a failed
//     update was lost to somebody else is found out by looking at the refs,
//     never by reading an error text.
//   - Objects are written before the ref that names them; a crash in between
//     leaves garbage for gc and nothing else.
package gitstore
