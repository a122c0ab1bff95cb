package lint

import (
	"context"
	"fmt"
	"io"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/pkg/trailer"
)

// MaxFile bounds a message that is read from a file, in bytes.
const MaxFile = 8 << 20

// Config is everything navlint needs from outside.
type Config struct {
	Handler Handler
	Note    io.Writer // what is no finding: where a policy came from, and the like
	Getenv  func(string) string
	Strict  bool
	// Known gathers facts about Applications; nil: only the policy is asked.
	Known *Known
	// Branch is the one on which the commits are going to land, without
	// refs/heads/; empty: the default branch.
	Branch string
}

func (c Config) note(format string, args ...any) {
	// Advice only: what cannot be printed changes no answer.
	_, _ = fmt.Fprintf(c.Note, format+"\n", args...)
}

// ReadMessage reads a message of at most MaxFile bytes.
func ReadMessage(r io.Reader) ([]byte, error) {
	msg, err := io.ReadAll(io.LimitReader(r, MaxFile+1))
	if err != nil {
		return nil, fmt.Errorf("reading the message: %w", err)
	}
	if len(msg) > MaxFile {
		return nil, errTooLong
	}
	return msg, nil
}

// ReadCommitMsg reads a commit-msg file for CommitMsg. The diff that git commit
// -v puts below the message may have any size; of a file that is longer than
// MaxFile, one byte more than that is kept.
func ReadCommitMsg(r io.Reader) ([]byte, error) {
	file, err := io.ReadAll(io.LimitReader(r, MaxFile+1))
	if err != nil {
		return nil, fmt.Errorf("reading the message: %w", err)
	}
	return file, nil
}

var errTooLong = fmt.Errorf("the message has more than %d bytes", MaxFile)

// CommitMsg lints the file that git hands to a commit-msg hook. It is what the
// editor left, so git's cleanup comes first; positions are those of the file.
//
// r is nil outside of a repository. Who will push is not known here, nor what the
// commit changes: whether the watch may be armed is a warning, and no error.
func (c Config) CommitMsg(ctx context.Context, r Clone, name string, file []byte) error {
	policy, err := ClonePolicy(ctx, r)
	if err != nil {
		return err
	}
	c.warnPolicy(policy)
	cleanup, err := c.cleanup(ctx, r, file)
	if err != nil {
		return err
	}
	if len(file) > MaxFile && !trailer.HasCut(file, cleanup) {
		return errTooLong
	}
	msg, from := trailer.CleanLines(file, cleanup)
	fs := Message(msg, policy.Trailer, from)
	ws, _ := trailer.Decode(msg, policy.Trailer.Unlimited())
	request := arming.Request{
		Vouched: arming.VouchNotAssessed, PathsUnknown: true,
		Policies: []arming.NamedPolicy{{When: "of this clone", Policy: policy.Policy}},
	}
	facts, err := c.standing(ctx, r, policy, ws, &request)
	if err != nil {
		return err
	}
	for _, f := range Arming(ctx, ws, request, facts, from) {
		if f.Severity == Error {
			f.Severity, f.Message = Warning, "the server will probably refuse this: "+f.Message
		}
		fs = append(fs, f)
	}
	tally := &Tally{Handler: c.Handler}
	if err := tally.Add(Place{File: name}, fs); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return tally.Close(c.Strict)
}

// standing is what is known before there is a commit: what the last one, HEAD,
// says.
func (c Config) standing(ctx context.Context, r Clone, policy Policy, ws []trailer.Watch, request *arming.Request) (*CommitFacts, error) {
	if c.Known == nil || r == nil || len(ws) == 0 {
		return nil, nil
	}
	ids, err := r.IDs(ctx, []string{localHead + "^{commit}"})
	if err != nil || ids[localHead+"^{commit}"] == "" {
		return nil, err
	}
	branch, err := r.Landing(ctx)
	if err != nil {
		return nil, err
	}
	request.Branch, request.DefaultBranch = branch, branch
	_, request.Named = Names(ws)
	return c.Known.Of(ctx, Commit{ID: ids[localHead+"^{commit}"]}, nil, policy.Policy, ws)
}

func (c Config) warnPolicy(p Policy) {
	if p.Broken != nil {
		c.note("the policy cannot be read and counts as none: %v", p.Broken)
	}
}

// cleanup is how git is going to clean up the message, as far as a hook can
// know: --cleanup on the command line is not told to it.
func (c Config) cleanup(ctx context.Context, r Clone, file []byte) (trailer.Cleanup, error) {
	const mode, char, text = "commit.cleanup", "core.commentchar", "core.commentstring"
	how := trailer.Cleanup{Mode: trailer.Strip}
	// Git sets it so for its hooks when no editor was used (builtin/commit.c,
	// run_commit_hook); then comment lines stay.
	edited := c.Getenv("GIT_EDITOR") != ":"
	if !edited {
		// Nor did git put a cut line there: one in the message stays.
		how.Mode, how.KeepCut = trailer.Whitespace, true
	}
	if r == nil {
		return how, nil
	}
	conf, err := r.UserConfig(ctx, mode, char, text)
	if err != nil {
		return how, err
	}
	switch m := trailer.CleanupMode(last(conf[mode])); m {
	case trailer.Strip, trailer.Whitespace, trailer.Verbatim:
		how.Mode = m
	case trailer.Scissors:
		how.Mode = trailer.Whitespace // as git takes it without an editor
		if edited {
			how.Mode = trailer.Scissors
		}
	}
	// Both names are one setting since git 2.45; the later one counts there.
	how.Comment = last(conf[char])
	if s := last(conf[text]); s != "" {
		how.Comment = s
	}
	switch {
	case how.Comment != "auto":
	case edited:
		how.Comment = trailer.AutoComment(file)
	default: // it is one that starts no line, so no line is dropped for it
		how.Comment = ""
		if how.Mode == trailer.Strip {
			how.Mode = trailer.Whitespace
		}
	}
	return how, nil
}

func last(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}
