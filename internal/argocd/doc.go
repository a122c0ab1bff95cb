// Package argocd translates an Argo CD Application, as JSON, into what this
// program asks of it: a verdict.Look (what it says of itself right now) and
// arming.Facts (what it is, for the arming rules). It judges nothing and reads
// nothing but its arguments; the sub-packages kube and folder fetch.
//
// Only the fields named here are read, from types of our own: importing Argo
// CD's module would bring its whole tree and the Go version it needs.
//
//	metadata     name, namespace, uid, deletionTimestamp (R6); ownerReferences
//	             (an ApplicationSet's progressive sync, R14); the annotations
//	             skip-reconcile (R5), refresh, manifest-generate-paths (R17),
//	             and Image Updater's image-list and write-back-method
//	spec         source, sources, sourceHydrator, project, destination,
//	             syncPolicy.automated and .retry
//	operation    a requested or running operation (R7)
//	status       sync with comparedTo (what was compared, R2 and R4), health,
//	             operationState (what was tried, R7 to R13), history (its
//	             newest entry), resources (R9, R20), conditions (R15, R22),
//	             reconciledAt (how old all this is), resourceHealthSource,
//	             sourceType(s), sourceHydrator (R18), summary.isAppOfApps
//
// # Which revision belongs to which source
//
// Argo CD keeps each list of revisions beside the sources that it was made
// from, and so do we: sync.revision(s) with sync.comparedTo, syncResult's with
// syncResult's, an entry of the history with its own. They are aligned by
// index. spec.sources may have been edited since and is used only where an
// operation names no source at all. Where the two lists differ in length, no
// revision is trusted: each source stands with an empty one, which is a wait
// (R16), never a guess.
//
// # Leniency
//
// Unknown fields are ignored; absent and null are the zero value. A field that
// is read and has another type is an error that names it: an operation that
// we misread could cost somebody a revert. Keys are compared with their case,
// as the API server does (encoding/json alone would not); of a key that
// stands twice the last counts.
//
// # Limits
//
// An Application of more than MaxApplication bytes is refused unread. The API
// server itself takes no object above 3 MB.
package argocd
