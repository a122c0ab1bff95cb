package drill

import "time"

// Clock is the drill's own: it stands still until the drill moves it. It is not
// safe for concurrent use.
type Clock struct{ now time.Time }

// NewClock makes a clock that stands at a whole second.
func NewClock(at time.Time) *Clock { return &Clock{now: at.UTC().Truncate(time.Second)} }

// Now is where the clock stands.
func (c *Clock) Now() time.Time { return c.now }

func (c *Clock) advance(d time.Duration) { c.now = c.now.Add(d) }
