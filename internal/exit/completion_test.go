package exit

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

func TestComplete(t *testing.T) {
	app := func(out *bytes.Buffer) *cli.App {
		a := sample(out)
		a.Commands[0].Usage = "looks at\ta `FILE`\n"
		a.Commands[0].Flags = append(a.Commands[0].Flags, &cli.StringFlag{Name: "format", Aliases: []string{"f"}}, &cli.BoolFlag{Name: "secret", Hidden: true})
		a.Commands = append(a.Commands, &cli.Command{Name: "chidden", Hidden: true})
		a.Metadata = map[string]any{FlagValues: func(command, flag string) []string {
			if command == "check" && flag == "format" {
				return []string{"text", "json"}
			}
			return nil
		}}
		return a
	}
	for words, want := range map[string]string{
		"":                          "check circuit fail completion",
		"c":                         "check circuit completion",
		"check ":                    "",
		"check --":                  "--strict --name --more --format --help",
		"check x --s":               "--strict",
		"check --format ":           "text json",
		"check --format j":          "json",
		"check --format=":           "--format=text --format=json",
		"check --format=json --str": "--strict",
		"check --format json ":      "",
		"check --strict --f":        "--format",
		"check -- --f":              "",
		"circuit ":                  "reset",
		"circuit reset ":            "",
		"completion ":               "bash zsh fish",
		"completion f":              "fish",
		"nosuch ":                   "",
		"--v":                       "--version",
		"check --strict=":           "",
	} {
		var out bytes.Buffer
		if err := Run(context.Background(), app(&out), append([]string{"app", completeWord}, strings.Split(words, " ")...)); err != nil {
			t.Fatal(err)
		}
		var got []string
		for line := range strings.Lines(out.String()) {
			word, _, tabbed := strings.Cut(line, "\t")
			if got = append(got, word); !tabbed {
				t.Errorf("%q: the line %q", words, line)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
		if words == "c" && !strings.HasPrefix(out.String(), "check\tlooks at\\ta FILE\\n\n") {
			t.Errorf("the description breaks the line: %q", out.String())
		}
	}
	var out bytes.Buffer
	if err := Run(context.Background(), app(&out), []string{"app", completeWord}); err != nil || !strings.HasPrefix(out.String(), "check\t") {
		t.Errorf("without a word: %v %q", err, out.String())
	}
}

func TestCompletionScript(t *testing.T) {
	for _, shell := range shells() {
		var out bytes.Buffer
		if err := Run(context.Background(), sample(&out), []string{"app", "completion", shell}); err != nil || !strings.Contains(out.String(), completeWord) || strings.Contains(out.String(), "NAME") {
			t.Errorf("%s: %v\n%s", shell, err, out.String())
		}
	}
	for _, args := range []string{"app completion", "app completion csh", "app completion bash zsh", "app completion ../cli.go"} {
		var out bytes.Buffer
		if err := Run(context.Background(), sample(&out), strings.Fields(args)); Code(err) != Usage || out.Len() > 0 {
			t.Errorf("%s: %v %q", args, err, out.String())
		}
	}
}
