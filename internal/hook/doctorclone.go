package hook

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/hooks"
)

// clone looks at what install --clone makes.
func (d Doctor) clone(ctx context.Context) error {
	const again = "navhook install --clone REPO"
	dir, err := d.Repo.HooksDir(ctx, true)
	if err != nil {
		return err
	}
	p := placesOf("", "", dir, hooks.Clone())[0]
	if content, err := os.ReadFile(p.path); err == nil && hooks.Ours(content) {
		d.shim(ctx, p)
	} else {
		d.bad(again, "%s: no hook of ours, so messages are not read before they are committed", p.path)
	}
	conf, err := d.Repo.UserConfig(ctx, keyURL, keyFetch, keyDisplay)
	if err != nil {
		return err
	}
	if len(conf[keyURL]) == 0 {
		d.bad("git remote add origin URL, then "+again, "there is no remote \"origin\" to fetch verdicts from")
	} else {
		d.refspec(conf[keyFetch], again)
	}
	if fits(conf[keyDisplay], func(v string) bool { return globbed(v, shownNotes) }) {
		d.ok("%s: git log shows verdicts", keyDisplay)
	} else {
		d.bad(again, "%s: %s is not among them, so git log shows no verdicts", keyDisplay, shownNotes)
	}
	return nil
}

func (d Doctor) refspec(specs []string, again string) {
	bare := strings.TrimPrefix(notesRefspec, "+")
	same := func(force string) func(string) bool {
		return func(v string) bool {
			from, to, two := strings.Cut(v, ":")
			spec, forced := strings.CutPrefix(from, "+")
			return two && spec == to && forced == (force == "+") && globbed(spec, verdictsRef)
		}
	}
	switch {
	case fits(specs, same("+")):
		d.ok("%s: verdicts come with a fetch", keyFetch)
	case fits(specs, same("")):
		d.bad(fmt.Sprintf("git config --fixed-value --unset %s '%s', then %s", keyFetch, bare, again),
			"%s: %s has no \"+\", so a fetch fails when the watcher's status was replaced", keyFetch, bare)
	default:
		d.bad(again, "%s: %s is not among them, so no verdict comes with a fetch", keyFetch, notesRefspec)
	}
}

func fits(values []string, is func(string) bool) bool {
	for _, v := range values {
		if is(v) {
			return true
		}
	}
	return false
}

// globbed tells whether a name, or one that ends in "*", stands for ref.
func globbed(pattern, ref string) bool {
	prefix, star := strings.CutSuffix(pattern, "*")
	return pattern == ref || (star && strings.HasPrefix(ref, prefix))
}
