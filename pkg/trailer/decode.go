package trailer

import (
	"bytes"
	"fmt"
)

// Decode returns the watches of a message, in their order, and an error finding
// for each trailer in its block that is none, be it by syntax or by the limits
// of p. Use [Policy.Unlimited] where limits do not matter. A watch that this
// version cannot carry out is returned, with Unsupported set.
//
// Two trailers for one application that ask for different things contradict
// each other: neither is returned. What stands outside the block is no matter
// of Decode, but of [Lint]. A message that does not mention Nav-Watchdog costs
// one search for the byte '-'.
func Decode(msg []byte, p Policy) (watches []Watch, fs []Finding) {
	if !mentions(msg) {
		return nil, nil
	}
	block, spans := parse(msg)
	d := decoding{policy: p}
	for i, t := range block.Trailers {
		if equalKey(t.Key, Key) {
			d.add(msg[spans[i].value:spans[i].end], t.Pos, spans[i].value-spans[i].start)
		}
	}
	return d.watches(), inOrder(d.findings)
}

// decoding collects what the trailers of one message say.
type decoding struct {
	policy   Policy
	count    int
	sound    []Watch
	dropped  map[string]bool // targets about which two trailers disagree
	findings []Finding
}

// add decodes one trailer; its raw value starts offset bytes after its key.
func (d *decoding) add(raw []byte, key Pos, offset int) {
	d.count++
	if most := d.policy.most(); d.count > most {
		if d.count == most+1 {
			d.fail(TooMany, key, fmt.Sprintf("a commit may have %d watches, and this is one more", most), "split the commit, or have the policy's limit changed")
		}
		return
	}
	f := fields{policy: d.policy, limits: true}
	f.decode(raw, Pos{Line: key.Line, Col: key.Col + offset}, key)
	if len(f.found) > 0 {
		d.findings = append(d.findings, f.found...)
		return
	}
	for _, w := range d.sound {
		if w.target() != f.watch.target() {
			continue
		}
		d.fail(AppTwice, key, fmt.Sprintf("%s is named on line %d already", w.target(), w.Pos.Line), "one trailer an application: keep one of them")
		if !w.same(f.watch) {
			if d.dropped == nil {
				d.dropped = map[string]bool{}
			}
			d.dropped[w.target()] = true
		}
		return
	}
	d.sound = append(d.sound, f.watch)
}

func (d *decoding) fail(r Rule, at Pos, message, hint string) {
	d.findings = append(d.findings, Finding{Rule: r, Severity: Error, Pos: at, Message: message, Hint: hint})
}

// watches are the sound ones.
func (d *decoding) watches() []Watch {
	var ws []Watch
	for _, w := range d.sound {
		if !d.dropped[w.target()] {
			ws = append(ws, w)
		}
	}
	return ws
}

// lineAt is the number of the line on which the offset i lies.
func lineAt(msg []byte, i int) int {
	return 1 + bytes.Count(msg[:i], newline)
}
