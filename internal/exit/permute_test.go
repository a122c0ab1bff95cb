package exit

import (
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

func TestPermute(t *testing.T) {
	app := &cli.App{Commands: []*cli.Command{
		{Name: "replay", Flags: []cli.Flag{&cli.StringFlag{Name: "repo"}, &cli.BoolFlag{Name: "json", Aliases: []string{"j"}}}},
		{Name: "circuit", Subcommands: []*cli.Command{{Name: "reset", Flags: []cli.Flag{&cli.StringFlag{Name: "reason"}}}}},
	}}
	for in, want := range map[string]string{
		"n replay FILE --json":              "n replay --json FILE",
		"n replay FILE --repo R -j":         "n replay --repo R -j FILE",
		"n replay --repo R FILE":            "n replay --repo R FILE",
		"n replay FILE --repo=R X":          "n replay --repo=R FILE X",
		"n replay FILE --nosuch --json":     "n replay --json FILE --nosuch",
		"n replay -- FILE --json":           "n replay -- FILE --json",
		"n replay - --json":                 "n replay --json -",
		"n replay FILE --help":              "n replay --help FILE",
		"n circuit reset web --reason text": "n circuit reset --reason text web",
		"n replay FILE --repo":              "n replay --repo FILE",
		"n":                                 "n",
		"n nosuch --json":                   "n nosuch --json",
	} {
		if got := strings.Join(permute(app, strings.Fields(in)), " "); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
