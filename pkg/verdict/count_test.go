package verdict

import (
	"testing"
	"time"
)

// TestCountOnce: looks that come in another order than they were made count no
// time twice.
func TestCountOnce(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var track Track
	var used time.Duration
	var last time.Time
	for _, at := range []time.Duration{0, 10, 14, 10, 20, 12, 30} {
		track.count(&used, &last, Observation{Look: Look{At: start.Add(at * time.Second)}}, 10*time.Second)
	}
	if used != 30*time.Second {
		t.Errorf("of 30s %s were counted", used)
	}
}
