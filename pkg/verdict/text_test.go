package verdict_test

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

func itoa(n int) string { return strconv.Itoa(n) }

// events are those of a state, for the message of a test that fails.
func events(s verdict.State) string {
	var b strings.Builder
	for _, e := range s.Events {
		fmt.Fprintf(&b, "%5d %s %s\n", int(e.At.Sub(start).Seconds()), e.Kind, e.Text)
	}
	return b.String()
}
