package lint

import (
	"bufio"
	"fmt"
	"io"

	"github.com/nav-watchdog/nav-watchdog/pkg/trailer"
)

type jsonParse struct {
	Version  int           `json:"version"`
	Command  string        `json:"command"`
	Trailers []jsonTrailer `json:"trailers"`
}

type jsonTrailer struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// Parse prints the trailers of a message: as text, byte for byte what `git
// interpret-trailers --parse --no-divider` prints. On a terminal (escape) the
// bytes that it would obey are escaped; into a pipe they go as they are.
func Parse(w io.Writer, msg []byte, format string, escape func(string) string) error {
	block := trailer.Parse(msg)
	if format == FormatJSON {
		out := jsonParse{JSONVersion, "parse", make([]jsonTrailer, len(block.Trailers))}
		for i, t := range block.Trailers {
			out.Trailers[i] = jsonTrailer{t.Key, t.Value, t.Pos.Line, t.Pos.Col}
		}
		return encode(w, out)
	}
	b := bufio.NewWriter(w)
	for _, t := range block.Trailers {
		line := t.Key + ": " + t.Value
		if escape != nil {
			line = escape(line)
		}
		if _, err := fmt.Fprintln(b, line); err != nil {
			return err
		}
	}
	return b.Flush()
}
