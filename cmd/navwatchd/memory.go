package main

import (
	"runtime/debug"
	samples "runtime/metrics"
)

// softLimit is what a daemon keeps its memory below where what it holds lets it.
// A start decodes every Application of a cluster: 20 KB of JSON each, of which
// nothing stays. By Go's default the collector lets the heap grow to twice of what
// is held, much of it such garbage, and the peak is what a container must be given.
// A lower GOGC would cost the same cpu all day long; a limit costs some only while
// that garbage is made.
const softLimit = 300 << 20

// limitMemory sets the limit, unless the operator set one. It may be called again
// as what is held grows: the limit is never less than half as much again, or the
// collector would do nothing else.
func limitMemory(environ []string) {
	if getenv(environ)("GOMEMLIMIT") != "" { // in force already
		return
	}
	live := []samples.Sample{{Name: "/gc/heap/live:bytes"}}
	samples.Read(live)
	limit := int64(softLimit)
	if v := live[0].Value; v.Kind() == samples.KindUint64 {
		limit = max(limit, int64(v.Uint64()/2*3))
	}
	debug.SetMemoryLimit(limit)
}
