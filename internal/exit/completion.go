package exit

import (
	"embed"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// The scripts ask the program itself, with the hidden command completeWord and
// the words up to the cursor, so that they fit whatever version is there.
//
//go:embed completion
var completions embed.FS

const completeWord = "__complete"

// FlagValues is the key in an App's Metadata for a func(command, flag string)
// []string, which lists what a flag's value may be; nil where it may be anything.
const FlagValues = "flag values"

func shells() []string { return []string{"bash", "zsh", "fish"} }

// completion is the command that prints a script.
func completion() *cli.Command {
	return &cli.Command{
		Name: "completion", Usage: "print the completion script of a shell", ArgsUsage: strings.Join(shells(), "|"),
		Action: func(c *cli.Context) error {
			shell := c.Args().First()
			if c.NArg() != 1 || !slices.Contains(shells(), shell) {
				return Hint(Usagef("completion: wants the name of a shell"), "shells: %s", strings.Join(shells(), ", "))
			}
			script, err := completions.ReadFile(path.Join("completion", shell))
			if err != nil {
				return fmt.Errorf("reading the completion script: %w", err)
			}
			_, err = io.WriteString(c.App.Writer, strings.ReplaceAll(string(script), "NAME", c.App.Name))
			return err
		},
	}
}

// completionHelp is below the usage of completion; %[1]s is the program.
const completionHelp = `Prints a script that completes commands, flags and the values of flags.

Examples:
    source <(%[1]s completion bash)                      for this bash
    %[1]s completion bash >~/.local/share/bash-completion/completions/%[1]s
    %[1]s completion zsh >"${fpath[1]}/_%[1]s"
    %[1]s completion fish >~/.config/fish/completions/%[1]s.fish`

// candidate is a word that may stand at the cursor, and what it is.
type candidate struct{ word, about string }

// complete writes what may stand in place of the last word, "WORD TAB ABOUT" a
// line. Nothing: a file, or whatever the person likes.
func complete(w io.Writer, app *cli.App, words []string) error {
	if len(words) == 0 {
		words = []string{""}
	}
	for _, c := range candidates(app, words[:len(words)-1], words[len(words)-1]) {
		if _, err := fmt.Fprintf(w, "%s\t%s\n", c.word, strings.ReplaceAll(Line(c.about, 0), "`", "")); err != nil {
			return err
		}
	}
	return nil
}

func candidates(app *cli.App, before []string, last string) []candidate {
	at := place{commands: app.Commands, flags: slices.Concat(app.Flags, []cli.Flag{cli.HelpFlag, cli.VersionFlag})}
	for _, word := range before {
		at.pass(word)
	}
	values := func(flag string) []string {
		list, _ := app.Metadata[FlagValues].(func(command, flag string) []string)
		if list == nil {
			return nil
		}
		return list(at.name, flag)
	}
	var all []candidate
	flag, _, joined := strings.Cut(last, "=")
	switch {
	case at.value != "":
		for _, v := range values(at.value) {
			all = append(all, candidate{v, ""})
		}
	case at.ended:
	case joined && strings.HasPrefix(last, "-"):
		for _, v := range values(strings.TrimLeft(flag, "-")) {
			all = append(all, candidate{flag + "=" + v, ""})
		}
	case strings.HasPrefix(last, "-"):
		all = at.flagNames()
	case at.args == 0:
		all = at.commandNames()
		if at.name == "completion" {
			for _, s := range shells() {
				all = append(all, candidate{s, ""})
			}
		}
	}
	return slices.DeleteFunc(all, func(c candidate) bool { return !strings.HasPrefix(c.word, last) })
}

// place is where in a command line the cursor is.
type place struct {
	commands []*cli.Command
	flags    []cli.Flag
	name     string // of the command
	value    string // the flag that waits for its value
	ended    bool   // by "--"
	args     int
}

func (p *place) pass(word string) {
	switch {
	case p.value != "":
		p.value = ""
	case p.ended:
	case word == "--":
		p.ended = true
	case strings.HasPrefix(word, "-") && word != "-":
		if takes, known := flagNamed(p.flags, word); known && takes {
			p.value = strings.TrimLeft(word, "-")
		}
	case p.args == 0 && command(p.commands, word) != nil:
		c := command(p.commands, word)
		p.commands, p.name, p.flags = c.Subcommands, c.Name, slices.Concat(c.Flags, []cli.Flag{cli.HelpFlag})
	default:
		p.args++
	}
}

func (p *place) commandNames() (all []candidate) {
	for _, c := range p.commands {
		if !c.Hidden {
			all = append(all, candidate{c.Name, c.Usage})
		}
	}
	return all
}

func (p *place) flagNames() (all []candidate) {
	for _, f := range p.flags {
		about := ""
		if d, ok := f.(cli.DocGenerationFlag); ok {
			about = d.GetUsage()
		}
		if v, ok := f.(cli.VisibleFlag); ok && !v.IsVisible() {
			continue
		}
		for _, name := range f.Names() {
			if len(name) > 1 { // the short ones are typed faster
				all = append(all, candidate{"--" + name, about})
			}
		}
	}
	return all
}
