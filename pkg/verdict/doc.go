// Package verdict is what nav-watchdog concludes from what it saw: whether a
// commit was reached in an Application, whether the Application is healthy with
// it, whether that lasts, and whether a failure may be taken back. It reads no
// clock, no file and no network; everything, the time included, is an argument.
//
// # The three questions
//
// [Judge] answers for one look at one Application: was the commit reached, is
// the Application healthy, and does the look say anything at all. It is a truth
// table and knows nothing of other looks. What is not known is a value of its
// own ([Tri], Judgement.Determinate), never "no".
//
// [Step] adds time: it moves a [State] by one look, counts observed time, waits
// for the health to be stable, and decides. [Conclude] asks the gates whether a
// FAIL may be reverted. [Memory] keeps how an Application stood before.
//
// The state of a watch is its stanza in a note: [FormatNote] writes it, [Fold]
// reads it, and what is read is stepped on as if nothing had happened, but that
// `stable` begins anew (R25). docs/notes.md is the format.
//
// # Duties of the caller
//
// In each pass, in this order:
//
//  1. Fetch, so that the tips of branches are those of now. [Answers] of a pass
//     are as of one fetch.
//  2. Look at the Applications, and give every look to its [Memory], also those
//     that were delivered since the last pass. Give these to [State.Absorb]:
//     what an operation changed may be gone in the next look.
//  3. Ask Git about [Look.Revisions] and [Memory.Questions] for the commit that
//     [State.Subject] names (after a revert it is the revert), and put what it
//     says into Answers. A revision that was not asked about is not known; say
//     so (the zero [Rev]) instead of No.
//  4. Call Step for every watch that is not [State.Final]. Where nothing could
//     be seen, say why in Input.Unseen; a failed look is no look.
//  5. Answer [Next.Need], and call Step again with the same old state: a look
//     read from the API server itself after the fetch of this pass, or the
//     commits of a range. Until then nothing has moved.
//  6. Where [Next.Conclude] is set, gather [GateFacts] anew, every one now, and
//     call Conclude. What could not be asked goes into the fact as its error and
//     holds its gate.
//  7. Where that sets [Next.Revert], build the revert on the tip of the fetch,
//     take [State.WithRevert], and push the revert and the note together, both or
//     neither. At most one revert in a pass: the next is judged on the new tip.
//     The commit's other open watches are [State.TakenOver] in the same push. If
//     the branch refuses it, push [State.PushRefused] alone.
//  8. Write the note of every state with [Next.Transition], and at times of those
//     with [Next.Changed]. Only when the push arrived is a state the caller's
//     own; after a failed one go on from the state before.
//  9. Call a person where [Next.Person] says why. This may be lost: the note
//     says it, too.
//
// At the start, read every note with Fold, the commit being the object that the
// note stands on; one that cannot be read is reported, left as it is, and holds
// every revert, since it may hold one that counts for [Circuit]. There is nothing
// else to restore; a heartbeat that knows of more observed time may raise
// Track.ReachUsed and Track.DeadlineUsed.
//
// # Guarantees
//
// State, Memory and Answers are values: no function changes what it is given. A
// state that Step returns is final, or can be stepped again with any later look.
// No sequence of looks leads to more than one revert of a watch, or to one
// without every gate asked at that moment. Texts of others (messages, names,
// conditions) reach a note as bounded single lines, so they can add no line,
// stanza or gate to it.
package verdict
