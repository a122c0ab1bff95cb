package exit

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// The library writes to its own global flags, so nothing here runs in parallel.
func TestTame(t *testing.T) {
	tests := []struct {
		args string
		code int
		err  string // must be in the error
		out  string // must be on stdout
	}{
		{"app check --strict file", Clean, "", "strict [file]"},
		{"app check help", Clean, "", "lax [help]"},
		{"app check -", Clean, "", "lax [-]"},
		{"app check", Clean, "", "lax []"},
		{"app check file --strict", Usage, `flag "--strict" is not known`, ""},
		{"app check --name= file", Usage, "check: --name is empty", ""},
		{"app check --name n --more= file", Clean, "", "lax [file]"},
		{"app check --nosuch", Usage, "nosuch", ""},
		{"app --nosuch", Usage, "nosuch", ""},
		{"app nosuch", Usage, `unknown command "nosuch"`, ""},
		{"app", Usage, "no command", ""},
		{"app circuit nosuch", Usage, `unknown command "nosuch"`, ""},
		{"app circuit reset web", Clean, "", "reset [web]"},
		{"app fail", 7, "coded", ""},
		{"app --help", Clean, "", "check"},
		{"app check --help", Clean, "", "--strict"},
		{"app --version", Clean, "", "v1"},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			var out bytes.Buffer
			err := Tame(sample(&out)).Run(strings.Fields(tt.args))
			if code := Code(err); code != tt.code {
				t.Errorf("code %d, want %d (%v)", code, tt.code, err)
			}
			if (err == nil) != (tt.err == "") || (err != nil && !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
			if !strings.Contains(out.String(), tt.out) {
				t.Errorf("stdout %q lacks %q", out.String(), tt.out)
			}
			if tt.code == Usage && out.Len() > 0 {
				t.Errorf("a usage error wrote %q to stdout", out.String())
			}
		})
	}
}

func sample(out *bytes.Buffer) *cli.App {
	say := func(word string) cli.ActionFunc {
		return func(c *cli.Context) error {
			if c.Bool("strict") {
				word = "strict"
			}
			_, err := out.WriteString(word + " [" + strings.Join(c.Args().Slice(), " ") + "]\n")
			return err
		}
	}
	return &cli.App{
		Name: "app", Version: "v1", Writer: out, ErrWriter: out,
		Commands: []*cli.Command{
			{Name: "check", Flags: []cli.Flag{
				&cli.BoolFlag{Name: "strict"}, &cli.StringFlag{Name: "name"},
				&cli.StringFlag{Name: "more", Action: func(*cli.Context, string) error { return nil }},
			}, Action: say("lax")},
			{Name: "circuit", Subcommands: []*cli.Command{{Name: "reset", Action: say("reset")}}},
			{Name: "fail", Action: func(*cli.Context) error {
				// The library would call os.Exit(9) for this one.
				return &Error{Code: 7, Err: errors.Join(errors.New("coded"), cli.Exit("x", 9))}
			}},
		},
	}
}
