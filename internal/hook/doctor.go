package hook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/internal/exit"
)

// Patient is the repository that a Doctor looks at. It is only read.
type Patient interface {
	Dir() string
	Bare(ctx context.Context) (bool, error)
	HooksDir(ctx context.Context, atWorkTree bool) (string, error)
	Settings
	// UserConfig is Config with the user's and the system's configuration.
	UserConfig(ctx context.Context, keys ...string) (map[string][]string, error)
	Refs(ctx context.Context, prefixes ...string) (map[string]string, error)
	DefaultBranch(ctx context.Context) (string, error)
	FileAt(ctx context.Context, commit, path string) (data []byte, odd string, err error)
	// EachNote reads every note of a ref.
	EachNote(ctx context.Context, ref string, fn func(object string, note []byte)) error
}

// Doctor says, a line each, what is as it must be and what is missing or wrong.
type Doctor struct {
	Repo   Patient
	Out    io.Writer
	Clone  bool   // a developer's clone; without it, a repository with a work tree and no nav.host is one
	Global string // as in Install

	// Program is what a program answers to --version, and Git what git does.
	Program func(ctx context.Context, path string) (string, error)
	Git     func(ctx context.Context) (string, error)
	Knows   func(ctx context.Context, name string) bool // as in Install

	wrong *int
}

// Run looks at everything, also after something wrong was found, and then
// returns an error with the code exit.Findings. What cannot be looked at is
// wrong, too.
func (d Doctor) Run(ctx context.Context) error {
	d.wrong = new(int)
	bare, err := d.Repo.Bare(ctx)
	if err != nil {
		return err
	}
	conf, err := d.Repo.Config(ctx, keyHost)
	if err != nil {
		return err
	}
	checks := []func(context.Context) error{d.server, d.defaultBranch, d.notes, d.receiving, d.git}
	if d.Clone || (!bare && len(conf[keyHost]) == 0) {
		if bare {
			return exit.Usagef("--clone is for a clone, this is a bare repository")
		}
		checks = []func(context.Context) error{d.clone, d.git}
	}
	for _, check := range checks {
		if err := check(ctx); err != nil {
			d.bad("", "%v", err)
		}
	}
	switch *d.wrong {
	case 0:
		return nil
	case 1:
		return exit.Refused(errors.New("1 thing is wrong"))
	}
	return exit.Refused(fmt.Errorf("%d things are wrong", *d.wrong))
}

func (d Doctor) line(kind, format string, args ...any) {
	text := strings.ReplaceAll(exit.Printable(fmt.Sprintf(format, args...)), "\n", "\n       ")
	// There is nobody to tell that this could not be printed.
	_, _ = fmt.Fprintf(d.Out, "%-6s %s\n", kind, text)
}

func (d Doctor) ok(format string, args ...any) { d.line("ok", format, args...) }

// note is for what one should know, but need not change.
func (d Doctor) note(format string, args ...any) { d.line("note", format, args...) }

func (d Doctor) bad(hint, format string, args ...any) {
	*d.wrong++
	d.line("WRONG", format, args...)
	if hint != "" {
		d.line("", "hint: %s", hint)
	}
}
