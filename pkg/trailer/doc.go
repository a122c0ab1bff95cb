// Package trailer says what a commit message asks for: it reads the trailer
// block exactly as git does, and lints and decodes the Nav-Watchdog trailers
// in it. It is pure: bytes in, values out.
//
// # What git reads
//
// [Parse] gives, byte for byte, what `git interpret-trailers --parse
// --no-divider` prints with no configuration. The rules have been the same from
// git 2.39 to 2.55; the names in brackets are git's functions.
//
//  1. A NUL byte ends the message. Everything is bytes; white space is space,
//     tab, CR and LF and nothing else; letters are ASCII. A CR ends no line.
//  2. The end of the block (ignore_non_trailer): the first line that is exactly
//     "# ------------------------ >8 ------------------------" and all below it
//     are dropped; then, from the end, lines that start with '#', empty lines,
//     and a "Conflicts:" line with the tab-indented paths below it.
//  3. The title (find_trailer_start): all lines up to the first blank one, '#'
//     lines not counted. Nothing in it is a trailer.
//  4. Only the last paragraph can be the block. Each of its lines is
//     - a comment, if it starts with '#'. It counts for nothing, but ends the
//     trailer above it;
//     - a trailer, if it is KEY, optional spaces or tabs, and a colon, KEY being
//     one or more of A-Z a-z 0-9 and '-', at the start of the line; or if it
//     starts with "Signed-off-by: " or "(cherry picked from commit ", which
//     also makes git recognise the paragraph;
//     - a continuation, if it starts with white space and follows a trailer or
//     a continuation;
//     - plain otherwise.
//  5. The paragraph is a block if it is recognised and has at least a quarter
//     trailers (trailers*3 >= plain), or if it has a trailer and no plain line.
//     So, without a Signed-off-by line, one stray line loses every trailer.
//  6. In the block, a trailer's value is what follows the colon, with its
//     continuations: each line break and the white space after it become one
//     space, and the ends are trimmed (parse_trailer, unfold_value). It may be
//     empty. Plain lines and "(cherry picked from commit" are no trailers.
//  7. Keys compare without regard to case, repeat, and keep their order.
//
// `git log --format=%(trailers)` reads the same but for leading blank lines,
// which it skips before it looks for the title.
//
// What an editor left in a commit-msg file is not yet the message: git cleans
// it up first, and so does [Clean].
//
// # What we read in it
//
// A trailer with the key Nav-Watchdog holds fields, separated by white space:
//
//	value  = field *( white field )
//	field  = "app=" name | "appset=" name | "mode=" mode | "expect=" expect
//	       | ( "deadline=" | "reach=" | "stable=" ) time
//	name   = [ namespace "/" ] DNS-1123-subdomain      ; 253 bytes at most
//	mode   = "shadow" | "propose" | "arm"
//	expect = item *( "," item )                        ; one health at most
//	item   = "Healthy" | "Suspended" | "probe:" DNS-1123-label
//	time   = 1*digit                                   ; seconds
//	       | 1*( 1*digit [ "." 1*digit ] unit )        ; Go's time.ParseDuration
//	unit   = "h" | "m" | "s" | "ms" | "us" | "µs" | "ns"
//
// Each field at most once, exactly one of app and appset, names and values in
// the case shown. A time is a whole number of seconds: "1500ms" is refused, not
// rounded. A value has at most 4096 bytes. Missing fields have the policy's
// defaults. One trailer an Application.
//
// For example, the message
//
//	Bump shop to 4.5
//
//	Nav-Watchdog: app=shop deadline=10m mode=arm
//	Signed-off-by: Ada <ada@example.com>
//
// decodes to one [Watch]: App shop, Deadline 10m, Reach 15m, Stable 2m, Mode
// arm, Expect Healthy.
//
// # Who calls what
//
//   - [Decode]: the watches of a commit, and an error for each trailer in the
//     block that is none. The daemon decodes with [Policy.Unlimited], so that a
//     policy that was narrowed later does not orphan a watch.
//   - [Lint]: everything that is wrong with a message, what git would ignore
//     included. The rules are listed by [Rules] and described in docs/rules.md.
//   - [Mend]: the message with its trailers where git reads them.
//   - [ParseFields]: one value, given by a person.
//   - [IsRevert], [IsReapply]: git's own reverts.
//
// Every input is untrusted. Time and memory are linear in the message, at most
// 64 findings come back, and what they quote of the message is cut and escaped.
package trailer
