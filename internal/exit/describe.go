package exit

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// Describe adds examples to what --help says of commands: by the words that call
// a command, "" is the program.
func Describe(app *cli.App, examples map[string]string) *cli.App {
	app.Description = described(app.Description, examples[""])
	describe(app.Commands, "", examples)
	return app
}

func describe(commands []*cli.Command, above string, examples map[string]string) {
	for _, c := range commands {
		name := strings.TrimSpace(above + " " + c.Name)
		c.Description = described(c.Description, examples[name])
		describe(c.Subcommands, name, examples)
	}
}

func described(text, examples string) string {
	if text == "" || examples == "" {
		return text + examples
	}
	return text + "\n\n" + examples
}
